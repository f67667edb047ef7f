"""Reading approvals: what waits, what was decided, and the card a person decides by."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from tools_app.models import Approval, ApprovalGrant, ApprovalStatus
from tools_app.selectors.paging import Page, page_of_rows
from tools_app.services.access import Actor
from tools_app.services.approvals import why_not_approve
from tools_app.services.errors import NotFound
from tools_app.services.sealing import true_arguments

MAX_PENDING = 200  # cards on one page; the count says how many there are
MAX_DIFFERENCES = 20
EXPORT_CHUNK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFilters:
    """Which approvals a list shows; an empty field lets everything pass."""

    status: str = ""
    agent: str = ""
    tool: str = ""
    decided_via: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalCard:
    """All that a person needs to decide about one exact call.

    ``call_text`` is the whole call, unabridged and not yet made visible (control characters are
    still in it). ``differs_from_last`` says in words what differs from the last approved call of
    the same agent and tool, and is empty when nothing does.
    """

    approval: Approval
    call_text: str
    arguments: Mapping[str, Any]
    is_redacted: bool
    requester: str
    reason_asked: str
    binding: str
    expires_at: datetime
    last_approved: Approval | None
    differs_from_last: tuple[str, ...]
    similar_count: int
    may_decide: bool
    why_not: str
    may_ask_again: bool


def pending(actor: Actor) -> list[Approval]:
    """Return the approvals that wait for an answer now, the oldest first."""
    waiting = _visible(actor).filter(status=ApprovalStatus.PENDING, expires_at__gt=timezone.now())
    return list(waiting.order_by("id")[:MAX_PENDING])


def pending_count(actor: Actor) -> int:
    """Return how many approvals wait, for the badge."""
    waiting = _visible(actor).filter(status=ApprovalStatus.PENDING)
    return waiting.filter(expires_at__gt=timezone.now()).count()


def history(
    actor: Actor,
    filters: ApprovalFilters | None = None,
    *,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[Approval]:
    """Return approvals of any state, newest first."""
    rows = _filtered(_visible(actor), filters or ApprovalFilters())
    return page_of_rows(rows, cursor=cursor, limit=limit, key=UUID)


def export_history(actor: Actor, filters: ApprovalFilters) -> Iterator[Approval]:
    """Yield every approval that matches, newest first, in constant memory.

    Rights are checked before the first one is asked for.
    """
    return _chunks(_filtered(_visible(actor), filters).order_by("-id"))


def _chunks(rows: QuerySet[Approval]) -> Iterator[Approval]:
    chunk = list(rows[:EXPORT_CHUNK])
    while chunk:
        yield from chunk
        chunk = list(rows.filter(id__lt=chunk[-1].pk)[:EXPORT_CHUNK])


def approval_detail(actor: Actor, approval_id: UUID) -> Approval:
    """Return one approval; raises NotFound, also for one that is not the caller's to see."""
    approval = _visible(actor).filter(pk=approval_id).first()
    if approval is None:
        raise NotFound("There is no such approval.")
    return approval


def card(actor: Actor, approval: Approval) -> ApprovalCard:
    """Return the card of an approval as this actor may see and decide it.

    Whoever may approve sees the true arguments, since those are what would run; others see the
    redacted ones.
    """
    run = approval.run
    sees_all = actor.has_any("approvals", "audit")
    arguments = true_arguments(run) if sees_all else dict(run.arguments)
    last = _last_approved(approval)
    why_not = why_not_approve(actor, approval)
    return ApprovalCard(
        approval=approval,
        call_text=call_text(run.tool_name, arguments),
        arguments=arguments,
        is_redacted=not sees_all,
        requester=_requester(approval),
        reason_asked=approval.reason,
        binding=approval.binding,
        expires_at=approval.expires_at,
        last_approved=last,
        differs_from_last=_differences(approval, last, arguments, sees_all),
        similar_count=_similar(approval).count(),
        may_decide=not why_not,
        why_not=why_not,
        may_ask_again=actor.has("approvals") and approval.status in _REPEATABLE,
    )


