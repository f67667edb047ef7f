"""How a stored run changes its status: one function, conditional on the status it had.

Whoever loses the race (two workers, a cancel and an end) changes nothing and is told so.
Row locks are always taken in the order approval, run, log: a transaction that holds the log's
lock never waits for another row.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from tools_app.core import ToolResult
from tools_app.models import RunStatus, ToolRun
from tools_app.services import events
from tools_app.services.run_facts import run_data
from tools_app.services.run_results import stored_result
from tools_app.services.sealing import seal_content

LONGEST_MESSAGE = 1000  # characters of a failed result that its run repeats as its message

OUTCOME_OF_STATUS = {
    RunStatus.SUCCEEDED: "succeeded",
    RunStatus.FAILED: "tool_failed",
    RunStatus.TIMED_OUT: "timed_out",
    RunStatus.CANCELLED: "cancelled",
    RunStatus.INTERRUPTED: "interrupted",
}


def move_run(
    run: ToolRun,
    *,
    expected: RunStatus,
    to: RunStatus,
    kind: str,
    actor: str = "",
    under_lease: str | None = None,
    more: dict[str, object] | None = None,
    **fields: Any,
) -> bool:
    """Move ``run`` from ``expected`` to ``to``, set ``fields``, record the event ``kind``.

    Return False, with nothing changed, when it is not in that status any more or, with
    ``under_lease``, not under the lease of that owner. ``more`` is added to the event's data.
    On success the given object carries the new values.
    """
    row = ToolRun.objects.filter(pk=run.pk, status=expected)
    if under_lease is not None:
        row = row.filter(lease_owner=under_lease)
    with transaction.atomic():
        if not row.update(status=to, **fields):
            return False
        for name, value in {"status": str(to), **fields}.items():
            setattr(run, name, value)
        events.record_event(
            kind,
            agent=run.agent,
            tool=run.tool_name,
            run_id=run.pk,
            actor=actor or run.actor,
            data=run_data(run, **(more or {})),
        )
    return True


def end_run(
    run: ToolRun,
    *,
    expected: RunStatus,
    to: RunStatus,
    outcome: str = "",
    message: str = "",
    result: ToolResult | None = None,
    under_lease: str | None = None,
    actor: str = "",
    more: dict[str, object] | None = None,
    at: datetime | None = None,
) -> bool:
    """Give ``run`` its final status, with a result if there is one, and record the event.

    A run refused after it was stored gets ``run.refused``, every other one ``run.finished``,
    an interrupted one ``run.interrupted``.
    """
    now = at or timezone.now()
    fields: dict[str, Any] = {
        "outcome": outcome or OUTCOME_OF_STATUS[to],
        "message": message,
        "finished_at": now,
        "lease_expires_at": None,
    }
    if result is not None:
        fields["duration_ms"] = round(result.latency_seconds * 1000, 3)
    elif run.started_at is not None:
        fields["duration_ms"] = round((now - run.started_at).total_seconds() * 1000, 3)
    stored = None if result is None else stored_result(result)
    if stored is not None:
        fields |= stored.fields
        if not message and not stored.fields["success"]:
            fields["message"] = stored.fields["content"][:LONGEST_MESSAGE]
    with transaction.atomic():
        moved = move_run(
            run,
            expected=expected,
            to=to,
            kind=_KIND_OF_END.get(to, "run.finished"),
            actor=actor,
            under_lease=under_lease,
            more=more,
            **fields,
        )
        if moved and stored is not None and stored.true_content is not None:
            seal_content(run, stored.true_content, now=now)
    return moved


_KIND_OF_END = {RunStatus.REFUSED: "run.refused", RunStatus.INTERRUPTED: "run.interrupted"}
