"""Deadline and cancellation of the tool call that runs in this thread.

A tool that waits (for a socket, a program, a lock) asks ``remaining_seconds()`` how long it may,
so that it ends by itself instead of being given up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class CancelToken:
    """Says once and for all that a call is no longer wanted. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._callbacks: list[Callable[[], object]] = []

    @property
    def is_cancelled(self) -> bool:
        """Whether ``cancel`` was called."""
        return self._is_cancelled

    def cancel(self) -> None:
        """Cancel; every callback runs once, in this thread."""
        with self._lock:
            self._is_cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    @contextmanager
    def calling(self, callback: Callable[[], object]) -> Iterator[None]:
        """Call ``callback`` on cancellation while the block runs, at once if it came already."""
        with self._lock:
            was_cancelled = self._is_cancelled
            if not was_cancelled:
                self._callbacks.append(callback)
        if was_cancelled:
            callback()
        try:
            yield
        finally:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)


_deadline: ContextVar[float | None] = ContextVar("tool_call_deadline", default=None)


@contextmanager
def deadline_in(seconds: float) -> Iterator[None]:
    """Give the block a deadline; within another deadline the earlier one counts."""
    new = time.monotonic() + seconds
    current = _deadline.get()
    token = _deadline.set(new if current is None else min(current, new))
    try:
        yield
    finally:
        _deadline.reset(token)


def remaining_seconds() -> float | None:
    """Return the seconds left to the running call, never negative; ``None`` without a limit."""
    deadline = _deadline.get()
    return None if deadline is None else max(deadline - time.monotonic(), 0.0)
