"""The threads that run requests: few when calls are short, as many as allowed when they wait."""

from __future__ import annotations

import threading
from queue import SimpleQueue

from openjarvis_web.threads import WorkerThreads

WAIT_S = 20


def test_jobs_one_after_another_share_a_thread():
    threads, names = WorkerThreads(8), []

    for _ in range(20):
        done = threading.Event()
        threads.submit(
            lambda done=done: (names.append(threading.current_thread().name), done.set())
        )
        assert done.wait(WAIT_S)
        while threads._idle == 0:  # the thread says so just after its job
            pass

    assert len(set(names)) == 1


def test_waiting_jobs_get_threads_of_their_own_up_to_the_limit():
    threads, all_started, may_end = WorkerThreads(4), threading.Barrier(5), threading.Event()

    def wait() -> None:
        all_started.wait(WAIT_S)
        may_end.wait(WAIT_S)

    for _ in range(4):
        threads.submit(wait)
    all_started.wait(WAIT_S)  # breaks unless four of them run at once

    done: SimpleQueue[int] = SimpleQueue()
    threads.submit(lambda: done.put(1))
    assert done.empty()
    may_end.set()
    assert done.get(timeout=WAIT_S) == 1


def test_a_job_that_raises_does_not_end_its_thread():
    threads, done = WorkerThreads(1), threading.Event()

    threads.submit(lambda: 1 / 0)
    threads.submit(done.set)

    assert done.wait(WAIT_S)


def test_nothing_is_lost_under_a_storm():
    threads, done = WorkerThreads(3), SimpleQueue()

    for number in range(2000):
        threads.submit(lambda number=number: done.put(number))

    assert sorted(done.get(timeout=WAIT_S) for _ in range(2000)) == list(range(2000))


def test_close_lets_what_was_submitted_finish():
    threads, done = WorkerThreads(2), SimpleQueue()

    for number in range(10):
        threads.submit(lambda number=number: done.put(number))
    threads.close()

    assert sorted(done.get(timeout=WAIT_S) for _ in range(10)) == list(range(10))
