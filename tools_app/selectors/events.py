"""Reading the event log, and who may see which event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from tools_app.models import Event
from tools_app.services.access import ADMIN, Actor

MAX_EVENTS = 1000  # in one answer

# What an event is about decides which scope shows it. Kinds of other apps begin with the name
# of the scope that guards them; whatever is not listed needs ``audit``.
_SCOPES_OF_KINDS: dict[str, tuple[str, ...]] = {
    "run": ("tools:read", "tools:execute"),
    "approval": ("tools:read", "tools:execute", "approvals"),
    "grant": ("approvals",),
    "policy": ("policy:read",),
    "agent": ("tools:read", "agents"),
    "tool": ("tools:read",),
    "freeze": ("tools:read", "approvals"),
    "limit": ("tools:read",),
    "schedule": ("schedules",),
    "node": ("nodes",),
}
_OF_RUNS = ("run", "approval")
_PERSONAL = ("token", "user", "session", "access")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilters:
    """Which events a reader wants; an empty filter lets everything pass.

    ``kinds`` may hold whole families: ``run`` stands for every ``run.…``.
    """

    kinds: frozenset[str] = frozenset()
    agent: str = ""
    tool: str = ""
    run_id: UUID | None = None

    def match(self, event: Event) -> bool:
        """Whether the reader wants this event."""
        return (
            (not self.kinds or event.kind in self.kinds or _family(event.kind) in self.kinds)
            and (not self.agent or event.agent == self.agent)
            and (not self.tool or event.tool == self.tool)
            and (self.run_id is None or event.run_id == self.run_id)
        )

    def condition(self) -> Q:
        """Return the same as a condition on rows."""
        found = Q()
        if self.kinds:
            families = Q(kind__in=self.kinds)
            for kind in self.kinds:
                if "." not in kind:
                    families |= Q(kind__startswith=f"{kind}.")
            found &= families
        if self.agent:
            found &= Q(agent=self.agent)
        if self.tool:
            found &= Q(tool=self.tool)
        if self.run_id is not None:
            found &= Q(run_id=self.run_id)
        return found


def visible_to(actor: Actor, event: Event) -> bool:
    """Whether the actor may see the event.

    Users with the right scope see every event of its kind. A token without ``audit`` sees of
    runs and approvals only its own and, when bound to an agent, that agent's. What concerns one
    person's tokens and sessions is for that person, ``audit`` and ``admin``.
    """
    if actor.has_any("audit", ADMIN):
        return True
    family = _family(event.kind)
    if family in _PERSONAL:
        return event.actor == actor.label and actor.token_id is None
    scopes = _SCOPES_OF_KINDS.get(family)
    if scopes is None or not actor.has_any(*scopes):
        return False
    if actor.token_id is None:
        return True
    if family in _OF_RUNS:
        return _is_run_of(actor, event)
    return not actor.agent or event.agent in ("", actor.agent)


def visible_rows(actor: Actor) -> Q:
    """Return :func:`visible_to` as a condition on rows; a test holds the two together."""
    if actor.has_any("audit", ADMIN):
        return Q()
    is_token = actor.token_id is not None
    nothing = Q(pk__in=())
    found = nothing if is_token else _of_families(_PERSONAL) & Q(actor=actor.label)
    seen = [family for family, scopes in _SCOPES_OF_KINDS.items() if actor.has_any(*scopes)]
    if not is_token:
        return found | _of_families(seen)
    of_runs = [family for family in seen if family in _OF_RUNS]
    others = [family for family in seen if family not in _OF_RUNS]
    own_runs, own_others = Q(data__actor=actor.label), Q()
    if actor.agent:
        own_runs |= Q(agent=actor.agent)
        own_others = Q(agent__in=("", actor.agent))
    return found | _of_families(of_runs) & own_runs | _of_families(others) & own_others


def events_after(
    seq: int, *, limit: int = MAX_EVENTS, filters: EventFilters | None = None, actor: Actor
) -> list[Event]:
    """Return up to ``limit`` events after ``seq`` that the actor may see, oldest first.

    Fewer than ``limit``, which is at most 1000, means that the log has no more of them.
    """
    rows = Event.objects.filter(visible_rows(actor), seq__gt=seq).order_by("seq")
    if filters is not None:
        rows = rows.filter(filters.condition())
    return list(rows[: max(1, min(limit, MAX_EVENTS))])


def events_of_run(run_id: UUID) -> list[Event]:
    """Return what happened to one run, oldest first."""
    return list(Event.objects.filter(run_id=run_id).order_by("seq"))


def _family(kind: str) -> str:
    return kind.partition(".")[0]


def _of_families(families: Iterable[str]) -> Q:
    found = Q(pk__in=())
    for family in families:
        found |= Q(kind__startswith=f"{family}.")
    return found


def _is_run_of(actor: Actor, event: Event) -> bool:
    """Whether a run event belongs to a token: the requester is in every run event's data."""
    is_own = event.data.get("actor") == actor.label
    return is_own or bool(actor.agent and event.agent == actor.agent)
