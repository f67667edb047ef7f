"""The stream through the real server: TCP, uvicorn, and a client that stops reading."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import orjson
import pytest
import pytest_asyncio
import uvicorn
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.utils import timezone
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from openjarvis_web.asgi import application
from tests.ws.sockets import session_key
from tools_app.live import follower
from tools_app.models import Event
from tools_app.services.events import wake

pytestmark = pytest.mark.asyncio

PAYLOAD = "x" * 4096
BURST, BURSTS = 500, 12  # of 4 KiB: more than some frames, a queue and small buffers hold
SMALL_BUFFER = 64 * 1024  # bytes; the system would grow its buffers to many MiB


@pytest_asyncio.fixture
async def server(transactional_db: None) -> AsyncIterator[str]:
    """The product's own ASGI application on a free port; gives host and port."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER)
    config = uvicorn.Config(application, log_level="error", ws="websockets-sansio")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    server.force_exit = True
    await task
    await follower.stop()
    await sync_to_async(connections.close_all)()


def open_stream(server: str, client: Any, query: str = "", **options: Any) -> Any:
    cookie = f"{settings.SESSION_COOKIE_NAME}={session_key(client)}"
    return connect(
        f"ws://{server}/ws/events/?{query}",
        additional_headers={"Cookie": cookie},
        origin=f"http://{server}",
        compression=None,
        **options,
    )


async def frames(stream: ClientConnection) -> AsyncIterator[dict[str, Any]]:
    async with asyncio.timeout(30):
        async for text in stream:
            yield orjson.loads(text)


def burst(count: int) -> None:
    """Write many large events at once."""
    now = timezone.now()
    Event.objects.bulk_create(
        Event(at=now, kind="freeze.created", data={"n": n, "text": PAYLOAD}) for n in range(count)
    )
    wake()
    connections.close_all()


async def read_until(stream: ClientConnection, last: int) -> tuple[list[int], list[int]]:
    """Read up to event ``last``; returns the events' numbers and where gaps were announced."""
    seen: list[int] = []
    gaps: list[int] = []
    async for frame in frames(stream):
        if frame["type"] == "resync":
            gaps.append(frame["after"])
        seen += [event["seq"] for event in frame.get("events", ())]
        if seen and seen[-1] >= last:
            break
    return seen, gaps


async def test_a_reader_that_stops_is_told_where_its_gap_begins(server, anna):
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
    host, _, port = server.partition(":")
    narrow.connect((host, int(port)))
    narrow.setblocking(False)
    async with (
        open_stream(server, anna, sock=narrow, max_queue=1, max_size=None) as slow,
        open_stream(server, anna, max_size=None) as quick,
    ):
        await quick.recv()
        last = orjson.loads(await slow.recv())["seq"]
        for _ in range(BURSTS):
            await asyncio.to_thread(burst, BURST)
            expected = list(range(last + 1, last + BURST + 1))
            last = expected[-1]
            assert await read_until(quick, last) == (expected, [])
        seen, gaps = await read_until(slow, last)
    assert gaps, "the slow reader was never too slow for this test"
    assert [a for a, b in pairwise(seen) if b != a + 1] == gaps


async def test_close_code_and_reason_reach_the_client(server, anna):
    async with open_stream(server, anna) as stream:
        await stream.recv()
        await sync_to_async(anna.logout)()
        with pytest.raises(ConnectionClosed):
            async for _ in frames(stream):
                pass
        assert (stream.close_code, stream.close_reason) == (4001, "signed out")


async def test_what_another_process_writes_is_seen_without_a_doorbell(server, anna):
    async with open_stream(server, anna) as stream:
        await stream.recv()
        row = Event(at=timezone.now(), kind="freeze.created", data={})
        await row.asave()  # as another process does it: nobody here is told
        async with asyncio.timeout(1):
            frame = orjson.loads(await stream.recv())
        assert [event["seq"] for event in frame["events"]] == [row.seq]
