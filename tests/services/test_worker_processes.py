"""A real worker with real children: what hangs is killed, and nothing is run twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.db import connection

from tests.builders import kinds_of, make_token_actor, publish_policy, request, tools_offered
from tests.sample_tools import SAMPLE_TOOLS
from tools_app.models import RunStatus, ToolRun
from tools_app.services.housekeeping import end_abandoned
from tools_app.services.queueing import HARD_LIMIT_GRACE_S, wake_worker
from tools_app.services.running import cancel_run, run_tool

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

PATIENCE_S = 30.0


def until(holds: Callable[[], object], what: str, patience_s: float = PATIENCE_S) -> float:
    """Return how many seconds passed until ``holds()`` was true."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < patience_s, f"in vain: {what}"
        time.sleep(0.02)
    return time.monotonic() - began


@pytest.fixture
def worker(transactional_db) -> Iterator[psutil.Process]:
    """A Celery worker with one child, on the database and the queue of the test."""
    command = "worker --pool=prefork --concurrency=1 --loglevel=WARNING"
    quiet = "--without-gossip --without-mingle --without-heartbeat"
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "openjarvis_web", *f"{command} {quiet}".split()],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "openjarvis_web.settings",
            "DATABASE_URL": database_url(),
            "OPENJARVIS_DATA_DIR": str(settings.OPENJARVIS_DATA_DIR),
            "OPENJARVIS_TOOL_MODULES": "tests.registered_tools",
        },
        cwd=settings.BASE_DIR,
    )
    try:
        yield psutil.Process(process.pid)
    finally:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        process.wait()


def database_url() -> str:
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    login = f"{values['USER']}:{values['PASSWORD']}" if values["PASSWORD"] else values["USER"]
    return f"postgres://{login}@{values['HOST']}:{values['PORT']}/{values['NAME']}"


@pytest.fixture
def start(worker):
    """Start a tool by a worker and return its run, once the worker has it or has ended it."""
    publish_policy()
    with tools_offered(*(tool() for tool in SAMPLE_TOOLS)):
        actor = make_token_actor()

        def start(tool: str, arguments: object = None, **fields: object) -> ToolRun:
            run = run_tool(request(actor, tool, arguments or {}, **fields)).run
            until(lambda: _is_taken(run), "a worker takes the run")
            return run

        start.actor = actor
        yield start


def _is_taken(run: ToolRun) -> bool:
    run.refresh_from_db()
    if run.status != RunStatus.QUEUED:
        return True
    time.sleep(0.5)
    wake_worker(run.pk, run.timeout_s)  # a message may get lost, and may come twice
    return False


def is_finished(run: ToolRun) -> bool:
    run.refresh_from_db()
    return run.is_finished


def child_of(worker: psutil.Process) -> psutil.Process:
    (child,) = worker.children()
    return child


def test_a_hung_tool_and_what_it_started_are_killed_and_work_goes_on(start, worker, tmp_path: Path):
    pid_file = tmp_path / "pid"
    run = start("spawn_and_hang", {"pid_file": str(pid_file)}, timeout_seconds=1.0)
    took_s = until(lambda: is_finished(run), "the run ends")

    assert (run.status, run.outcome) == ("timed_out", "timed_out")
    assert took_s < 2.5
    until(lambda: pid_file.exists() and not _runs(int(pid_file.read_text())), "the program dies")
    after = start("fetch", {"text": "next"})
    until(lambda: is_finished(after), "the next run ends")
    assert after.content == "fetched next"
    assert kinds_of(run) == ["run.queued", "run.started", "run.finished"]


def test_a_cancelled_tool_is_killed_within_a_second(start, worker):
    run = start("hang")
    child = child_of(worker)
    cancel_run(actor=start.actor, run_id=run.pk, reason="enough")
    took_s = until(lambda: is_finished(run), "the run ends")

    assert took_s < 1.0
    assert (run.status, run.message) == ("cancelled", "Error: enough")
    until(lambda: not child.is_running(), "the child is gone")


def test_a_tool_that_holds_the_interpreter_is_killed_by_the_hard_limit(start, worker):
    run = start("hold_interpreter", timeout_seconds=0.5)
    child = child_of(worker)
    until(lambda: not child.is_running(), "the child is killed")
    run.refresh_from_db()
    if run.status == RunStatus.RUNNING:  # its supervisor never got its turn
        until(end_abandoned, "housekeeping ends the run", 3 * HARD_LIMIT_GRACE_S)

    run.refresh_from_db()
    assert (run.status, run.outcome) == ("timed_out", "timed_out")
    after = start("fetch", {"text": "next"})
    until(lambda: is_finished(after), "the next run ends")


def test_a_run_whose_child_is_killed_is_interrupted_and_not_run_again(start, worker):
    run = start("hang")
    child = child_of(worker)
    child.send_signal(signal.SIGKILL)
    until(lambda: not child.is_running(), "the child is gone")
    wake_worker(run.pk, run.timeout_s)  # a second message changes nothing
    ToolRun.objects.filter(pk=run.pk).update(lease_expires_at=run.requested_at)
    assert end_abandoned() == 1

    after = start("fetch", {"text": "next"})
    until(lambda: is_finished(after), "the next run ends")
    run.refresh_from_db()
    assert (run.status, run.outcome) == ("interrupted", "interrupted")
    assert kinds_of(run) == ["run.queued", "run.started", "run.interrupted"]


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
