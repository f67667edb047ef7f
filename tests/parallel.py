"""Doing one thing from many threads at once, each with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection

from tools_app.models import ToolRun
from tools_app.services.running import execute_claimed

JOIN_S = 60.0


def at_once(count: int, do: Callable[[int], object]) -> list[object]:
    """Call ``do(0)`` to ``do(count - 1)`` together; return what each returned or raised."""
    outcomes: list[object] = [None] * count
    gate = threading.Barrier(count)

    def work(index: int) -> None:
        gate.wait()
        try:
            outcomes[index] = do(index)
        except Exception as error:
            outcomes[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_S)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return outcomes


@contextmanager
def in_background(do: Callable[[], object]) -> Iterator[list[object]]:
    """Call ``do`` in a thread while the block runs; the list gets what it returned or raised."""
    outcomes: list[object] = []

    def work() -> None:
        try:
            outcomes.append(do())
        except Exception as error:
            outcomes.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield outcomes
    finally:
        thread.join(JOIN_S)
    assert not thread.is_alive(), "the thread hangs"


@contextmanager
def a_worker() -> Iterator[None]:
    """Execute queued runs in a thread while the block runs, as a worker would."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(0.01):
            for pk in ToolRun.objects.filter(status="queued").values_list("pk", flat=True):
                execute_claimed(pk)

    with in_background(work):
        try:
            yield
        finally:
            ended.set()
