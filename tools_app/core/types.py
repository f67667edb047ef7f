"""The value types that tools, agents and transports exchange. Equality is by value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Who speaks in a conversation."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(slots=True)
class ToolSpec:
    """A tool's published description.

    ``parameters`` is a JSON Schema of an object, ``{}`` when the tool takes anything.
    ``cost_estimate`` is in US dollars, ``latency_estimate`` and ``timeout_seconds`` in seconds;
    a ``timeout_seconds`` of 0 means the executor's default.
    """

    name: str
    description: str
    parameters: dict[str, Any] = field(default_factory=dict)
    category: str = ""
    cost_estimate: float = 0.0
    latency_estimate: float = 0.0
    requires_confirmation: bool = False
    timeout_seconds: float = 30.0
    required_capabilities: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ToolCall:
    """A model's or client's request; ``arguments`` is JSON text, or the object it stands for."""

    id: str
    name: str
    arguments: str | Mapping[str, Any] = ""


@dataclass(slots=True)
class ToolResult:
    """What a tool answered. ``usage`` counts model tokens; ``cost_usd`` is in US dollars."""

    tool_name: str
    content: str
    success: bool = True
    usage: dict[str, Any] = field(default_factory=dict)
    cost_usd: float = 0.0
    latency_seconds: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def error_code(self) -> str | None:
        """The stable code of a failure, ``None`` for a success."""
        if self.success:
            return None
        code = self.metadata.get("error_code")
        return code if isinstance(code, str) else "tool_failed"


@dataclass(slots=True)
class Message:
    """One turn of a conversation; ``images`` holds base64 texts."""

    role: Role
    content: str | None = ""
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    images: list[str] | None = None

    @property
    def text(self) -> str:
        """The content, or an empty text when there is none."""
        return self.content or ""


@dataclass(slots=True)
class Conversation:
    """Messages in order; with ``max_messages`` only the newest of them are kept."""

    messages: list[Message] = field(default_factory=list)
    max_messages: int | None = None

    def add(self, message: Message) -> None:
        """Append ``message`` and forget what exceeds ``max_messages``."""
        self.messages.append(message)
        if self.max_messages is not None and len(self.messages) > self.max_messages:
            self.messages = self.window(self.max_messages)

    def window(self, n: int) -> list[Message]:
        """Return the last ``n`` messages; none for ``n <= 0``."""
        return self.messages[-n:] if n > 0 else []
