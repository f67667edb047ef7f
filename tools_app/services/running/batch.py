"""Many calls in one request, each with an outcome of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from tools_app.services.errors import InvalidRequest, ServiceError
from tools_app.services.running.calls import RunOutcome, RunRequest
from tools_app.services.running.entrance import run_tool
from tools_app.services.running.stored import answer_now

MAX_BATCH = 50


def run_batch(requests: Sequence[RunRequest]) -> list[RunOutcome | ServiceError]:
    """Run up to ``MAX_BATCH`` calls and return what became of each, in order.

    Calls that a worker runs are queued together and then waited for together, no longer than the
    longest ``wait_s``. Raises InvalidRequest for an empty batch and for one that is too large.
    """
    if not 1 <= len(requests) <= MAX_BATCH:
        message = f"A batch has 1 to {MAX_BATCH} calls."
        raise InvalidRequest(message, extra={"errors": [{"path": "$", "message": message}]})
    end = time.monotonic() + max(request.wait_s for request in requests)
    outcomes = [_started(request) for request in requests]
    return [_ended(*pair, end) for pair in zip(requests, outcomes, strict=True)]


def _started(request: RunRequest) -> RunOutcome | ServiceError:
    """Start a call without waiting for a worker."""
    try:
        return run_tool(replace(request, wait_s=0.0))
    except ServiceError as error:
        return error


def _ended(
    request: RunRequest, outcome: RunOutcome | ServiceError, end: float
) -> RunOutcome | ServiceError:
    """Wait for a call that was queued, as long as the batch may still take."""
    if isinstance(outcome, ServiceError) or outcome.run is None or request.respond_async:
        return outcome
    if outcome.run.is_finished or outcome.approval is not None:
        return outcome
    try:
        return answer_now(outcome, request.actor, max(0.0, end - time.monotonic()))
    except ServiceError as error:
        return error
