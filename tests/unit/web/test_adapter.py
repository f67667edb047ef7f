"""The ASGI→WSGI adapter: bodies, limits, answers in one piece, streams, clients that leave."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from openjarvis_web.adapter import ONE_PIECE_BYTES, WsgiAdapter
from openjarvis_web.threads import WorkerThreads

LIMIT = 64
PLAIN = [("Content-Type", "text/plain")]


class Streamed:
    """A response that says it streams, as Django's do; notes whether it was closed."""

    streaming = True

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.is_closed = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._chunks)

    def close(self) -> None:
        self.is_closed.set()


class Client:
    """One request as an ASGI server would pass it on; what was sent back is in ``sent``."""

    def __init__(self, *parts: bytes, stays: bool = True, **scope: Any) -> None:
        self.scope = {
            "type": "http",
            "method": "POST",
            "path": "/é",
            "query_string": b"a=%C3%A9",
            "http_version": "1.1",
            "scheme": "http",
            "server": ("127.0.0.1", 80),
            "client": ("10.0.0.9", 4242),
            "headers": [],
            **scope,
        }
        self._incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        parts = parts or (b"",)
        for number, part in enumerate(parts, 1):
            is_more = number < len(parts) or not stays
            self._incoming.put_nowait({"type": "http.request", "body": part, "more_body": is_more})
        if not stays:
            self.leave()
        self.sent: list[dict[str, Any]] = []
        self.on_send: Callable[[dict[str, Any]], None] = lambda message: None

    def leave(self) -> None:
        self._incoming.put_nowait({"type": "http.disconnect"})

    async def receive(self) -> dict[str, Any]:
        return await self._incoming.get()

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        self.on_send(message)

    async def call(self, application: Any) -> Client:
        adapter = WsgiAdapter(application, threads=WorkerThreads(2), max_body_bytes=LIMIT)
        async with asyncio.timeout(20):
            await adapter(self.scope, self.receive, self.send)
        return self

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])


def echo(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """Answer with what arrived."""
    start_response("200 OK", PLAIN)
    shown = {name: value for name, value in environ.items() if isinstance(value, str)}
    return [json.dumps(shown).encode(), b"\n", environ["wsgi.input"].read()]


@pytest.mark.asyncio
async def test_the_environment_is_that_of_the_request():
    headers = [
        (b"content-type", b"text/plain"),
        (b"x-one", b"a"),
        (b"x-one", b"b"),
        (b"cookie", b"a=1"),
        (b"cookie", b"b=2"),
        (b"x_forwarded_for", b"6.6.6.6"),
    ]

    client = await Client(b"hel", b"lo", headers=headers).call(echo)

    environ, _, body = client.body.partition(b"\n")
    seen = json.loads(environ)
    assert body == b"hello"
    assert seen["CONTENT_LENGTH"] == "5"
    assert seen["CONTENT_TYPE"] == "text/plain"
    assert seen["PATH_INFO"].encode("latin-1").decode() == "/é"
    assert seen["QUERY_STRING"] == "a=%C3%A9"
    assert seen["REMOTE_ADDR"] == "10.0.0.9"
    assert seen["HTTP_X_ONE"] == "a,b"
    assert seen["HTTP_COOKIE"] == "a=1;b=2"
    assert "HTTP_X_FORWARDED_FOR" not in seen, "underscores may not pass for hyphens"


@pytest.mark.asyncio
async def test_an_answer_in_one_piece_says_its_length():
    client = await Client(b"abc").call(echo)

    assert client.status == 200
    assert len(client.sent) == 2
    assert int(client.headers[b"content-length"]) == len(client.body)


@pytest.mark.asyncio
@pytest.mark.parametrize("parts", [(b"x" * LIMIT,), (b"x" * (LIMIT - 1), b"x")])
async def test_a_body_at_the_limit_is_taken(parts: tuple[bytes, ...]):
    assert (await Client(*parts).call(echo)).status == 200


@pytest.mark.asyncio
@pytest.mark.parametrize("parts", [(b"x" * (LIMIT + 1),), (b"x" * LIMIT, b"x")])
async def test_a_body_over_the_limit_is_refused(parts: tuple[bytes, ...]):
    client = await Client(*parts).call(echo)

    assert client.status == 413
    assert json.loads(client.body)["code"] == "body_too_large"
    assert client.headers[b"content-type"] == b"application/problem+json"


@pytest.mark.asyncio
async def test_a_declared_length_over_the_limit_is_refused_before_the_body_is_read():
    client = Client(headers=[(b"content-length", str(LIMIT + 1).encode())])
    client._incoming = asyncio.Queue()  # nothing will ever come

    await client.call(echo)

    assert client.status == 413


@pytest.mark.asyncio
async def test_a_client_that_leaves_before_its_body_is_complete_runs_nothing():
    calls = []

    client = await Client(b"half", stays=False).call(lambda *_: calls.append(1) or [])

    assert (calls, client.sent) == ([], [])


@pytest.mark.asyncio
async def test_a_stream_is_sent_chunk_by_chunk_and_closed():
    response = Streamed([b"1,", b"2,", b"3"])

    def application(environ: dict[str, Any], start_response: Any) -> Streamed:
        start_response("200 OK", PLAIN)
        return response

    client = await Client().call(application)

    assert [message["body"] for message in client.sent[1:]] == [b"1,", b"2,", b"3", b""]
    assert b"content-length" not in client.headers
    assert response.is_closed.is_set()


@pytest.mark.asyncio
async def test_a_small_stream_of_known_length_is_sent_in_one_piece():
    def application(environ: dict[str, Any], start_response: Any) -> Streamed:
        start_response("200 OK", [*PLAIN, ("Content-Length", "4")])
        return Streamed([b"ab", b"cd"])

    client = await Client().call(application)

    assert [message["body"] for message in client.sent[1:]] == [b"abcd"]


@pytest.mark.asyncio
async def test_a_long_stream_of_known_length_is_not_held_in_memory():
    half = b"x" * (ONE_PIECE_BYTES // 2 + 1)

    def application(environ: dict[str, Any], start_response: Any) -> Streamed:
        start_response("200 OK", [*PLAIN, ("Content-Length", str(2 * len(half)))])
        return Streamed([half, half])

    client = await Client().call(application)

    assert [len(message["body"]) for message in client.sent[1:]] == [len(half), len(half), 0]


@pytest.mark.asyncio
async def test_a_stream_ends_when_its_client_leaves():
    made = 0

    def endless() -> Iterator[bytes]:
        nonlocal made
        while True:
            made += 1
            yield b"row\n"

    response = Streamed(endless())

    def application(environ: dict[str, Any], start_response: Any) -> Streamed:
        start_response("200 OK", PLAIN)
        return response

    client = Client()
    client.on_send = lambda message: client.leave() if len(client.sent) == 3 else None
    await client.call(application)

    assert response.is_closed.is_set()
    assert made < 10_000


@pytest.mark.asyncio
async def test_an_application_that_raises_reaches_the_server():
    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        raise LookupError("a bug")

    with pytest.raises(LookupError, match="a bug"):
        await Client().call(application)


@pytest.mark.asyncio
async def test_the_answer_is_closed_after_it_was_read():
    closed = threading.Event()

    class Body(io.BytesIO):
        def close(self) -> None:
            closed.set()

    def application(environ: dict[str, Any], start_response: Any) -> Body:
        start_response("200 OK", PLAIN)
        return Body(b"text")

    assert (await Client().call(application)).body == b"text"
    assert closed.is_set()
