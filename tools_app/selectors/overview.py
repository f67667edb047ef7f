"""What needs a person now, and how much traffic there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection
from django.db.models import Count, Max, Window
from django.utils import timezone

from tools_app.models import Approval, ApprovalStatus, Freeze, RunStatus, ToolRun
from tools_app.models.identifiers import first_uuid_at
from tools_app.selectors.log_health import LogHealth, log_health
from tools_app.services.access import Actor
from tools_app.services.freezes import active_freezes

SHOWN = 5
FAILURES_OF = timedelta(hours=1)
FAILED = (RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.INTERRUPTED)
# Name of a window → (its length, the width of one point), in seconds.
WINDOWS: Mapping[str, tuple[int, int]] = {"1h": (3600, 60), "24h": (86400, 900)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingTool:
    """Runs of one tool that failed within the last hour."""

    tool_name: str
    status: str
    count: int
    last_run_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsAttention:
    """``approvals`` and ``freezes`` are the most urgent few; the counts are of all."""

    approvals: Sequence[Approval]
    approval_count: int
    freezes: list[Freeze]
    freeze_count: int
    failures: list[FailingTool]
    log: LogHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficPoint:
    """Calls that were requested in one interval from ``at`` on.

    ``errors`` are failed, timed-out and interrupted runs. ``p95_ms`` is the 95th percentile of
    the durations of those that ran (nearest rank), ``None`` when none did.
    """

    at: datetime
    calls: int
    errors: int
    refused: int
    p95_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Points of equal width (seconds), oldest first, without a gap."""

    window: str
    width_s: int
    points: tuple[TrafficPoint, ...]

    @property
    def calls(self) -> int:
        """All calls of the window."""
        return sum(point.calls for point in self.points)

    @property
    def errors(self) -> int:
        """All errors of the window."""
        return sum(point.errors for point in self.points)

    @property
    def refused(self) -> int:
        """All refusals of the window."""
        return sum(point.refused for point in self.points)


def needs_attention(actor: Actor) -> NeedsAttention:
    """Return what waits for a person: approvals, freezes, failing tools, a broken log."""
    actor.require("tools:read")
    now = timezone.now()
    waiting = Approval.objects.filter(status=ApprovalStatus.PENDING, expires_at__gt=now)
    urgent = waiting.select_related("run").defer("run__content").order_by("expires_at")
    approvals = list(urgent.annotate(total=Window(Count("pk")))[:SHOWN])
    freezes = sorted(active_freezes(at=now), key=lambda freeze: freeze.expires_at)
    return NeedsAttention(
        approvals=approvals,
        approval_count=approvals[0].total if approvals else 0,
        freezes=freezes[:SHOWN],
        freeze_count=len(freezes),
        failures=_failures(now),
        log=log_health(now=now),
    )


def traffic(window: str = "1h", *, now: datetime | None = None) -> Traffic:
    """Return calls, errors and latency over the window, ``1h`` or ``24h``, by one query."""
    length_s, width_s = WINDOWS[window]
    last = int((now or timezone.now()).timestamp()) // width_s
    first = last - length_s // width_s + 1
    since = datetime.fromtimestamp(first * width_s, UTC)
    rows = _traffic_rows(width_s, since)
    return Traffic(
        window=window,
        width_s=width_s,
        points=tuple(
            _point(bucket * width_s, rows.get(bucket)) for bucket in range(first, last + 1)
        ),
    )


def _failures(now: datetime) -> list[FailingTool]:
    rows = (
        ToolRun.objects.filter(status__in=FAILED, id__gte=first_uuid_at(now - FAILURES_OF))
        .order_by()
        .values("tool_name", "status")
        .annotate(count=Count("pk"), last_run_at=Max("requested_at"))
        .order_by("-count", "tool_name")
    )
    return [FailingTool(**row) for row in rows[:SHOWN]]


Row = tuple[int, int, int, float | None]  # calls, errors, refused, p95 in ms


def _point(epoch_s: int, row: Row | None) -> TrafficPoint:
    calls, errors, refused, p95_ms = row or (0, 0, 0, None)
    at = datetime.fromtimestamp(epoch_s, UTC)
    return TrafficPoint(at=at, calls=calls, errors=errors, refused=refused, p95_ms=p95_ms)


# Everything it reads is in the index run_traffic. Durations are ranked within their interval,
# those that are missing last; the 95th percentile is the one at rank ⌈0.95 n⌉.
_TRAFFIC = """
WITH recent AS (
    SELECT {bucket} AS bucket, status,
           CASE WHEN status <> 'refused' THEN duration_ms END AS ms
    FROM tools_app_toolrun WHERE requested_at >= %s
), ranked AS (
    SELECT bucket, status, ms,
           ROW_NUMBER() OVER (PARTITION BY bucket ORDER BY ms IS NULL, ms) AS rank,
           COUNT(ms) OVER (PARTITION BY bucket) AS measured
    FROM recent
)
SELECT bucket, COUNT(*),
       SUM(CASE WHEN status IN ('failed', 'timed_out', 'interrupted') THEN 1 ELSE 0 END),
       SUM(CASE WHEN status = 'refused' THEN 1 ELSE 0 END),
       MAX(CASE WHEN rank <= (measured * 95 + 99) / 100 THEN ms END)
FROM ranked GROUP BY bucket
"""
_BUCKETS = {
    "sqlite": "CAST(strftime('%%s', requested_at) AS INTEGER) / %s",
    "postgresql": "CAST(FLOOR(EXTRACT(EPOCH FROM requested_at) / %s) AS BIGINT)",
}


def _traffic_rows(width_s: int, since: datetime) -> dict[int, Row]:
    sql = _TRAFFIC.format(bucket=_BUCKETS[connection.vendor])
    with connection.cursor() as cursor:
        cursor.execute(sql, [width_s, connection.ops.adapt_datetimefield_value(since)])
        return {bucket: tuple(row) for bucket, *row in cursor.fetchall()}
