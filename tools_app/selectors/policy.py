"""The policy as people read it: the version in force, its history, entries for pickers."""

from __future__ import annotations

from tools_app.models import PolicyVersion
from tools_app.policy import SuggestedEntry, suggested_entries
from tools_app.selectors.paging import Page, page_of_rows
from tools_app.services.access import Actor
from tools_app.services.policies import current_version
from tools_app.services.policy_history import published_version


def policy_in_force(actor: Actor) -> PolicyVersion:
    """Return the published version; raises PolicyUnreadable when there is none."""
    actor.require("policy:read")
    return current_version()


def policy_version(actor: Actor, number: int) -> PolicyVersion:
    """Return one version of the history; raises NotFound."""
    actor.require("policy:read")
    return published_version(number)


def policy_history(
    actor: Actor, *, cursor: str | None = None, limit: int | None = None
) -> Page[PolicyVersion]:
    """Return one page of the versions, newest first, without their documents."""
    actor.require("policy:read")
    rows = PolicyVersion.objects.defer("document")
    return page_of_rows(rows, cursor=cursor, limit=limit, key=int, field="number")


def entry_suggestions(actor: Actor) -> tuple[SuggestedEntry, ...]:
    """Return the groups and profiles that a rule may name, with their members."""
    actor.require("policy:read")
    return suggested_entries(current_version().table_set)
