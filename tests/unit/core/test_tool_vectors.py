"""Every recorded vector of a kind that is built, at every level: must, should and beat."""

from __future__ import annotations

import builtins
import ipaddress
import json
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import tools_app.tools  # noqa: F401 - registers the tools
from tests.unit.core.tool_vectors import (
    Vector,
    mismatches,
    put_files,
    selected_vectors,
    with_folder,
)
from tools_app import core
from tools_app.core import (
    BaseTool,
    CapabilityPolicy,
    Conversation,
    EventBus,
    EventType,
    Message,
    Registry,
    Role,
    ToolCall,
    ToolExecutor,
    ToolRegistry,
    ToolResult,
    ToolSpec,
    build_tool_descriptions,
    check_taint,
    detect_taint,
)
from tools_app.guards.network import NetworkGuard
from tools_app.guards.network_policy import NetworkRefused
from tools_app.guards.paths import is_secret_file
from tools_app.guards.secrets import PIIScanner, Scanner, SecretScanner

pytestmark = pytest.mark.tool_vectors


class ScriptedTool(BaseTool):
    """A tool that behaves as a vector says and remembers what it was called with."""

    def __init__(self, description: dict[str, Any]) -> None:
        fields = dict(description)
        self._behaviour = fields.pop("behaviour", {"type": "none"})
        self._spec = ToolSpec(**{"description": "", **fields})
        self.calls: list[dict[str, Any]] = []

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    def execute(self, **params: Any) -> ToolResult:
        self.calls.append(params)
        behaviour = self._behaviour
        match behaviour["type"]:
            case "echo":
                content = params[behaviour["param"]]
            case "params_json":
                content = json.dumps(params, sort_keys=True)
            case "return":
                return ToolResult(
                    self._spec.name,
                    behaviour["content"],
                    success=behaviour.get("success", True),
                    metadata=behaviour.get("metadata", {}),
                )
            case "raise":
                raise getattr(builtins, behaviour["error"])(behaviour["message"])
            case "sleep":
                threading.Event().wait(behaviour["seconds"])
                content = "slept"
            case _:
                return None  # type: ignore[return-value]
        return ToolResult(self._spec.name, content)


def _observe_executor(vector: Vector, folder: Path) -> dict[str, Any]:
    tools = [
        ToolRegistry.create(t) if isinstance(t, str) else ScriptedTool(t) for t in vector["tools"]
    ]
    options = dict(vector.get("options", {}))
    if "confirm_answer" in options:
        answer = options.pop("confirm_answer")
        options["confirm_callback"] = lambda _: answer
    if "policy" in options:
        options["capability_policy"] = _capability_policy(options.pop("policy"))
    bus = EventBus(record_history=True)
    executor = ToolExecutor(tools, bus if vector.get("bus", True) else None, **options)
    results = [
        asdict(executor.execute(ToolCall(str(n), call["name"], call["arguments"])))
        for n, call in enumerate(vector["calls"])
    ]
    return {
        "results": results,
        "result0": results[0],
        "events": [{"type": e.event_type, "data": e.data} for e in bus.history],
        "event_types": [e.event_type for e in bus.history],
        "available": [spec.name for spec in executor.available_tools()],
        "openai_names": [f["function"]["name"] for f in executor.get_openai_tools()],
        "tool_calls_seen": [t.calls for t in tools if isinstance(t, ScriptedTool)],
    }


def _observe_tool(vector: Vector, folder: Path) -> dict[str, Any]:
    put_files(vector.get("files", []), folder)
    tool = ToolRegistry.create(vector["tool"], **vector.get("ctor", {}))
    for params in vector.get("before", []):
        tool.execute(**params)
    return asdict(tool.execute(**vector["params"]))


def _observe_spec(vector: Vector, folder: Path) -> dict[str, Any]:
    spec = ToolRegistry.create(vector["tool"]).spec
    properties = spec.parameters.get("properties", {})
    return {
        **asdict(spec),
        "required": spec.parameters.get("required", []),
        "types": {name: schema["type"] for name, schema in properties.items()},
        "enums": {n: s["enum"] for n, s in properties.items() if "enum" in s},
    }


def _observe_descriptions(vector: Vector, folder: Path) -> dict[str, Any]:
    tools = [ScriptedTool(spec) for spec in vector["specs"]]
    return {"text": build_tool_descriptions(tools, **vector["options"])}


def _observe_openai_function(vector: Vector, folder: Path) -> dict[str, Any]:
    return {"function": ScriptedTool(vector["spec"]).to_openai_function()}


