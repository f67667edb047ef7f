"""One run per idempotency key: a retry gets the first answer, fifty at once run once.

The key belongs to its caller (token or user). The unique row is the referee: whoever inserts it
runs, everybody else waits for that run and answers with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from django.db import IntegrityError

from tools_app.core import canonical_json
from tools_app.core.errors import InvalidArguments
from tools_app.models import Approval, RunStatus, ToolRun
from tools_app.services.errors import IdempotencyConflict, IdempotencyInProgress
from tools_app.services.running.answers import answer_of
from tools_app.services.running.calls import RunOutcome, RunRequest
from tools_app.services.waiting import wait_until

RETRY_AFTER_S = 1.0


def run_once(
    request: RunRequest, first: Callable[[RunRequest, Mapping[str, str]], RunOutcome]
) -> RunOutcome:
    """Answer with the run of this key; ``first`` makes it when there is none.

    ``first`` stores the given columns with its row. Raises what it raises, or the refusal the
    first request met; IdempotencyConflict when that was another request, IdempotencyInProgress
    when it has not ended within ``wait_s``.
    """
    columns = key_columns(request)
    if (earlier := _run_of(columns)) is not None:
        return _replayed(request, earlier, columns)
    try:
        return first(request, columns)
    except IntegrityError:
        earlier = _run_of(columns)
        if earlier is None:
            raise
    return _replayed(request, earlier, columns)


def key_columns(request: RunRequest) -> dict[str, str]:
    """Return the columns that tie a run to its key: whose key it is, and for which request."""
    actor = request.actor
    owner = f"token:{actor.token_id}" if actor.token_id else f"user:{actor.user_id}"
    return {
        "idempotency_scope": owner,
        "idempotency_key": request.idempotency_key,
        "request_digest": _request_digest(request),
    }


def _request_digest(request: RunRequest) -> str:
    asked = {
        "tool": request.tool_name,
        "agent": request.agent,
        "provider": request.provider,
        "model": request.model,
        "session": request.session,
        "timeout_seconds": request.timeout_seconds,
    }
    try:
        body = canonical_json({**asked, "arguments": request.arguments})
    except InvalidArguments:  # no JSON: the first request was refused, the same text will be too
        body = canonical_json(asked) + repr(request.arguments).encode("utf-8", "replace")
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def _run_of(columns: Mapping[str, str]) -> ToolRun | None:
    return (
        ToolRun.objects.select_related("decision")
        .filter(
            idempotency_scope=columns["idempotency_scope"],
            idempotency_key=columns["idempotency_key"],
        )
        .first()
    )


def _replayed(request: RunRequest, run: ToolRun, columns: Mapping[str, str]) -> RunOutcome:
    if run.request_digest != columns["request_digest"]:
        raise IdempotencyConflict(
            "This idempotency key was used for another request.", extra={"run": str(run.pk)}
        )
    run = _settled(run, 0.0 if request.respond_async else request.wait_s)
    is_answer = run.is_finished or run.status == RunStatus.WAITING or request.respond_async
    if not is_answer:
        raise IdempotencyInProgress(
            "The first request with this idempotency key has not ended yet.",
            extra={"run": str(run.pk), "retry_after": RETRY_AFTER_S},
        )
    approval = Approval.objects.filter(run=run).first()
    return answer_of(run, request.actor, approval=approval, replayed=True)


def _settled(run: ToolRun, wait_s: float) -> ToolRun:
    """Return the run when it has ended or waits for a person, or as it stands after a while."""

    def is_settled() -> bool:
        run.refresh_from_db(fields=["status"])
        return run.is_finished or run.status == RunStatus.WAITING

    wait_until(is_settled, wait_s)
    run.refresh_from_db()
    return run
