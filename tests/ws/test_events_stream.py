"""What a reader of /ws/events/ sees: everything once, in order, and only what is theirs."""

from __future__ import annotations

from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from tests.ws.sockets import happens, person, session_key, visitor
from tools_app.services.access import actor_for_user
from tools_app.services.events import latest_seq
from tools_app.services.metrics import REGISTRY
from tools_app.services.tokens import create_ws_ticket

pytestmark = pytest.mark.asyncio


async def test_the_first_frame_says_where_the_log_stands(stream, anna):
    await happens(3)
    socket = await stream(cookie=session_key(anna)).open()
    hello = await socket.frame()
    assert hello == {"type": "hello", "seq": await sync_to_async(latest_seq)(), "heartbeat_s": 3.0}


async def test_what_happens_after_opening_is_seen_in_order(stream, anna):
    socket = await stream(cookie=session_key(anna)).open()
    await socket.frame_of("hello")
    expected = await happens(20)
    assert [event["seq"] for event in await socket.events(20)] == expected


async def test_a_killed_socket_resumes_with_every_event_once(stream, anna):
    first = await stream(cookie=session_key(anna)).open()
    await first.frame_of("hello")
    await happens(1)
    [seen] = await first.events(1)
    await first.disconnect()
    missed = await happens(500)
    second = await stream(f"since={seen['seq']}", cookie=session_key(anna)).open()
    later = await happens(50)
    events = await second.events(550)
    assert [event["seq"] for event in events] == missed + later


async def test_resuming_from_the_start_pages_through_a_long_log(stream, anna):
    expected = await happens(1203)
    socket = await stream("since=0&type=freeze.*", cookie=session_key(anna)).open()
    events = await socket.events(len(expected))
    assert [event["seq"] for event in events] == expected


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("agent=coding", {"agent": "coding"}),
        ("tool=calculator", {"tool": "calculator"}),
        ("type=freeze.created&agent=coding", {"agent": "coding"}),
    ],
)
async def test_filters_leave_out_the_rest(stream, anna, query, wanted):
    socket = await stream(query, cookie=session_key(anna)).open()
    await socket.frame_of("hello")
    await happens(2, kind="freeze.lifted", agent="other", tool="other")
    expected = await happens(2, **wanted)
    assert [event["seq"] for event in await socket.events(2)] == expected


async def test_a_run_can_be_followed_alone(stream, anna):
    run_id = uuid4()
    socket = await stream(f"run={run_id}", cookie=session_key(anna)).open()
    await socket.frame_of("hello")
    await happens(2, kind="run.queued", run_id=uuid4())
    [seq] = await happens(1, kind="run.queued", run_id=run_id)
    assert [event["seq"] for event in await socket.events(1)] == [seq]


async def test_what_is_not_the_readers_is_not_sent(stream):
    viewer = await visitor("vera", "viewer")
    socket = await stream(cookie=session_key(viewer)).open()
    await socket.frame_of("hello")
    await happens(3, kind="log.sealed")
    expected = await happens(1)
    assert [event["seq"] for event in await socket.events(1)] == expected


async def test_a_heartbeat_says_how_far_the_reader_is(stream, anna):
    socket = await stream("type=run", cookie=session_key(anna)).open()
    await socket.frame_of("hello")
    [seq] = await happens(1)
    assert await socket.frame_of("heartbeat") == {"type": "heartbeat", "seq": seq}


async def test_a_ticket_opens_one_socket_without_cookie_or_origin(stream, anna):
    user = await sync_to_async(person)("tess", "viewer")
    ticket = await sync_to_async(create_ws_ticket)(actor=await sync_to_async(actor_for_user)(user))
    socket = await stream(f"ticket={ticket}", origin=None).open()
    assert (await socket.frame())["type"] == "hello"
    again = await stream(f"ticket={ticket}", origin=None).open()
    assert (await again.frame())["code"] == 4001
    assert await again.close_code() == 4001


@pytest.mark.parametrize("origin", [None, "http://elsewhere.example", "http://testserver.evil"])
async def test_a_page_of_another_site_is_not_let_in(stream, anna, origin):
    is_in, _ = await stream(cookie=session_key(anna), origin=origin).connect(timeout=5)
    assert not is_in


async def test_a_name_that_is_not_ours_is_not_let_in(stream, anna):
    evil = {"origin": "http://rebound.example", "host": "rebound.example"}
    is_in, _ = await stream(cookie=session_key(anna), **evil).connect(timeout=5)
    assert not is_in


@pytest.mark.parametrize("query", ["ticket=", "ticket=x&ticket="])
async def test_whoever_names_a_ticket_is_not_let_in_by_the_cookie(stream, anna, query):
    page = {"cookie": session_key(anna), "origin": "http://elsewhere.example"}
    socket = await stream(query, **page).open()
    assert (await socket.frame())["type"] == "closing"
    assert await socket.close_code() == 4001


async def test_without_signing_in_the_stream_is_closed_with_4001(stream):
    socket = await stream().open()
    assert (await socket.frame())["type"] == "closing"
    assert await socket.close_code() == 4001


async def test_a_user_without_any_role_has_no_stream(stream):
    socket = await stream(cookie=session_key(await visitor("nobody"))).open()
    assert await socket.close_code() == 4003


@pytest.mark.parametrize("query", ["since=x", "since=-1", "run=1", "nope=1", "agent=%00"])
async def test_a_bad_parameter_is_named(stream, anna, query):
    socket = await stream(query, cookie=session_key(anna)).open()
    closing = await socket.frame()
    assert query.partition("=")[0] in closing["reason"]
    assert await socket.close_code() == 4000


async def test_open_streams_are_counted(stream, anna):
    before = REGISTRY.get_sample_value("openjarvis_live_streams")
    socket = await stream(cookie=session_key(anna)).open()
    await socket.frame_of("hello")
    assert REGISTRY.get_sample_value("openjarvis_live_streams") == before + 1
    await socket.disconnect()
    assert REGISTRY.get_sample_value("openjarvis_live_streams") == before


async def test_the_stream_takes_no_commands(stream, anna):
    socket = await stream(cookie=session_key(anna)).open()
    await socket.frame_of("hello")
    await socket.send_to(text_data='{"type":"approve"}')
    assert (await socket.frame())["error"]["code"] == "stream_is_read_only"