def _observe_registry(vector: Vector, folder: Path) -> dict[str, Any]:
    class FreshRegistry(Registry[Any]):
        pass

    def perform(op: dict[str, Any]) -> Any:
        match op["op"]:
            case "register":
                FreshRegistry.register_value(op["key"], op["value"])
            case "clear":
                FreshRegistry.clear()
            case "keys":
                return list(FreshRegistry.keys())
            case name:
                return getattr(FreshRegistry, name)(op["key"])
        return "ok"

    return {"out": [_or_raised(perform, op) for op in vector["ops"]]}


def _or_raised(function: Any, argument: Any) -> Any:
    try:
        return function(argument)
    except Exception as error:
        return {"raises": type(error).__name__}


def _observe_event_bus(vector: Vector, folder: Path) -> dict[str, Any]:
    bus = EventBus(record_history=vector.get("record_history", False))
    log: list[list[Any]] = []
    published: list[list[Any]] = []
    callbacks: dict[str, Any] = {}
    for op in vector["ops"]:
        event_type = EventType(op["type"])
        if op["op"] == "publish":
            event = bus.publish(event_type, op.get("data"))
            published.append([event.event_type, event.data])
            continue
        name = op["name"]
        callback = callbacks.setdefault(
            name, lambda e, name=name: log.append([name, e.event_type, e.data])
        )
        getattr(bus, op["op"])(event_type, callback)
    return {"log": log, "published": published, "history": [e.event_type for e in bus.history]}


def _observe_defaults(vector: Vector, folder: Path) -> dict[str, Any]:
    instance = getattr(core, vector["type"])(**vector["args"])
    return {"fields": {name: getattr(instance, name) for name in vector["fields"]}}


def _observe_conversation(vector: Vector, folder: Path) -> dict[str, Any]:
    conversation = Conversation(max_messages=vector["max_messages"])
    for text in vector["add"]:
        conversation.add(Message(Role.USER, text))
    return {
        "messages": [message.text for message in conversation.messages],
        "window": [message.text for message in conversation.window(vector["window"])],
    }


def _observe_capability(vector: Vector, folder: Path) -> dict[str, Any]:
    policy = _capability_policy(vector["policy"])
    return {"allowed": [policy.check(*check) for check in vector["checks"]]}


def _capability_policy(description: dict[str, Any]) -> CapabilityPolicy:
    policy = CapabilityPolicy(default_deny=description["default_deny"])
    for grant in description.get("grants", []):
        policy.grant(*grant)
    for denial in description.get("deny", []):
        policy.deny(*denial)
    return policy


def _observe_ssrf(vector: Vector, folder: Path) -> dict[str, Any]:
    guard = NetworkGuard(resolve=_known_names)
    try:
        guard.check(vector["url"])
    except NetworkRefused:
        return {"blocked": True}
    return {"blocked": False}


def _known_names(host: str, port: int) -> list[str]:
    """Answer for literal addresses only: a test asks no name server."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        return []


def _observe_file_policy(vector: Vector, folder: Path) -> dict[str, Any]:
    return {"sensitive": {path: is_secret_file(path) for path in vector["paths"]}}


def _observe_scan(vector: Vector, folder: Path) -> dict[str, Any]:
    scanner: Scanner = {"secrets": SecretScanner, "pii": PIIScanner}[vector["scanner"]]()
    findings = scanner.scan(vector["text"])
    return {
        "patterns": [finding.pattern for finding in findings],
        "levels": [finding.level for finding in findings],
        "highest": Scanner.highest(findings),
        "redacted": scanner.redact(vector["text"]),
    }


def _observe_taint_detect(vector: Vector, folder: Path) -> dict[str, Any]:
    return {"labels": sorted(detect_taint(vector["text"]))}


def _observe_taint_sink(vector: Vector, folder: Path) -> dict[str, Any]:
    return {"violation": check_taint(vector["tool"], map(core.TaintLabel, vector["labels"]))}


@pytest.mark.parametrize("vector", selected_vectors(), ids=lambda vector: vector["id"])
def test_vector(vector: Vector, tmp_path: Path) -> None:
    vector = with_folder(vector, tmp_path)
    observe = globals()[f"_observe_{vector['kind']}"]
    started = time.perf_counter()
    observed = observe(vector, tmp_path)
    observed["max_seconds"] = time.perf_counter() - started
    assert mismatches(vector, observed) == []
