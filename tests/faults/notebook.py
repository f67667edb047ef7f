"""A tool that leaves a trace outside the database, so that running twice can be seen."""

from __future__ import annotations

import os
import threading

from tools_app.core import BaseTool, ToolRegistry, ToolResult, ToolSpec


@ToolRegistry.register("note")
class Note(BaseTool):
    """Appends its text as one line to the file that ``NOTEBOOK`` names, then takes its time."""

    tool_id = "note"

    @property
    def spec(self) -> ToolSpec:
        text = {"text": {"type": "string"}, "seconds": {"type": "number"}}
        return ToolSpec(
            "note", "Notes a text.", {"type": "object", "properties": text, "required": ["text"]}
        )

    def execute(self, **params: object) -> ToolResult:
        line = f"{params['text']}\n".encode()
        notebook = os.open(os.environ["NOTEBOOK"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(notebook, line)
        os.close(notebook)
        threading.Event().wait(float(str(params.get("seconds", 0))))
        return ToolResult("note", "noted", True)
