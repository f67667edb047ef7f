"""Agent profiles: who an agent is. Which tools it may use stands in the policy document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from tools_app.models import AgentProfile
from tools_app.services.access import ADMIN, Actor
from tools_app.services.configuration import Cached, bump
from tools_app.services.errors import (
    AgentInactive,
    Conflict,
    Forbidden,
    InvalidRequest,
    PreconditionFailed,
    PreconditionRequired,
    TokenScope,
    UnknownAgent,
)
from tools_app.services.events import record_event

CHANGEABLE = ("name", "description", "provider", "model", "prompt", "is_active")
MAX_PROMPT = 200_000
MAX_DESCRIPTION = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent:
    """What a call needs to know of an agent profile; long texts stay in the table."""

    slug: str
    name: str
    provider: str
    model: str
    is_active: bool


def known_agents() -> Mapping[str, KnownAgent]:
    """Return all agent profiles by slug, from memory while none changed."""
    return _agents.get()


def resolve_agent(actor: Actor, agent: str) -> KnownAgent | None:
    """Return the agent a caller acts for: the one named, or the one its token is bound to.

    ``None`` when neither is given. Raises TokenScope for another agent than the token's,
    UnknownAgent and AgentInactive.
    """
    if actor.agent and agent not in ("", actor.agent):
        raise TokenScope(f"This token acts for the agent {actor.agent} only.")
    return active_agent(agent or actor.agent)


def active_agent(slug: str) -> KnownAgent | None:
    """Return the agent that may act now, ``None`` for no name; UnknownAgent, AgentInactive."""
    if not slug:
        return None
    known = known_agents().get(slug)
    if known is None:
        raise UnknownAgent(f"There is no agent {slug[:64]!r}.")
    if not known.is_active:
        raise AgentInactive(f"The agent {slug} is switched off.")
    return known


@transaction.atomic
def create_agent(*, actor: Actor, slug: str, **fields: Any) -> AgentProfile:
    """Create a profile; event ``agent.created``.

    ``fields`` may hold name (default: the slug), description, provider, model, prompt and
    is_active. Raises InvalidRequest with the fields that are wrong, and Conflict.
    """
    _require_changes(actor)
    profile = AgentProfile(slug=slug, name=slug)
    _assign(profile, fields)
    if AgentProfile.objects.filter(slug=slug).exists():
        raise Conflict(f"There is an agent {slug} already.")
    profile.save(force_insert=True)
    bump("agents")
    record_event("agent.created", agent=slug, actor=actor.label, data={"name": profile.name})
    return profile


@transaction.atomic
def update_agent(
    *, actor: Actor, slug: str, changes: Mapping[str, Any], version: int | None
) -> AgentProfile:
    """Change a profile that is still at ``version``; event ``agent.updated`` names the fields.

    Raises PreconditionRequired without a version, PreconditionFailed when somebody was
    quicker, InvalidRequest and UnknownAgent.
    """
    _require_changes(actor)
    profile = _profile_at(slug, version)
    changed = [f for f, value in changes.items() if getattr(profile, f, None) != value]
    _assign(profile, changes)
    if changed:
        profile.version += 1
        profile.save(update_fields=[*changed, "version", "updated_at"])
        bump("agents")
        data = {"fields": sorted(changed), "version": profile.version}
        record_event("agent.updated", agent=slug, actor=actor.label, data=data)
    return profile


@transaction.atomic
def delete_agent(*, actor: Actor, slug: str, version: int | None) -> None:
    """Remove a profile that is still at ``version``; event ``agent.deleted``.

    Its runs and its rules in the policy stay; calls for it are UnknownAgent from now on.
    """
    _require_changes(actor)
    profile = _profile_at(slug, version)
    profile.delete()
    bump("agents")
    record_event("agent.deleted", agent=slug, actor=actor.label, data={"name": profile.name})


def _require_changes(actor: Actor) -> None:
    """Operators have the scope too, to see and freeze agents; changing them is for admins."""
    actor.require("agents")
    if ADMIN not in actor.roles:
        raise Forbidden("Only admins, and tokens of admins, may change agent profiles.")


def _profile_at(slug: str, version: int | None) -> AgentProfile:
    if version is None:
        raise PreconditionRequired("Name the version of the agent that you change (If-Match).")
    profile = AgentProfile.objects.select_for_update().filter(slug=slug).first()
    if profile is None:
        raise UnknownAgent(f"There is no agent {slug[:64]!r}.")
    if profile.version != version:
        raise PreconditionFailed(
            f"The agent {slug} is at version {profile.version} by now, not {version}."
        )
    return profile


def _assign(profile: AgentProfile, fields: Mapping[str, Any]) -> None:
    errors = [
        {"path": f"$.{name}", "message": "This cannot be set."}
        for name in fields
        if name not in CHANGEABLE
    ]
    for name in set(fields) & set(CHANGEABLE):
        setattr(profile, name, fields[name])
    errors += _length_errors(profile)
    try:
        profile.clean_fields()
    except ValidationError as invalid:
        for name, messages in invalid.message_dict.items():
            errors += [{"path": f"$.{name}", "message": message} for message in messages]
    if errors:
        raise InvalidRequest("The agent profile is not valid.", extra={"errors": errors})


def _length_errors(profile: AgentProfile) -> list[dict[str, str]]:
    return [
        {"path": f"$.{name}", "message": f"Must have at most {limit} characters."}
        for name, limit in (("prompt", MAX_PROMPT), ("description", MAX_DESCRIPTION))
        if len(str(getattr(profile, name))) > limit
    ]


def _load_agents() -> Mapping[str, KnownAgent]:
    return {
        profile.slug: KnownAgent(
            slug=profile.slug,
            name=profile.name,
            provider=profile.provider,
            model=profile.model,
            is_active=profile.is_active,
        )
        for profile in AgentProfile.objects.defer("prompt", "description")
    }


_agents: Cached[Mapping[str, KnownAgent]] = Cached("agents", load=_load_agents)
