"""The one executor of a process, with every tool this process has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tools_app.core import BaseTool, ToolCall, ToolExecutor, ToolResult, ToolRunner, get_event_bus
from tools_app.services.catalogue import tool_instances


def execute(
    run_id: str, tool_name: str, arguments: Mapping[str, Any], *, runner: ToolRunner | None = None
) -> ToolResult:
    """Run a call that was admitted and, where needed, approved; never raises.

    ``runner`` is who runs the tool and cuts it at its deadline; by default the caller's thread
    for bounded tools.
    """
    executor = _executor(tuple(tool_instances().values())) if runner is None else _with(runner)
    return executor.execute(ToolCall(run_id, tool_name, arguments))


def _with(runner: ToolRunner) -> ToolExecutor:
    return _make(tuple(tool_instances().values()), runner)


@lru_cache(maxsize=2)
def _executor(tools: tuple[BaseTool, ...]) -> ToolExecutor:
    return _make(tools, None)


def _make(tools: tuple[BaseTool, ...], runner: ToolRunner | None) -> ToolExecutor:
    return ToolExecutor(
        tools,
        get_event_bus(),
        interactive=True,
        confirm_callback=_approved,
        runner=runner,
    )


def _approved(question: str) -> bool:
    """Answer yes: whether a person must be asked was settled before the executor is reached."""
    return True
