"""What is measured: each case sends its load to a running product and returns its figures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import orjson

from tests.bench import listeners, load
from tests.bench.shapes import HOST, Shape
from tests.product import ROOT

RUN_CALCULATOR = "/api/v1/tools/calculator/execute"
EXPRESSION = orjson.dumps({"arguments": {"expression": "2+2"}}).decode()
EVENTS_PER_S = 100
SOCKETS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long and how hard to measure."""

    seconds: float = 5.0
    connections: int = 32
    sockets: int = SOCKETS


@dataclass(slots=True, kw_only=True)
class Figures:
    """One line of the table. CPU is of all server processes, in ms per request or delivery."""

    shape: str
    case: str
    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float
    database_cpu_ms: float
    count: int
    ratio: float | None = None  # CPU of product and databases, relative to the floor's
    client_cpu_share: float = 0.0  # of one core; near 1 means the client was the limit
    note: str = ""
    errors: list[str] = field(default_factory=list)


class Instrument:
    """A client process that carries out a plan when told."""

    def __init__(self, module: Any, plan: Any) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module.__name__],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._write(orjson.dumps(asdict(plan)))

    def wait_until_ready(self) -> None:
        """Wait for its connections and its warm-up; raises RuntimeError when it gave up."""
        if self._read() != b"ready":
            raise RuntimeError("the measuring client gave up; its reason is above")

    def go(self, word: str = "go") -> None:
        """Let it begin, or tell it what it waits for."""
        self._write(word.encode())

    def result(self) -> dict[str, Any]:
        """Return what it measured."""
        line = self._read()
        if not line:
            raise RuntimeError("the measuring client ended without a result")
        found: dict[str, Any] = orjson.loads(line)
        return found

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def _read(self) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


# --- requests ----------------------------------------------------------------------------------


def floor(shape: Shape, effort: Effort) -> Figures:
    """The same server answering a constant: the health check, which reads and writes nothing."""
    return _measure(shape, effort, "floor", _request("GET", "/healthz"))


def execute(shape: Shape, effort: Effort) -> Figures:
    """A governed call of the calculator: token, policy, schema, durable run row and event."""
    token = shape.product.token("bench-execute", "tools:execute", agent="main")
    request = _request("POST", RUN_CALCULATOR, token, EXPRESSION)
    return _measure(shape, effort, "execute", request)


def refused(shape: Shape, effort: Effort) -> Figures:
    """The same call by an agent whose profile denies it; recorded like any other attempt."""
    token = shape.product.token("bench-refused", "tools:execute", agent="support")
    request = _request("POST", RUN_CALCULATOR, token, EXPRESSION)
    return _measure(shape, effort, "refused", request, status=403)


def effective_list(shape: Shape, effort: Effort) -> Figures:
    """The list of the tools that one agent may use."""
    token = shape.product.token("bench-list", "tools:read", agent="coding")
    return _measure(shape, effort, "list", _request("GET", "/api/v1/tools", token))


def fan_out(shape: Shape, effort: Effort) -> Figures:
    """Governed calls at a fixed rate, each event delivered to every socket."""
    reader = shape.product.token("bench-reader", "tools:read", "audit")
    caller = shape.product.token("bench-caller", "tools:execute", agent="main")
    paths = [f"/ws/events/?ticket={_ticket(shape, reader)}" for _ in range(effort.sockets)]
    request = _request("POST", RUN_CALCULATOR, caller, EXPRESSION)
    source = Instrument(load, _plan(shape, effort, request, warm_up_s=0.0, rate=EVENTS_PER_S))
    ears = Instrument(listeners, listeners.Plan(host=HOST, port=shape.product.port, paths=paths))
    try:
        source.wait_until_ready()
        ears.wait_until_ready()
        before = shape.cpu_s()
        source.go()
        sent = _measured(source.result())
        ears.go(str(sent.requests))
        heard = listeners.Heard(**ears.result())
        after = shape.cpu_s()
    finally:
        source.close()
        ears.close()
    return _fan_out_figures(shape, sent, heard, before, after)


CASES: Mapping[str, Callable[[Shape, Effort], Figures]] = {
    "floor": floor,
    "execute": execute,
    "refused": refused,
    "list": effective_list,
    "fan-out": fan_out,
}


# --- measuring ---------------------------------------------------------------------------------


def _measure(shape: Shape, effort: Effort, case: str, request: str, status: int = 200) -> Figures:
    client = Instrument(load, _plan(shape, effort, request, status=status))
    try:
        client.wait_until_ready()
        before = shape.cpu_s()
        client.go()
        measured = _measured(client.result())
        after = shape.cpu_s()
    finally:
        client.close()
    return Figures(
        shape=shape.name,
        case=case,
        per_second=measured.requests / measured.seconds,
        **_times(measured.latencies_ms, before, after),
        client_cpu_share=measured.client_cpu_s / measured.seconds,
        errors=_errors_of(measured),
    )


def _fan_out_figures(
    shape: Shape,
    sent: load.Measured,
    heard: listeners.Heard,
    before: tuple[float, float],
    after: tuple[float, float],
) -> Figures:
    cpu_share = (after[0] - before[0]) / sent.seconds
    counts = {name: getattr(heard, name) for name in ("missing", "repeated", "resyncs", "closed")}
    return Figures(
        shape=shape.name,
        case="fan-out",
        per_second=heard.delivered / sent.seconds,
        **_times(heard.delays_ms, before, after),
        client_cpu_share=heard.client_cpu_s / sent.seconds,
        note=(
            f"{sent.requests / sent.seconds:.0f} events/s to {heard.sockets} sockets, "
            f"{heard.missing} missing, {heard.repeated} repeated; "
            f"server {cpu_share:.0%} of a core"
            + (", compressed per socket" if heard.is_compressed else "")
        ),
        errors=_errors_of(sent) + [f"{n} {name}" for name, n in counts.items() if n],
    )


def _times(
    milliseconds: list[float], before: tuple[float, float], after: tuple[float, float]
) -> dict[str, Any]:
    ordered = sorted(milliseconds)
    count = len(ordered)
    return {
        "count": count,
        "p50_ms": percentile(ordered, 0.50),
        "p99_ms": percentile(ordered, 0.99),
        "cpu_ms": (after[0] - before[0]) * 1000 / max(count, 1),
        "database_cpu_ms": (after[1] - before[1]) * 1000 / max(count, 1),
    }


def percentile(ordered: list[float], share: float) -> float:
    """Return the value that ``share`` of the sorted values do not exceed; NaN of none."""
    if not ordered:
        return float("nan")
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _errors_of(measured: load.Measured) -> list[str]:
    errors = []
    if measured.wrong:
        errors.append(f"{measured.wrong} answers of another status: {measured.example}")
    if measured.broken:
        errors.append(f"{measured.broken} connections broke")
    if not measured.requests:
        errors.append("no answer at all")
    return errors


def _measured(found: dict[str, Any]) -> load.Measured:
    return load.Measured(**{f.name: found[f.name] for f in fields(load.Measured)})


def _plan(shape: Shape, effort: Effort, request: str, **extra: Any) -> load.Plan:
    values = {"connections": effort.connections, "status": 200, **extra}
    return load.Plan(
        host=HOST, port=shape.product.port, request=request, seconds=effort.seconds, **values
    )


def _request(method: str, path: str, token: str = "", body: str = "") -> str:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", body])


def _ticket(shape: Shape, token: str) -> str:
    answer = shape.product.send("POST", "/api/v1/ws-tickets", token=token)
    return str(answer.json["ticket"])
