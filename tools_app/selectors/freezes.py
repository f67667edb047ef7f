"""Reading freezes: those in force, and those that ended."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.models import Freeze
from tools_app.selectors.paging import Page, page_of_rows
from tools_app.services.access import Actor
from tools_app.services.freezes import active_freezes, blast

__all__ = ["active_freezes", "blast", "freeze_detail", "list_freezes", "with_refusals"]


def list_freezes(
    actor: Actor,
    *,
    active: bool | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[Freeze]:
    """Return freezes, newest first; with ``active`` only those that are, or are not, in force."""
    actor.require_any("tools:read", "approvals", "agents")
    rows = Freeze.objects.all()
    if active is not None:
        in_force = [freeze.pk for freeze in active_freezes()]
        rows = rows.filter(pk__in=in_force) if active else rows.exclude(pk__in=in_force)
    return page_of_rows(rows, cursor=cursor, limit=limit, key=int)


def with_refusals(freezes: Sequence[Freeze]) -> list[Freeze]:
    """Return the same freezes with the calls they refused until now; no query without any.

    ``active_freezes`` is read again only when a freeze changes, and a refusal changes none.
    """
    if not freezes:
        return []
    present = Freeze.objects.in_bulk([freeze.pk for freeze in freezes])
    return [present.get(freeze.pk, freeze) for freeze in freezes]


def freeze_detail(actor: Actor, freeze_id: int) -> Freeze | None:
    """Return one freeze as it is in the database now, with its count of refused calls."""
    actor.require_any("tools:read", "approvals", "agents")
    return Freeze.objects.filter(pk=freeze_id).first()
