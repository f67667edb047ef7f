"""Agent profiles together with what the policy gives them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from tools_app.models import AgentProfile
from tools_app.policy import EffectiveTools, PolicyWarning
from tools_app.selectors.paging import Page, page_of_names
from tools_app.selectors.tools import prompt_text
from tools_app.services.access import Actor
from tools_app.services.errors import UnknownAgent
from tools_app.services.policies import current_version, effective_tools, tools_of_agent


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentView:
    """An agent: its profile, its rules in the policy document, and what comes out of them.

    ``rules`` is ``agents.list[].tools`` of the document, empty when it has none.
    """

    profile: AgentProfile
    rules: dict[str, object]
    allowed_count: int
    ask_count: int
    warnings: tuple[PolicyWarning, ...]


def list_agents(
    actor: Actor, *, q: str = "", cursor: str | None = None, limit: int | None = None
) -> Page[AgentView]:
    """Return one page of the agents the actor may see, by slug.

    A token that is bound to an agent sees that one only.
    """
    actor.require_any("tools:read", "agents")
    rows = AgentProfile.objects.order_by("slug")
    if actor.agent:
        rows = rows.filter(slug=actor.agent)
    if text := q.strip():
        rows = rows.filter(
            Q(slug__icontains=text) | Q(name__icontains=text) | Q(description__icontains=text)
        )
    page = page_of_names(sorted(rows.values_list("slug", flat=True)), cursor=cursor, limit=limit)
    profiles = AgentProfile.objects.in_bulk(list(page.items), field_name="slug")
    return Page(
        items=[_view(profiles[slug]) for slug in page.items if slug in profiles],
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
    )


def agent_detail(actor: Actor, slug: str) -> AgentView:
    """Return one agent; raises UnknownAgent, also for another agent than the token's own."""
    actor.require_any("tools:read", "agents")
    profile = AgentProfile.objects.filter(slug=slug).first()
    if profile is None or actor.agent not in ("", slug):
        raise UnknownAgent(f"There is no agent {slug[:64]!r}.")
    return _view(profile)


def agent_prompt(actor: Actor, slug: str) -> str:
    """Return the agent's system prompt: its own text, then its tools as the policy gives them."""
    profile = agent_detail(actor, slug).profile
    tools = prompt_text(actor, agent=slug)
    return f"{profile.prompt}\n\n{tools}" if profile.prompt else tools


def _view(profile: AgentProfile) -> AgentView:
    effective = _effective(profile)
    return AgentView(
        profile=profile,
        rules=tools_of_agent(current_version().document, profile.slug),
        allowed_count=len(effective.allowed),
        ask_count=len(effective.asks),
        warnings=effective.warnings,
    )


def _effective(profile: AgentProfile) -> EffectiveTools:
    return effective_tools(agent=profile.slug, provider=profile.provider, model=profile.model)
