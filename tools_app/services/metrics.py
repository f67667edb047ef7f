"""Our own few Prometheus series.

What several processes change (runs, approvals, the log) is read from the database when it is
asked for, so it does not matter which web process answers. What belongs to one process (time per
call, open streams) is counted in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from tools_app.models import OPEN_STATUSES, Approval, ApprovalStatus, ToolRun
from tools_app.services.events import latest_seq
from tools_app.services.freezes import active_freezes

REGISTRY = CollectorRegistry()
CALLS = Counter(
    "openjarvis_calls", "Calls to execute in this process, by answer.", ["code"], registry=REGISTRY
)
CALL_SECONDS = Histogram(
    "openjarvis_call_seconds",
    "Time to answer a call to execute in this process.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
    registry=REGISTRY,
)
LIVE_STREAMS = Gauge(
    "openjarvis_live_streams", "Event streams open in this process.", registry=REGISTRY
)
LIVE_EVENTS_DROPPED = Counter(
    "openjarvis_live_events_dropped",
    "Events dropped from the queues of streams that read too slowly; each is told to resync.",
    registry=REGISTRY,
)


def count_call(status: int, seconds: float) -> None:
    """Count one answer of execute."""
    CALLS.labels(status).inc()
    CALL_SECONDS.observe(seconds)


class StoredFigures(Collector):
    """Figures of the whole installation, read from the database at each scrape."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        runs = GaugeMetricFamily("openjarvis_open_runs", "Runs not ended.", labels=["status"])
        counts = dict.fromkeys(OPEN_STATUSES, 0)
        rows = ToolRun.objects.filter(status__in=OPEN_STATUSES).order_by()
        counts.update(rows.values_list("status").annotate(count=Count("id")))
        for status, count in counts.items():
            runs.add_metric([str(status)], count)
        yield runs
        pending = Approval.objects.filter(status=ApprovalStatus.PENDING).count()
        yield GaugeMetricFamily(
            "openjarvis_pending_approvals", "Calls that wait for a person.", value=pending
        )
        yield GaugeMetricFamily(
            "openjarvis_active_freezes", "Freezes in force.", value=len(active_freezes())
        )
        yield GaugeMetricFamily(
            "openjarvis_event_seq", "Number of the newest event.", value=latest_seq()
        )


REGISTRY.register(StoredFigures())


def exposition() -> bytes:
    """Return all series in the text format of Prometheus."""
    return generate_latest(REGISTRY)
