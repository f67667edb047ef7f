"""Every failure the core, the guards and the tools expect, each with a stable public code.

A transport maps a class to its own status once; the code and the message travel unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar


class ToolError(Exception):
    """Base of every expected failure; ``message`` is safe to show a person."""

    code: ClassVar[str] = "tool_error"  # stable, public, never renamed
    retryable: ClassVar[bool] = False  # can the same call succeed later, unchanged?

    def __init__(self, message: str, *, extra: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.extra: dict[str, object] = dict(extra or {})


class UnknownTool(ToolError):
    """No tool has this name."""

    code = "unknown_tool"


class ToolFailed(ToolError):
    """The tool ran and reported, or caused, a failure."""

    code = "tool_failed"


class ToolTimeout(ToolError):
    """The tool did not answer within its limit and was given up."""

    code = "tool_timeout"
    retryable = True


class ToolCancelled(ToolError):
    """Somebody cancelled the call before it ended."""

    code = "tool_cancelled"


class ToolCapacityExhausted(ToolError):
    """Every place to run such a tool stayed taken for as long as the call's own limit."""

    code = "capacity_exhausted"
    retryable = True


class InvalidToolResult(ToolError):
    """The tool returned something that is no ``ToolResult`` with a text."""

    code = "invalid_tool_result"


class ConfirmationRequired(ToolError):
    """The tool needs a person's consent and nobody can be asked here."""

    code = "confirmation_required"


class ConfirmationDenied(ToolError):
    """The person who was asked refused the call."""

    code = "confirmation_denied"


class CapabilityDenied(ToolError):
    """The agent lacks a capability the tool needs."""

    code = "capability_denied"


class TaintViolation(ToolError):
    """The arguments carry data that this tool must not receive."""

    code = "taint_violation"


class SecurityBlocked(ToolError):
    """The boundary guard keeps secret or personal data on this machine."""

    code = "security_blocked"


class InvalidSchema(ToolError):
    """A tool's parameters are no JSON Schema (Draft 2020-12) that can be compiled offline."""

    code = "invalid_schema"


class InvalidSetting(ToolError):
    """A configuration value has the wrong form."""

    code = "invalid_setting"


class InvalidArguments(ToolError):
    """The arguments are no JSON, no object, too large, or break the tool's schema.

    ``errors`` lists what is wrong as ``{"path": "$.tags[0]", "message": "…"}``. ``code`` is
    ``invalid_arguments``, or ``truncated_arguments`` when the text stops before its JSON ends.
    """

    code = "invalid_arguments"

    def __init__(
        self,
        message: str,
        *,
        errors: Sequence[Mapping[str, str]] = (),
        code: str | None = None,
    ) -> None:
        self.errors = [dict(error) for error in errors]
        super().__init__(message, extra={"errors": self.errors} if self.errors else None)
        if code is not None:
            self.code = code  # type: ignore[misc]  # one instance narrows its class's code
