"""The stream client: a process of its own that holds many WebSockets and counts what arrives.

It offers compression as browsers do, answers pings, and checks that every socket gets every
finished run once and in order. ``python -m tests.bench.listeners`` reads a :class:`Plan` as one
line of JSON, opens the sockets, writes ``ready``, waits for a line with the number of runs to
expect, and writes :class:`Heard` as one line of JSON.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
import time
import zlib
from dataclasses import asdict, dataclass, field
from datetime import datetime

import orjson
import uvloop

END_OF_HEAD = b"\r\n\r\n"
TEXT, CLOSE, PING = 1, 8, 9
DEFLATED = 0x40  # RSV1 of the first byte (RFC 7692 §6)
PATIENCE_S = 20.0  # to open all sockets; and for the last events to arrive


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where to listen: one socket per path, each with a one-time ticket in it."""

    host: str
    port: int
    paths: list[str]
    kind: str = "run.finished"


@dataclass(slots=True)
class Heard:
    """What all sockets got; delays in milliseconds from the event's time to its arrival."""

    sockets: int = 0
    delivered: int = 0
    missing: int = 0
    repeated: int = 0
    resyncs: int = 0
    closed: int = 0
    frames: int = 0
    is_compressed: bool = False
    client_cpu_s: float = 0.0
    delays_ms: list[float] = field(default_factory=list)


class Socket(asyncio.Protocol):
    """One WebSocket (RFC 6455) that only listens."""

    def __init__(self, room: Room, path: str) -> None:
        self._room, self._path = room, path
        self._received = bytearray()
        self._is_open = False
        self._inflater: zlib._Decompress | None = None
        self._transport: asyncio.Transport | None = None
        self.last_seq = 0
        self.count = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(  # type: ignore[attr-defined]
            f"GET {self._path} HTTP/1.1\r\nHost: {self._room.plan.host}:{self._room.plan.port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._is_open:
            self._read_handshake()
        while self._is_open and self._read_frame():
            pass

    def _read_handshake(self) -> None:
        end = self._received.find(END_OF_HEAD)
        if end < 0:
            return
        head = bytes(self._received[:end]).lower()
        if not head.startswith(b"http/1.1 101"):
            raise ConnectionError(f"the server refused a WebSocket: {head[:200]!r}")
        if b"permessage-deflate" in head:
            self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self._is_open = True
        del self._received[: end + len(END_OF_HEAD)]

    def _read_frame(self) -> bool:
        received = self._received
        if len(received) < 2:
            return False
        size, start = received[1] & 0x7F, 2
        if size >= 126:
            start = 4 if size == 126 else 10
            if len(received) < start:
                return False
            size = int.from_bytes(received[2:start], "big")
        if len(received) < start + size:
            return False
        first, payload = received[0], bytes(received[start : start + size])
        del received[: start + size]
        self._take(first, payload)
        return True

    def _take(self, first: int, payload: bytes) -> None:
        opcode = first & 0x0F
        if opcode == PING:
            self._pong(payload)
        elif opcode == TEXT:
            if first & DEFLATED and self._inflater is not None:
                payload = self._inflater.decompress(payload + b"\x00\x00\xff\xff")
            self._room.hear(self, orjson.loads(payload))

    def _pong(self, payload: bytes) -> None:
        assert self._transport is not None
        mask = b"\x00\x00\x00\x00"  # a mask of zeros leaves the payload as it is
        self._transport.write(bytes([0x8A, 0x80 | len(payload)]) + mask + payload)

    @property
    def is_compressed(self) -> bool:
        """Whether the server agreed to compress."""
        return self._inflater is not None

    def connection_lost(self, exc: Exception | None) -> None:
        self._room.closed()


class Room:
    """All sockets together."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.heard = Heard(sockets=len(plan.paths))
        self._sockets: list[Socket] = []
        self._greeted = 0
        self._changed = asyncio.Event()
        self._times: dict[int, float] = {}

    async def open(self) -> None:
        """Open every socket and wait until each was greeted."""
        loop = asyncio.get_running_loop()
        for path in self.plan.paths:
            _, socket = await loop.create_connection(
                lambda path=path: Socket(self, path),  # type: ignore[misc]
                self.plan.host,
                self.plan.port,
            )
            self._sockets.append(socket)
        async with asyncio.timeout(PATIENCE_S):
            while self._greeted < len(self._sockets):
                await self._change()

    def hear(self, socket: Socket, frame: dict[str, object]) -> None:
        """Count one frame."""
        now = time.time()
        self.heard.frames += 1
        match frame["type"]:
            case "events":
                for event in frame["events"]:  # type: ignore[attr-defined]
                    self._hear_event(socket, event, now)
            case "hello":
                self._greeted += 1
            case "resync":
                self.heard.resyncs += 1
        self._changed.set()

    def _hear_event(self, socket: Socket, event: dict[str, object], now: float) -> None:
        seq = int(event["seq"])  # type: ignore[call-overload]
        if event["kind"] != self.plan.kind:
            return
        if seq <= socket.last_seq:
            self.heard.repeated += 1
            return
        socket.last_seq = seq
        socket.count += 1
        if seq not in self._times:
            self._times[seq] = datetime.fromisoformat(str(event["at"])).timestamp()
        self.heard.delays_ms.append((now - self._times[seq]) * 1000)

    def closed(self) -> None:
        """Count a socket the server closed."""
        self.heard.closed += 1
        self._changed.set()

    async def settle(self, expected: int) -> Heard:
        """Wait until every socket has ``expected`` events, or patience ends."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while any(socket.count < expected for socket in self._sockets):
                    await self._change()
        except TimeoutError:
            pass  # what is missing is counted below
        heard = self.heard
        heard.delivered = sum(socket.count for socket in self._sockets)
        heard.missing = sum(max(0, expected - socket.count) for socket in self._sockets)
        heard.repeated += sum(max(0, socket.count - expected) for socket in self._sockets)
        heard.is_compressed = any(socket.is_compressed for socket in self._sockets)
        return heard

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


async def follow(plan: Plan) -> None:
    """Carry out a plan in step with the process that gave it."""
    room = Room(plan)
    await room.open()
    cpu_before = time.process_time()
    print("ready", flush=True)
    expected = int(await asyncio.to_thread(sys.stdin.readline))
    heard = await room.settle(expected)
    heard.client_cpu_s = time.process_time() - cpu_before
    print(orjson.dumps(asdict(heard)).decode(), flush=True)


if __name__ == "__main__":
    uvloop.run(follow(Plan(**orjson.loads(sys.stdin.readline()))))
