"""What tests need before their first step, everything defaulted."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.utils import timezone

from tools_app.core import BaseTool, ToolSpec, definition_hash
from tools_app.models import AgentProfile, Event, PolicyVersion, Tool, ToolRun
from tools_app.models.identifiers import first_uuid_at, time_ordered_uuid
from tools_app.services import catalogue
from tools_app.services.access import SCOPES, SYSTEM, Actor, actor_for_token, actor_for_user
from tools_app.services.agents import create_agent
from tools_app.services.configuration import bump
from tools_app.services.policies import publish
from tools_app.services.running import RunRequest, execute_claimed
from tools_app.services.tokens import NewToken, create_token
from tools_app.services.tool_sync import sync_tools

PASSWORD = "correct horse battery staple"


def make_user(username: str = "anna", *roles: str, **fields: Any) -> User:
    """A person with the given roles; the first call for a role also makes its group."""
    user = User.objects.create_user(username=username, password=PASSWORD, **fields)
    user.groups.set([Group.objects.get_or_create(name=role)[0] for role in roles])
    return user


def make_actor(username: str = "anna", *roles: str) -> Actor:
    """The signed-in person as services see them."""
    return actor_for_user(make_user(username, *roles))


def make_token(
    owner: User | None = None, *, scopes: Iterable[str] = SCOPES, name: str = "bot", **options: Any
) -> NewToken:
    """A token with its text; its owner is an admin unless one is given."""
    if owner is None:
        owner = make_user(f"owner-{secrets.token_hex(3)}", "admin")
    return create_token(actor=SYSTEM, owner=owner, name=name, scopes=tuple(scopes), **options)


def make_token_actor(owner: User | None = None, **options: Any) -> Actor:
    """The caller that a new token stands for."""
    return actor_for_token(make_token(owner, **options).token)


def make_agent(slug: str = "support", **fields: Any) -> AgentProfile:
    """An agent profile."""
    return create_agent(actor=SYSTEM, slug=slug, **fields)


def make_tool(name: str = "lookup", **columns: Any) -> Tool:
    """The row of a tool that has no code in this process."""
    spec = ToolSpec(
        name=name,
        description=columns.pop("description", f"The tool {name}."),
        parameters=columns.pop("parameters", {"type": "object", "properties": {}}),
    )
    tool = Tool.objects.create(
        name=name,
        description=spec.description,
        parameters=spec.parameters,
        definition_hash=definition_hash(spec),
        **columns,
    )
    bump("tools")
    return tool


def publish_policy(document: Mapping[str, Any] | None = None) -> PolicyVersion:
    """Put a policy in force; by default the one that allows everything."""
    newest = PolicyVersion.objects.order_by("-number").first()
    base = newest.number if newest else 0
    return publish(actor=SYSTEM, document=document or {}, base_number=base)


def agent_policy(agent: str, **tools: Any) -> dict[str, Any]:
    """A policy document with rules for one agent."""
    return {"agents": {"list": [{"id": agent, "tools": tools}]}}


def make_run(**columns: Any) -> ToolRun:
    """A finished run, requested now or at ``requested_at``, with an id of that time."""
    at = columns.pop("requested_at", timezone.now())
    random_part = time_ordered_uuid().int & (1 << 76) - 1
    values: dict[str, Any] = {
        "id": UUID(int=first_uuid_at(at).int | 0x7 << 76 | random_part),
        "tool_name": "calculator",
        "agent": "main",
        "actor": "user:anna",
        "status": "succeeded",
        "outcome": "succeeded",
        "effect": "allow",
        "requested_at": at,
        "started_at": at,
        "finished_at": at,
        "duration_ms": 1.0,
        "success": True,
        **columns,
    }
    return ToolRun.objects.create(**values)


# --- running ---------------------------------------------------------------------------------


@contextmanager
def tools_offered(*tools: BaseTool) -> Iterator[None]:
    """Add tools of this process to the catalogue while the block runs."""
    sources, instances = list(catalogue._sources), catalogue._instances
    catalogue.add_tool_source(lambda: list(tools))
    try:
        sync_tools()
        yield
    finally:
        catalogue._sources[:] = sources
        catalogue._instances = instances


def request(actor: Actor, tool_name: str, arguments: object = None, **fields: Any) -> RunRequest:
    """A request that does not wait for a worker."""
    fields = {"wait_s": 0.0, **fields}
    return RunRequest(actor=actor, tool_name=tool_name, arguments=arguments, **fields)


def work_off() -> list[ToolRun]:
    """Do in this thread what a worker would: execute every queued run, oldest first."""
    queued = ToolRun.objects.filter(status="queued").order_by("pk").values_list("pk", flat=True)
    done = [execute_claimed(pk) for pk in list(queued)]
    return [run for run in done if run is not None]


def kinds_of(run: ToolRun) -> list[str]:
    """The kinds of the events about a run, in order."""
    return list(Event.objects.filter(run_id=run.pk).order_by("seq").values_list("kind", flat=True))
