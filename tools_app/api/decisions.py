"""Decisions over REST."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.endpoint import Endpoint
from tools_app.api.serializers.policy import DecisionShown
from tools_app.models import Decision
from tools_app.selectors.decisions import decision_detail


def decision_json(decision: Decision) -> dict[str, Any]:
    """Return a decision with its whole explanation."""
    return {
        "id": decision.pk,
        "effect": decision.effect,
        "code": decision.code,
        "tool": decision.tool_name,
        "agent": decision.agent,
        "subject": decision.subject,
        "policy_version": decision.policy_version,
        "summary": decision.summary,
        "explanation": decision.explanation,
        "decided_at": decision.decided_at,
    }


class DecisionItem(Endpoint):
    """Why a tool was allowed, asked about or denied."""

    scopes = {"GET": ("policy:read", "tools:read", "tools:execute", "audit")}

    @extend_schema(operation_id="get_decision", responses=DecisionShown)
    def get(self, request: Request, decision_id: UUID) -> Response:
        """Show a decision: its layers in order, the rule that decided, the shortest fix."""
        return Response(decision_json(decision_detail(decision_id, self.actor)))
