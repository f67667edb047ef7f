"""From a log and a place in it to a sequence of frames, whatever the transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from asgiref.sync import sync_to_async

from tools_app.live import follower as followers
from tools_app.live.follower import Follower
from tools_app.live.frames import (
    HEARTBEAT_S,
    Closing,
    Events,
    Frame,
    Hello,
    encode,
)
from tools_app.live.subscriber import Subscriber
from tools_app.selectors.events import events_after
from tools_app.services.events import latest_seq

BACKLOG_PAGE = 500
BACKLOG_ATTEMPTS = 3  # a queue that overflows while we read the table is read from the table


async def frames(
    subscriber: Subscriber, since: int | None, *, heartbeat_s: float = HEARTBEAT_S
) -> AsyncGenerator[Frame]:
    """Yield hello, then every event after ``since`` exactly once, then events as they happen.

    A backlog longer than a page is read before joining, so that the queue of live events does
    not fill meanwhile. Then join first and read the rest after: an event between the two
    arrives twice, never not at all, and the second is dropped by its number.
    """
    follower = followers.current()
    follower.enter(subscriber)
    try:
        head = await sync_to_async(latest_seq)()
        yield Hello(head)
        if since is not None:
            subscriber.sent_seq = since
            async for page in _backlog(subscriber, until_short_page=True):
                yield page
        joined_at = await follower.join(subscriber)
        if since is None:
            # What happened between hello and joining is after the number the reader was told.
            subscriber.sent_seq = head
        for _ in range(BACKLOG_ATTEMPTS):
            subscriber.start_over()
            async for page in _backlog(subscriber):
                yield page
            if not subscriber.has_dropped:
                break
        subscriber.sent_seq = max(subscriber.sent_seq, joined_at)
        async for frame in _live(follower, subscriber, heartbeat_s):
            yield frame
    finally:
        follower.leave(subscriber)


async def _backlog(
    subscriber: Subscriber, *, until_short_page: bool = False
) -> AsyncIterator[Events]:
    while subscriber.closing is None:
        page = await sync_to_async(events_after)(
            subscriber.sent_seq,
            limit=BACKLOG_PAGE,
            filters=subscriber.filters,
            actor=subscriber.credential.actor,
        )
        is_last = len(page) < BACKLOG_PAGE
        if page and not (is_last and until_short_page):
            subscriber.sent_seq = page[-1].seq
            yield Events(tuple(encode(event) for event in page))
        if is_last:
            return


async def _live(
    follower: Follower, subscriber: Subscriber, heartbeat_s: float
) -> AsyncIterator[Frame]:
    clock = asyncio.get_running_loop().time
    next_beat = clock() + heartbeat_s
    while True:
        if (left := next_beat - clock()) <= 0:
            next_beat = clock() + heartbeat_s
            if follower.is_up_to_date:
                yield subscriber.heartbeat()
            continue
        frame = await subscriber.next_frame(left)
        if frame is None or (isinstance(frame, Events) and not frame.items):
            continue
        yield frame
        if isinstance(frame, Closing):
            return
