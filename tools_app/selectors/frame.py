"""What the frame around every page shows, by one query."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, Subquery, Value
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
    newest = Subquery(Event.objects.order_by("-seq").values("seq")[:1])
    facts = Approval.objects.filter(status=ApprovalStatus.PENDING).aggregate(
        waiting=Count("pk", filter=Q(expires_at__gt=now)), newest=Coalesce(newest, Value(0))
    )
    return FrameFacts(
        approvals_waiting=facts["waiting"],
        freezes=sorted(active_freezes(at=now), key=lambda freeze: freeze.expires_at),
        latest_seq=facts["newest"],
    )
