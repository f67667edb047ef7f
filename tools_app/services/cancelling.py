"""Stopping runs that are open: by a person, or by a freeze."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from tools_app.models import Approval, ApprovalStatus, RunStatus, ToolRun
from tools_app.services import events
from tools_app.services.access import ADMIN, Actor
from tools_app.services.approval_states import close_approval
from tools_app.services.errors import Conflict, NotFound
from tools_app.services.run_facts import run_data
from tools_app.services.run_states import end_run
from tools_app.services.sealing import is_own_run


def cancel_run(*, actor: Actor, run_id: UUID, reason: str = "") -> ToolRun:
    """Cancel an open run and return it; a running one ends within a second.

    A token cancels its own runs and, when bound to an agent, that agent's. Raises NotFound, or
    Conflict when the run has ended.
    """
    actor.require_any("tools:execute", "approvals")
    run = ToolRun.objects.select_related("decision").filter(pk=run_id).first()
    if run is None or not _may_cancel(actor, run):
        raise NotFound("There is no such run.")
    if not stop_run(run, outcome="cancelled", reason=reason or "cancelled", actor=actor.label):
        run.refresh_from_db()
        raise Conflict(
            f"The run has ended already: {run.get_status_display()}.", extra={"run": str(run.pk)}
        )
    run.refresh_from_db()
    return run


def stop_run(run: ToolRun, *, outcome: str, reason: str, actor: str) -> bool:
    """Stop an open run whatever its status; False when it has ended.

    What waits or is queued ends here. A running one is marked; the process that supervises it
    sees the mark, ends it and gives it ``outcome``.
    """
    # In the order a run moves, so that one which moves on meanwhile is met at its next status.
    stop = {"outcome": outcome, "reason": reason, "actor": actor}
    return _stop_waiting(run, **stop) or _stop_queued(run, **stop) or _stop_running(run, **stop)


def _stop_waiting(run: ToolRun, *, outcome: str, reason: str, actor: str) -> bool:
    approval = Approval.objects.filter(run_id=run.pk, status=ApprovalStatus.PENDING).first()
    if approval is None:
        return False
    approval.run = run
    return close_approval(
        approval, ApprovalStatus.CANCELLED, actor=actor, comment=reason, outcome=outcome
    )


def _stop_queued(run: ToolRun, *, outcome: str, reason: str, actor: str) -> bool:
    return end_run(
        run,
        expected=RunStatus.QUEUED,
        to=RunStatus.CANCELLED,
        outcome=outcome,
        message=reason,
        actor=actor,
    )


def _stop_running(run: ToolRun, *, outcome: str, reason: str, actor: str) -> bool:
    running = ToolRun.objects.filter(pk=run.pk, status=RunStatus.RUNNING)
    with transaction.atomic():
        marked = running.filter(cancel_requested_at=None).update(
            cancel_requested_at=timezone.now(), cancel_reason=reason[:200], outcome=outcome
        )
        if marked:
            run.status, run.outcome = RunStatus.RUNNING, outcome
            events.record_event(
                "run.cancel_requested",
                agent=run.agent,
                tool=run.tool_name,
                run_id=run.pk,
                actor=actor,
                data=run_data(run, reason=reason),
            )
    return bool(marked) or running.exists()


def _may_cancel(actor: Actor, run: ToolRun) -> bool:
    if actor.token_id is None or actor.has(ADMIN):
        return True
    return is_own_run(run, actor) or bool(actor.agent and run.agent == actor.agent)
