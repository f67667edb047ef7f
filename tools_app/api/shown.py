"""Rows as JSON. One function per thing, used by every view that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tools_app.core import ToolResult
from tools_app.models import Approval, Decision, ToolRun
from tools_app.services.access import Actor
from tools_app.services.run_results import result_of
from tools_app.services.running import DryRun
from tools_app.services.sealing import deliverable_arguments

Shown = Mapping[str, Any]

_RUN_FIELDS = (
    "id",
    "agent",
    "provider",
    "model",
    "session",
    "surface",
    "actor",
    "status",
    "outcome",
    "message",
    "effect",
    "policy_version",
    "definition_hash",
    "arguments",
    "arguments_digest",
    "coerced",
    "success",
    "content_size",
    "cost_usd",
    "requested_at",
    "started_at",
    "finished_at",
    "decide_ms",
    "duration_ms",
    "cancel_requested_at",
    "cancel_reason",
)


def run_json(run: ToolRun) -> dict[str, Any]:
    """Return a run as lists show it, with redacted arguments."""
    shown = {name: getattr(run, name) for name in _RUN_FIELDS}
    shown["tool"] = run.tool_name
    shown["decision"] = run.decision_id
    shown["timeout_seconds"] = run.timeout_s
    return shown


def run_detail_json(run: ToolRun, actor: Actor) -> dict[str, Any]:
    """Return a run with its result; who may see more gets true arguments and content."""
    result = result_of(run, actor)
    approval = getattr(run, "approval", None)
    return {
        **run_json(run),
        "arguments": deliverable_arguments(run, actor),
        "result": None if result is None else result_json(result),
        "decided": decision_brief(run.decision),
        "approval": None if approval is None else approval.pk,
    }


def result_json(result: ToolResult) -> dict[str, Any]:
    """Return a tool's answer."""
    return {
        "tool_name": result.tool_name,
        "content": result.content,
        "success": result.success,
        "usage": result.usage,
        "cost_usd": result.cost_usd,
        "latency_seconds": result.latency_seconds,
        "metadata": {k: v for k, v in result.metadata.items() if k != "arguments"},
    }


def decision_brief(decision: Decision | None) -> dict[str, Any] | None:
    """Return a decision in one line."""
    if decision is None:
        return None
    return {
        "id": decision.pk,
        "effect": decision.effect,
        "code": decision.code,
        "summary": decision.summary,
        "policy_version": decision.policy_version,
    }


def approval_brief(approval: Approval) -> dict[str, Any]:
    """Return what a waiting caller needs to know of its approval."""
    return {
        "id": approval.pk,
        "status": approval.status,
        "reason": approval.reason,
        "expires_at": approval.expires_at,
    }


def dry_json(dry: DryRun) -> dict[str, Any]:
    """Return what a call would meet."""
    return asdict(dry)
