"""The supervisor: it replaces the dead, stops what hangs, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.servers import wait_until

PROGRAM = """
import os, signal, subprocess, sys, time
from pathlib import Path
from openjarvis_web.processes.supervisor import Supervisor

folder = Path(sys.argv[1])

def note():
    with open(folder / "started", "a") as file:
        print(os.getpid(), file=file, flush=True)

def obedient():
    note()
    time.sleep(600)

def stubborn():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-c", "import os, time; os.setsid(); time.sleep(600)"])
    note()
    time.sleep(600)

def orphaning():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note()
            time.sleep(600)
        os._exit(0)
    time.sleep(600)

roles = {"obedient": obedient, "stubborn": stubborn, "orphaning": orphaning}
Supervisor({name: roles[name] for name in sys.argv[2:]}).run()
"""


class Run:
    """A supervisor in a process of its own, over children of the named kinds."""

    def __init__(self, folder: Path, *kinds: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder), *kinds], start_new_session=True
        )
        wait_until(lambda: len(self.started()) == len(kinds), "the children")

    def started(self) -> list[int]:
        """Return the pids of children that have started so far, dead ones too."""
        file = self.folder / "started"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def below(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def survivors(self, processes: list[psutil.Process]) -> list[psutil.Process]:
        return psutil.wait_procs(processes, timeout=2)[1]

    def end(self) -> None:
        if self.process.poll() is None:
            for process in self.below():
                process.kill()
            self.process.kill()
        self.process.wait()


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[type[Run]]:
    made: list[Run] = []

    def make(*kinds: str) -> Run:
        made.append(Run(tmp_path, *kinds))
        return made[-1]

    yield make  # type: ignore[misc]
    for run in made:
        run.end()


def test_a_dead_child_is_replaced(runs):
    run = runs("obedient")

    os.kill(run.started()[0], signal.SIGKILL)

    wait_until(lambda: len(run.started()) == 2, "the next child")
    assert psutil.pid_exists(run.started()[1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_ends_obedient_children_at_once(runs, number: int):
    run = runs("obedient")
    below, started = run.below(), time.monotonic()

    run.process.send_signal(number)

    assert run.process.wait(10) == 0
    assert time.monotonic() - started < 2
    assert run.survivors(below) == []


def test_what_does_not_stop_is_killed_with_all_it_started(runs):
    run = runs("obedient", "stubborn")
    wait_until(lambda: len(run.below()) == 3, "the process of its own session")
    below, started = run.below(), time.monotonic()

    run.process.send_signal(signal.SIGTERM)

    assert run.process.wait(10) == 0
    assert 1 < time.monotonic() - started < 5
    assert run.survivors(below) == []


def test_a_second_signal_does_not_wait(runs):
    run = runs("stubborn")
    started = time.monotonic()

    def interrupted_again() -> bool:
        run.process.send_signal(signal.SIGINT)
        return run.process.poll() is not None

    wait_until(interrupted_again, "the end")

    assert run.process.returncode in (0, -signal.SIGINT), "one more may hit the leaving process"
    assert time.monotonic() - started < 3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a subreaper")
def test_a_daemonised_grandchild_is_found_and_ended(runs):
    run = runs("orphaning")
    orphan = psutil.Process(run.started()[0])
    wait_until(lambda: orphan.ppid() == run.process.pid, "the adoption")

    run.process.send_signal(signal.SIGTERM)

    assert run.process.wait(10) == 0
    assert run.survivors([orphan]) == []


def test_a_killed_supervisor_takes_its_children_with_it(runs):
    run = runs("obedient", "stubborn")
    children = [psutil.Process(pid) for pid in run.started()]

    run.process.kill()

    assert run.survivors(children) == []
