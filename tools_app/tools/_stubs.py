"""The import path that tools written for OpenJarvis use; the classes live in the core."""

from tools_app.core.descriptions import build_tool_descriptions
from tools_app.core.executor import ToolExecutor
from tools_app.core.tool import BaseTool
from tools_app.core.types import ToolCall, ToolResult, ToolSpec

__all__ = [
    "BaseTool",
    "ToolCall",
    "ToolExecutor",
    "ToolResult",
    "ToolSpec",
    "build_tool_descriptions",
]
