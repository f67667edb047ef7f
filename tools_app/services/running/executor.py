"""The one executor of a process, with every tool this process has."""

from __future__ import annotations

from collections.abc import Mapping
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
    executor = _shared.get() if runner is None else _make(runner)
    return executor.execute(ToolCall(run_id, tool_name, arguments))


class _SharedExecutor:
    """The executor of all calls that need no runner of their own; made again for other tools."""

    def __init__(self) -> None:
        self._held: tuple[Mapping[str, BaseTool], ToolExecutor] | None = None

    def get(self) -> ToolExecutor:
        held = self._held
        if held is None or held[0] is not tool_instances():
            held = self._held = tool_instances(), _make(None)
        return held[1]


_shared = _SharedExecutor()


def _make(runner: ToolRunner | None) -> ToolExecutor:
    return ToolExecutor(
        tool_instances().values(),
        get_event_bus(),
        interactive=True,
        confirm_callback=_approved,
        runner=runner,
    )


def _approved(question: str) -> bool:
    """Answer yes: whether a person must be asked was settled before the executor is reached."""
    return True
