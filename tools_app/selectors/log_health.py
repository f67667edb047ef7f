"""Whether the event log is whole and still being sealed; the overview warns when it is not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from tools_app.models import Event, EventSeal

SEALED_WITHIN = timedelta(minutes=15)  # housekeeping seals what waits for a minute


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHealth:
    """``gap`` is the newest event that says the log was changed.

    ``unsealed_since`` is the time of the oldest event that should have been sealed by now.
    """

    gap: Event | None
    unsealed_since: datetime | None

    @property
    def is_good(self) -> bool:
        """Whether there is nothing to warn about."""
        return self.gap is None and self.unsealed_since is None


def log_health(*, now: datetime | None = None) -> LogHealth:
    """Look at the newest gap and the oldest unsealed event: three queries at most."""
    gap = Event.objects.filter(kind="log.gap").order_by("-seq").first()
    newest = EventSeal.objects.order_by("-last_seq").values_list("last_seq", flat=True).first()
    unsealed = Event.objects.filter(seq__gt=newest or 0).exclude(kind="log.sealed")
    oldest = unsealed.order_by("seq").values_list("at", flat=True).first()
    late = oldest is not None and oldest < (now or timezone.now()) - SEALED_WITHIN
    return LogHealth(gap=gap, unsealed_since=oldest if late else None)
