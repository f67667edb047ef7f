"""Tools with a known behaviour, for tests. Importing the module registers nothing.

A worker that runs as a process of its own finds them by ``OPENJARVIS_TOOL_MODULES`` naming
:mod:`tests.registered_tools`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from typing import Any

from tools_app.core import BaseTool, ToolResult, ToolSpec

TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
ANYTHING: dict[str, Any] = {"type": "object", "properties": {}}


class SampleTool(BaseTool):
    """A tool whose spec is written as class attributes."""

    parameters: dict[str, Any] = ANYTHING
    options: dict[str, Any] = {}

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.tool_id, f"The tool {self.tool_id}.", self.parameters, **self.options)

    def execute(self, **params: Any) -> ToolResult:
        return ToolResult(self.tool_id, self.answer(params))

    def answer(self, params: dict[str, Any]) -> str:
        raise NotImplementedError


class Echo(SampleTool):
    """Bounded: answers with its text."""

    tool_id = "echo"
    is_bounded = True
    parameters = TEXT

    def answer(self, params: dict[str, Any]) -> str:
        return str(params["text"])


class Tag(SampleTool):
    """Bounded: joins its tags."""

    tool_id = "tag"
    is_bounded = True
    parameters = {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
    }

    def answer(self, params: dict[str, Any]) -> str:
        return "+".join(params["tags"])


class Fetch(SampleTool):
    """Not bounded: a worker runs it. Counts its calls in this process."""

    tool_id = "fetch"
    parameters = TEXT

    def __init__(self) -> None:
        self.calls: list[str] = []

    def answer(self, params: dict[str, Any]) -> str:
        self.calls.append(str(params["text"]))
        return f"fetched {params['text']}"


class Send(SampleTool):
    """Asks for approval. Counts its calls in this process."""

    tool_id = "send"
    options = {"requires_confirmation": True}

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def answer(self, params: dict[str, Any]) -> str:
        self.calls.append(params)
        return "sent"


class Spend(SampleTool):
    """Bounded: costs an estimated 0.4 USD, and in truth what it is told."""

    tool_id = "spend"
    is_bounded = True
    parameters = {"type": "object", "properties": {"usd": {"type": "number"}}}
    options = {"cost_estimate": 0.4}

    def execute(self, **params: Any) -> ToolResult:
        return ToolResult(self.tool_id, "spent", cost_usd=float(params.get("usd", 0.4)))


class Fail(SampleTool):
    """Bounded: always raises."""

    tool_id = "fail"
    is_bounded = True

    def answer(self, params: dict[str, Any]) -> str:
        raise RuntimeError("no such luck, password=hunter2hunter2")


class Hang(SampleTool):
    """Never returns, unless the test lets it."""

    tool_id = "hang"
    options = {"timeout_seconds": 30.0}

    def __init__(self) -> None:
        self.started = threading.Event()
        self.may_return = threading.Event()

    def answer(self, params: dict[str, Any]) -> str:
        self.started.set()
        self.may_return.wait(60)
        return "let go"


class SpawnAndHang(SampleTool):
    """Starts a program in a session of its own, tells its id in a file, and never returns."""

    tool_id = "spawn_and_hang"
    parameters = {"type": "object", "properties": {"pid_file": {"type": "string"}}}

    def answer(self, params: dict[str, Any]) -> str:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open(params["pid_file"], "w", encoding="ascii") as file:
            file.write(str(child.pid))
        threading.Event().wait()
        return "never"


class HoldInterpreter(SampleTool):
    """Holds the interpreter's lock in a regular expression that never ends."""

    tool_id = "hold_interpreter"

    def answer(self, params: dict[str, Any]) -> str:
        return str(re.match(r"(a+)+$", "a" * 64 + "b"))


SAMPLE_TOOLS = (Echo, Tag, Fetch, Send, Spend, Fail, Hang, SpawnAndHang, HoldInterpreter)
