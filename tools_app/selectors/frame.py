"""What the frame around every page shows, by one query."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from tools_app.models import Approval, ApprovalStatus, Event, Freeze
from tools_app.services.freezes import active_freezes


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """``freezes`` are the active ones, the one that ends first leading."""

    approvals_waiting: int
    freezes: list[Freeze]
    latest_seq: int


def frame_facts() -> FrameFacts:
    """Read waiting approvals, active freezes and the number of the newest event."""
    now = timezone.now()
    pending = Approval.objects.filter(status=ApprovalStatus.PENDING, expires_at__gt=now)
    counted = pending.order_by().values("status").annotate(n=Count("pk")).values("n")
    # Both facts hang on the newest event: where there is none, nothing can wait yet.
    row = (
        Event.objects.order_by("-seq")
        .annotate(waiting=Coalesce(Subquery(counted), Value(0)))
        .values("seq", "waiting")
        .first()
    )
    return FrameFacts(
        approvals_waiting=row["waiting"] if row else 0,
        freezes=sorted(active_freezes(at=now), key=lambda freeze: freeze.expires_at),
        latest_seq=row["seq"] if row else 0,
    )
