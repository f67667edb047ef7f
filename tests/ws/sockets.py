"""Streams against the real log: real cookies, real tokens, a real follower thread."""

from __future__ import annotations

from typing import Any

import orjson
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import Client

from tools_app.live.routing import websocket_urlpatterns
from tools_app.services.events import record_event

HOST = "testserver"


class Socket(WebsocketCommunicator):
    """A client of ``/ws/events/`` that collects what it is told."""

    def __init__(
        self,
        query: str = "",
        *,
        cookie: str = "",
        origin: str | None = f"http://{HOST}",
        host: str = HOST,
    ) -> None:
        headers = [(b"host", host.encode())]
        if origin is not None:
            headers.append((b"origin", origin.encode()))
        if cookie:
            headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode()))
        super().__init__(URLRouter(websocket_urlpatterns), f"/ws/events/?{query}", headers)

    async def open(self) -> Socket:
        """Connect, and expect to be let in."""
        is_in, _ = await self.connect(timeout=5)
        assert is_in
        return self

    async def frame(self, timeout: float = 5) -> dict[str, Any]:
        """Return the next frame."""
        return orjson.loads(await self.receive_from(timeout=timeout))

    async def frame_of(self, *types: str) -> dict[str, Any]:
        """Return the next frame of one of these types."""
        while (frame := await self.frame())["type"] not in types:
            pass
        return frame

    async def events(self, count: int) -> list[dict[str, Any]]:
        """Return the next ``count`` events."""
        found: list[dict[str, Any]] = []
        while len(found) < count:
            found += (await self.frame_of("events"))["events"]
        assert len(found) == count
        return found

    async def close_code(self) -> int:
        """Return the code the server closes with."""
        while True:
            message = await self.receive_output(timeout=5)
            if message["type"] == "websocket.close":
                return int(message.get("code", 1000))


def person(name: str, *roles: str) -> User:
    """Return a user with roles."""
    user = User.objects.create_user(name, password=f"{name}-password")
    user.groups.set(Group.objects.get_or_create(name=role)[0] for role in roles)
    return user


@sync_to_async
def visitor(name: str, *roles: str) -> Client:
    """Return a browser in which a new user with roles is signed in."""
    client = Client()
    client.force_login(person(name, *roles))
    return client


def session_key(client: Client) -> str:
    """Return the session cookie of a browser."""
    return client.cookies[settings.SESSION_COOKIE_NAME].value


@sync_to_async
def happens(count: int, kind: str = "freeze.created", **fields: Any) -> list[int]:
    """Let events happen; returns their numbers."""
    return [record_event(kind, data={"n": n}, **fields).seq for n in range(count)]
