"""The tools of a caller over REST."""

from __future__ import annotations

import hashlib
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.bodies import write_body
from tools_app.api.endpoint import Endpoint
from tools_app.api.policy import IF_NONE_MATCH
from tools_app.api.preconditions import is_known
from tools_app.api.serializers.tools import (
    SubjectQuery,
    ToolChanges,
    ToolList,
    ToolQuery,
    ToolShown,
)
from tools_app.selectors.tools import (
    ToolView,
    list_tools,
    openai_functions,
    prompt_text,
    tool_detail,
)
from tools_app.services.catalogue import update_tool
from tools_app.services.policies import current_version

NOT_FOR_OTHERS = {"Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
_TOOL_FIELDS = (
    "name",
    "description",
    "parameters",
    "category",
    "source",
    "plugin_id",
    "cost_estimate",
    "latency_estimate",
    "required_capabilities",
    "metadata",
    "definition_hash",
    "is_enabled",
    "is_available",
    "note",
)


def tool_json(view: ToolView) -> dict[str, Any]:
    """Return a tool with what the policy says about it."""
    tool = view.tool
    return {
        **{name: getattr(tool, name) for name in _TOOL_FIELDS},
        "timeout_seconds": tool.timeout_s,
        "requires_confirmation": tool.asks,
        "exposed_on": None if tool.exposed_on is None else sorted(tool.exposed_on),
        "callable": view.callable,
        "effect": view.effect,
        "reason": view.reason,
        "summary": view.summary,
        "fix": view.fix,
    }


class Tools(Endpoint):
    """The tools the caller may use, as an agent."""

    scopes = {"GET": "tools:read"}

    @extend_schema(
        operation_id="list_tools",
        parameters=[ToolQuery, IF_NONE_MATCH],
        responses={200: ToolList, 304: None},
    )
    def get(self, request: Request) -> Response:
        """List effective tools. The ETag changes when any of the answer does."""
        query = self.query(ToolQuery)
        body = self._listing(query)
        body["agent"] = query.get("agent") or self.actor.agent
        body["policy_version"] = current_version().number
        tag = f'"{hashlib.sha256(write_body(body)).hexdigest()[:32]}"'
        headers = {
            "ETag": tag,
            "Cache-Control": "private, no-cache",
            "Vary": "Authorization, Cookie",
        }
        if is_known(request, tag):
            return Response(status=304, headers=headers)
        return Response(body, headers=headers)

    def _listing(self, query: dict[str, Any]) -> dict[str, Any]:
        form = query.pop("format")
        if form == "spec":
            page = list_tools(self.actor, **query)
            return {
                "items": [tool_json(view) for view in page.items],
                "next_cursor": page.next_cursor,
                "previous_cursor": page.previous_cursor,
            }
        for name in ("all", "cursor", "limit"):
            query.pop(name, None)
        if form == "openai":
            return {"functions": openai_functions(self.actor, **query)}
        return {"text": prompt_text(self.actor, **query)}


class ToolItem(Endpoint):
    """One tool."""

    scopes = {"GET": "tools:read", "PATCH": "policy:write"}

    @extend_schema(operation_id="get_tool", parameters=[SubjectQuery], responses=ToolShown)
    def get(self, request: Request, name: str) -> Response:
        """Show a tool and whether the caller may use it."""
        return Response(tool_json(tool_detail(self.actor, name, **self.query(SubjectQuery))))

    @extend_schema(operation_id="update_tool", request=ToolChanges, responses=ToolShown)
    def patch(self, request: Request, name: str) -> Response:
        """Switch a tool on or off, make it ask, limit its time, or choose where it is offered."""
        update_tool(actor=self.actor, name=name, changes=self.body(ToolChanges))
        return Response(tool_json(tool_detail(self.actor, name)))
