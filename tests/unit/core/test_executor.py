"""ToolExecutor beyond the recorded vectors: nothing a tool does escapes, and nobody waits."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tools_app.core import (
    BaseTool,
    CancelToken,
    EventBus,
    EventType,
    InvalidSchema,
    SecurityBlocked,
    TaintLabel,
    TaintSet,
    ThreadRunner,
    ToolCall,
    ToolExecutor,
    ToolResult,
    ToolSpec,
    compile_arguments,
    remaining_seconds,
)


class FunctionTool(BaseTool):
    """A tool made of a function from parameters to whatever it returns."""

    def __init__(self, function: Callable[[dict[str, Any]], Any], **spec: Any) -> None:
        self._function = function
        self._spec = ToolSpec(**{"name": "t", "description": "d", **spec})

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    def execute(self, **params: Any) -> ToolResult:
        result: ToolResult = self._function(params)
        return result


class BoundedTool(FunctionTool):
    is_bounded = True


class RemoteTool(FunctionTool):
    is_local = False


def answer(params: dict[str, Any]) -> ToolResult:
    return ToolResult("t", json.dumps(params, sort_keys=True))


def run(
    tool: BaseTool, arguments: Any = "{}", bus: EventBus | None = None, **kw: Any
) -> ToolResult:
    return ToolExecutor([tool], bus, **kw).execute(ToolCall("1", tool.spec.name, arguments))


def raising(error: BaseException) -> Callable[[dict[str, Any]], Any]:
    def fail(_: dict[str, Any]) -> Any:
        raise error

    return fail


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("kaput"),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        RecursionError("deep"),
        MemoryError(),
        StopIteration(),
        Unprintable(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_tool_raises_is_a_failed_result(error: BaseException) -> None:
    bus = EventBus(record_history=True)
    result = run(FunctionTool(raising(error)), bus=bus)
    assert (result.success, result.error_code) == (False, "tool_failed")
    assert type(error).__name__ in result.content
    assert [e.event_type for e in bus.history] == ["tool_call_start", "tool_call_end"]


def test_a_bounded_tool_that_exits_is_a_failed_result() -> None:
    assert run(BoundedTool(raising(SystemExit(1)))).error_code == "tool_failed"


def test_ctrl_c_reaches_the_main_thread_through_a_bounded_tool() -> None:
    with pytest.raises(KeyboardInterrupt):
        run(BoundedTool(raising(KeyboardInterrupt())))


@pytest.mark.parametrize(
    "returned", [None, "text", 3, ToolResult("t", 5), ToolResult("t", None)], ids=repr
)
def test_whatever_a_tool_returns_is_a_result(returned: Any) -> None:
    result = run(FunctionTool(lambda _: returned))
    assert result.error_code == "invalid_tool_result"
    assert "the tool returned" in result.content


def test_a_tools_own_result_object_is_not_changed() -> None:
    shared = ToolResult("t", "same", metadata={"mine": 1})
    first = run(FunctionTool(lambda _: shared), '{"n": 1}')
    assert shared == ToolResult("t", "same", metadata={"mine": 1})
    assert first.metadata == {"mine": 1, "arguments": {"n": 1}}
    assert first.latency_seconds > 0


@pytest.mark.parametrize("name", ["self", "function", "tool", "args", "cancel", "timeout_s", "a b"])
def test_any_key_is_a_legal_parameter_name(name: str) -> None:
    result = run(FunctionTool(answer), json.dumps({name: 2}))
    assert (result.success, result.content) == (True, json.dumps({name: 2}))


def test_arguments_may_be_an_object() -> None:
    assert run(FunctionTool(answer), {"a": 1}).content == '{"a": 1}'


@pytest.mark.parametrize("arguments", [7, b"{}", object(), ["a"], ("a",), {"a": {1}}, {2: 3}])
def test_arguments_of_any_other_kind_are_a_failed_result(arguments: Any) -> None:
    assert run(FunctionTool(answer), arguments).error_code == "invalid_arguments"


def test_a_name_of_any_kind_is_a_failed_result() -> None:
    result = ToolExecutor([]).execute(ToolCall("1", ["x"], "{}"))  # type: ignore[arg-type]
    assert result.error_code == "unknown_tool"


def test_arguments_that_break_the_schema_start_nothing() -> None:
    calls: list[Any] = []
    schema = {"properties": {"size": {"type": "integer"}}, "required": ["size"]}
    bus = EventBus(record_history=True)
    tool = FunctionTool(calls.append, parameters=schema, requires_confirmation=True)
    result = run(tool, '{"size": "big"}', bus, interactive=True, confirm_callback=calls.append)
    assert result.error_code == "invalid_arguments"
    assert result.metadata["errors"][0]["path"] == "$.size"
    assert "size" in result.content
    assert (calls, bus.history) == ([], [])


def test_coerced_arguments_are_marked_in_the_result() -> None:
    tool = FunctionTool(answer, parameters={"properties": {"tags": {"type": "array"}}})
    result = run(tool, {"tags": '["a"]'})
    assert result.metadata["coerced"] == ["tags"]
    assert result.content == '{"tags": ["a"]}'


def test_a_schema_that_cannot_be_compiled_is_a_failed_result() -> None:
    tool = FunctionTool(answer, parameters={"type": "nonsense"})
    assert run(tool).error_code == "invalid_schema"
    with pytest.raises(InvalidSchema):
        compile_arguments(tool.spec.parameters)


def test_a_call_over_its_limit_is_cut_and_says_the_limit() -> None:
    release = threading.Event()
    tool = FunctionTool(lambda _: release.wait(), timeout_seconds=0.2)
    bus = EventBus(record_history=True)
    started = time.monotonic()
    result = run(tool, bus=bus)
    release.set()
    assert time.monotonic() - started < 2
    assert result.error_code == "tool_timeout"
    assert "0.2 s" in result.content
    assert [e.event_type for e in bus.history] == [
        "tool_call_start",
        "tool_timeout",
        "tool_call_end",
    ]
    assert bus.history[1].data == {"tool": "t", "timeout": 0.2}


def test_the_default_limit_stands_in_for_none() -> None:
    release = threading.Event()
    tool = FunctionTool(lambda _: release.wait(), timeout_seconds=0)
    assert run(tool, default_timeout=0.1).error_code == "tool_timeout"
    release.set()


def test_a_tool_knows_how_long_it_may_take() -> None:
    seen: list[float | None] = []
    run(FunctionTool(lambda _: seen.append(remaining_seconds()), timeout_seconds=7))
    assert seen[0] is not None
    assert 6 < seen[0] <= 7
    assert remaining_seconds() is None


def test_hung_calls_do_not_stop_the_others() -> None:
    release = threading.Event()
    hung = FunctionTool(lambda _: release.wait(), name="hung", timeout_seconds=0.1)
    executor = ToolExecutor([hung, FunctionTool(answer)], runner=ThreadRunner(max_parallel=2))
    for _ in range(5):
        assert executor.execute(ToolCall("1", "hung")).error_code == "tool_timeout"
    assert executor.execute(ToolCall("2", "t")).success
    release.set()


def test_no_call_is_refused_because_32_others_run() -> None:
    barrier = threading.Barrier(32, timeout=20)
    tool = FunctionTool(lambda _: barrier.wait() >= 0 and ToolResult("t", "met"))
    executor = ToolExecutor([tool])
    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(lambda n: executor.execute(ToolCall(str(n), "t")), range(32)))
    assert all(result.success for result in results), results


def test_a_full_pool_makes_a_call_wait_and_then_says_so() -> None:
    release, running = threading.Event(), threading.Event()

    def hold(_: dict[str, Any]) -> ToolResult:
        running.set()
        release.wait()
        return ToolResult("slow", "done")

    slow = FunctionTool(hold, name="slow")
    brief = FunctionTool(answer, timeout_seconds=0.1)
    patient = FunctionTool(answer, name="patient")
    executor = ToolExecutor([slow, brief, patient], runner=ThreadRunner(max_parallel=1))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(executor.execute, ToolCall("1", "slow"))
        running.wait()
        assert executor.execute(ToolCall("2", "t")).error_code == "capacity_exhausted"
        waiting = pool.submit(executor.execute, ToolCall("3", "patient"))
        release.set()
        assert first.result().success
        assert waiting.result().success


def test_a_running_call_can_be_cancelled() -> None:
    release, running = threading.Event(), threading.Event()
    cancel = CancelToken()
    bus = EventBus(record_history=True)
    tool = FunctionTool(lambda _: running.set() or release.wait())
    executor = ToolExecutor([tool], bus)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(executor.execute, ToolCall("1", "t"), cancel=cancel)
        running.wait()
        cancel.cancel()
        result = future.result(timeout=5)
    release.set()
    assert result.error_code == "tool_cancelled"
    assert bus.history[-1].data["success"] is False


def test_a_cancelled_call_does_not_start() -> None:
    cancel = CancelToken()
    cancel.cancel()
    calls: list[Any] = []
    for kind in (FunctionTool, BoundedTool):
        result = ToolExecutor([kind(calls.append)]).execute(ToolCall("1", "t"), cancel=cancel)
        assert result.error_code == "tool_cancelled"
    assert calls == []


def test_a_failing_subscriber_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    bus = EventBus()
    seen: list[str] = []
    for event_type in (EventType.TOOL_CALL_START, EventType.TOOL_CALL_END):
        bus.subscribe(event_type, raising(RuntimeError("subscriber")))
        bus.subscribe(event_type, lambda event: seen.append(event.event_type))
    assert run(FunctionTool(answer), bus=bus).success
    assert seen == ["tool_call_start", "tool_call_end"]
    assert "subscriber" in caplog.text


def test_events_mask_secrets_and_the_tool_gets_them() -> None:
    key = "sk-abcdefghijklmnopqrstuvwxyz1234"
    bus = EventBus(record_history=True)
    tool = FunctionTool(lambda p: ToolResult("t", f"used {p['api_key']}", metadata={"key": key}))
    result = run(tool, {"api_key": key, "note": f"with {key}"}, bus)
    assert result.content == f"used {key}"
    published = json.dumps([event.data for event in bus.history])
    assert key not in published
    assert bus.history[0].data["arguments"] == {
        "api_key": "[REDACTED]",
        "note": "with [REDACTED:openai_key]",
    }


def test_the_end_event_carries_a_bounded_result_and_only_json() -> None:
    bus = EventBus(record_history=True)
    metadata = {"n": 1, "object": object(), "nan": float("nan")}
    run(FunctionTool(lambda _: ToolResult("t", "x" * 20_000, metadata=metadata)), bus=bus)
    end = bus.history[-1].data
    assert len(end["result"]) == 10_240
    assert end["metadata"] == {"n": 1, "arguments": {}}
    json.dumps(end)


def test_two_tools_of_one_name_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        ToolExecutor([FunctionTool(answer), FunctionTool(answer)])
    assert "'t'" in caplog.text


def test_a_person_sees_the_tool_and_the_arguments() -> None:
    asked: list[str] = []
    tool = FunctionTool(answer, requires_confirmation=True)
    run(tool, '{"path": "/x"}', interactive=True, confirm_callback=asked.append)
    assert "'t'" in asked[0]
    assert '"path": "/x"' in asked[0]


def test_a_broken_check_refuses() -> None:
    class BrokenPolicy:
        def check(self, agent_id: str, capability: str, resource: str = "") -> bool:
            raise OSError("unreadable")

    calls: list[Any] = []
    tool = FunctionTool(calls.append, required_capabilities=["file:read"])
    assert not run(tool, capability_policy=BrokenPolicy()).success
    tool = FunctionTool(calls.append, requires_confirmation=True)
    broken = raising(RuntimeError("no screen"))
    assert not run(tool, interactive=True, confirm_callback=broken).success
    assert calls == []


class _Guard:
    def check_outbound(self, tool_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if "secret" in arguments:
            raise SecurityBlocked("no secrets")
        return {**arguments, "guarded": True}


def test_only_tools_that_send_data_away_pass_the_boundary_guard() -> None:
    assert run(RemoteTool(answer), {}, boundary_guard=_Guard()).content == '{"guarded": true}'
    assert run(FunctionTool(answer), {}, boundary_guard=_Guard()).content == "{}"
    blocked = run(RemoteTool(answer), {"secret": "x"}, boundary_guard=_Guard())
    assert (blocked.error_code, blocked.content) == (
        "security_blocked",
        "Error: security block: no secrets",
    )


def test_tainted_data_does_not_reach_a_sink_and_taint_no_tool() -> None:
    bus = EventBus(record_history=True)
    secret = {"query": "x", "_taint": TaintSet({TaintLabel.SECRET})}
    result = run(FunctionTool(answer, name="web_search"), secret, bus)
    assert result.error_code == "taint_violation"
    assert [e.event_type for e in bus.history] == ["taint_violation"]
    assert run(FunctionTool(answer), secret).content == '{"query": "x"}'
    assert run(FunctionTool(answer), '{"_taint": ["secret"], "query": "x"}').content == (
        '{"query": "x"}'
    )


def test_a_result_is_labelled_by_what_it_contains() -> None:
    result = run(FunctionTool(lambda _: ToolResult("t", "mail bob@example.com")))
    assert result.metadata["_taint"] == {TaintLabel.PII}
    assert "_taint" not in run(FunctionTool(answer)).metadata
