"""The load client: a process of its own that sends one request over and over.

It speaks as much HTTP/1.1 as a keep-alive client needs, because a full client library costs more
CPU per request than the server it would measure. ``python -m tests.bench.load`` reads a
:class:`Plan` as one line of JSON, connects and warms up, writes ``ready``, waits for a line, runs,
and writes :class:`Measured` as one line of JSON.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections import deque
from dataclasses import asdict, dataclass, field

import orjson
import uvloop

END_OF_HEAD = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
PATIENCE_S = 30.0  # for answers that are under way when the time is over


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to send: ``request`` is a whole HTTP request; ``rate`` is in requests per second.

    Without a rate every connection sends its next request when it has its answer (closed loop);
    with one, requests start on time and wait for a free connection if they must (open loop).
    """

    host: str
    port: int
    request: str
    status: int
    connections: int = 32
    warm_up_s: float = 1.0
    seconds: float = 5.0
    rate: float = 0.0


@dataclass(slots=True)
class Measured:
    """What came back; times in milliseconds. ``wrong`` counts answers of another status."""

    requests: int = 0
    seconds: float = 0.0
    wrong: int = 0
    broken: int = 0
    body_bytes: int = 0
    client_cpu_s: float = 0.0
    latencies_ms: list[float] = field(default_factory=list)
    example: str = ""


class Connection(asyncio.Protocol):
    """One keep-alive connection with at most one request under way."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._received = bytearray()
        self._needed = 0  # bytes of the whole answer, once its head was read
        self._status = 0
        self._started_at = 0.0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def send(self, started_at: float) -> None:
        """Send the request; its latency counts from ``started_at`` (perf_counter seconds)."""
        self._started_at = started_at
        assert self._transport is not None
        self._transport.write(self._load.request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._needed and not self._read_head():
            return
        if len(self._received) < self._needed:
            return
        latency_s, answer = time.perf_counter() - self._started_at, bytes(self._received)
        self._received.clear()
        self._needed = 0
        self._load.answered(self, self._status, answer, latency_s)

    def _read_head(self) -> bool:
        end = self._received.find(END_OF_HEAD)
        if end < 0:
            return False
        length = LENGTH.search(self._received, 0, end + 2)
        self._status = int(self._received[9:12])
        self._needed = end + len(END_OF_HEAD) + (int(length[1]) if length else 0)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.lost(self)

    def close(self) -> None:
        """Close the connection."""
        assert self._transport is not None
        self._transport.close()


class Load:
    """Runs a plan over its connections."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.request = plan.request.encode("latin-1")
        self._connections: list[Connection] = []
        self._idle: deque[Connection] = deque()
        self._due: deque[float] = deque()
        self._sending = False
        self._measured = Measured()
        self._came_back = asyncio.Event()

    async def connect(self) -> None:
        """Open all connections."""
        loop = asyncio.get_running_loop()
        for _ in range(self.plan.connections):
            _, connection = await loop.create_connection(
                lambda: Connection(self), self.plan.host, self.plan.port
            )
            self._connections.append(connection)
        self._idle.extend(self._connections)

    async def run(self, seconds: float) -> Measured:
        """Send for ``seconds``, wait for what is under way, and return what was measured."""
        self._measured = Measured()
        cpu_before, started = time.process_time(), time.perf_counter()
        self._sending = True
        if self.plan.rate:
            await self._pace(started, seconds)
        else:
            while self._idle:
                self._idle.popleft().send(time.perf_counter())
            await asyncio.sleep(seconds)
        self._sending = False
        async with asyncio.timeout(PATIENCE_S):
            while len(self._idle) < len(self._connections):
                self._came_back.clear()
                await self._came_back.wait()
        self._measured.seconds = time.perf_counter() - started
        self._measured.client_cpu_s = time.process_time() - cpu_before
        return self._measured

    async def _pace(self, started: float, seconds: float) -> None:
        for number in range(int(self.plan.rate * seconds)):
            due = started + number / self.plan.rate
            if (early := due - time.perf_counter()) > 0:
                await asyncio.sleep(early)
            if self._idle:
                self._idle.popleft().send(due)
            else:
                self._due.append(due)

    def answered(
        self, connection: Connection, status: int, answer: bytes, latency_s: float
    ) -> None:
        """Count one answer and send the next request, if there is one to send."""
        measured = self._measured
        measured.requests += 1
        measured.latencies_ms.append(latency_s * 1000)
        measured.body_bytes += len(answer)
        if status != self.plan.status:
            measured.wrong += 1
            measured.example = answer.decode("utf-8", "replace")[:2000]
        if self._due:
            connection.send(self._due.popleft())
        elif self._sending and not self.plan.rate:
            connection.send(time.perf_counter())
        else:
            self._idle.append(connection)
            self._came_back.set()

    def lost(self, connection: Connection) -> None:
        """Count a connection that the server closed, and go on without it."""
        self._measured.broken += 1
        self._connections.remove(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        self._came_back.set()

    def close(self) -> None:
        """Close all connections."""
        for connection in self._connections[:]:
            connection.close()


async def follow(plan: Plan) -> None:
    """Carry out a plan in step with the process that gave it."""
    load = Load(plan)
    await load.connect()
    await load.run(plan.warm_up_s)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    measured = await load.run(plan.seconds)
    print(orjson.dumps(asdict(measured)).decode(), flush=True)
    load.close()


if __name__ == "__main__":
    uvloop.run(follow(Plan(**orjson.loads(sys.stdin.readline()))))
