"""A reader that is too slow is told so; nobody else waits for it and nothing grows without end."""

from __future__ import annotations

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async

from tests.ws.sockets import person
from tools_app.live.credentials import Credential
from tools_app.live.frames import Closing, Events, Heartbeat, Resync, encode
from tools_app.live.subscriber import QUEUE_LIMIT, Subscriber
from tools_app.models import Event
from tools_app.selectors.events import EventFilters
from tools_app.services.access import actor_for_user

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]


@pytest_asyncio.fixture
async def reader(transactional_db: None) -> Subscriber:
    """A reader of everything an operator may see."""
    user = await sync_to_async(person)("rosa", "operator")
    actor = await sync_to_async(actor_for_user)(user)
    return Subscriber(Credential(actor=actor, seen=(0, 0)), EventFilters())


def events(first: int, count: int):
    from django.utils import timezone

    now = timezone.now()
    return [
        encode(Event(seq=seq, at=now, kind="freeze.created", data={}))
        for seq in range(first, first + count)
    ]


async def test_a_full_queue_is_not_yet_too_slow(reader):
    assert reader.offer(events(1, QUEUE_LIMIT)) == 0
    frame = await reader.next_frame(1)
    assert isinstance(frame, Events)
    assert len(frame.items) == QUEUE_LIMIT


async def test_one_more_is_dropped_with_a_resync_that_says_where_the_gap_begins(reader):
    reader.offer(events(1, 3))
    await reader.next_frame(1)
    assert reader.offer(events(4, QUEUE_LIMIT + 1)) == QUEUE_LIMIT
    assert await reader.next_frame(1) == Resync(3)
    frame = await reader.next_frame(1)
    assert isinstance(frame, Events)
    assert [item.seq for item in frame.items] == [QUEUE_LIMIT + 4]


async def test_however_much_is_missed_the_queue_stays_bounded(reader):
    for round_ in range(5):
        reader.offer(events(1 + round_ * QUEUE_LIMIT, QUEUE_LIMIT))
        assert reader.queued <= QUEUE_LIMIT
    assert await reader.next_frame(1) == Resync(0)


async def test_what_was_read_from_the_table_is_not_sent_again(reader):
    reader.sent_seq = 5
    reader.offer(events(1, 8))
    frame = await reader.next_frame(1)
    assert isinstance(frame, Events)
    assert [item.seq for item in frame.items] == [6, 7, 8]


async def test_a_heartbeat_never_runs_ahead_of_what_was_sent(reader):
    reader.offer(events(1, 2))
    assert reader.heartbeat() == Heartbeat(0)
    await reader.next_frame(1)
    assert reader.heartbeat() == Heartbeat(2)


async def test_a_closed_stream_sends_nothing_more(reader):
    reader.offer(events(1, 2))
    reader.close(Closing(4001, "signed out"))
    reader.close(Closing(1012, "later"))
    assert await reader.next_frame(1) == Closing(4001, "signed out")
