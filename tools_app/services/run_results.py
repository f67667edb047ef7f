"""Results of tools on their way into a run's row, and back out of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from tools_app.core import ToolResult, redact, redact_text
from tools_app.models import RunStatus, ToolRun
from tools_app.services.access import Actor
from tools_app.services.sealing import deliverable_content
from tools_app.services.storable import MAX_CONTENT_CHARACTERS, json_members, storable_text

_NOT_STORED = frozenset({"arguments", "_taint"})  # the row has the one, the other is no JSON


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A result as the row keeps it: ``fields`` of the run, and the content where it differs."""

    fields: dict[str, Any]
    true_content: str | None  # None: the stored content is the true one


def stored_result(result: ToolResult) -> StoredResult:
    """Redact a result and make it storable.

    Content beyond ``MAX_CONTENT_CHARACTERS`` is cut; ``result_metadata`` then has
    ``truncated: {"kept": characters, "of": characters}``.
    """
    content, metadata = result.content, json_members(_kept_metadata(result))
    if len(content) > MAX_CONTENT_CHARACTERS:
        metadata["truncated"] = {"kept": MAX_CONTENT_CHARACTERS, "of": len(content)}
        content = content[:MAX_CONTENT_CHARACTERS]
    shown = storable_text(redact_text(content))
    cost = result.cost_usd if isinstance(result.cost_usd, int | float) else 0.0
    return StoredResult(
        fields={
            "content": shown,
            "content_size": len(result.content.encode("utf-8", "replace")),
            "success": bool(result.success),
            "usage": json_members(result.usage) if result.usage else {},
            "result_metadata": metadata,
            "cost_usd": float(cost) if 0 < cost <= sys.float_info.max else 0.0,
        },
        true_content=None if shown == content else content,
    )


def result_of(run: ToolRun, actor: Actor) -> ToolResult | None:
    """Return the result of a run that has ended, with true content for the run's own caller.

    A run that ended without its tool's answer has a failed result that says why. ``None`` for
    one that is open, or was refused.
    """
    if not run.is_finished or run.status == RunStatus.REFUSED:
        return None
    if run.success is None:
        metadata = {"error_code": run.outcome}
        return ToolResult(run.tool_name, run.message, success=False, metadata=metadata)
    return ToolResult(
        tool_name=run.tool_name,
        content=deliverable_content(run, actor),
        success=run.success,
        usage=dict(run.usage),
        cost_usd=run.cost_usd,
        latency_seconds=(run.duration_ms or 0.0) / 1000,
        metadata=dict(run.result_metadata),
    )


def _kept_metadata(result: ToolResult) -> dict[str, Any]:
    kept = {name: value for name, value in result.metadata.items() if name not in _NOT_STORED}
    if not kept:
        return {}
    redacted = redact(kept)
    return dict(redacted) if isinstance(redacted, dict) else {}
