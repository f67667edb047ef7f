"""What an approval is bound to, and how it opens, closes and is used up.

The binding is the digest of everything that changes what would run. It is computed when a person
is asked, shown to whoever answers, sent back with the answer, and computed again from the present
state when the answer comes and once more when the run starts.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from tools_app.core import canonical_json
from tools_app.models import Approval, ApprovalStatus, RunStatus, ToolRun
from tools_app.services import catalogue, events, policies
from tools_app.services.errors import ToolUnavailable, UnknownTool
from tools_app.services.run_facts import run_data
from tools_app.services.run_states import end_run

APPROVAL_LIFETIME = timedelta(minutes=10)

# What closes a waiting approval without anybody's approval: the event, and how its run ends.
_CLOSINGS = {
    ApprovalStatus.DENIED: ("approval.decided", RunStatus.REFUSED, "approval_denied"),
    ApprovalStatus.EXPIRED: ("approval.expired", RunStatus.REFUSED, "approval_expired"),
    ApprovalStatus.SUPERSEDED: ("approval.superseded", RunStatus.REFUSED, "approval_mismatch"),
    ApprovalStatus.CANCELLED: ("approval.cancelled", RunStatus.CANCELLED, "cancelled"),
}


def binding_of(
    run: ToolRun, *, definition_hash: str, policy_version: int | None, expires_at: datetime
) -> str:
    """Return ``sha256:…`` of one exact call: who, what, under which rules, until when."""
    bound = {
        "run": str(run.pk),
        "user": run.user_id,
        "token": run.token_id,
        "agent": run.agent,
        "tool": run.tool_name,
        "arguments": run.arguments_digest,
        "definition": definition_hash,
        "policy_version": policy_version,
        "timeout_s": run.timeout_s,
        "provider": run.provider,
        "model": run.model,
        "session": run.session,
        "expires_at": expires_at.isoformat(),
    }
    return f"sha256:{hashlib.sha256(canonical_json(bound)).hexdigest()}"


def present_binding(approval: Approval) -> str:
    """Return the binding as it is under the present policy and definition of the tool."""
    run = approval.run
    return binding_of(
        run,
        definition_hash=_present_definition(run.tool_name),
        policy_version=policies.current_version().number,
        expires_at=approval.expires_at,
    )


def _present_definition(tool_name: str) -> str:
    try:
        return catalogue.find_tool(tool_name).definition_hash
    except (UnknownTool, ToolUnavailable):
        return ""  # equals no definition, so that what was asked for it is void


def open_approval(
    run: ToolRun, *, reason: str, now: datetime, replaces: Approval | None = None
) -> Approval:
    """Ask for a stored run, in the caller's transaction, and record that it was asked."""
    expires_at = now + APPROVAL_LIFETIME
    binding = binding_of(
        run,
        definition_hash=run.definition_hash,
        policy_version=run.policy_version,
        expires_at=expires_at,
    )
    approval = Approval.objects.create(
        run=run,
        binding=binding,
        reason=reason[:500],
        requested_at=now,
        expires_at=expires_at,
        replaces=replaces,
    )
    record_approval("approval.requested", approval, actor=run.actor)
    return approval


def close_approval(
    approval: Approval,
    to: ApprovalStatus,
    *,
    actor: str,
    user_id: int | None = None,
    via: str = "",
    comment: str = "",
    outcome: str = "",
) -> bool:
    """Close a pending approval without approving it and end its run; False when it is closed.

    ``outcome`` replaces the usual one of the run, such as ``frozen``.
    """
    kind, run_status, usual_outcome = _CLOSINGS[to]
    fields = {
        "status": to,
        "decided_at": timezone.now(),
        "decided_by_id": user_id,
        "decided_by_label": actor,
        "decided_via": via,
        "comment": comment[:1000],
    }
    with transaction.atomic():
        if not set_if_pending(approval, fields):
            return False
        end_run(
            approval.run,
            expected=RunStatus.WAITING,
            to=run_status,
            outcome=outcome or usual_outcome,
            message=comment or _SENTENCES[to],
            actor=actor,
            more={"approval": str(approval.pk)},
        )
        record_approval(kind, approval, actor=actor)
    return True


def set_if_pending(approval: Approval, fields: dict[str, object]) -> bool:
    """Set ``fields`` on row and object if the row is still pending and its binding the same."""
    row = Approval.objects.filter(
        pk=approval.pk, status=ApprovalStatus.PENDING, binding=approval.binding
    )
    if not row.update(**fields):
        return False
    for name, value in fields.items():
        setattr(approval, name, value)
    return True


def consume_approval(approval: Approval, *, now: datetime) -> bool:
    """Use up an approved approval in the transaction that starts its run; False if it cannot.

    It is single use, and void when the policy or the tool's definition changed meanwhile.
    """
    if present_binding(approval) != approval.binding:
        return False
    row = Approval.objects.filter(
        pk=approval.pk, status=ApprovalStatus.APPROVED, consumed_at=None, binding=approval.binding
    )
    return bool(row.update(consumed_at=now))


def void_approval(approval: Approval) -> None:
    """Close an approval that was given but does not fit any more, and refuse its run."""
    row = Approval.objects.filter(pk=approval.pk, status=ApprovalStatus.APPROVED, consumed_at=None)
    with transaction.atomic():
        if not row.update(status=ApprovalStatus.SUPERSEDED):
            return
        approval.status = ApprovalStatus.SUPERSEDED
        end_run(
            approval.run,
            expected=RunStatus.QUEUED,
            to=RunStatus.REFUSED,
            outcome="approval_mismatch",
            message=_SENTENCES[ApprovalStatus.SUPERSEDED],
            more={"approval": str(approval.pk)},
        )
        record_approval("approval.superseded", approval, actor="system")


def record_approval(kind: str, approval: Approval, *, actor: str, **more: object) -> None:
    """Record an event about an approval; its data shows the run and the approval."""
    run = approval.run
    facts = {
        "approval": str(approval.pk),
        "approval_status": str(approval.status),
        "expires_at": approval.expires_at.isoformat(),
        "decided_by": approval.decided_by_label,
        "decided_via": approval.decided_via,
        "comment": approval.comment,
    }
    events.record_event(
        kind,
        agent=run.agent,
        tool=run.tool_name,
        run_id=run.pk,
        actor=actor,
        data=run_data(run, **facts, **more),
    )


_SENTENCES = {
    ApprovalStatus.DENIED: "The call was denied.",
    ApprovalStatus.EXPIRED: "Nobody decided in time.",
    ApprovalStatus.SUPERSEDED: "The policy or the tool changed since this was asked.",
    ApprovalStatus.CANCELLED: "The call was cancelled.",
}
