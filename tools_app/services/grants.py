"""Remembered approvals: the same agent, tool, definition and arguments need not ask again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from tools_app.models import Approval, ApprovalGrant, GrantScope
from tools_app.services import events
from tools_app.services.access import Actor
from tools_app.services.configuration import Cached, bump
from tools_app.services.errors import Conflict, InvalidRequest, NotFound

GrantKey = tuple[str, str, str, str]


def matching_grant(
    *,
    agent: str,
    tool_name: str,
    definition_hash: str,
    arguments_digest: str,
    session: str,
    at: datetime,
) -> ApprovalGrant | None:
    """Return a grant that covers exactly this call now, if there is one."""
    key = (agent, tool_name, definition_hash, arguments_digest)
    for grant in _standing.get().get(key, ()):
        if grant.expires_at is not None and grant.expires_at <= at:
            continue
        if grant.scope == GrantScope.SESSION and grant.session != session:
            continue
        return grant
    return None


def check_grant(approval: Approval, *, scope: str, until: datetime | None) -> None:
    """Raise InvalidRequest when the answer to ``approval`` cannot be remembered like this."""
    problem = ""
    path = "$.scope"
    if scope not in GrantScope.values:
        problem = f"must be one of {', '.join(GrantScope.values)}"
    elif scope == GrantScope.SESSION and not approval.run.session:
        problem = "the call belongs to no session"
    elif (scope == GrantScope.UNTIL) != (until is not None):
        path, problem = "$.until", "goes with the scope until, and only with it"
    elif until is not None and until <= timezone.now():
        path, problem = "$.until", "must be in the future"
    if problem:
        errors = [{"path": path, "message": problem}]
        raise InvalidRequest("The approval cannot be remembered so.", extra={"errors": errors})


def remember(approval: Approval, *, actor: Actor) -> ApprovalGrant | None:
    """Store what an approval that was just given asks to remember, in the caller's transaction.

    Nothing for ``once``. Exactly the shown arguments are remembered, by their digest.
    """
    if approval.grant_scope == GrantScope.ONCE:
        return None
    run = approval.run
    grant = ApprovalGrant.objects.create(
        agent=run.agent,
        tool_name=run.tool_name,
        definition_hash=run.definition_hash,
        arguments_digest=run.arguments_digest,
        scope=approval.grant_scope,
        session=run.session if approval.grant_scope == GrantScope.SESSION else "",
        expires_at=approval.grant_until,
        approval=approval,
    )
    bump("grants")
    _record("grant.created", grant, actor)
    return grant


def revoke_grant(*, actor: Actor, grant_id: int) -> ApprovalGrant:
    """Take back a remembered approval; raises NotFound, or Conflict when it is revoked."""
    actor.require("approvals")
    with transaction.atomic():
        grant = ApprovalGrant.objects.select_for_update().filter(pk=grant_id).first()
        if grant is None:
            raise NotFound("There is no such remembered approval.")
        if grant.revoked_at is not None:
            raise Conflict("This remembered approval was revoked before.")
        grant.revoked_at, grant.revoked_by_label = timezone.now(), actor.label
        grant.save(update_fields=["revoked_at", "revoked_by_label"])
        bump("grants")
        _record("grant.revoked", grant, actor)
    return grant


def _record(kind: str, grant: ApprovalGrant, actor: Actor) -> None:
    events.record_event(
        kind,
        agent=grant.agent,
        tool=grant.tool_name,
        run_id=grant.approval.run_id,
        actor=actor.label,
        data={
            "grant": grant.pk,
            "approval": str(grant.approval_id),
            "scope": grant.scope,
            "session": grant.session,
            "expires_at": grant.expires_at.isoformat() if grant.expires_at else None,
            "arguments_digest": grant.arguments_digest,
        },
    )


def _load_standing() -> Mapping[GrantKey, tuple[ApprovalGrant, ...]]:
    found: dict[GrantKey, list[ApprovalGrant]] = defaultdict(list)
    for grant in ApprovalGrant.objects.filter(revoked_at=None).order_by("-pk"):
        key = (grant.agent, grant.tool_name, grant.definition_hash, grant.arguments_digest)
        found[key].append(grant)
    return {key: tuple(grants) for key, grants in found.items()}


_standing: Cached[Mapping[GrantKey, tuple[ApprovalGrant, ...]]] = Cached(
    "grants", load=_load_standing
)
