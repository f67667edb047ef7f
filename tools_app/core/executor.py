"""ToolExecutor: the one way to run a tool call, whatever the tool does."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tools_app.core.arguments import (
    ArgumentChecker,
    CheckedArguments,
    compile_arguments,
    parse_arguments,
)
from tools_app.core.cancellation import CancelToken
from tools_app.core.errors import (
    CapabilityDenied,
    ConfirmationDenied,
    ConfirmationRequired,
    InvalidArguments,
    InvalidToolResult,
    SecurityBlocked,
    TaintViolation,
    ToolError,
    ToolTimeout,
    UnknownTool,
)
from tools_app.core.events import EventBus, EventType
from tools_app.core.redaction import LONGEST_SECRET, redact, redact_text
from tools_app.core.runner import ThreadRunner, ToolRunner, failure_of
from tools_app.core.taint import TaintSet, check_taint, detect_taint
from tools_app.core.tool import BaseTool
from tools_app.core.types import ToolCall, ToolResult, ToolSpec

logger = logging.getLogger(__name__)

EVENT_CONTENT_CHARACTERS = 10_240  # of a result's content in its end event


class CapabilityChecker(Protocol):
    """Answers whether an agent may use a capability on a tool."""

    def check(self, agent_id: str, capability: str, resource: str = "") -> bool: ...


class OutboundGuard(Protocol):
    """Keeps secrets out of arguments that leave this machine."""

    def check_outbound(self, tool_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments, perhaps redacted; raises SecurityBlocked."""


@dataclass(slots=True)
class _Entry:
    tool: BaseTool
    spec: ToolSpec
    checker: ArgumentChecker | None = None  # compiled for the first call

    def check(self, values: dict[str, Any]) -> CheckedArguments:
        if self.checker is None:
            self.checker = compile_arguments(self.spec.parameters)
        return self.checker.check(values)


_strict_json = json.JSONEncoder(allow_nan=False).encode
_shared_runner = ThreadRunner()


class ToolExecutor:
    """Runs calls of a fixed set of tools and publishes what happens.

    ``execute`` answers every call with a ToolResult: whatever goes wrong is a failed result whose
    ``error_code`` is the stable code of a ToolError. With two tools of one name the later wins.
    ``default_timeout`` is in seconds and stands in where a spec's own limit is 0.
    """

    def __init__(
        self,
        tools: Iterable[BaseTool],
        bus: EventBus | None = None,
        *,
        interactive: bool = False,
        confirm_callback: Callable[[str], object] | None = None,
        default_timeout: float = 30.0,
        capability_policy: CapabilityChecker | None = None,
        agent_id: str = "",
        boundary_guard: OutboundGuard | None = None,
        runner: ToolRunner | None = None,
    ) -> None:
        self._entries: dict[str, _Entry] = {}
        for tool in tools:
            spec = tool.spec
            if spec.name in self._entries:
                logger.warning("two tools are named '%s'; the later one is used", spec.name)
            self._entries[spec.name] = _Entry(tool, spec)
        self._bus = bus
        self._confirm = confirm_callback if interactive else None
        self._default_timeout = default_timeout
        self._capability_policy = capability_policy
        self._agent_id = agent_id
        self._boundary_guard = boundary_guard
        self._runner = runner or _shared_runner

    def available_tools(self) -> list[ToolSpec]:
        """Return the specs in the order the tools were given."""
        return [entry.spec for entry in self._entries.values()]

    def get_openai_tools(self) -> list[dict[str, Any]]:
        """Return the tools in the form of OpenAI's function calling, in the same order."""
        return [entry.tool.to_openai_function() for entry in self._entries.values()]

    def execute(self, tool_call: ToolCall, *, cancel: CancelToken | None = None) -> ToolResult:
        """Run a call and return its result; never raises.

        A call that is refused before its tool starts publishes no start and no end event.
        """
        try:
            entry = self._find(tool_call.name)
            arguments = self._admit(entry, tool_call.arguments)
        except ToolError as error:
            return _failed(tool_call.name, error)
        except Exception:
            logger.exception("checking a call of '%s' failed", tool_call.name)
            return _failed(tool_call.name, ToolError("the call could not be checked: refused"))
        return self._run(entry, arguments, cancel)

    # Before the tool starts: each step raises a ToolError to refuse the call.

    def _find(self, name: str) -> _Entry:
        try:
            return self._entries[name]
        except (KeyError, TypeError):
            raise UnknownTool(f"unknown tool: {name}") from None

    def _admit(self, entry: _Entry, arguments: object) -> CheckedArguments:
        """Return the arguments the tool will get, once every check has passed."""
        taint, values = _split_taint(arguments)
        values = self._guard_boundary(entry, parse_arguments(values))
        self._check_capabilities(entry.spec)
        self._check_taint(entry.spec.name, taint)
        values.pop("_taint", None)
        checked = entry.check(values)
        self._ask(entry.spec, checked.values)
        return checked

    def _guard_boundary(self, entry: _Entry, values: dict[str, Any]) -> dict[str, Any]:
        if self._boundary_guard is None or entry.tool.is_local:
            return values
        try:
            return self._boundary_guard.check_outbound(entry.spec.name, values)
        except SecurityBlocked as error:
            raise SecurityBlocked(f"security block: {error.message}", extra=error.extra) from error

    def _check_capabilities(self, spec: ToolSpec) -> None:
        if self._capability_policy is None:
            return
        for capability in spec.required_capabilities:
            if self._capability_policy.check(self._agent_id, capability, spec.name):
                continue
            refusal = {"agent_id": self._agent_id, "capability": capability, "tool": spec.name}
            self._publish(EventType.CAPABILITY_DENIED, refusal)
            raise CapabilityDenied(
                f"capability '{capability}' is denied to agent '{self._agent_id}'"
                f" for tool '{spec.name}'",
                extra=refusal,
            )

    def _check_taint(self, tool_name: str, taint: TaintSet) -> None:
        violation = check_taint(tool_name, taint)
        if violation is not None:
            self._publish(EventType.TAINT_VIOLATION, {"tool": tool_name, "violation": violation})
            raise TaintViolation(violation)

    def _ask(self, spec: ToolSpec, values: dict[str, Any]) -> None:
        if not spec.requires_confirmation:
            return
        if self._confirm is None:
            raise ConfirmationRequired(
                f"tool '{spec.name}' needs confirmation and there is no callback to ask for it"
            )
        shown = json.dumps(values, ensure_ascii=False, sort_keys=True)
        if not self._confirm(f"Run tool '{spec.name}' with arguments {shown}?"):
            raise ConfirmationDenied(f"tool '{spec.name}' was denied by user")

    # From the start event on: whatever happens, an end event follows.

    def _run(
        self, entry: _Entry, arguments: CheckedArguments, cancel: CancelToken | None
    ) -> ToolResult:
        spec, values = entry.spec, arguments.values
        if self._observes(EventType.TOOL_CALL_START):
            start = {"tool": spec.name, "arguments": redact(values), "agent": self._agent_id}
            self._publish(EventType.TOOL_CALL_START, start)
        timeout_s = spec.timeout_seconds or self._default_timeout
        started = time.perf_counter()
        try:
            result = _checked_result(self._runner.run(entry.tool, values, timeout_s, cancel))
        except ToolError as error:
            if isinstance(error, ToolTimeout):
                self._publish(EventType.TOOL_TIMEOUT, {"tool": spec.name, "timeout": timeout_s})
            result = _failed(spec.name, error)
        except Exception as error:
            logger.exception("running '%s' failed", spec.name)
            result = _failed(spec.name, failure_of(error))
        latency = time.perf_counter() - started
        result = replace(
            result,
            latency_seconds=latency,
            metadata={**result.metadata, **_facts(arguments, result)},
        )
        self._publish_end(spec.name, result)
        return result

    def _publish_end(self, tool_name: str, result: ToolResult) -> None:
        if not self._observes(EventType.TOOL_CALL_END):
            return
        end = {
            "tool": tool_name,
            "success": result.success,
            "latency": result.latency_seconds,
            "result": _published_content(result.content),
            "metadata": redact(_json_entries(result.metadata)),
            "agent": self._agent_id,
        }
        self._publish(EventType.TOOL_CALL_END, end)

    def _observes(self, event_type: EventType) -> bool:
        return self._bus is not None and self._bus.is_observed(event_type)

    def _publish(self, event_type: EventType, data: dict[str, Any]) -> None:
        if self._bus is not None:
            self._bus.publish(event_type, data)


