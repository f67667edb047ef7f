"""think: a place for a model to write down its reasoning."""

from __future__ import annotations

from typing import Any

from tools_app.core.registry import ToolRegistry
from tools_app.core.tool import BaseTool
from tools_app.core.types import ToolResult, ToolSpec


@ToolRegistry.register("think")
class ThinkTool(BaseTool):
    """Answers with the thought it was given."""

    tool_id = "think"
    is_bounded = True

    @property
    def spec(self) -> ToolSpec:
        """The tool's published description."""
        return ToolSpec(
            name="think",
            description=(
                "Write down intermediate reasoning. Nothing is looked up or changed;"
                " the thought comes back as it is."
            ),
            parameters={
                "type": "object",
                "properties": {
                    "thought": {"type": "string", "description": "The reasoning to write down."}
                },
                "required": ["thought"],
            },
            category="reasoning",
        )

    def execute(self, /, **params: Any) -> ToolResult:
        """Return the thought; an empty text when there is none."""
        thought = params.get("thought", "")
        if not isinstance(thought, str):
            return ToolResult("think", "Error: 'thought' must be a text", success=False)
        return ToolResult("think", thought)
