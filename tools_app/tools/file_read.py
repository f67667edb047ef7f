"""file_read: the text of one file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import islice
from typing import Any

from tools_app.core.errors import ToolError
from tools_app.core.registry import ToolRegistry
from tools_app.core.tool import BaseTool
from tools_app.core.types import ToolResult, ToolSpec
from tools_app.guards.paths import PathGuard

MAX_BYTES = 1_048_576


@ToolRegistry.register("file_read")
class FileReadTool(BaseTool):
    """Reads UTF-8 text below the allowed folders; ``None`` means anywhere.

    The path guard holds the folders, secret files and links. A binary file is a failed result.
    """

    tool_id = "file_read"

    def __init__(
        self, allowed_dirs: Sequence[str] | None = None, *, guard: PathGuard | None = None
    ) -> None:
        self._guard = guard or PathGuard(allowed_dirs)

    @property
    def spec(self) -> ToolSpec:
        """The tool's published description."""
        return ToolSpec(
            name="file_read",
            description="Read a text file (UTF-8, up to 1 MB).",
            parameters={
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file to read."},
                    "max_lines": {
                        "type": "integer",
                        "description": "Read only so many lines; 0 reads all.",
                    },
                },
                "required": ["path"],
            },
            category="filesystem",
            required_capabilities=["file:read"],
        )

    def execute(self, /, **params: Any) -> ToolResult:
        """Return the text, its resolved path and the size of the whole file."""
        path, max_lines = params.get("path", ""), params.get("max_lines", 0)
        if not isinstance(path, str) or not path:
            return _failed("no path given", "invalid_arguments")
        if isinstance(max_lines, bool) or not isinstance(max_lines, int):
            return _failed("'max_lines' must be a whole number", "invalid_arguments")
        try:
            content = self._guard.read_file(path, max_bytes=MAX_BYTES)
        except ToolError as error:
            return _failed(error.message, error.code)
        text = _decoded(content.data)
        if text is None:
            return _failed(f"not a text file (UTF-8): {path}", "not_text")
        if max_lines > 0:
            text = "".join(islice(io.StringIO(text), max_lines))
        metadata = {"path": content.path, "size_bytes": content.size_bytes}
        return ToolResult("file_read", text, metadata=metadata)


def _decoded(data: bytes) -> str | None:
    """Return the text with universal newlines, ``None`` for what is no text."""
    if b"\0" in data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _failed(message: str, code: str) -> ToolResult:
    return ToolResult(
        "file_read", f"Error: {message}", success=False, metadata={"error_code": code}
    )
