"""One reader of the stream: its filters, its bounded queue, and the frames it will send."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from tools_app.live.credentials import Credential
from tools_app.live.frames import Closing, Encoded, Events, Frame, Heartbeat, Resync
from tools_app.selectors.events import EventFilters, visible_to

GOODBYE_S = 0.5  # a reader that takes longer to hear why it is closed is cut off
QUEUE_LIMIT = 1000  # events; about a second of a very busy log, and under 1 MiB


class Subscriber:
    """A bounded queue between the follower and one socket. Lives on the event loop alone."""

    def __init__(self, credential: Credential, filters: EventFilters) -> None:
        self.credential = credential
        self.filters = filters
        self.joined: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.has_dropped = False  # the queue overflowed since the last frame
        self.sent_seq = 0  # the newest event handed to the socket, or known not to be its
        self._seen_seq = 0  # the newest event the follower offered
        self._queue: deque[Encoded] = deque()
        self.sender: asyncio.Task[None] | None = None
        self._closing: Closing | None = None
        self._ready = asyncio.Event()

    def offer(self, events: Iterable[Encoded]) -> int:
        """Queue what is new and theirs; a full queue is dropped. Returns the number dropped."""
        dropped = 0
        for item in events:
            self._seen_seq = item.seq
            if item.seq <= self.sent_seq or not self.wants(item):
                continue
            if len(self._queue) >= QUEUE_LIMIT:
                dropped += len(self._queue)
                self._queue.clear()
                self.has_dropped = True
            self._queue.append(item)
        if self._queue:
            self._ready.set()
        return dropped

    def start_over(self) -> None:
        """Forget what is queued or was dropped; the caller reads it from the table instead."""
        self._queue.clear()
        self.has_dropped = False

    @property
    def queued(self) -> int:
        """How many events wait to be sent."""
        return len(self._queue)

    def wants(self, item: Encoded) -> bool:
        """Whether the reader asked for this event and may see it."""
        event = item.event
        return self.filters.match(event) and visible_to(self.credential.actor, event)

    def close(self, closing: Closing) -> None:
        """End the stream after the frame that says why; what is queued is not sent any more."""
        if self._closing is not None:
            return
        self._closing = closing
        self._ready.set()
        if self.sender is not None:
            asyncio.get_running_loop().call_later(GOODBYE_S, self.sender.cancel)

    @property
    def closing(self) -> Closing | None:
        """How the stream ends, once that is decided."""
        return self._closing

    def heartbeat(self) -> Heartbeat:
        """Return a sign of life, which also says how far the reader is."""
        if not self._queue and not self.has_dropped:
            self.sent_seq = max(self.sent_seq, self._seen_seq)
        return Heartbeat(self.sent_seq)

    async def next_frame(self, timeout_s: float) -> Frame | None:
        """Wait for what to send next; ``None`` when nothing happens for ``timeout_s``."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._ready.wait()
        except TimeoutError:
            return None
        if self._closing is not None:
            return self._closing
        if self.has_dropped:
            self.has_dropped = False
            return Resync(self.sent_seq)
        items = tuple(item for item in self._queue if item.seq > self.sent_seq)
        self._queue.clear()
        self._ready.clear()
        self.sent_seq = max(self.sent_seq, self._seen_seq)
        return Events(items)
