"""Serve a WSGI application from an ASGI server, at WSGI's cost.

Django's own ASGI handler spends several times the CPU of its WSGI handler on each request, so
ordinary pages and REST calls go this way: read the whole body, hop once to a thread, answer in
one piece. A streaming answer (an export) is sent chunk by chunk from the thread that makes it,
as fast as the client reads.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from io import BytesIO
from typing import Any

from openjarvis_web.problems import problem
from openjarvis_web.threads import WorkerThreads

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
WsgiApplication = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

BODY_SECONDS = 60.0  # a client that needs longer for its body keeps a connection for nothing
ONE_PIECE_BYTES = 1024 * 1024  # a known length up to this is sent whole, even if it could stream


class ClientGone(Exception):
    """The client went away before its request was complete."""


class BodyTooLarge(Exception):
    """The body is longer than the limit."""


class BodyTooSlow(Exception):
    """The body did not arrive in time."""


class WsgiAdapter:
    """An ASGI application of type ``http`` around a WSGI one."""

    def __init__(
        self, application: WsgiApplication, *, threads: WorkerThreads, max_body_bytes: int
    ) -> None:
        self._application = application
        self._threads = threads
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read_body(scope, receive, self._max_body_bytes)
        except ClientGone:
            return
        except BodyTooLarge:
            detail = f"The body is longer than {self._max_body_bytes} bytes."
            await send_problem(send, 413, "body_too_large", detail)
            return
        except BodyTooSlow:
            detail = f"The body did not arrive within {BODY_SECONDS:.0f} seconds."
            await send_problem(send, 408, "body_too_slow", detail)
            return
        exchange = Exchange(self._application, environ_of(scope, body), receive, send)
        self._threads.submit(exchange.run)
        for message in await exchange.answer:
            await send(message)


class Exchange:
    """One request in its thread, and the way back to the event loop."""

    def __init__(
        self,
        application: WsgiApplication,
        environ: dict[str, Any],
        receive: Receive,
        send: Send,
    ) -> None:
        self._application, self._environ = application, environ
        self._receive, self._send = receive, send
        self._loop = asyncio.get_running_loop()
        self._start: Message = {}
        self._is_client_gone = False
        self._watch: asyncio.Task[None] | None = None
        self.answer: asyncio.Future[list[Message]] = self._loop.create_future()

    def run(self) -> None:
        """Call the application; runs in a thread, and gives its answer to the loop."""
        try:
            messages, error = self._respond(), None
        except Exception as raised:
            messages, error = [], raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._settle, messages, error)

    def _settle(self, messages: list[Message], error: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self.answer.done():
            return
        if error is not None:
            self.answer.set_exception(error)
        else:
            self.answer.set_result(messages)

    def _respond(self) -> list[Message]:
        chunks = self._application(self._environ, self._start_response)
        try:
            if self._must_stream(chunks):
                self._stream(chunks)
                return []
            body = b"".join(chunks)
            if not any(name == b"content-length" for name, _ in self._start["headers"]):
                self._start["headers"].append((b"content-length", str(len(body)).encode()))
            return [self._start, {"type": "http.response.body", "body": body}]
        finally:
            if close := getattr(chunks, "close", None):
                close()

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], exc_info: object = None
    ) -> None:
        self._start = {
            "type": "http.response.start",
            "status": int(status[:3]),
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers
            ],
        }

    def _must_stream(self, chunks: Iterable[bytes]) -> bool:
        if not getattr(chunks, "streaming", False):
            return False
        length = next((v for n, v in self._start["headers"] if n == b"content-length"), None)
        return length is None or int(length) > ONE_PIECE_BYTES

    def _stream(self, chunks: Iterable[bytes]) -> None:
        # Chunks are made and sent from this one thread: database cursors stay where they were
        # opened, and waiting for each send gives the client's speed to the source.
        self._on_loop(self._begin_stream())
        for chunk in chunks:
            if self._is_client_gone:
                return
            self._on_loop(
                self._send({"type": "http.response.body", "body": chunk, "more_body": True})
            )
        self._on_loop(self._send({"type": "http.response.body", "body": b""}))

    def _on_loop(self, step: Any) -> None:
        asyncio.run_coroutine_threadsafe(step, self._loop).result()

    async def _begin_stream(self) -> None:
        self._watch = asyncio.create_task(self._watch_client())
        await self._send(self._start)

    async def _watch_client(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_client_gone = True


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """Return the whole request body.

    Raises ``ClientGone``, ``BodyTooLarge`` (at once when the declared length says so) and
    ``BodyTooSlow``.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and int(value) > limit:
            raise BodyTooLarge
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    if not message.get("more_body", False):
        body: bytes = message.get("body", b"")
        if len(body) > limit:
            raise BodyTooLarge
        return body
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _read_rest(message, receive, limit)
    except TimeoutError:
        raise BodyTooSlow from None


async def _read_rest(message: Message, receive: Receive, limit: int) -> bytes:
    parts, size = [], 0
    while True:
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise BodyTooLarge
        if not message.get("more_body", False):
            return b"".join(parts)
        message = await receive()


def environ_of(scope: Scope, body: bytes) -> dict[str, Any]:
    """Return the WSGI environment of an ASGI ``http`` scope (PEP 3333)."""
    server = scope.get("server") or ("localhost", 80)
    client = scope.get("client") or ("", 0)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": scope.get("root_path", ""),
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw_name, raw_value in scope["headers"]:
        if b"_" in raw_name:
            continue  # "a_b" would pass for "a-b", which a proxy in front may have set
        name, value = _environ_name(raw_name), raw_value.decode("latin-1")
        if name in environ:
            value = f"{environ[name]}{';' if name == 'HTTP_COOKIE' else ','}{value}"
        environ[name] = value
    environ["CONTENT_LENGTH"] = str(len(body))
    return environ


def _environ_name(raw: bytes) -> str:
    name = raw.decode("latin-1").upper().replace("-", "_")
    return name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"


async def send_problem(send: Send, status: int, code: str, detail: str, **extra: object) -> None:
    """Answer an ASGI ``http`` request with a problem document."""
    response = problem(status, code, detail, **extra)
    headers = [(n.lower().encode(), v.encode("latin-1")) for n, v in response.items()]
    headers.append((b"content-length", str(len(response.content)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