def call_text(tool_name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as text: the tool's name, then its arguments as indented JSON."""
    shown = json.dumps(arguments, ensure_ascii=False, indent=2)
    return f"{tool_name} {shown}"


def standing_grants(
    actor: Actor, *, cursor: str | None = None, limit: int | None = None
) -> Page[ApprovalGrant]:
    """Return the remembered approvals that are in force, newest first."""
    actor.require_any("approvals", "audit")
    rows = ApprovalGrant.objects.select_related("approval").filter(revoked_at=None)
    ended = rows.filter(expires_at__lte=timezone.now()).values("pk")
    return page_of_rows(rows.exclude(pk__in=ended), cursor=cursor, limit=limit, key=int)


_REPEATABLE = (ApprovalStatus.EXPIRED, ApprovalStatus.SUPERSEDED, ApprovalStatus.CANCELLED)


def _visible(actor: Actor) -> QuerySet[Approval]:
    """Return the approvals the actor may see: a token's own, for everybody else all."""
    approvals = Approval.objects.select_related(
        "run", "run__decision", "run__token", "run__token__owner", "run__user", "decided_by"
    )
    if actor.has_any("approvals", "audit"):
        return approvals
    actor.require_any("tools:read", "tools:execute")
    return approvals if actor.token_id is None else approvals.filter(run__token=actor.token_id)


def _filtered(rows: QuerySet[Approval], filters: ApprovalFilters) -> QuerySet[Approval]:
    wanted = {
        "status": filters.status,
        "run__agent": filters.agent,
        "run__tool_name": filters.tool,
        "decided_via": filters.decided_via,
        "requested_at__gte": filters.since,
        "requested_at__lt": filters.until,
    }
    return rows.filter(**{name: value for name, value in wanted.items() if value})


def _requester(approval: Approval) -> str:
    run = approval.run
    if run.token is None:
        return run.actor
    return f"{run.actor}, owner {run.token.owner.get_username()}"


def _last_approved(approval: Approval) -> Approval | None:
    same = Approval.objects.select_related("run", "decided_by").filter(
        run__agent=approval.run.agent,
        run__tool_name=approval.run.tool_name,
        status=ApprovalStatus.APPROVED,
    )
    return same.exclude(pk=approval.pk).order_by("-id").first()


def _similar(approval: Approval) -> QuerySet[Approval]:
    """Return the other approvals that wait for the same agent and tool."""
    waiting = Approval.objects.filter(
        status=ApprovalStatus.PENDING,
        expires_at__gt=timezone.now(),
        run__agent=approval.run.agent,
        run__tool_name=approval.run.tool_name,
    )
    return waiting.exclude(pk=approval.pk)


def _differences(
    approval: Approval, last: Approval | None, arguments: Mapping[str, Any], sees_all: bool
) -> tuple[str, ...]:
    if last is None:
        return ()
    before = true_arguments(last.run) if sees_all else dict(last.run.arguments)
    found = [*_changed(before, arguments), *_changed_setting(last, approval)]
    more = len(found) - MAX_DIFFERENCES
    return (*found[:MAX_DIFFERENCES], f"and {more} more") if more > 0 else tuple(found)


def _changed(before: object, now: object, path: str = "") -> Iterator[str]:
    """Yield in words how two JSON values differ."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in sorted({*before, *now}):
            place = f"{path}.{name}" if path else name
            if name not in now:
                yield f"{place}: removed (was {_short(before[name])})"
            elif name not in before:
                yield f"{place}: added {_short(now[name])}"
            else:
                yield from _changed(before[name], now[name], place)
    elif before != now or type(before) is not type(now):
        yield f"{path}: {_short(before)} → {_short(now)}"


def _changed_setting(last: Approval, approval: Approval) -> Iterator[str]:
    names = {
        "definition_hash": "definition of the tool",
        "policy_version": "policy version",
        "timeout_s": "time limit (s)",
        "actor": "caller",
        "provider": "provider",
        "model": "model",
    }
    for field, title in names.items():
        before, now = getattr(last.run, field), getattr(approval.run, field)
        if before != now:
            hashes = field == "definition_hash"
            yield f"{title} changed" if hashes else f"{title}: {_short(before)} → {_short(now)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"
