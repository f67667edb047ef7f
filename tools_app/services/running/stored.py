"""Runs whose row comes first: queued for a worker, waiting for a person, or under a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from tools_app.models import Approval, ApprovalGrant, ApprovalStatus, RunStatus, ToolRun
from tools_app.services import events, limits
from tools_app.services.access import Actor
from tools_app.services.approval_states import (
    APPROVAL_LIFETIME,
    binding_of,
    open_approval,
    record_approval,
)
from tools_app.services.queueing import RESEND_AFTER, wake_worker_after_commit
from tools_app.services.run_facts import run_data
from tools_app.services.run_states import end_run
from tools_app.services.running.answers import answer_of
from tools_app.services.running.calls import Call, RunOutcome
from tools_app.services.running.executor import execute
from tools_app.services.running.inline import status_of
from tools_app.services.running.rows import new_run, sealed_arguments, shown_arguments
from tools_app.services.waiting import wait_for_run

INLINE_LEASE_GRACE = timedelta(seconds=30)  # after its limit, a bounded run is surely over
INLINE_OWNER = "inline"


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call whose row is committed."""

    run: ToolRun
    approval: Approval | None


def store_call(call: Call, idempotency: Mapping[str, str]) -> StoredCall:
    """Store a call that was admitted: to run here, to be queued, or to wait for approval.

    Limits are taken from in the transaction that stores the row. Raises what
    :func:`limits.consume` raises, and IntegrityError when the idempotency key is taken.
    """
    status = _first_status(call)
    approval = None
    with transaction.atomic():
        if call.limits:
            cost_usd = call.known_tool.cost_estimate
            limits.consume(call.limits, call.spender, cost_usd=cost_usd, at=call.requested_at)
        run = _store(call, status, idempotency)
        if status == RunStatus.WAITING:
            approval = _ask(call, run)
        elif call.grant is not None:
            approval = _approved_by_grant(call, run, call.grant)
        if status == RunStatus.QUEUED:
            _record_queued(run, approval)
            wake_worker_after_commit(run)
    return StoredCall(run, approval)


def carry_on(call: Call, stored: StoredCall) -> RunOutcome:
    """Run a stored call here, or wait for the worker that does, and answer.

    A run that nobody finished within ``wait_s`` is answered as it stands. Raises the refusal of
    a run that was refused when a worker looked at it again.
    """
    run = stored.run
    if run.status == RunStatus.RUNNING:
        _run_here(call, run)
    elif run.status == RunStatus.QUEUED and not call.request.respond_async:
        run = wait_for_run(run.pk, call.request.wait_s)
    return answer_of(run, call.request.actor, approval=stored.approval)


def answer_now(outcome: RunOutcome, actor: Actor, wait_s: float) -> RunOutcome:
    """Wait for the run of an earlier answer and answer again."""
    if outcome.run is None:
        return outcome
    run = wait_for_run(outcome.run.pk, wait_s)
    return answer_of(run, actor, approval=outcome.approval, replayed=outcome.replayed)


def _first_status(call: Call) -> RunStatus:
    if call.must_be_asked:
        return RunStatus.WAITING
    runs_here = call.known_tool.is_bounded and not call.request.respond_async
    return RunStatus.RUNNING if runs_here and call.grant is None else RunStatus.QUEUED


def _store(call: Call, status: RunStatus, idempotency: Mapping[str, str]) -> ToolRun:
    now, arguments = timezone.now(), shown_arguments(call)
    fields: dict[str, Any] = {"cost_usd": call.known_tool.cost_estimate, **idempotency}
    if status == RunStatus.RUNNING:
        deadline_at = now + timedelta(seconds=call.timeout_s)
        fields |= {
            "started_at": now,
            "deadline_at": deadline_at,
            "lease_owner": INLINE_OWNER,
            "lease_expires_at": deadline_at + INLINE_LEASE_GRACE,
        }
    elif status == RunStatus.QUEUED:
        fields["lease_expires_at"] = now + RESEND_AFTER
    run = new_run(call, arguments, status=status, **fields)
    run.save(force_insert=True)
    sealed = sealed_arguments(call, arguments, now=now)
    if sealed is not None:
        sealed.save(force_insert=True)
    return run


def _ask(call: Call, run: ToolRun) -> Approval:
    replaces = call.request.ask_again_for
    reason = call.made_decision.summary
    if replaces is not None:
        reason = f"asked again: {reason}"
    return open_approval(run, reason=reason, now=call.requested_at, replaces=replaces)


def _approved_by_grant(call: Call, run: ToolRun, grant: ApprovalGrant) -> Approval:
    """Store the approval that a remembered one gives, so that the run shows who decided."""
    given = grant.approval
    expires_at = call.requested_at + APPROVAL_LIFETIME
    binding = binding_of(
        run,
        definition_hash=run.definition_hash,
        policy_version=run.policy_version,
        expires_at=expires_at,
    )
    approval = Approval.objects.create(
        run=run,
        status=ApprovalStatus.APPROVED,
        binding=binding,
        reason=call.made_decision.summary[:500],
        requested_at=call.requested_at,
        expires_at=expires_at,
        decided_at=call.requested_at,
        decided_by_id=given.decided_by_id,
        decided_by_label=given.decided_by_label,
        decided_via="grant",
        comment=f"remembered ({grant.get_scope_display()}) by approval {given.pk}",
        grant_scope="",
    )
    record_approval("approval.decided", approval, actor=given.decided_by_label, grant=grant.pk)
    return approval


def _run_here(call: Call, run: ToolRun) -> None:
    result = execute(str(run.pk), run.tool_name, call.checked_arguments.values)
    end_run(
        run,
        expected=RunStatus.RUNNING,
        to=status_of(result),
        result=result,
        under_lease=INLINE_OWNER,
    )
    if call.limits:
        limits.settle(run, estimate_usd=call.known_tool.cost_estimate)


def _record_queued(run: ToolRun, approval: Approval | None) -> None:
    more = {"approval": str(approval.pk)} if approval is not None else {}
    events.record_event(
        "run.queued",
        agent=run.agent,
        tool=run.tool_name,
        run_id=run.pk,
        actor=run.actor,
        data=run_data(run, **more),
    )
