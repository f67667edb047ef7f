"""Requests that wait for something hold a thread each; they must never hold all of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings


class LongPolls:
    """So many requests may wait at once; the next one is answered as things stand."""

    def __init__(self, places: int) -> None:
        self._places = threading.BoundedSemaphore(places)

    @contextmanager
    def place(self, wait_s: float) -> Iterator[float]:
        """Give the seconds a request may wait: what it asked for, or 0 when the house is full."""
        if wait_s <= 0 or not self._places.acquire(blocking=False):
            yield 0.0
            return
        try:
            yield wait_s
        finally:
            self._places.release()


# Half of the threads stay free for those who approve, freeze and look.
LONG_POLLS = LongPolls(max(1, settings.OPENJARVIS_WEB_THREADS // 2))
