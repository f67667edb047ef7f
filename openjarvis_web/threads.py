"""The threads that run ordinary requests: made on demand, the last one used goes first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

import structlog

log = structlog.get_logger(__name__)

Job = Callable[[], None]


class WorkerThreads:
    """Run jobs in at most ``limit`` threads.

    A thread takes the next job in line when it has finished one, so a new thread starts only
    when all others are busy: a server of short calls keeps few threads (and few database
    connections), one full of waiting calls grows to the limit.
    """

    def __init__(self, limit: int, *, name: str = "request") -> None:
        self._limit, self._name = limit, name
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._threads: list[threading.Thread] = []

    def submit(self, job: Job) -> None:
        """Queue a job; it must not raise and is never dropped while the process lives."""
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
            elif len(self._threads) < self._limit:
                self._start_thread()
            self._jobs.put(job)

    def close(self) -> None:
        """Let every thread end after the job it has."""
        for _ in self._threads:
            self._jobs.put(None)

    def _start_thread(self) -> None:
        thread = threading.Thread(
            target=self._work, name=f"{self._name}-{len(self._threads)}", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:
                log.exception("a request thread caught what its job let through")
            with self._lock:
                self._idle += 1
