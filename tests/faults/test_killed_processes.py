"""kill -9 of each process under load: no committed run is lost, and nothing runs twice."""

from __future__ import annotations

import signal

import psutil
import pytest

from tests.faults.conftest import Workshop
from tests.servers import wait_until

pytestmark = pytest.mark.slow

GONE_SECONDS = 3.0
MANY = 12
WORKERS = 2  # the default of OPENJARVIS_WORKERS
# A run whose worker died is interrupted, or timed out when its deadline has passed by then.
ENDED_WELL_OR_CUT = {"succeeded", "interrupted", "timed_out"}


def kill_tree(process: psutil.Process) -> None:
    """Kill a process and what it started, as the system does when memory runs out."""
    for victim in [process, *process.children(recursive=True)]:
        victim.kill()


def test_a_killed_web_process_loses_no_answered_run_and_runs_none_twice(workshop: Workshop):
    workshop.start()
    with workshop.under_load() as load:
        wait_until(load.has_answered(20), "a first batch of answers")
        workshop.process("web").kill()
        before = len(load.answered)
        wait_until(load.has_answered(before + 20), "answers of the next web process")
        workshop.process("web").kill()
        before = len(load.answered)
        wait_until(load.has_answered(before + 20), "answers of the third web process")

    runs = list(load.answered.values())
    assert len(set(runs)) == len(runs)
    assert {workshop.run(run_id)["status"] for run_id in runs} == {"succeeded"}
    first = dict(load.answered)
    for key in list(first)[:20]:  # a client that did not trust its answer asks again
        load.call(key)
    assert load.answered == first
    for key in load.unanswered:  # a client whose connection broke asks again
        assert run_of(workshop, key) == run_of(workshop, key), "one key, one run"


def run_of(workshop: Workshop, key: str) -> str:
    """Return the run a key stands for; one whose process was killed has yet to be ended."""
    answer = workshop.execute("calculator", {"expression": "6 * 7"}, Idempotency_Key=key)
    if answer.status == 200:
        return str(answer.json["run"]["id"])
    assert answer.json["code"] == "idempotency_in_progress", answer.text
    return str(answer.json["run"])


def test_a_killed_worker_runs_nothing_twice_and_ends_everything(workshop: Workshop):
    workshop.start()
    runs = [workshop.queue_note(f"note-{n}", seconds=0.2) for n in range(MANY)]
    wait_until(lambda: len(workshop.notes()) >= 2, "the first notes")

    kill_tree(workshop.process("worker"))

    statuses = workshop.settle(runs)
    notes = workshop.notes()
    assert max(notes.values()) == 1, "a run that may have run is not run again"
    assert set(statuses.values()) <= ENDED_WELL_OR_CUT
    for number, run_id in enumerate(runs):
        if statuses[run_id] == "succeeded":
            assert notes[f"note-{number}"] == 1
    cut = [status for status in statuses.values() if status != "succeeded"]
    assert len(cut) <= WORKERS, "no more than were running"


def test_a_killed_supervisor_leaves_nothing_and_the_next_one_goes_on(workshop: Workshop):
    workshop.start()
    runs = [workshop.queue_note(f"note-{n}", seconds=0.3) for n in range(MANY)]
    wait_until(lambda: len(workshop.notes()) >= 2, "the first notes")
    supervisor, *below = workshop.product.tree()

    supervisor.send_signal(signal.SIGKILL)

    assert workshop.product.process is not None
    workshop.product.process.wait(GONE_SECONDS)
    assert psutil.wait_procs(below, timeout=GONE_SECONDS)[1] == []

    workshop.start()
    statuses = workshop.settle(runs)
    notes = workshop.notes()
    assert max(notes.values()) == 1
    assert set(statuses.values()) <= ENDED_WELL_OR_CUT
    for number, run_id in enumerate(runs):
        if statuses[run_id] == "succeeded":
            assert notes[f"note-{number}"] == 1


def test_a_killed_ticker_is_replaced(workshop: Workshop):
    workshop.start()
    old = workshop.process("ticker")

    old.kill()

    wait_until(
        lambda: workshop.product.is_healthy() and has_ticker(workshop, other_than=old.pid),
        "the next ticker",
    )
    assert "a process ended and is started again" in workshop.product.log()


def has_ticker(workshop: Workshop, *, other_than: int) -> bool:
    names = {process.pid: process.name() for process in workshop.product.tree()}
    return "ojw-ticker" in {name for pid, name in names.items() if pid != other_than}


def test_a_hung_tool_does_not_keep_the_product_from_stopping(workshop: Workshop):
    workshop.start()
    workshop.queue_note("hangs", seconds=300)
    wait_until(lambda: "hangs" in workshop.notes(), "the tool")
    tree = workshop.product.tree()

    assert workshop.product.stop() == 0

    assert psutil.wait_procs(tree, timeout=1)[1] == []


def test_a_second_signal_stops_at_once(workshop: Workshop):
    workshop.start()
    workshop.queue_note("hangs", seconds=300)
    wait_until(lambda: "hangs" in workshop.notes(), "the tool")
    tree = workshop.product.tree()
    assert workshop.product.process is not None

    workshop.product.process.send_signal(signal.SIGINT)
    wait_until(lambda: not workshop.product.is_healthy(), "the web process to stop")
    workshop.product.process.send_signal(signal.SIGINT)

    workshop.product.process.wait(2)
    assert psutil.wait_procs(tree, timeout=1)[1] == []
