"""What must happen although nobody asks for it: the tick, every few seconds.

Everything here may run late or twice, in several processes at once: each step changes rows only
on condition, and whoever reads in between compares the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from tools_app.models import (
    FINAL_STATUSES,
    ApprovalGrant,
    LimitUse,
    RunStatus,
    SealedPayload,
    ToolRun,
    WsTicket,
)
from tools_app.services import approvals, freezes
from tools_app.services.queueing import HARD_LIMIT_GRACE_S, RESEND_AFTER, wake_worker
from tools_app.services.run_states import end_run
from tools_app.services.sealing_log import purge_events_before, seal_log

log = structlog.get_logger(__name__)

PURGE_CHUNK = 1000  # rows in one DELETE: other writers must get their turn
LIMIT_USE_KEPT = timedelta(days=2)  # after its window: for whoever looks at yesterday's use
# Past its deadline by this much, a run has lost its supervisor: the hard limit has struck.
OVERDUE_AFTER = timedelta(seconds=2 * HARD_LIMIT_GRACE_S)
TICKET_KEPT = timedelta(hours=1)


def tick() -> dict[str, int]:
    """Do everything that is due; return what was done as {step: count}.

    A step that fails is logged and does not keep the others from running.
    """
    return {name: _guarded(name, step) for name, step in STEPS.items()}


def resend_queued() -> int:
    """Wake a worker again for runs that were queued and that nobody claimed in time."""
    now = timezone.now()
    overdue = ToolRun.objects.filter(status=RunStatus.QUEUED, lease_expires_at__lte=now)
    sent = 0
    for run in overdue.order_by("lease_expires_at")[:PURGE_CHUNK]:
        # The condition on the old time lets one of several ticks send it.
        mine = overdue.filter(pk=run.pk, lease_expires_at=run.lease_expires_at)
        if mine.update(lease_expires_at=now + RESEND_AFTER):
            wake_worker(run.pk, run.timeout_s)
            sent += 1
    return sent


def end_abandoned() -> int:
    """End runs whose worker died: past their deadline they timed out, else were interrupted.

    They are not run again: what the tool did before it died is unknown.
    """
    now = timezone.now()
    dead = ToolRun.objects.filter(status=RunStatus.RUNNING).filter(
        Q(lease_expires_at__lte=now) | Q(deadline_at__lte=now - OVERDUE_AFTER)
    )
    return sum(_end_abandoned(run) for run in dead.select_related("decision"))


def enforce_freezes() -> int:
    """Stop what slipped past a freeze, such as a run that was being stored when it began."""
    return sum(freezes.enforce(freeze) for freeze in freezes.active_freezes())


def purge() -> int:
    """Delete what is past its time: sealed values, tickets, counters, old runs."""
    now = timezone.now()
    deleted = SealedPayload.objects.filter(expires_at__lte=now).delete()[0]
    deleted += WsTicket.objects.filter(expires_at__lte=now - TICKET_KEPT).delete()[0]
    retention = timedelta(days=settings.OPENJARVIS_RUN_RETENTION_DAYS)
    deleted += purge_events_before(now - retention)
    return deleted + _purge_limit_uses(now) + _purge_runs(now - retention)


def _end_abandoned(run: ToolRun) -> bool:
    timed_out = run.deadline_at is not None and run.deadline_at <= timezone.now()
    return end_run(
        run,
        expected=RunStatus.RUNNING,
        to=RunStatus.TIMED_OUT if timed_out else RunStatus.INTERRUPTED,
        message=(
            f"timed out after {run.timeout_s:g} s"
            if timed_out
            else "The process that ran this tool died; it is not known how far it came."
        ),
        under_lease=run.lease_owner,
        actor="system",
    )


def _purge_limit_uses(now: datetime) -> int:
    deleted = 0
    for window_s in LimitUse.objects.values_list("limit__window_s", flat=True).distinct():
        before = now - timedelta(seconds=window_s) - LIMIT_USE_KEPT
        old = LimitUse.objects.filter(limit__window_s=window_s, window_start__lt=before)
        deleted += old.delete()[0]
    return deleted


def _purge_runs(before: datetime) -> int:
    """Delete a chunk of finished runs past their retention, but none a grant refers to."""
    remembered = ApprovalGrant.objects.filter(approval__run=OuterRef("pk"))
    old = ToolRun.objects.filter(
        ~Exists(remembered), status__in=FINAL_STATUSES, requested_at__lt=before
    )
    ids = list(old.order_by("pk").values_list("pk", flat=True)[:PURGE_CHUNK])
    return ToolRun.objects.filter(pk__in=ids).delete()[0] if ids else 0


def _guarded(name: str, step: Callable[[], int]) -> int:
    try:
        return step()
    except Exception:
        log.exception("a step of housekeeping failed", step=name)
        return 0


STEPS: dict[str, Callable[[], int]] = {
    "resent": resend_queued,
    "abandoned_ended": end_abandoned,
    "approvals_expired": approvals.expire_due,
    "freezes_expired": freezes.expire_due,
    "stopped_by_freeze": enforce_freezes,
    "log_sealed": seal_log,
    "purged": purge,
}
