"""The boundary guard: what the arguments of a tool may carry off this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

from tools_app.core.errors import SecurityBlocked
from tools_app.core.events import EventBus, EventType
from tools_app.guards.secrets import Finding, PIIScanner, Scanner, SecretScanner

PREVIEW_CHARACTERS = 200


class BoundaryMode(StrEnum):
    """What happens to text that carries a finding."""

    WARN = "warn"
    REDACT = "redact"
    BLOCK = "block"


class BoundaryGuard:
    """Scans parsed arguments, text by text, and warns, redacts or blocks.

    Publishes ``security_alert`` or ``security_block`` with a preview that is itself redacted.
    """

    def __init__(
        self,
        mode: BoundaryMode = BoundaryMode.REDACT,
        *,
        scanners: Sequence[Scanner] | None = None,
        bus: EventBus | None = None,
        source: str = "agent",
    ) -> None:
        self._mode = mode
        self._scanners = (
            tuple(scanners) if scanners is not None else (SecretScanner(), PIIScanner())
        )
        self._bus = bus
        self._source = source

    def check_outbound(self, tool_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments as they may leave; raises SecurityBlocked in mode ``block``."""
        findings = [f for text in _texts(arguments) for f in self._scan(text)]
        if not findings:
            return arguments
        is_blocked = self._mode is BoundaryMode.BLOCK
        self._publish(tool_name, arguments, is_blocked)
        if is_blocked:
            names = ", ".join(sorted({finding.pattern for finding in findings}))
            raise SecurityBlocked(
                f"the arguments of '{tool_name}' contain {names}", extra={"patterns": names}
            )
        if self._mode is BoundaryMode.WARN:
            return arguments
        redacted: dict[str, Any] = self._redacted(arguments)
        return redacted

    def _scan(self, text: str) -> Iterator[Finding]:
        for scanner in self._scanners:
            yield from scanner.scan(text)

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            for scanner in self._scanners:
                value = scanner.redact(value)
            return value
        if isinstance(value, dict):
            return {self._redacted(key): self._redacted(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._redacted(item) for item in value]
        return value

    def _publish(self, tool_name: str, arguments: dict[str, Any], is_blocked: bool) -> None:
        if self._bus is None:
            return
        data = {
            "source": self._source,
            "destination": tool_name,
            "mode": str(self._mode),
            "content_preview": str(self._redacted(arguments))[:PREVIEW_CHARACTERS],
        }
        event = EventType.SECURITY_BLOCK if is_blocked else EventType.SECURITY_ALERT
        self._bus.publish(event, data)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
