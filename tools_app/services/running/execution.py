"""The worker's side: claim a queued run, execute it under supervision, store how it ended."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import structlog

from tools_app.core import ToolResult
from tools_app.models import RunStatus, ToolRun
from tools_app.services import events, limits
from tools_app.services.errors import ServiceError
from tools_app.services.run_facts import run_data
from tools_app.services.run_states import end_run
from tools_app.services.running.claiming import checked_arguments, claim_run, lease_owner
from tools_app.services.running.executor import execute
from tools_app.services.running.inline import status_of
from tools_app.services.running.supervision import SupervisedRunner

log = structlog.get_logger(__name__)


def leave_thread(run: ToolRun) -> None:
    """Leave the thread of a tool that was given up to itself, and say so."""
    log.warning("a tool that was given up still has a thread", run=str(run.pk), tool=run.tool_name)


def execute_claimed(
    run_id: UUID, *, abandon: Callable[[ToolRun], None] = leave_thread
) -> ToolRun | None:
    """Claim and execute a queued run; return it as it ended, ``None`` if it is not ours to run.

    At its deadline the run is ``timed_out``, on a cancellation or freeze ``cancelled`` within a
    second; its row and event are committed before ``abandon`` is called, which has to get rid
    of the thread that still runs the tool. Nothing is ever executed twice.
    """
    run = claim_run(run_id, owner=lease_owner())
    if run is None:
        return None
    runner = SupervisedRunner(run)
    try:
        arguments = checked_arguments(run)
    except ServiceError as error:
        end_run(
            run,
            expected=RunStatus.RUNNING,
            to=RunStatus.REFUSED,
            outcome=error.code,
            message=error.message,
            under_lease=run.lease_owner,
        )
        return run
    result = execute(str(run.pk), run.tool_name, arguments, runner=runner)
    _finish(run, result, runner.stopped_as)
    if runner.gave_up:
        abandon(run)
    return run


def _finish(run: ToolRun, result: ToolResult, stopped_as: str) -> None:
    estimate_usd = run.cost_usd
    ended = end_run(
        run,
        expected=RunStatus.RUNNING,
        to=status_of(result),
        outcome=stopped_as,
        result=result,
        under_lease=run.lease_owner,
    )
    if ended:
        limits.settle(run, estimate_usd=estimate_usd)
        return
    events.record_event(
        "run.result_dropped",
        agent=run.agent,
        tool=run.tool_name,
        run_id=run.pk,
        actor=run.actor,
        data=run_data(run, late_success=result.success),
    )
