"""Freezes: a stop for one agent, one tool, one node or everything, with a reason and an end.

While a freeze lasts new runs are refused, running ones are cancelled and approvals that wait are
closed. It ends at its time even if nobody is there to note it: every reader compares the clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from tools_app.models import (
    OPEN_STATUSES,
    AgentProfile,
    Freeze,
    FreezeScope,
    RunStatus,
    Tool,
    ToolRun,
)
from tools_app.services import events
from tools_app.services.access import Actor
from tools_app.services.cancelling import stop_run
from tools_app.services.configuration import Cached, bump
from tools_app.services.errors import Conflict, Frozen, InvalidRequest, NotFound

LONGEST_REASON = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeBlast:
    """What a freeze would hit now. ``cannot_stop`` counts runs that end by themselves first."""

    running: int
    waiting_approvals: int
    queued: int
    agents: int
    tools: int
    cannot_stop: int


def active_freezes(*, at: datetime | None = None) -> tuple[Freeze, ...]:
    """Return the freezes that are in force, newest first; no query while nothing changed."""
    now = at or timezone.now()
    return tuple(freeze for freeze in _unended.get() if freeze.expires_at > now)


def freeze_over(
    *, agent: str, tool: str, node: str = "", at: datetime | None = None
) -> Freeze | None:
    """Return the newest freeze that covers a run of ``tool`` for ``agent``, if there is one."""
    for freeze in active_freezes(at=at):
        covered = {
            FreezeScope.EVERYTHING: True,
            FreezeScope.AGENT: freeze.target == agent,
            FreezeScope.TOOL: freeze.target == tool,
            FreezeScope.NODE: bool(node) and freeze.target == node,
        }
        if covered[FreezeScope(freeze.scope)]:
            return freeze
    return None


def frozen_error(freeze: Freeze, *, at: datetime | None = None) -> Frozen:
    """Return the refusal of a run that the freeze covers."""
    now = at or timezone.now()
    return Frozen(
        f"{frozen_words(freeze)}: {freeze.reason}",
        extra={
            "freeze": freeze.pk,
            "retry_after": max(0.001, (freeze.expires_at - now).total_seconds()),
        },
    )


def frozen_words(freeze: Freeze) -> str:
    """Return what is frozen and until when, in words."""
    what = "Everything" if freeze.scope == FreezeScope.EVERYTHING else f"{freeze}".capitalize()
    return f"{what} is frozen until {freeze.expires_at:%Y-%m-%d %H:%M:%S} UTC"


def create_freeze(
    *, actor: Actor, scope: str, target: str = "", reason: str, expires_at: datetime
) -> Freeze:
    """Freeze, then stop what runs or waits under it; raises InvalidRequest.

    Running runs end within a second: their supervisors look for it four times as often.
    """
    actor.require_any("approvals", "agents")
    _check_freeze(scope, target, reason, expires_at)
    with transaction.atomic():
        freeze = Freeze.objects.create(
            scope=scope,
            target=target,
            reason=reason.strip(),
            created_by_id=actor.user_id,
            created_by_label=actor.label,
            expires_at=expires_at,
        )
        bump("freezes")
        _record("freeze.created", freeze, actor.label)
    enforce(freeze)
    return freeze


def enforce(freeze: Freeze) -> int:
    """Stop the open runs that the freeze covers; return how many there were.

    Each in a transaction of its own: one that just ended must not hold up the others.
    """
    runs = list(covered_runs(freeze.scope, freeze.target).select_related("decision"))
    reason = f"{frozen_words(freeze)}: {freeze.reason}"
    for run in runs:
        stop_run(run, outcome="frozen", reason=reason, actor=freeze.created_by_label)
    return len(runs)


def lift_freeze(*, actor: Actor, freeze_id: int) -> Freeze:
    """End a freeze now; raises NotFound, or Conflict when it has ended."""
    actor.require_any("approvals", "agents")
    now = timezone.now()
    with transaction.atomic():
        freeze = _unended_freeze(freeze_id, now)
        _end(freeze, how="lifted", label=actor.label, at=now)
        _record("freeze.lifted", freeze, actor.label)
    return freeze


def extend_freeze(*, actor: Actor, freeze_id: int, expires_at: datetime) -> Freeze:
    """Give a freeze a later end; raises NotFound, InvalidRequest, or Conflict when it has ended."""
    actor.require_any("approvals", "agents")
    with transaction.atomic():
        freeze = _unended_freeze(freeze_id, timezone.now())
        if expires_at <= freeze.expires_at:
            raise _invalid({"$.expires_at": "must be later than the present end"})
        Freeze.objects.filter(pk=freeze.pk).update(expires_at=expires_at)
        freeze.expires_at = expires_at
        bump("freezes")
        _record("freeze.extended", freeze, actor.label)
    return freeze


def expire_due() -> int:
    """Note the end of freezes whose time has come, as expired and by nobody; return how many."""
    due = list(Freeze.objects.filter(ended_at=None, expires_at__lte=timezone.now()))
    for freeze in due:
        with transaction.atomic():
            if _end(freeze, how="expired", label="", at=freeze.expires_at):
                _record("freeze.expired", freeze, "system")
    return len(due)


def blast(scope: str, target: str = "") -> FreezeBlast:
    """Count what a freeze would hit at this moment."""
    runs = covered_runs(scope, target)
    by_status = dict.fromkeys(OPEN_STATUSES, 0)
    for status in runs.values_list("status", flat=True):
        by_status[RunStatus(status)] += 1
    bounded = Tool.objects.filter(is_bounded=True).values("name")
    return FreezeBlast(
        running=by_status[RunStatus.RUNNING],
        waiting_approvals=by_status[RunStatus.WAITING],
        queued=by_status[RunStatus.QUEUED],
        agents=runs.values("agent").distinct().count(),
        tools=runs.values("tool_name").distinct().count(),
        cannot_stop=runs.filter(status=RunStatus.RUNNING, tool_name__in=bounded).count(),
    )


def covered_runs(scope: str, target: str) -> QuerySet[ToolRun]:
    """Return the open runs that a freeze of this scope and target covers."""
    runs = ToolRun.objects.filter(status__in=OPEN_STATUSES).order_by("pk")
    if scope == FreezeScope.AGENT:
        return runs.filter(agent=target)
    if scope == FreezeScope.TOOL:
        return runs.filter(tool_name=target)
    return runs.none() if scope == FreezeScope.NODE else runs  # a node stops its own invocations


def _end(freeze: Freeze, *, how: str, label: str, at: datetime) -> bool:
    fields = {"ended_at": at, "ended_how": how, "ended_by_label": label}
    if not Freeze.objects.filter(pk=freeze.pk, ended_at=None).update(**fields):
        return False
    for name, value in fields.items():
        setattr(freeze, name, value)
    bump("freezes")
    return True


def _unended_freeze(freeze_id: int, now: datetime) -> Freeze:
    freeze = Freeze.objects.select_for_update().filter(pk=freeze_id).first()
    if freeze is None:
        raise NotFound("There is no such freeze.")
    if freeze.ended_at is not None or freeze.expires_at <= now:
        raise Conflict("This freeze has ended.")
    return freeze


def _check_freeze(scope: str, target: str, reason: str, expires_at: datetime) -> None:
    errors = {}
    if scope not in FreezeScope.values:
        errors["$.scope"] = f"must be one of {', '.join(FreezeScope.values)}"
    elif (scope == FreezeScope.EVERYTHING) != (target == ""):
        errors["$.target"] = "must name what to freeze; with everything it must be empty"
    elif not _exists(scope, target):
        errors["$.target"] = f"there is no {scope} {target!r}"
    if not 1 <= len(reason.strip()) <= LONGEST_REASON:
        errors["$.reason"] = f"must have 1 to {LONGEST_REASON} characters"
    if expires_at <= timezone.now():
        errors["$.expires_at"] = "must be in the future"
    if errors:
        raise _invalid(errors)


def _exists(scope: str, target: str) -> bool:
    """Say whether there is such a target: a freeze of a misspelt name would stop nothing."""
    if scope == FreezeScope.AGENT:
        return AgentProfile.objects.filter(slug=target).exists()
    if scope == FreezeScope.TOOL:
        return Tool.objects.filter(name=target).exists()
    return True


def _invalid(errors: dict[str, str]) -> InvalidRequest:
    listed = [{"path": path, "message": message} for path, message in errors.items()]
    return InvalidRequest("The freeze is not valid.", extra={"errors": listed})


def _record(kind: str, freeze: Freeze, actor: str) -> None:
    events.record_event(
        kind,
        agent=freeze.target if freeze.scope == FreezeScope.AGENT else "",
        tool=freeze.target if freeze.scope == FreezeScope.TOOL else "",
        actor=actor,
        data={
            "freeze": freeze.pk,
            "scope": freeze.scope,
            "target": freeze.target,
            "reason": freeze.reason,
            "expires_at": freeze.expires_at.isoformat(),
            "refused_count": freeze.refused_count,
        },
    )


def _load_unended() -> tuple[Freeze, ...]:
    return tuple(Freeze.objects.filter(ended_at=None).order_by("-pk"))


_unended: Cached[tuple[Freeze, ...]] = Cached("freezes", load=_load_unended)
