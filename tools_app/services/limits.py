"""Rates, budgets and concurrency: how much of what policy allows may be used.

A limit counts calls and cost in fixed windows (aligned to the epoch) of one agent, tool or
token; ``*`` counts each of them by itself. One conditional UPDATE takes from a window, so
parallel callers never take more than there is. Concurrency is counted from the open runs
themselves: a run that dies frees its place when its lease ends, and no counter can leak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from tools_app.models import Limit, LimitScope, LimitUse, RunStatus, ToolRun
from tools_app.services import events
from tools_app.services.access import Actor
from tools_app.services.configuration import Cached, bump
from tools_app.services.errors import (
    BudgetExceeded,
    ConcurrencyExceeded,
    Conflict,
    InvalidRequest,
    NotFound,
    RateLimited,
    ServiceError,
)

EACH = "*"
SHORTEST_WINDOW_S, LONGEST_WINDOW_S = 1, 366 * 24 * 3600
CONCURRENCY_RETRY_S = 1.0
_PLACES = datetime(1970, 1, 1, tzinfo=UTC)  # window of the row that guards concurrency
_IN_FLIGHT = (RunStatus.QUEUED, RunStatus.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spender:
    """Whose call it is, as limits count: any of the three may be empty."""

    agent: str
    tool: str
    token_key: str = ""

    def subject(self, scope: str) -> str:
        """Return who is counted by a limit of this scope; empty when nobody is."""
        by_scope = {
            LimitScope.AGENT: self.agent,
            LimitScope.TOOL: self.tool,
            LimitScope.TOKEN: self.token_key,
        }
        return by_scope[LimitScope(scope)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitState:
    """How a limit stands for one spender, for display; it is not a reservation."""

    limit_id: int
    scope: str
    subject: str
    window_s: int
    calls: int
    max_calls: int | None
    cost_usd: float
    max_cost_usd: float | None
    running: int
    max_concurrency: int | None


def spender_of(run: ToolRun) -> Spender:
    """Return whose call a stored run is."""
    token_key = run.token.key_id if run.token is not None else ""
    return Spender(agent=run.agent, tool=run.tool_name, token_key=token_key)


def applicable_limits(spender: Spender) -> tuple[Limit, ...]:
    """Return the limits that count this spender; no query while none is configured."""
    return tuple(
        limit
        for limit in _limits.get()
        if (subject := spender.subject(limit.scope)) and limit.target in (EACH, subject)
    )


def consume(limits: Sequence[Limit], spender: Spender, *, cost_usd: float, at: datetime) -> None:
    """Take one call and its estimated cost from every limit, or from none.

    Call it in the transaction that stores the run. Raises RateLimited, BudgetExceeded or
    ConcurrencyExceeded, each with ``retry_after``.
    """
    with transaction.atomic():
        for limit in sorted(limits, key=lambda limit: limit.pk):  # one order: no deadlock
            subject = spender.subject(limit.scope)
            if limit.max_calls is not None or limit.max_cost_usd is not None:
                _take(limit, subject, cost_usd, at)
            if limit.max_concurrency is not None:
                require_place(limit, spender)


def require_place(limit: Limit, spender: Spender) -> None:
    """Raise ConcurrencyExceeded when as many runs as allowed are queued or running.

    Locks the limit's guarding row until the transaction ends, so that the caller may add its
    run to those that were counted.
    """
    subject = spender.subject(limit.scope)
    guard = _use(limit, subject, _PLACES)
    guard.update(calls=F("calls") + 1)
    if (running := _open_runs(limit.scope, spender).count()) >= (limit.max_concurrency or 0):
        raise ConcurrencyExceeded(
            f"{limit.scope} {subject} has {running} runs open and may have"
            f" {limit.max_concurrency}.",
            extra={"retry_after": CONCURRENCY_RETRY_S},
        )


def settle(run: ToolRun, *, estimate_usd: float) -> None:
    """Correct what was taken for a run by the difference of its real and its estimated cost."""
    difference = run.cost_usd - estimate_usd
    if not difference or not _limits.get():
        return
    spender = spender_of(run)
    for limit in applicable_limits(spender):
        if limit.max_cost_usd is not None:
            start = window_start(limit.window_s, run.requested_at)
            uses = LimitUse.objects.filter(
                limit=limit, subject=spender.subject(limit.scope), window_start=start
            )
            uses.update(cost_usd=F("cost_usd") + difference)


def limit_states(spender: Spender, *, at: datetime | None = None) -> tuple[LimitState, ...]:
    """Return how every limit that counts this spender stands now."""
    now = at or timezone.now()
    return tuple(_state(limit, spender, now) for limit in applicable_limits(spender))


def would_exceed(states: Sequence[LimitState], *, cost_usd: float) -> ServiceError | None:
    """Return the refusal that a call would meet now, ``None`` when it would pass."""
    for state in states:
        if state.max_calls is not None and state.calls >= state.max_calls:
            return RateLimited(f"{state.scope} {state.subject} has used its calls.")
        if state.max_cost_usd is not None and state.cost_usd + cost_usd > state.max_cost_usd:
            return BudgetExceeded(f"{state.scope} {state.subject} has used its budget.")
        if state.max_concurrency is not None and state.running >= state.max_concurrency:
            return ConcurrencyExceeded(f"{state.scope} {state.subject} has its runs open.")
    return None


def set_limit(
    *,
    actor: Actor,
    scope: str,
    target: str,
    window_s: int = 60,
    max_calls: int | None = None,
    max_cost_usd: float | None = None,
    max_concurrency: int | None = None,
) -> Limit:
    """Create a limit; raises InvalidRequest, or Conflict when the window has one already."""
    actor.require("admin")
    _check_limit(scope, target, window_s, max_calls, max_cost_usd, max_concurrency)
    try:
        with transaction.atomic():
            limit = Limit.objects.create(
                scope=scope,
                target=target,
                window_s=window_s,
                max_calls=max_calls,
                max_cost_usd=max_cost_usd,
                max_concurrency=max_concurrency,
            )
            bump("limits")
            _record("limit.created", limit, actor)
    except IntegrityError:
        raise Conflict(f"{scope} {target} already has a limit per {window_s} s.") from None
    return limit


def delete_limit(*, actor: Actor, limit_id: int) -> None:
    """Remove a limit and what it counted; raises NotFound."""
    actor.require("admin")
    with transaction.atomic():
        limit = Limit.objects.filter(pk=limit_id).first()
        if limit is None:
            raise NotFound("There is no such limit.")
        limit.delete()
        limit.pk = limit_id  # deleting takes it away, and the event names it
        bump("limits")
        _record("limit.deleted", limit, actor)


def window_start(window_s: int, at: datetime) -> datetime:
    """Return when the window that contains ``at`` began."""
    seconds = int(at.timestamp())
    return datetime.fromtimestamp(seconds - seconds % window_s, UTC)


def _take(limit: Limit, subject: str, cost_usd: float, at: datetime) -> None:
    start = window_start(limit.window_s, at)
    use = _use(limit, subject, start)
    room = Q()
    if limit.max_calls is not None:
        room &= Q(calls__lt=limit.max_calls)
    if limit.max_cost_usd is not None:  # also when the call is free: a spent budget is spent
        room &= Q(cost_usd__lt=limit.max_cost_usd, cost_usd__lte=limit.max_cost_usd - cost_usd)
    if use.filter(room).update(calls=F("calls") + 1, cost_usd=F("cost_usd") + cost_usd):
        return
    ends = start + timedelta(seconds=limit.window_s)
    wait = {"retry_after": max(0.001, (ends - at).total_seconds())}
    if limit.max_calls is not None and not use.filter(calls__lt=limit.max_calls).exists():
        raise RateLimited(
            f"{limit.scope} {subject} may make {limit.max_calls} calls per {limit.window_s} s.",
            extra=wait,
        )
    raise BudgetExceeded(
        f"{limit.scope} {subject} may spend {limit.max_cost_usd:g} USD per {limit.window_s} s.",
        extra=wait,
    )


def _use(limit: Limit, subject: str, start: datetime) -> QuerySet[LimitUse]:
    """Return the row that counts a window, made if it is the first call in it."""
    rows = LimitUse.objects.filter(limit=limit, subject=subject, window_start=start)
    if not rows.exists():
        fresh = LimitUse(limit=limit, subject=subject, window_start=start)
        LimitUse.objects.bulk_create([fresh], ignore_conflicts=True)
    return rows


def _open_runs(scope: str, spender: Spender) -> QuerySet[ToolRun]:
    runs = ToolRun.objects.filter(status__in=_IN_FLIGHT)
    if scope == LimitScope.AGENT:
        return runs.filter(agent=spender.agent)
    if scope == LimitScope.TOOL:
        return runs.filter(tool_name=spender.tool)
    return runs.filter(token__key_id=spender.token_key)


def _state(limit: Limit, spender: Spender, now: datetime) -> LimitState:
    subject = spender.subject(limit.scope)
    start = window_start(limit.window_s, now)
    use = LimitUse.objects.filter(limit=limit, subject=subject, window_start=start).first()
    counts_runs = limit.max_concurrency is not None
    return LimitState(
        limit_id=limit.pk,
        scope=limit.scope,
        subject=subject,
        window_s=limit.window_s,
        calls=use.calls if use else 0,
        max_calls=limit.max_calls,
        cost_usd=use.cost_usd if use else 0.0,
        max_cost_usd=limit.max_cost_usd,
        running=_open_runs(limit.scope, spender).count() if counts_runs else 0,
        max_concurrency=limit.max_concurrency,
    )


def _check_limit(
    scope: str,
    target: str,
    window_s: int,
    max_calls: int | None,
    max_cost_usd: float | None,
    max_concurrency: int | None,
) -> None:
    maxima = {
        "max_calls": max_calls,
        "max_cost_usd": max_cost_usd,
        "max_concurrency": max_concurrency,
    }
    problems = {
        "scope": scope not in LimitScope.values and f"must be one of {LimitScope.values}",
        "target": not 1 <= len(target) <= 200 and "must name an agent, tool or token, or be *",
        "window_s": not SHORTEST_WINDOW_S <= window_s <= LONGEST_WINDOW_S
        and f"must be from {SHORTEST_WINDOW_S} to {LONGEST_WINDOW_S} seconds",
        "max_calls": all(value is None for value in maxima.values())
        and "give max_calls, max_cost_usd or max_concurrency",
    }
    for name, value in maxima.items():
        if value is not None and not 0 <= value < 2**31:
            problems[name] = "must be a number from 0"
    errors = [{"path": f"$.{name}", "message": text} for name, text in problems.items() if text]
    if errors:
        raise InvalidRequest("The limit is not valid.", extra={"errors": errors})


def _record(kind: str, limit: Limit, actor: Actor) -> None:
    events.record_event(
        kind,
        agent=limit.target if limit.scope == LimitScope.AGENT else "",
        tool=limit.target if limit.scope == LimitScope.TOOL else "",
        actor=actor.label,
        data={
            "limit": limit.pk,
            "scope": limit.scope,
            "target": limit.target,
            "window_s": limit.window_s,
            "max_calls": limit.max_calls,
            "max_cost_usd": limit.max_cost_usd,
            "max_concurrency": limit.max_concurrency,
        },
    )


def _load_limits() -> tuple[Limit, ...]:
    return tuple(Limit.objects.order_by("pk"))


_limits: Cached[tuple[Limit, ...]] = Cached("limits", load=_load_limits)
