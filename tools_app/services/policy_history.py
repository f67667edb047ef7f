"""Going back: an old version of the policy is published anew, never put back in place."""

from __future__ import annotations

from tools_app.models import PolicyVersion
from tools_app.policy import DocumentWarning, check_document
from tools_app.services.access import Actor
from tools_app.services.catalogue import offered_tools
from tools_app.services.errors import NotFound
from tools_app.services.policies import PolicyCheck, check, publish


def published_version(number: int) -> PolicyVersion:
    """Return one version of the history; raises NotFound."""
    version = PolicyVersion.objects.filter(number=number).first()
    if version is None:
        raise NotFound(f"There is no version {number} of the policy.")
    return version


def warnings_of(version: PolicyVersion) -> list[DocumentWarning]:
    """Return what the author of a version should know, held against the tools of today."""
    tables = version.table_set
    return check_document(version.document, tools=offered_tools(), tables=tables).warnings


def check_again(*, actor: Actor, number: int) -> PolicyCheck:
    """Say what publishing a version again would change, for whom; raises NotFound."""
    old = published_version(number)
    return check(actor=actor, document=old.document, tables=old.table_set)


def publish_again(
    *, actor: Actor, number: int, base_number: int | None, comment: str = ""
) -> PolicyVersion:
    """Publish a version's document under its own table set, with a new number.

    Decisions are then those of the old version in everything but the number that they name.
    Raises NotFound, and whatever ``publish`` raises: a document that would be refused today,
    because the checks have become stricter since, is not brought back either.
    """
    actor.require("policy:write")
    old = published_version(number)
    return publish(
        actor=actor,
        document=old.document,
        base_number=base_number,
        comment=comment or f"version {number} again",
        tables=old.table_set,
    )
