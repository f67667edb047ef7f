"""The event stream over WebSocket. It only speaks; commands go over REST."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from urllib.parse import urlsplit

import orjson
import structlog
from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http import QueryDict
from django.http.cookie import parse_cookie
from django.http.request import split_domain_port, validate_host

from tools_app.live import credentials
from tools_app.live.credentials import Credential
from tools_app.live.frames import BAD_REQUEST, RIGHTS_CHANGED, SIGNED_OUT, Closing, as_json
from tools_app.live.requests import filters_of, since_of
from tools_app.live.streaming import frames
from tools_app.live.subscriber import Subscriber
from tools_app.services.errors import InvalidRequest, InvalidToken

log = structlog.get_logger(__name__)

SCOPE = "tools:read"
SPEAKS_ONLY = orjson.dumps(
    {
        "type": "error",
        "error": {"code": "stream_is_read_only", "message": "Send commands over REST."},
    }
).decode()


class EventStream(AsyncWebsocketConsumer):
    """One reader of ``/ws/events/``."""

    channel_layer_alias = ""  # no groups: the follower is our fan-out

    async def connect(self) -> None:
        self._sender: asyncio.Task[None] | None = None
        self._query = QueryDict(self.scope["query_string"])
        self._headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in self.scope["headers"]
        }
        if "ticket" not in self._query and not self._is_same_origin():
            await self.close()  # before accepting: the handshake is answered with 403
            return
        await self.accept()
        opened = await self._open()
        if isinstance(opened, Closing):
            await self.send(text_data=as_json(opened).decode())
            await self.close(code=opened.code, reason=opened.reason)
            return
        self._sender = asyncio.create_task(self._send_frames(*opened))
        opened[0].sender = self._sender

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        await self.send(text_data=SPEAKS_ONLY)

    async def disconnect(self, code: int) -> None:
        if self._sender is not None:
            self._sender.cancel()

    async def _open(self) -> tuple[Subscriber, int | None] | Closing:
        try:
            filters, since = filters_of(self._query), since_of(self._query)
        except InvalidRequest as error:
            return Closing(BAD_REQUEST, error.message)
        credential = await sync_to_async(self._credential)()
        if credential is None:
            return Closing(SIGNED_OUT, "not signed in")
        if not credential.actor.has(SCOPE):
            return Closing(RIGHTS_CHANGED, f"needs the right {SCOPE}")
        return Subscriber(credential, filters), since

    def _credential(self) -> Credential | None:
        # Whoever names a ticket, an empty one too, was not asked for an origin: no cookie counts.
        if "ticket" in self._query:
            try:
                return credentials.from_ticket(self._query["ticket"])
            except InvalidToken:
                return None
        cookies = parse_cookie(self._headers.get("cookie", ""))
        return credentials.from_session(credentials.session_cookie(cookies))

    def _is_same_origin(self) -> bool:
        origin = self._headers.get("origin", "")
        if origin in settings.CSRF_TRUSTED_ORIGINS:
            return True
        own = self._headers.get("host", "").lower()
        # A name of another site that was made to point here is not ours (DNS rebinding).
        if not validate_host(split_domain_port(own)[0], settings.ALLOWED_HOSTS):
            return False
        return urlsplit(origin).netloc.lower() == own

    async def _send_frames(self, subscriber: Subscriber, since: int | None) -> None:
        closing = Closing(1011, "the stream broke")
        try:
            async with aclosing(frames(subscriber, since)) as stream:
                async for frame in stream:
                    await self.send(text_data=as_json(frame).decode())
                    if isinstance(frame, Closing):
                        closing = frame
        except asyncio.CancelledError:
            if subscriber.closing is None:
                raise
            closing = subscriber.closing  # it read too slowly even to hear why
        except OSError:  # the client went away between two frames
            return
        except Exception:
            log.exception("a live stream broke")
        await self.close(code=closing.code, reason=closing.reason)
