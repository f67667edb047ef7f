"""The event stream as server-sent events: an ASGI application of its own.

It stays open for hours, so it runs on the event loop and holds no thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import aclosing
from io import BytesIO
from typing import Any

import structlog
from asgiref.sync import sync_to_async
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from rest_framework.exceptions import MethodNotAllowed, NotAuthenticated, ParseError
from rest_framework.views import APIView

from tools_app.live import credentials
from tools_app.live.credentials import Credential
from tools_app.live.frames import as_server_sent
from tools_app.live.requests import filters_of, since_of
from tools_app.live.streaming import frames
from tools_app.live.subscriber import Subscriber
from tools_app.selectors.events import EventFilters

log = structlog.get_logger(__name__)

SCOPE = "tools:read"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy that buffers would make a live view of the past
    (b"x-content-type-options", b"nosniff"),
]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer ``GET /api/v1/events/stream``."""
    try:
        request = ASGIRequest(scope, BytesIO())
        credential, filters, since = await sync_to_async(_open)(request)
    except Exception as error:
        await _send_response(send, APIView().get_exception_handler()(error, {}))
        return
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    subscriber = Subscriber(credential, filters)
    sender = asyncio.create_task(_send_frames(subscriber, since, send))
    subscriber.sender = sender
    gone = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait({sender, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sender.cancel()
        gone.cancel()
        await asyncio.gather(sender, gone, return_exceptions=True)


def _open(request: ASGIRequest) -> tuple[Credential, EventFilters, int | None]:
    if request.method != "GET":
        raise MethodNotAllowed(request.method or "")
    try:
        request.get_host()
    except DisallowedHost:  # a page of another site whose name was made to point here
        raise ParseError("This server does not answer to that name.") from None
    filters, since = filters_of(request.GET), since_of(request.GET, request.headers)
    credential = _credential(request)
    credential.actor.require(SCOPE)
    return credential, filters, since


def _credential(request: ASGIRequest) -> Credential:
    kind, _, text = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return credentials.from_bearer(text.strip())
    session_key = credentials.session_cookie(request.COOKIES)
    credential = credentials.from_session(session_key) if not kind else None
    if credential is None:
        raise NotAuthenticated()
    return credential


async def _send_frames(subscriber: Subscriber, since: int | None, send: Send) -> None:
    try:
        async with aclosing(frames(subscriber, since)) as stream:
            async for frame in stream:
                body = as_server_sent(frame)
                await send({"type": "http.response.body", "body": body, "more_body": True})
    except Exception:
        log.exception("a live stream broke")
    await send({"type": "http.response.body", "body": b""})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_response(send: Send, response: HttpResponse) -> None:
    headers = [(n.lower().encode(), v.encode("latin-1")) for n, v in response.items()]
    headers.append((b"content-length", str(len(response.content)).encode()))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
