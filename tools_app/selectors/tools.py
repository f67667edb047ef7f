"""Lists of tools as a caller sees them: all of them views of one policy decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tools_app.core.descriptions import describe_specs
from tools_app.core.tool import openai_function
from tools_app.models import Tool
from tools_app.policy import Decision, EffectiveTools
from tools_app.selectors.paging import Page, page_of_names
from tools_app.services.access import Actor
from tools_app.services.agents import resolve_agent
from tools_app.services.catalogue import Catalogue, KnownTool, catalogue
from tools_app.services.errors import UnknownTool
from tools_app.services.policies import effective_tools


@dataclass(frozen=True, kw_only=True)
class ToolView:
    """One tool for one caller.

    ``callable``: a call with right arguments would run, or wait for approval. ``reason`` is a
    stable code: ``allowed``, ``approval_required``, or the first thing that stands in the way
    (``switched_off``, ``tool_unavailable``, ``not_exposed``, ``token_scope``,
    ``denied_by_policy``).
    """

    tool: KnownTool
    callable: bool
    effect: str
    reason: str
    summary: str
    effective: EffectiveTools = field(repr=False, compare=False)

    @cached_property
    def fix(self) -> Mapping[str, Any] | None:
        """The shortest change of policy that would flip a denial, ``None`` when there is none.

        Found when first asked for: that takes milliseconds, where the rest takes microseconds.
        """
        if self.reason != "denied_by_policy":
            return None
        fix = self.effective.explain(self.tool.name).fix
        return None if fix is None else fix.to_json()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sight:
    """What one caller may use at this moment."""

    actor: Actor
    known: Catalogue
    effective: EffectiveTools

    def names(self) -> list[str]:
        """Return the tools this caller may use, by name."""
        return [name for name in self.effective.allowed if not self._obstacle(name)]

    def view(self, name: str) -> ToolView:
        """Return one tool with the reason for or against it."""
        tool, decision = self.known.tools[name], self.effective.decide(name)
        reason = self._obstacle(name) or decision.code
        if reason in ("allowed", "approval_required") and not self.actor.has("tools:execute"):
            reason = "token_scope" if self.actor.token_id is not None else "forbidden"
        return ToolView(
            tool=tool,
            callable=reason in ("allowed", "approval_required"),
            effect=decision.effect,
            reason=reason,
            summary=self._summary(reason, tool, decision),
            effective=self.effective,
        )

    def _obstacle(self, name: str) -> str:
        """Return what besides the policy keeps the caller from a tool, or an empty text."""
        tool = self.known.tools[name]
        if not tool.is_enabled:
            return "switched_off"
        if not tool.is_available:
            return "tool_unavailable"
        if not tool.is_exposed_on(self.actor.surface):
            return "not_exposed"
        if self.actor.tools is not None and name not in self.actor.tools:
            return "token_scope"
        return ""

    def _summary(self, reason: str, tool: KnownTool, decision: Decision) -> str:
        texts = {
            "switched_off": "An admin switched this tool off.",
            "tool_unavailable": "The tool is not available on this machine now.",
            "not_exposed": f"The tool is not offered on {self.actor.surface}.",
            "token_scope": "This token may not run the tool.",
            "forbidden": "Your roles do not include running tools.",
        }
        return texts.get(reason, decision.summary)


def list_tools(
    actor: Actor,
    *,
    agent: str = "",
    provider: str = "",
    model: str = "",
    session: str = "",
    q: str = "",
    category: str = "",
    all: bool = False,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[ToolView]:
    """Return one page of the tools the caller may use as ``agent``, by name.

    With ``all`` the others come too, with ``callable`` false and the reason; that needs the
    scope policy:read instead of tools:read. A search never finds what the caller may not see.
    Raises TokenScope, Forbidden, UnknownAgent, AgentInactive and PolicyUnreadable.
    """
    actor.require("policy:read" if all else "tools:read")
    sight = _sight(actor, agent, provider, model, session)
    names = list(sight.known.tools) if all else sight.names()
    page = page_of_names(_matching(sight.known, names, q, category), cursor=cursor, limit=limit)
    return Page(
        items=[sight.view(name) for name in page.items],
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
    )


def tool_detail(
    actor: Actor,
    name: str,
    *,
    agent: str = "",
    provider: str = "",
    model: str = "",
    session: str = "",
) -> ToolView:
    """Return one tool with the reason for or against it.

    Raises UnknownTool, also for a tool the caller may not use unless it may read or change
    the policy.
    """
    actor.require_any("tools:read", "policy:write")
    sight = _sight(actor, agent, provider, model, session)
    is_known = name in sight.known.tools
    if not is_known or not (actor.has_any("policy:read", "policy:write") or name in sight.names()):
        raise UnknownTool(f"There is no tool {name[:200]!r}.")
    return sight.view(name)


def tool_row(name: str) -> Tool:
    """Return the row of a tool with the admin's own choices; raises UnknownTool."""
    row = Tool.objects.filter(name=name).first()
    if row is None:
        raise UnknownTool(f"There is no tool {name[:200]!r}.")
    return row


def visible_names(
    actor: Actor, *, agent: str = "", provider: str = "", model: str = "", session: str = ""
) -> list[str]:
    """Return the names of the tools the caller may use, without paging."""
    actor.require("tools:read")
    return _sight(actor, agent, provider, model, session).names()


def openai_functions(
    actor: Actor,
    *,
    agent: str = "",
    provider: str = "",
    model: str = "",
    session: str = "",
    q: str = "",
    category: str = "",
) -> list[dict[str, Any]]:
    """Return the same tools in the form of OpenAI's function calling."""
    return [
        openai_function(tool.spec())
        for tool in _tools(actor, agent, provider, model, session, q, category)
    ]


def prompt_text(
    actor: Actor,
    *,
    agent: str = "",
    provider: str = "",
    model: str = "",
    session: str = "",
    q: str = "",
    category: str = "",
) -> str:
    """Return the same tools as the text that goes into an agent's prompt."""
    found = _tools(actor, agent, provider, model, session, q, category)
    return describe_specs(tool.spec() for tool in found)


def categories() -> list[str]:
    """Return the categories of the known tools, for a filter."""
    return sorted({tool.category for tool in catalogue().tools.values() if tool.category})


def _tools(
    actor: Actor, agent: str, provider: str, model: str, session: str, q: str, category: str
) -> list[KnownTool]:
    actor.require("tools:read")
    sight = _sight(actor, agent, provider, model, session)
    return [sight.known.tools[n] for n in _matching(sight.known, sight.names(), q, category)]


def _sight(actor: Actor, agent: str, provider: str, model: str, session: str) -> _Sight:
    profile, known = resolve_agent(actor, agent), catalogue()
    effective = effective_tools(
        agent=profile.slug if profile else "",
        provider=provider or (profile.provider if profile else ""),
        model=model or (profile.model if profile else ""),
        session=session,
        offered=known.offered,
    )
    return _Sight(actor=actor, known=known, effective=effective)


def _matching(known: Catalogue, names: list[str], q: str, category: str) -> list[str]:
    """Keep the tools of a category whose name, category or description has every word of q."""
    words = q.casefold().split()
    if not words and not category:
        return names
    return [
        name
        for name in names
        if (not category or known.tools[name].category == category)
        and all(word in known.tools[name].search_text for word in words)
    ]
