"""A refused call is a run as well: its row and its event come before the error leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from django.utils import timezone

from tools_app.models import RunStatus, ToolRun
from tools_app.services import errors, recording
from tools_app.services.errors import ServiceError
from tools_app.services.running.calls import Call
from tools_app.services.running.rows import new_run, refused_arguments
from tools_app.services.storable import storable_json, storable_text

log = structlog.get_logger(__name__)

_KEPT = ("fix", "errors", "freeze")  # of an error's extra; a replay answers with them again
REFUSALS: dict[str, type[ServiceError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ServiceError)
}


def record_refusal(call: Call, error: ServiceError, idempotency: Mapping[str, str]) -> ToolRun:
    """Store the refused run and ``run.refused``, and complete the error with the ids.

    ``idempotency`` holds the columns that tie the run to its key. A refusal that may pass when
    the call comes again does not take the key: it would answer for ever.
    """
    now = timezone.now()
    kept = {name: error.extra[name] for name in _KEPT if name in error.extra}
    run = new_run(
        call,
        refused_arguments(call),
        status=RunStatus.REFUSED,
        outcome=error.code,
        message=storable_text(error.message),
        result_metadata={"problem": storable_json(kept)} if kept else {},
        finished_at=now,
        duration_ms=0.0,
        **({} if error.retryable else idempotency),
    )
    recording.store(recording.Record(run, "run.refused", freeze_id=call.freeze_id))
    complete_refusal(error, run)
    return run


def complete_refusal(error: ServiceError, run: ToolRun) -> None:
    """Put the ids of run and decision into the error."""
    error.extra.setdefault("run", str(run.pk))
    if run.decision_id is not None:
        error.extra.setdefault("decision", str(run.decision_id))


def refusal_of(run: ToolRun) -> ServiceError:
    """Return the error that a refused run was answered with, to answer the same again."""
    kind = REFUSALS.get(run.outcome, ServiceError)
    problem: dict[str, Any] = run.result_metadata.get("problem", {})
    error = kind(run.message, extra=problem)
    complete_refusal(error, run)
    return error


def unexpected(error: Exception, call: Call) -> ServiceError:
    """Return the refusal that stands for a bug on our side: closed, logged, without details."""
    log.error("a call could not be admitted", exc_info=error, tool=call.request.tool_name[:200])
    return errors.InternalError("Something went wrong on our side; the call was refused.")
