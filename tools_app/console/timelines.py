"""A run's steps as rows with an offset and a bar on a common scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tools_app.models import ToolRun
from tools_app.selectors.runs import TimelineStep

SCALE = 100.0  # width of a bar's canvas

WORDS: dict[str, str | Promise] = {
    "run.requested": _("requested"),
    "run.decided": _("decided"),
    "approval.requested": _("approval asked for"),
    "approval.decided": _("approval decided"),
    "approval.expired": _("approval expired"),
    "approval.extended": _("approval extended"),
    "approval.superseded": _("approval superseded"),
    "approval.cancelled": _("approval cancelled"),
    "run.queued": _("queued"),
    "run.started": _("started"),
    "run.cancel_requested": _("cancel asked for"),
    "run.refused": _("refused"),
    "run.interrupted": _("interrupted"),
    "run.finished": _("ended"),
}
# What of a step's details stands beside its name.
NOTES: dict[str, tuple[str, ...]] = {
    "run.decided": ("summary",),
    "approval.decided": ("approval_status", "grant_scope", "comment"),
    "run.cancel_requested": ("reason",),
    "run.refused": ("outcome",),
    "run.finished": ("status", "outcome"),
}


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One step: its place on the scale, and how long it lasted until the next (ms)."""

    step: TimelineStep
    word: str | Promise
    note: str
    offset_ms: float
    lasts_ms: float
    bar_start: float
    bar_width: float


def timeline_rows(run: ToolRun, steps: Sequence[TimelineStep]) -> list[TimelineRow]:
    """Place the steps of a run between its request and its end, or now while it is open."""
    if not steps:
        return []
    begin = steps[0].at
    end = run.finished_at or (steps[-1].at if run.is_finished else timezone.now())
    end = max(end, steps[-1].at)
    total = max(_ms(begin, end), 0.001)
    ends = [step.at for step in steps[1:]] + [end]
    return [
        TimelineRow(
            step=step,
            word=WORDS.get(step.kind, step.kind),
            note=_note(step),
            offset_ms=_ms(begin, step.at),
            lasts_ms=_ms(step.at, until),
            bar_start=round(SCALE * _ms(begin, step.at) / total, 2),
            bar_width=max(round(SCALE * _ms(step.at, until) / total, 2), 0.7),
        )
        for step, until in zip(steps, ends, strict=True)
    ]


def _note(step: TimelineStep) -> str:
    keys = NOTES.get(step.kind, ())
    return " · ".join(str(step.detail[key]) for key in keys if step.detail.get(key))


def _ms(begin: datetime, end: datetime) -> float:
    return (end - begin).total_seconds() * 1000