def _split_taint(arguments: object) -> tuple[TaintSet, object]:
    """Take the labels out of arguments that came as an object; JSON text cannot carry any."""
    if not isinstance(arguments, Mapping) or "_taint" not in arguments:
        return TaintSet(), arguments
    values = dict(arguments)
    taint = values.pop("_taint")
    return taint if isinstance(taint, TaintSet) else TaintSet(), values


def _checked_result(returned: object) -> ToolResult:
    if not isinstance(returned, ToolResult):
        raise InvalidToolResult(f"the tool returned {type(returned).__name__}, not a ToolResult")
    if not isinstance(returned.content, str):
        found = type(returned.content).__name__
        raise InvalidToolResult(f"the tool returned a result whose content is {found}, not text")
    if not isinstance(returned.metadata, dict):
        return replace(returned, metadata={})
    return returned


def _facts(arguments: CheckedArguments, result: ToolResult) -> dict[str, Any]:
    """Return what the executor adds to the metadata of a tool's result."""
    facts: dict[str, Any] = {"arguments": arguments.values}
    if arguments.coerced:
        facts["coerced"] = list(arguments.coerced)
    if result.success and (labels := detect_taint(result.content)):
        facts["_taint"] = labels
    return facts


def _failed(tool_name: str, error: ToolError) -> ToolResult:
    metadata: dict[str, Any] = {"error_code": error.code}
    if isinstance(error, InvalidArguments) and error.errors:
        metadata["errors"] = error.errors
    return ToolResult(tool_name, f"Error: {error.message}", success=False, metadata=metadata)


def _published_content(content: str) -> str:
    """Return the masked beginning of a content; a secret across the cut is masked too."""
    masked = redact_text(content[: EVENT_CONTENT_CHARACTERS + LONGEST_SECRET])
    return masked[:EVENT_CONTENT_CHARACTERS]


def _json_entries(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that JSON can carry."""
    entries = {}
    for key, value in metadata.items():
        try:
            _strict_json({key: value})
        except (TypeError, ValueError, RecursionError):
            continue
        entries[key] = value
    return entries
