"""The one reader of the event log in a web process.

A thread follows the table: the doorbell of this process wakes it at once, and every ``POLL_S``
it looks for what other processes wrote. It encodes each new event once and hands the batch to
the event loop, which offers it to the bounded queue of every stream. With no stream open it
reads nothing.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog
from django.db import close_old_connections, connection

from tools_app.live import credentials
from tools_app.live.frames import RESTARTING, SIGNED_OUT, Closing, Encoded, encode
from tools_app.live.subscriber import Subscriber
from tools_app.models import Event
from tools_app.services.events import add_listener, latest_seq, remove_listener
from tools_app.services.metrics import LIVE_EVENTS_DROPPED, LIVE_STREAMS

log = structlog.get_logger(__name__)

POLL_S = 0.1  # for what other processes write; the doorbell rings for our own
GATHER_S = 0.02  # after a batch: events close together share a frame
CHECK_S = 0.25  # how often open streams are held against the rights of their readers
PAGE = 500
RETRY_S = 1.0  # after the database failed
STALE_S = 2.0  # without a look at the log


@dataclass(slots=True)
class Follower:
    """Follows the log for the streams of one event loop."""

    loop: asyncio.AbstractEventLoop
    _bell: threading.Event = field(default_factory=threading.Event)
    _readers: frozenset[Subscriber] = frozenset()
    _subscribers: frozenset[Subscriber] = frozenset()
    _joining: deque[Subscriber] = field(default_factory=deque)
    _cursor: int | None = None
    _next_check: float = 0.0
    _last_turn: float = field(default_factory=time.monotonic)
    _is_stopped: bool = False
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the reading thread."""
        add_listener(self._ring)
        self._thread = threading.Thread(target=self._follow, name="event-follower", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Tell every stream that we restart, and end the thread."""
        for reader in self._readers:
            reader.close(Closing(RESTARTING, "the server restarts"))
        self._is_stopped = True
        self._bell.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        remove_listener(self._ring)

    @property
    def is_running(self) -> bool:
        """Whether the reading thread lives."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def is_up_to_date(self) -> bool:
        """Whether the log was read lately; streams of one that was not send no heartbeat."""
        return time.monotonic() - self._last_turn < STALE_S

    def enter(self, reader: Subscriber) -> None:
        """Watch over the rights of a reader, from its first frame on."""
        self._readers |= {reader}
        LIVE_STREAMS.inc()
        self._bell.set()

    async def join(self, subscriber: Subscriber) -> int:
        """Offer the subscriber every event after the number this returns."""
        self._joining.append(subscriber)
        self._bell.set()
        return await subscriber.joined

    def leave(self, reader: Subscriber) -> None:
        """Forget the reader; what is queued for it is dropped."""
        reader.joined.cancel()
        if reader in self._readers:
            LIVE_STREAMS.dec()
        self._readers -= {reader}
        self._subscribers -= {reader}

    def _ring(self) -> None:
        if self._readers:  # a bell that nobody needs would cost every request a thread switch
            self._bell.set()

    # --- on the loop ----------------------------------------------------------------------

    def _admit(self, subscriber: Subscriber, cursor: int) -> None:
        if not subscriber.joined.done():  # else the socket went away meanwhile
            self._subscribers |= {subscriber}
            subscriber.joined.set_result(cursor)

    def _deliver(self, batch: Sequence[Encoded]) -> None:
        for subscriber in self._subscribers:
            if dropped := subscriber.offer(batch):
                LIVE_EVENTS_DROPPED.inc(dropped)
                log.warning(
                    "a live stream reads too slowly; it is told to resync",
                    reader=subscriber.credential.actor.label,
                    dropped=dropped,
                )

    def _close(self, endings: dict[credentials.Credential, Closing]) -> None:
        for reader in self._readers:
            if closing := endings.get(reader.credential):
                reader.close(closing)

    def _sign_out(self, labels: frozenset[str]) -> None:
        # A ticket does not remember the session it was asked for in, so whoever signs out
        # anywhere also closes what their tickets opened.
        for reader in self._readers:
            credential = reader.credential
            if credential.is_ticket_of_user and credential.actor.label in labels:
                reader.close(Closing(SIGNED_OUT, "signed out"))

    # --- in the thread --------------------------------------------------------------------

    def _follow(self) -> None:
        try:
            while not self._is_stopped:
                try:
                    self._turn()
                except Exception:  # the edge of the thread: a dead follower is a silent one
                    if self.loop.is_closed():
                        return
                    log.exception("the event log could not be read; trying again")
                    close_old_connections()
                    time.sleep(RETRY_S)
        finally:
            connection.close()

    def _turn(self) -> None:
        self._bell.clear()
        if not self._readers:
            self._cursor = None
            self._bell.wait()
            return
        if self._cursor is None:
            self._cursor = latest_seq()
        self._admit_joiners(self._cursor)
        page = self._read_page(self._cursor)
        self._check_credentials()
        self._last_turn = time.monotonic()
        if len(page) < PAGE:
            # Not waiting for the bell at once lets events close together share a frame.
            time.sleep(GATHER_S if page else 0)
            self._bell.wait(POLL_S)

    def _admit_joiners(self, cursor: int) -> None:
        # Before the next page is handed over: the loop runs callbacks in order, so a joiner
        # misses nothing after its cursor and is offered nothing before it.
        while self._joining:
            self.loop.call_soon_threadsafe(self._admit, self._joining.popleft(), cursor)

    def _read_page(self, cursor: int) -> list[Encoded]:
        page = [encode(event) for event in Event.objects.filter(seq__gt=cursor)[:PAGE]]
        if page:
            self._cursor = page[-1].seq
            self.loop.call_soon_threadsafe(self._deliver, page)
            left = frozenset(i.event.actor for i in page if i.event.kind == "session.ended")
            if left:
                self.loop.call_soon_threadsafe(self._sign_out, left)
        return page

    def _check_credentials(self) -> None:
        if time.monotonic() < self._next_check:
            return
        self._next_check = time.monotonic() + CHECK_S
        endings = credentials.ended(s.credential for s in self._readers)
        if endings:
            self.loop.call_soon_threadsafe(self._close, endings)


_followers: dict[asyncio.AbstractEventLoop, Follower] = {}


def current() -> Follower:
    """Return the follower of the running event loop; the first call starts it."""
    loop = asyncio.get_running_loop()
    follower = _followers.get(loop)
    if follower is None or not follower.is_running:
        follower = _followers[loop] = Follower(loop)
        follower.start()
    return follower


async def start() -> None:
    """Start the follower of the running event loop before the first stream asks for it."""
    current()


async def stop() -> None:
    """Stop the follower of the running event loop, if there is one."""
    follower = _followers.pop(asyncio.get_running_loop(), None)
    if follower is not None:
        await follower.stop()
