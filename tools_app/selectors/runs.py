"""Runs: lists, one run with what happened to it, exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from tools_app.models import ToolRun
from tools_app.models.identifiers import first_uuid_at
from tools_app.selectors.events import events_of_run
from tools_app.selectors.paging import Page, page_of_rows
from tools_app.services.access import Actor
from tools_app.services.errors import NotFound

EXPORT_CHUNK = 500
# Wide columns that no list shows.
_NOT_IN_LISTS = ("content", "result_metadata", "usage", "decision__explanation")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilters:
    """Which runs; an empty field lets all pass.

    ``token`` is a key id, ``q`` a run id or a part of tool, agent, caller or session;
    ``since`` and ``until`` bound the time of the request, the first inclusive.
    """

    agent: str = ""
    tool: str = ""
    status: str = ""
    outcome: str = ""
    effect: str = ""
    token: str = ""
    q: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def condition(self) -> Q:
        """Return the filters as a condition on rows."""
        exact = {
            "agent": self.agent,
            "tool_name": self.tool,
            "status": self.status,
            "outcome": self.outcome,
            "effect": self.effect,
            "token__key_id": self.token,
        }
        found = Q(**{column: value for column, value in exact.items() if value})
        # Ids begin with the time, so a bound in time is a bound in the primary key.
        if self.since is not None:
            found &= Q(id__gte=first_uuid_at(self.since))
        if self.until is not None:
            found &= Q(id__lt=first_uuid_at(self.until))
        return found & _search(self.q.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineStep:
    """One thing that happened to a run, and when; ``kind`` is the kind of its event."""

    at: datetime
    kind: str
    actor: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


def list_runs(
    filters: RunFilters, actor: Actor, *, cursor: str | None = None, limit: int | None = None
) -> Page[ToolRun]:
    """Return one page of the runs the actor may see, newest first, with one query.

    Contents are not loaded. Raises TokenScope, Forbidden, and InvalidRequest for a bad cursor.
    """
    return page_of_rows(_rows(filters, actor), cursor=cursor, limit=limit, key=UUID)


def run_detail(run_id: UUID, actor: Actor) -> ToolRun:
    """Return one run with its decision and token; raises NotFound when it is not to be seen."""
    rows = visible_runs(actor).select_related("decision", "token", "approval")
    run = rows.filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    return run


def run_timeline(run: ToolRun) -> list[TimelineStep]:
    """Return what happened to a run, oldest first: its events and the times in its row."""
    steps = [TimelineStep(at=run.requested_at, kind="run.requested", actor=run.actor)]
    if run.decision is not None:
        steps.append(
            TimelineStep(
                at=run.requested_at + timedelta(milliseconds=run.decide_ms or 0.0),
                kind="run.decided",
                detail={"effect": run.effect, "summary": run.decision.summary},
            )
        )
    events = events_of_run(run.pk)
    if run.started_at is not None and not any(event.kind == "run.started" for event in events):
        steps.append(TimelineStep(at=run.started_at, kind="run.started"))
    steps += [
        TimelineStep(at=event.at, kind=event.kind, actor=event.actor, detail=event.data)
        for event in events
    ]
    # Stable: what the row and the log put at the same moment keeps the order above.
    return sorted(steps, key=lambda step: step.at)


def export_runs(filters: RunFilters, actor: Actor) -> Iterator[ToolRun]:
    """Yield every run that matches, newest first, in constant memory.

    Read in pages by key: a cursor held open for the whole download would keep the database
    from tidying up behind it. Rights are checked before the first run is asked for.
    """
    return _chunks(_rows(filters, actor).order_by("-id"))


def visible_runs(actor: Actor) -> QuerySet[ToolRun]:
    """Return the runs the actor may see.

    Users with tools:read see all; a token without ``audit`` sees its own and, when bound to an
    agent, that agent's. Raises TokenScope or Forbidden when it may see none.
    """
    if actor.has("audit"):
        return ToolRun.objects.all()
    if actor.token_id is None:
        actor.require("tools:read")
        return ToolRun.objects.all()
    actor.require_any("tools:read", "tools:execute")
    own = Q(token_id=actor.token_id)
    if actor.agent:
        own |= Q(agent=actor.agent)
    return ToolRun.objects.filter(own)


def _rows(filters: RunFilters, actor: Actor) -> QuerySet[ToolRun]:
    rows = visible_runs(actor).filter(filters.condition())
    return rows.select_related("decision", "token").defer(*_NOT_IN_LISTS)


def _chunks(rows: QuerySet[ToolRun]) -> Iterator[ToolRun]:
    last: UUID | None = None
    while True:
        chunk = list((rows if last is None else rows.filter(id__lt=last))[:EXPORT_CHUNK])
        yield from chunk
        if len(chunk) < EXPORT_CHUNK:
            return
        last = chunk[-1].pk


def _search(text: str) -> Q:
    if not text:
        return Q()
    try:
        return Q(pk=UUID(text))
    except ValueError:
        found = Q()
        for column in ("tool_name", "agent", "actor", "session"):
            found |= Q(**{f"{column}__icontains": text})
        return found
