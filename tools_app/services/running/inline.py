"""Running a bounded tool in the caller's thread: one executor call, one record."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from tools_app.core import ToolResult
from tools_app.models import RunStatus, ToolRun
from tools_app.services import limits, recording
from tools_app.services.run_results import stored_result
from tools_app.services.run_states import LONGEST_MESSAGE, OUTCOME_OF_STATUS
from tools_app.services.running.calls import Call, RunOutcome
from tools_app.services.running.executor import execute
from tools_app.services.running.rows import new_run, sealed_arguments, shown_arguments

STATUS_OF_ERROR = {"tool_timeout": RunStatus.TIMED_OUT, "tool_cancelled": RunStatus.CANCELLED}


def take_from_limits(call: Call) -> None:
    """Count a call that will run here, in a transaction of its own; raises as ``consume``."""
    if call.limits:
        cost_usd = call.known_tool.cost_estimate
        limits.consume(call.limits, call.spender, cost_usd=cost_usd, at=call.requested_at)


def run_inline(call: Call) -> RunOutcome:
    """Run a call that was admitted and counted; nothing of it is stored before it ends."""
    tool = call.known_tool
    started_at = timezone.now()
    result = execute(str(call.run_id), tool.name, call.checked_arguments.values)
    run = _record(call, result, started_at)
    if call.limits:
        limits.settle(run, estimate_usd=tool.cost_estimate)
    return RunOutcome(run=run, decision=call.made_decision, result=result)


def status_of(result: ToolResult) -> RunStatus:
    """Return the final status that a result stands for."""
    if result.success:
        return RunStatus.SUCCEEDED
    return STATUS_OF_ERROR.get(result.error_code or "", RunStatus.FAILED)


def _record(call: Call, result: ToolResult, started_at: datetime) -> ToolRun:
    stored, arguments, now = stored_result(result), shown_arguments(call), timezone.now()
    status = status_of(result)
    run = new_run(
        call,
        arguments,
        status=status,
        outcome=OUTCOME_OF_STATUS[status],
        message="" if result.success else stored.fields["content"][:LONGEST_MESSAGE],
        started_at=started_at,
        finished_at=now,
        duration_ms=round(result.latency_seconds * 1000, 3),
        **stored.fields,
    )
    sealed = sealed_arguments(call, arguments, now=now, content=stored.true_content)
    recording.store(recording.Record(run, "run.finished", sealed=sealed))
    return run
