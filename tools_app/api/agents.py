"""Agent profiles over REST."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.decisions import decision_json
from tools_app.api.endpoint import Endpoint
from tools_app.api.policy import IF_MATCH
from tools_app.api.preconditions import asked_version, version_tag
from tools_app.api.serializers.agents import (
    AgentBody,
    AgentChanges,
    AgentPage,
    AgentPrompt,
    AgentQuery,
    AgentShown,
    ExplainQuery,
)
from tools_app.api.serializers.policy import DecisionShown
from tools_app.api.serializers.tools import AgentToolsQuery, ToolList
from tools_app.api.tools import tool_json
from tools_app.selectors.agents import AgentView, agent_detail, agent_prompt, list_agents
from tools_app.selectors.decisions import decision_detail
from tools_app.selectors.tools import list_tools
from tools_app.services.agents import create_agent, delete_agent, update_agent
from tools_app.services.policies import current_version, decide_for_agent

SEES_AGENTS = ("agents", "tools:read")
_PROFILE_FIELDS = (
    "slug",
    "name",
    "description",
    "provider",
    "model",
    "prompt",
    "is_active",
    "version",
    "created_at",
    "updated_at",
)


def agent_json(view: AgentView) -> dict[str, Any]:
    """Return an agent with its rules and what they give it."""
    return {
        **{name: getattr(view.profile, name) for name in _PROFILE_FIELDS},
        "rules": view.rules,
        "allowed_count": view.allowed_count,
        "ask_count": view.ask_count,
        "warnings": [asdict(warning) for warning in view.warnings],
    }


class AgentEndpoint(Endpoint):
    """What views of agents share."""

    def shown(self, slug: str, *, status: int = 200) -> Response:
        """Answer with an agent and its ETag."""
        view = agent_detail(self.actor, slug)
        headers = {"ETag": version_tag(view.profile.version)}
        return Response(agent_json(view), status=status, headers=headers)


class Agents(AgentEndpoint):
    """The agents of the control room."""

    scopes = {"GET": SEES_AGENTS, "POST": "agents"}

    @extend_schema(operation_id="list_agents", parameters=[AgentQuery], responses=AgentPage)
    def get(self, request: Request) -> Response:
        """List agents by slug."""
        return self.page(list_agents(self.actor, **self.query(AgentQuery)), agent_json)

    @extend_schema(operation_id="create_agent", request=AgentBody, responses={201: AgentShown})
    def post(self, request: Request) -> Response:
        """Create an agent profile; its tool rules are set in the policy."""
        profile = create_agent(actor=self.actor, **self.body(AgentBody))
        return self.shown(profile.slug, status=201)


class AgentItem(AgentEndpoint):
    """One agent."""

    scopes = {"GET": SEES_AGENTS, "PATCH": "agents", "DELETE": "agents"}

    @extend_schema(operation_id="get_agent", responses=AgentShown)
    def get(self, request: Request, slug: str) -> Response:
        """Show an agent; send its ETag back to change it."""
        return self.shown(slug)

    @extend_schema(
        operation_id="update_agent",
        request=AgentChanges,
        parameters=[IF_MATCH],
        responses=AgentShown,
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change an agent that is still at the version in If-Match."""
        changes = self.body(AgentChanges)
        version = asked_version(request)
        update_agent(actor=self.actor, slug=slug, changes=changes, version=version)
        return self.shown(slug)

    @extend_schema(operation_id="delete_agent", parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Remove an agent that is still at the version in If-Match; its runs stay."""
        delete_agent(actor=self.actor, slug=slug, version=asked_version(request))
        return Response(status=204)


class AgentEffectiveTools(Endpoint):
    """Every tool, and what the policy gives this agent."""

    scopes = {"GET": "policy:read"}

    @extend_schema(
        operation_id="list_effective_tools", parameters=[AgentToolsQuery], responses=ToolList
    )
    def get(self, request: Request, slug: str) -> Response:
        """List all tools with their effect for this agent, the reason and the fix."""
        query = self.query(AgentToolsQuery)
        page = list_tools(self.actor, agent=slug, all=True, **query)
        return Response(
            {
                "items": [tool_json(view) for view in page.items],
                "next_cursor": page.next_cursor,
                "previous_cursor": page.previous_cursor,
                "agent": slug,
                "policy_version": current_version().number,
            }
        )


class AgentExplain(Endpoint):
    """Why an agent may or may not use a tool."""

    scopes = {"GET": "policy:read"}

    @extend_schema(
        operation_id="explain_agent_tool", parameters=[ExplainQuery], responses=DecisionShown
    )
    def get(self, request: Request, slug: str) -> Response:
        """Explain what a call would be answered now: every layer, the rule, the shortest fix.

        Without provider and model, those of the agent's profile count, as in a call.
        """
        decided = decide_for_agent(agent=slug, **self.query(ExplainQuery))
        return Response(decision_json(decision_detail(decided.pk, self.actor)))


class AgentPromptItem(Endpoint):
    """The text an agent works with."""

    scopes = {"GET": "tools:read"}

    @extend_schema(operation_id="get_agent_prompt", responses=AgentPrompt)
    def get(self, request: Request, slug: str) -> Response:
        """Show the agent's prompt with the tools the policy gives it."""
        return Response({"agent": slug, "prompt": agent_prompt(self.actor, slug)})
