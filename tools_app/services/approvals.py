"""A person's answer to "may this call run?": approve, deny, ask again, give it more time.

An answer is for exactly the call that was shown: it brings the binding of what was rendered.
Only a pending, unexpired approval can be answered, once. Whoever asked may not approve.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from tools_app.models import Approval, ApprovalStatus, GrantScope, RunStatus, ToolRun
from tools_app.services import freezes, limits
from tools_app.services.access import (
    SYSTEM,
    Actor,
    actor_for_token,
    actor_for_user,
    people_with,
)
from tools_app.services.agents import active_agent
from tools_app.services.approval_states import (
    binding_of,
    close_approval,
    present_binding,
    record_approval,
    set_if_pending,
)
from tools_app.services.errors import (
    ApprovalClosed,
    ApprovalExpired,
    ApprovalMismatch,
    Conflict,
    InvalidRequest,
    NotFound,
    SelfApproval,
    ServiceError,
)
from tools_app.services.grants import check_grant, remember, revoke_grant
from tools_app.services.queueing import RESEND_AFTER, wake_worker_after_commit
from tools_app.services.run_states import move_run
from tools_app.services.running import RunRequest, run_tool
from tools_app.services.running.claiming import checked_arguments, require_caller
from tools_app.services.waiting import wait_for_approval

__all__ = [
    "approve",
    "ask_again",
    "deny",
    "expire_due",
    "extend",
    "revoke_grant",
    "wait_for_approval",
    "why_not_approve",
]

LONGEST_COMMENT = 1000
LONGEST_EXTENSION_S = 24 * 3600
_REPEATABLE = (ApprovalStatus.EXPIRED, ApprovalStatus.SUPERSEDED, ApprovalStatus.CANCELLED)


def approve(
    *,
    actor: Actor,
    approval_id: UUID,
    binding: str,
    scope: str = GrantScope.ONCE,
    until: datetime | None = None,
    comment: str = "",
    via: str = "browser",
) -> Approval:
    """Approve exactly the call whose ``binding`` was shown, and queue its run.

    ``scope`` says how long it is remembered for the very same call: once, session, until (with
    ``until``) or always. Events: approval.decided, run.queued, grant.created.

    Raises NotFound, ApprovalClosed, ApprovalExpired, SelfApproval, ApprovalMismatch (another
    binding, or the policy or the tool changed: then it is superseded), Frozen, UnknownAgent or
    AgentInactive when its agent is gone, and ConcurrencyExceeded while the limit on open runs
    is reached.
    """
    approval = _open_approval(actor, approval_id, comment)
    check_grant(approval, scope=scope, until=until)
    is_own = _require_another_person(actor, approval)
    if not constant_time_compare(binding, approval.binding):
        raise ApprovalMismatch(
            "This is not the call that was shown: look at it again.", extra=_state(approval)
        )
    _require_unchanged(approval)
    decided: dict[str, Any] = {
        "status": ApprovalStatus.APPROVED,
        "decided_at": timezone.now(),
        "decided_by_id": actor.user_id,
        "decided_by_label": actor.label,
        "decided_via": via,
        "comment": comment,
        "grant_scope": scope,
        "grant_until": until,
    }
    with transaction.atomic():
        if not set_if_pending(approval, decided):
            raise _closed(Approval.objects.select_related("run").get(pk=approval.pk))
        _queue(approval, actor, is_own)
    return approval


def deny(*, actor: Actor, approval_id: UUID, comment: str = "", via: str = "browser") -> Approval:
    """Deny a call; its run is refused with ``approval_denied`` and the comment.

    Raises NotFound, ApprovalClosed or ApprovalExpired.
    """
    approval = _open_approval(actor, approval_id, comment)
    denied = close_approval(
        approval,
        ApprovalStatus.DENIED,
        actor=actor.label,
        user_id=actor.user_id,
        via=via,
        comment=comment,
    )
    if not denied:
        raise _closed(Approval.objects.select_related("run").get(pk=approval.pk))
    return approval


def ask_again(*, actor: Actor, approval_id: UUID) -> Approval:
    """Ask once more for the same call after an approval expired, or was superseded or cancelled.

    A new run with the same arguments goes through every step, for the same caller, and always
    waits for a person; while it waits, asking once more returns the same approval. Raises
    NotFound, Conflict while the first can still be answered, ApprovalMismatch when its arguments
    are not kept any more, and the refusals of a call.
    """
    actor.require("approvals")
    old = _find(approval_id)
    if old.status not in _REPEATABLE:
        raise Conflict(f"This approval is {old.get_status_display()}.", extra=_state(old))
    asked = Approval.objects.filter(replaces=old, status=ApprovalStatus.PENDING).first()
    if asked is not None:
        return asked
    run = old.run
    require_caller(run, timezone.now())
    outcome = run_tool(
        RunRequest(
            actor=_requester(run),
            tool_name=run.tool_name,
            arguments=checked_arguments(run),
            agent=run.agent,
            provider=run.provider,
            model=run.model,
            session=run.session,
            surface=run.surface,
            timeout_seconds=run.timeout_s,
            ask_again_for=old,
        )
    )
    if outcome.approval is None:
        raise RuntimeError("a call that asks in any case was not asked about")
    return outcome.approval


def extend(*, actor: Actor, approval_id: UUID, seconds: int = 600) -> Approval:
    """Give a waiting approval more time; event approval.extended.

    The end is part of the binding, so whoever is about to answer must look again. Raises
    NotFound, ApprovalClosed, ApprovalExpired and InvalidRequest.
    """
    if not 1 <= seconds <= LONGEST_EXTENSION_S:
        errors = [{"path": "$.seconds", "message": f"must be from 1 to {LONGEST_EXTENSION_S}"}]
        raise InvalidRequest("The extension is not valid.", extra={"errors": errors})
    approval = _open_approval(actor, approval_id, "")
    expires_at = approval.expires_at + timedelta(seconds=seconds)
    binding = binding_of(
        approval.run,
        definition_hash=approval.run.definition_hash,
        policy_version=approval.run.policy_version,
        expires_at=expires_at,
    )
    with transaction.atomic():
        if not set_if_pending(approval, {"expires_at": expires_at, "binding": binding}):
            raise _closed(Approval.objects.select_related("run").get(pk=approval.pk))
        record_approval("approval.extended", approval, actor=actor.label)
    return approval


def expire_due() -> int:
    """Expire the approvals nobody answered in time, with their runs; return how many."""
    due = Approval.objects.filter(status=ApprovalStatus.PENDING, expires_at__lte=timezone.now())
    waiting = due.select_related("run", "run__decision").order_by("expires_at")
    return sum(_expire(approval) for approval in waiting)


def why_not_approve(actor: Actor, approval: Approval) -> str:
    """Return why this actor may not approve, in words; empty when they may."""
    if not actor.has("approvals"):
        return "Approving needs the right approvals."
    if approval.status != ApprovalStatus.PENDING:
        return f"This approval is {approval.get_status_display()}."
    try:
        _require_another_person(actor, approval)
    except SelfApproval as error:
        return error.message
    return ""


def _find(approval_id: UUID) -> Approval:
    approvals = Approval.objects.select_related(
        "run", "run__decision", "run__token", "run__user", "decided_by"
    )
    approval = approvals.filter(pk=approval_id).first()
    if approval is None:
        raise NotFound("There is no such approval.")
    return approval


def _open_approval(actor: Actor, approval_id: UUID, comment: str) -> Approval:
    """Return a pending approval that the actor may answer; one that is overdue expires here."""
    actor.require("approvals")
    if len(comment) > LONGEST_COMMENT or "\0" in comment:
        message = f"must be a text of at most {LONGEST_COMMENT} characters"
        errors = [{"path": "$.comment", "message": message}]
        raise InvalidRequest("The comment is not valid.", extra={"errors": errors})
    approval = _find(approval_id)
    if approval.status == ApprovalStatus.PENDING and approval.expires_at <= timezone.now():
        _expire(approval)
        approval = _find(approval_id)
    if approval.status != ApprovalStatus.PENDING:
        raise _closed(approval)
    return approval


def _expire(approval: Approval) -> bool:
    return close_approval(approval, ApprovalStatus.EXPIRED, actor=SYSTEM.label)


def _closed(approval: Approval) -> ServiceError:
    """Return the terminal state of an approval as an error that no loop will retry."""
    if approval.status == ApprovalStatus.EXPIRED:
        return ApprovalExpired("Nobody decided in time; ask again.", extra=_state(approval))
    by = f" by {approval.decided_by_label}" if approval.decided_by_label else ""
    return ApprovalClosed(
        f"This approval is {approval.get_status_display()}{by}.", extra=_state(approval)
    )


def _state(approval: Approval) -> dict[str, object]:
    return {
        "approval": str(approval.pk),
        "run": str(approval.run_id),
        "state": str(approval.status),
        "may_ask_again": approval.status in _REPEATABLE,
    }


def _require_another_person(actor: Actor, approval: Approval) -> bool:
    """Return whether it is the requester who approves; raises SelfApproval when they may not.

    The owner of a token counts as its requester. They may where a setting allows it, and where
    nobody else could ever answer.
    """
    requester = approval.run.user_id
    if requester is None or actor.user_id != requester:
        return False
    if settings.OPENJARVIS_ALLOW_SELF_APPROVAL or people_with("approvals") == {requester}:
        return True
    raise SelfApproval(
        "You asked for this call, yourself or by a token of yours: somebody else must approve.",
        extra=_state(approval),
    )


def _require_unchanged(approval: Approval) -> None:
    """Refuse what would not run as it was shown, before it is approved."""
    run = approval.run
    active_agent(run.agent)
    freeze = freezes.freeze_over(agent=run.agent, tool=run.tool_name)
    if freeze is not None:
        raise freezes.frozen_error(freeze)
    if present_binding(approval) != approval.binding:
        close_approval(approval, ApprovalStatus.SUPERSEDED, actor=SYSTEM.label)
        raise ApprovalMismatch(
            "The policy or the tool changed since this was asked; ask again.",
            extra=_state(approval),
        )
    require_caller(run, timezone.now())


def _queue(approval: Approval, actor: Actor, is_own: bool) -> None:
    """Queue the run of an approval that was just given, in the same transaction."""
    run = approval.run
    spender = limits.spender_of(run)
    for limit in limits.applicable_limits(spender):
        if limit.max_concurrency is not None:
            limits.require_place(limit, spender)
    queued = move_run(
        run,
        expected=RunStatus.WAITING,
        to=RunStatus.QUEUED,
        kind="run.queued",
        actor=run.actor,
        more={"approval": str(approval.pk)},
        lease_expires_at=timezone.now() + RESEND_AFTER,
    )
    if not queued:
        raise _closed(approval)
    remember(approval, actor=actor)
    facts: dict[str, object] = {"binding": approval.binding, "grant_scope": approval.grant_scope}
    if is_own:
        facts["self_approved"] = True
    record_approval("approval.decided", approval, actor=actor.label, **facts)
    wake_worker_after_commit(run)


def _requester(run: ToolRun) -> Actor:
    """Return whoever made the call, with the rights they have now."""
    if run.token is not None:
        return actor_for_token(run.token, surface=run.surface)
    if run.user is not None:
        return actor_for_user(run.user, surface=run.surface)
    return SYSTEM
