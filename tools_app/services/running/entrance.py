"""The entrance: from a request to its answer."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import DatabaseError

from tools_app.services.errors import ServiceError
from tools_app.services.running.admission import admit
from tools_app.services.running.calls import Call, RunOutcome, RunRequest
from tools_app.services.running.idempotency import run_once
from tools_app.services.running.inline import run_inline, take_from_limits
from tools_app.services.running.refusals import record_refusal, unexpected
from tools_app.services.running.stored import StoredCall, carry_on, store_call
from tools_app.services.running.trying import dry_run


def run_tool(request: RunRequest) -> RunOutcome:
    """Run a tool, or ask for approval, or hand the run to a worker.

    Raises a ServiceError when the call is refused; ``extra`` then has ``run`` and, once it was
    decided, ``decision``. A tool that fails is no error: its result has ``success=False``.
    Events: run.finished or run.refused; before them run.queued and run.started when a worker
    runs it, approval.requested when a person is asked.
    """
    if request.dry_run:
        return dry_run(request)
    if request.idempotency_key:
        return run_once(request, _first_time)
    return _first_time(request, {})


def _first_time(request: RunRequest, idempotency: Mapping[str, str]) -> RunOutcome:
    call = Call(request=request)
    stored: StoredCall | None = None
    try:
        _admit(call)
        if _runs_inline(call):
            take_from_limits(call)
        else:
            stored = store_call(call, idempotency)
    except ServiceError as error:
        record_refusal(call, error, idempotency)
        raise
    return run_inline(call) if stored is None else carry_on(call, stored)


def _admit(call: Call) -> None:
    """Take the call through steps 1 to 4; a bug in one of them refuses the call."""
    try:
        admit(call)
    except (ServiceError, DatabaseError):
        raise
    except Exception as error:
        raise unexpected(error, call) from error


def _runs_inline(call: Call) -> bool:
    """Whether nothing needs a row before the tool runs: the quick way, one record at the end."""
    request = call.request
    return (
        call.known_tool.is_bounded
        and not request.respond_async
        and not request.idempotency_key
        and not call.must_be_asked
        and call.grant is None
        and all(limit.max_concurrency is None for limit in call.limits)
    )
