"""GET /api/v1/events/stream through the ASGI application."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.db import connections

from tests.ws.sockets import HOST, happens, person, session_key
from tools_app.live import follower, sse
from tools_app.services.access import SYSTEM, actor_for_user
from tools_app.services.tokens import create_token, revoke_token

pytestmark = pytest.mark.asyncio


class Stream(ApplicationCommunicator):
    """A client that reads ``text/event-stream``."""

    def __init__(self, query: str = "", method: str = "GET", **headers: str) -> None:
        fields = {"host": HOST, **{k.replace("_", "-"): v for k, v in headers.items()}}
        scope = {
            "type": "http",
            "method": method,
            "path": "/api/v1/events/stream",
            "query_string": query.encode(),
            "headers": [(k.encode(), v.encode()) for k, v in fields.items()],
            "http_version": "1.1",
            "scheme": "http",
        }
        super().__init__(sse.application, scope)
        self._text = ""

    async def status(self) -> int:
        """Return the status of the answer."""
        message = await self.receive_output(5)
        self.headers = dict(message["headers"])
        return int(message["status"])

    async def problem(self) -> dict[str, Any]:
        """Return the body of an answer that is no stream."""
        return orjson.loads((await self.receive_output(5))["body"])

    async def message(self, *events: str) -> dict[str, str]:
        """Return the next message of one of these types as its fields."""
        while True:
            while "\n\n" not in self._text:
                self._text += (await self.receive_output(5))["body"].decode()
            block, _, self._text = self._text.partition("\n\n")
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            if fields.get("event", "message") in (events or ("message",)):
                return fields


@pytest_asyncio.fixture
async def listen(transactional_db: None):
    """A maker of streams; closes them and the follower in the end."""
    streams: list[Stream] = []

    def make(query: str = "", **headers: str) -> Stream:
        streams.append(Stream(query, **headers))
        return streams[-1]

    yield make
    for stream in streams:
        await stream.send_input({"type": "http.disconnect"})
        await stream.wait(5)
    await follower.stop()
    await sync_to_async(connections.close_all)()


@sync_to_async
def new_token(*scopes: str):
    user = person("tom", "operator")
    return create_token(actor=actor_for_user(user), owner=user, name="bot", scopes=scopes)


async def test_a_token_follows_the_log(listen):
    made = await new_token("tools:read")
    stream = listen(authorization=f"Bearer {made.secret_text}")
    assert await stream.status() == 200
    assert stream.headers[b"content-type"].startswith(b"text/event-stream")
    await stream.message("hello")
    expected = await happens(3)
    seen = [await stream.message() for _ in range(3)]
    assert [int(message["id"]) for message in seen] == expected
    assert orjson.loads(seen[0]["data"])["kind"] == "freeze.created"


async def test_the_browser_resumes_by_the_last_id_it_saw(listen, anna):
    seqs = await happens(30)
    cookie = f"{settings.SESSION_COOKIE_NAME}={session_key(anna)}"
    stream = listen("since=0", cookie=cookie, last_event_id=str(seqs[9]))
    assert await stream.status() == 200
    seen = [await stream.message() for _ in range(20)]
    assert [int(message["id"]) for message in seen] == seqs[10:]


async def test_a_revoked_token_ends_the_stream_within_a_second(listen):
    made = await new_token("tools:read")
    stream = listen(authorization=f"Bearer {made.secret_text}")
    await stream.status()
    await stream.message("hello")
    await sync_to_async(revoke_token)(actor=SYSTEM, token_id=made.token.pk)
    async with asyncio.timeout(1):
        closing = await stream.message("closing")
    assert orjson.loads(closing["data"])["code"] == 4001
    assert (await stream.receive_output(1)).get("more_body", False) is False


@pytest.mark.parametrize(
    ("query", "headers", "status", "code"),
    [
        ("", {}, 401, "not_authenticated"),
        ("", {"authorization": "Bearer nope"}, 401, "invalid_token"),
        ("", {"authorization": "Basic YTpi"}, 401, "not_authenticated"),
        ("since=x", {}, 422, "invalid_request"),
        ("", {"method": "POST"}, 405, "method_not_allowed"),
        ("", {"host": "evil.example"}, 400, "malformed_json"),
    ],
)
async def test_what_cannot_be_streamed_is_a_problem(listen, query, headers, status, code):
    stream = listen(query, **headers)
    assert await stream.status() == status
    assert stream.headers[b"content-type"] == b"application/problem+json"
    assert (await stream.problem())["code"] == code


async def test_a_token_without_the_scope_has_no_stream(listen):
    made = await new_token("tools:execute")
    stream = listen(authorization=f"Bearer {made.secret_text}")
    assert await stream.status() == 403
    assert (await stream.problem())["code"] == "token_scope"
