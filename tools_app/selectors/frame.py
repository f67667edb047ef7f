"""What the frame around every page shows, in as few queries as it has facts."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Max
from django.utils import timezone

from tools_app.models import Approval, ApprovalStatus, Event, Freeze


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """``freezes`` are the active ones, the one that ends first leading."""

    approvals_waiting: int
    freezes: list[Freeze]
    latest_seq: int


def frame_facts() -> FrameFacts:
    """Read waiting approvals, active freezes and the newest event: three queries."""
    now = timezone.now()
    waiting = Approval.objects.filter(status=ApprovalStatus.PENDING, expires_at__gt=now).count()
    active = Freeze.objects.filter(ended_at__isnull=True, expires_at__gt=now)
    return FrameFacts(
        approvals_waiting=waiting,
        freezes=list(active.order_by("expires_at")),
        latest_seq=Event.objects.aggregate(newest=Max("seq"))["newest"] or 0,
    )
