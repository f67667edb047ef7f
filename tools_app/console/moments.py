"""Times as the reader wants them: relative, UTC or local, one choice for every page."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

RELATIVE, UTC, LOCAL = "relative", "utc", "local"
MODES = (RELATIVE, UTC, LOCAL)


@dataclass(frozen=True, slots=True)
class TimeStyle:
    """How times are written: the mode, and the zone of exact times."""

    mode: str = RELATIVE
    zone: tzinfo = dt.UTC

    @property
    def zone_name(self) -> str:
        return str(self.zone) if isinstance(self.zone, ZoneInfo) else "UTC"


def time_style(mode: str, zone_name: str) -> TimeStyle:
    """Return the style for a mode and the browser's zone; unknown ones fall back to UTC."""
    mode = mode if mode in MODES else RELATIVE
    if mode == UTC or zone_name not in _known_zones():
        return TimeStyle(mode)
    return TimeStyle(mode, ZoneInfo(zone_name))


@cache
def _known_zones() -> frozenset[str]:
    """Return the names of all zones; looking them up walks a folder for tens of milliseconds."""
    return frozenset(available_timezones())


def exact(moment: datetime, style: TimeStyle) -> str:
    """Return date, time and zone in full."""
    return f"{moment.astimezone(style.zone):%Y-%m-%d %H:%M:%S} {style.zone_name}"


def clock(moment: datetime, style: TimeStyle) -> str:
    """Return the time of day in the style's zone: "14:02:11.4"."""
    local = moment.astimezone(style.zone)
    return f"{local:%H:%M:%S}.{local.microsecond // 100_000}"


def written(moment: datetime, style: TimeStyle, *, now: datetime | None = None) -> str:
    """Return the moment in the style: "3 min ago", or date and time in its zone."""
    if style.mode == RELATIVE:
        return relative(moment - (now or timezone.now()))
    return f"{moment.astimezone(style.zone):%Y-%m-%d %H:%M:%S}"


def relative(distance: timedelta) -> str:
    """Return "in 5 min", "3 h ago" or "just now"; days are the largest unit."""
    seconds = distance.total_seconds()
    text = span(abs(seconds))
    if abs(seconds) < 5:
        return _("just now")
    return _("in %(span)s") % {"span": text} if seconds > 0 else _("%(span)s ago") % {"span": text}


def span(seconds: float) -> str:
    """Return a duration in its largest whole unit."""
    if seconds < 60:
        return _("%d s") % seconds
    if seconds < 3600:
        return _("%d min") % (seconds // 60)
    if seconds < 48 * 3600:
        return _("%d h") % (seconds // 3600)
    days = int(seconds // 86400)
    return ngettext("%d day", "%d days", days) % days


def milliseconds(value: float | None) -> str:
    """Return a measured duration with the unit that keeps it readable: "0.4 ms", "1.84 s"."""
    if value is None:
        return "–"
    if value < 10:
        return f"{value:.1f} ms"
    if value < 1000:
        return f"{value:.0f} ms"
    return f"{value / 1000:.2f} s" if value < 60_000 else span(value / 1000)
