"""The whole configuration at once: what it is, what a file would change, and changing it.

A plan is rehearsed: its changes are made by the services that apply uses as well, in a
transaction that is given up. So what a plan finds is what applying it would find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from tools_app.models import AgentProfile, Event, Limit, Tool
from tools_app.policy import format_path
from tools_app.services.access import Actor
from tools_app.services.agents import create_agent, delete_agent, update_agent
from tools_app.services.catalogue import update_tool
from tools_app.services.configuration import forget_reading
from tools_app.services.errors import (
    Conflict,
    InvalidRequest,
    PolicyInvalid,
    PreconditionFailed,
    PreconditionRequired,
    UnknownTool,
)
from tools_app.services.events import record_event
from tools_app.services.limits import delete_limit, set_limit
from tools_app.services.plan_files import Wanted, limit_name
from tools_app.services.plans import (
    DEFAULTS,
    DOCUMENT,
    Change,
    State,
    compare,
    digests,
    state_digest,
)
from tools_app.services.policies import PolicyCheck, check, current_version, publish


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What applying a file would change; ``base`` is the digest of the state it was made for.

    ``errors`` is a list of {"path", "message"}; a plan with errors cannot be applied.
    ``check`` says for whom decisions change, ``None`` when the policy stays as it is.
    """

    base: str
    changes: tuple[Change, ...]
    errors: tuple[dict[str, str], ...]
    check: PolicyCheck | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What was applied last, and the sections that differ from it by now."""

    applied_at: datetime
    actor: str
    sections: tuple[str, ...]


def current_state(*, lock: bool = False) -> State:
    """Return the configuration as it is; ``lock`` keeps its rows until the transaction ends."""
    agents = AgentProfile.objects.order_by("slug")
    tools, limits = Tool.objects.order_by("name"), Limit.objects.order_by("pk")
    if lock:
        agents, tools = agents.select_for_update(), tools.select_for_update()
        limits = limits.select_for_update()
    chosen = {tool.name: _fields("tools", tool) for tool in tools}
    found_limits = [_fields("limits", limit) for limit in limits]
    return {
        "agents": {agent.slug: _fields("agents", agent) for agent in agents},
        "tools": {name: item for name, item in chosen.items() if item != DEFAULTS["tools"]},
        "limits": {limit_name(item): item for item in found_limits},
        "policy": {DOCUMENT: dict(current_version().document)},
    }


def configuration(actor: Actor) -> State:
    """Return the configuration to who may see all of it."""
    actor.require("admin")
    return current_state()


def plan_for(*, actor: Actor, wanted: Wanted) -> Plan:
    """Say what applying would change; nothing is stored."""
    actor.require("admin")
    before = current_state()
    changes = compare(before, wanted.state)
    errors = list(wanted.errors)
    if not errors:
        with _rehearsal():
            errors = _make(actor, changes, wanted, comment="")
    policy = [change for change in changes if change.section == "policy"]
    found = check(actor=actor, document=policy[0].item) if policy and not errors else None
    return Plan(base=state_digest(before), changes=changes, errors=tuple(errors), check=found)


def apply_wanted(
    *, actor: Actor, wanted: Wanted, base: str | None, comment: str = ""
) -> tuple[Change, ...]:
    """Make every change, or none; event ``policy.applied`` besides those of the changes.

    ``base`` is the digest of the state the plan was made for. Raises PreconditionRequired,
    PreconditionFailed when anything changed since, and InvalidRequest with every error.
    """
    actor.require("admin")
    if base is None:
        raise PreconditionRequired("Name the configuration that you change (If-Match).")
    try:
        with transaction.atomic():
            before = current_state(lock=True)
            if state_digest(before) != base:
                raise PreconditionFailed("The configuration has changed since this plan.")
            changes = compare(before, wanted.state)
            errors = list(wanted.errors) or _make(actor, changes, wanted, comment=comment)
            if errors:
                raise _invalid(errors)
            _record(actor, wanted.state, changes)
    finally:
        forget_reading()
    return changes


def drift() -> Drift | None:
    """Return how far the configuration is from what was applied last; ``None`` if nothing was."""
    event = Event.objects.filter(kind="policy.applied").order_by("-seq").first()
    if event is None:
        return None
    now = digests(current_state())
    applied: Mapping[str, str] = event.data["digests"]
    sections = tuple(name for name, digest in applied.items() if now.get(name) != digest)
    return Drift(applied_at=event.at, actor=event.actor, sections=sections)


def _fields(section: str, row: object) -> dict[str, Any]:
    return {name: getattr(row, name) for name in DEFAULTS[section]}


@contextmanager
def _rehearsal() -> Iterator[None]:
    """Give up everything that is done inside."""
    try:
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
    finally:
        forget_reading()


def _make(
    actor: Actor, changes: tuple[Change, ...], wanted: Wanted, *, comment: str
) -> list[dict[str, str]]:
    """Make the changes and return what was refused."""
    errors: list[dict[str, str]] = []
    for change in changes:
        try:
            with transaction.atomic():
                _MAKERS[change.section](actor, change, comment)
        except (InvalidRequest, PolicyInvalid, UnknownTool, Conflict) as error:
            listed: Any = error.extra.get("errors") or [{"path": "", "message": error.message}]
            errors += [
                wanted.located(_address(change, item["path"], wanted.state), item["message"])
                for item in listed
            ]
    return errors


def _address(change: Change, path: str, state: State) -> str:
    """Return where in the file an error of a service stands."""
    steps: tuple[str | int, ...] = (change.section,)
    if change.section == "limits":
        names = list(state["limits"])
        steps += (names.index(change.target),) if change.target in names else ()
    elif change.section != "policy":
        steps += (change.target,)
    rest = path.removeprefix("$").removeprefix(".")
    return f"{format_path(steps)}.{rest}" if rest else format_path(steps)


def _make_agent(actor: Actor, change: Change, comment: str) -> None:
    slug = change.target
    if change.action == "create":
        create_agent(actor=actor, slug=slug, **change.item)
        return
    version = AgentProfile.objects.values_list("version", flat=True).get(slug=slug)
    if change.action == "remove":
        delete_agent(actor=actor, slug=slug, version=version)
    else:
        changed = {field.name: field.after for field in change.fields}
        update_agent(actor=actor, slug=slug, changes=changed, version=version)


def _make_tool(actor: Actor, change: Change, comment: str) -> None:
    changed = {field.name: field.after for field in change.fields}
    update_tool(actor=actor, name=change.target, changes=changed)


def _make_limit(actor: Actor, change: Change, comment: str) -> None:
    """A changed limit is a new one: what the old one counted goes with it."""
    if change.action != "create":
        for limit in Limit.objects.all():
            if limit_name(_fields("limits", limit)) == change.target:
                delete_limit(actor=actor, limit_id=limit.pk)
    if change.action != "remove":
        set_limit(actor=actor, **change.item)


def _publish(actor: Actor, change: Change, comment: str) -> None:
    number = current_version().number
    publish(actor=actor, document=change.item, base_number=number, comment=comment)


_MAKERS = {
    "agents": _make_agent,
    "tools": _make_tool,
    "limits": _make_limit,
    "policy": _publish,
}


def _record(actor: Actor, wanted: State, changes: tuple[Change, ...]) -> None:
    now = digests(current_state())
    data = {
        "digests": {section: now[section] for section in wanted},
        "changes": len(changes),
    }
    record_event("policy.applied", actor=actor.label, data=data)


def _invalid(errors: list[dict[str, str]]) -> InvalidRequest:
    return InvalidRequest("The configuration cannot be applied.", extra={"errors": errors})
