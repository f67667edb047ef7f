"""What an event says about a run: all that a live row shows, so that no reader has to look up."""

from __future__ import annotations

import json
from typing import Any

from tools_app.models import ToolRun

PREVIEW_CHARACTERS = 120


def run_data(run: ToolRun, **more: object) -> dict[str, Any]:
    """Return the ``data`` of an event about ``run``; ``more`` adds fields of that kind.

    Shape: {run, tool, agent, status, outcome, effect, summary, decision, policy_version,
    preview, duration_ms, cost_usd, actor, surface}. ``run.decision`` should be loaded.
    """
    decision = run.decision
    return {
        "run": str(run.pk),
        "tool": run.tool_name,
        "agent": run.agent,
        "status": str(run.status),
        "outcome": run.outcome,
        "effect": run.effect,
        "summary": run.message if decision is None else decision.summary,
        "decision": None if decision is None else str(decision.pk),
        "policy_version": run.policy_version,
        "preview": argument_preview(run.arguments),
        "duration_ms": run.duration_ms,
        "cost_usd": run.cost_usd,
        "actor": run.actor,
        "surface": run.surface,
        **more,
    }


def argument_preview(arguments: Any) -> str:
    """Return redacted arguments on one line of at most 120 characters."""
    if not arguments:
        return ""
    text = json.dumps(arguments, ensure_ascii=False, separators=(", ", ": "))
    return text if len(text) <= PREVIEW_CHARACTERS else f"{text[: PREVIEW_CHARACTERS - 1]}…"
