"""Whatever ends a right closes the streams it opened, within a second."""

from __future__ import annotations

import time

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, User

from tests.ws.sockets import happens, person, session_key, visitor
from tools_app.models import ApiToken
from tools_app.services.access import SYSTEM, actor_for_token, actor_for_user
from tools_app.services.tokens import create_token, create_ws_ticket, revoke_token

pytestmark = pytest.mark.asyncio

AT_ONCE_S = 1.0


async def closes(socket, code: int) -> None:
    """Expect the stream to say why, and to close with ``code`` in time."""
    started = time.monotonic()
    closing = await socket.frame_of("closing")
    assert closing["code"] == code
    assert await socket.close_code() == code
    assert time.monotonic() - started < AT_ONCE_S


async def opened(stream, client):
    socket = await stream(cookie=session_key(client)).open()
    await socket.frame_of("hello")
    await happens(1)
    await socket.events(1)
    return socket


async def test_signing_out_closes(stream, anna):
    socket = await opened(stream, anna)
    await sync_to_async(anna.logout)()
    await closes(socket, 4001)


async def test_a_changed_password_closes(stream, anna):
    socket = await opened(stream, anna)

    def change():
        user = User.objects.get(username="anna")
        user.set_password("another-password")
        user.save()

    await sync_to_async(change)()
    await closes(socket, 4001)


async def test_deactivation_closes(stream, anna):
    socket = await opened(stream, anna)

    def switch_off():
        user = User.objects.get(username="anna")
        user.is_active = False
        user.save()

    await sync_to_async(switch_off)()
    await closes(socket, 4001)


async def test_a_changed_role_closes_and_the_next_stream_has_the_new_rights(stream, anna):
    socket = await opened(stream, anna)

    def demote():
        viewer, _ = Group.objects.get_or_create(name="viewer")
        User.objects.get(username="anna").groups.set([viewer])

    await sync_to_async(demote)()
    await closes(socket, 4003)
    again = await stream(cookie=session_key(anna)).open()
    assert (await again.frame())["type"] == "hello"


@sync_to_async
def token_ticket() -> tuple[ApiToken, str]:
    user = person("tom", "operator")
    token = create_token(
        actor=actor_for_user(user), owner=user, name="bot", scopes=["tools:read"]
    ).token
    return token, create_ws_ticket(actor=actor_for_token(token))


async def test_a_revoked_token_closes_what_its_ticket_opened(stream):
    token, ticket = await token_ticket()
    socket = await stream(f"ticket={ticket}", origin=None).open()
    await socket.frame_of("hello")
    await sync_to_async(revoke_token)(actor=SYSTEM, token_id=token.pk)
    await closes(socket, 4001)


async def test_signing_out_closes_what_a_ticket_of_the_user_opened(stream, anna):
    ticket = await sync_to_async(lambda: anna.post("/api/v1/ws-tickets").json()["ticket"])()
    socket = await stream(f"ticket={ticket}", origin=None).open()
    await socket.frame_of("hello")
    await happens(1)
    await socket.events(1)
    await sync_to_async(anna.logout)()
    await closes(socket, 4001)


async def test_the_streams_of_others_stay_open(stream, anna):
    other = await opened(stream, await visitor("olga", "viewer"))
    socket = await opened(stream, anna)
    await sync_to_async(anna.logout)()
    await closes(socket, 4001)
    expected = await happens(1)
    assert (await other.events(2))[-1]["seq"] == expected[0]
