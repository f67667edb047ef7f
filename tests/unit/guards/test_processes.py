"""Process trees: nothing of a killed program survives, and no output is lost silently."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tools_app.guards.environment import child_environment
from tools_app.guards.processes import MARK, ProcessTree, run_program

ENV = child_environment()

# Each prints the ids of the processes it leaves behind, then waits.
PLAIN_CHILD = "sleep 600 & echo $!; wait"
NEW_SESSION = "setsid sleep 600 & echo $!; wait"
ORPHAN = "(sleep 600 & echo $!); sleep 600"
DOUBLE_FORK = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(0); os.close(2)
        print(os.getpid(), flush=True); os.close(1)
        time.sleep(600)
    os._exit(0)
os.wait()
time.sleep(600)
"""


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def first_pid(tree: ProcessTree) -> int:
    assert tree.process.stdout is not None
    return int(tree.process.stdout.readline())


@pytest.mark.parametrize(
    "argv",
    [
        ["bash", "-c", PLAIN_CHILD],
        ["bash", "-c", NEW_SESSION],
        ["bash", "-c", ORPHAN],
        [sys.executable, "-c", DOUBLE_FORK],
        ["bash", "-c", "trap '' TERM INT HUP; sleep 600 & echo $!; wait"],
    ],
    ids=["child", "setsid", "orphan", "double fork", "stubborn"],
)
def test_nothing_survives_a_kill(argv: list[str]) -> None:
    tree = ProcessTree.start(argv, env=ENV, stdout=subprocess.PIPE)
    pid = first_pid(tree)
    assert is_running(pid)
    tree.kill()
    assert not is_running(pid)
    assert tree.process.returncode is not None


def test_a_tree_can_be_killed_after_its_root_is_gone() -> None:
    tree = ProcessTree.start(
        ["bash", "-c", "setsid sleep 600 & echo $!"], env=ENV, stdout=subprocess.PIPE
    )
    pid = first_pid(tree)
    tree.process.wait()
    assert is_running(pid)
    tree.kill()
    assert not is_running(pid)


def test_other_processes_are_left_alone() -> None:
    bystander = ProcessTree.start(["sleep", "600"], env=ENV)
    tree = ProcessTree.start(["sleep", "600"], env=ENV)
    tree.kill()
    assert bystander.process.poll() is None
    bystander.kill()


def test_killing_twice_is_no_error() -> None:
    tree = ProcessTree.start(["sleep", "600"], env=ENV)
    tree.kill()
    tree.kill()


def run(script: str, *, timeout_s: float = 20, limit: int = 1000, stdin: bytes = b""):  # type: ignore[no-untyped-def]
    return run_program(
        ["bash", "-c", script], env=ENV, timeout_s=timeout_s, max_output_bytes=limit, stdin=stdin
    )


def test_a_program_is_run_to_its_end() -> None:
    done = run("cat; echo err >&2; exit 3", stdin=b"in")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"in", b"err\n")
    assert not done.is_timed_out
    assert not done.is_truncated


def test_the_time_limit_ends_the_whole_tree(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    started = time.monotonic()
    done = run(f"sleep 600 & echo $! > {pid_file}; echo began; wait", timeout_s=0.5)
    assert time.monotonic() - started < 10
    assert done.is_timed_out
    assert done.stdout == b"began\n"
    assert not is_running(int(pid_file.read_text()))


def test_what_a_program_leaves_behind_is_killed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    done = run(f"setsid sleep 600 & echo $! > {pid_file}; echo done")
    assert (done.returncode, done.stdout) == (0, b"done\n")
    assert not is_running(int(pid_file.read_text()))


def test_output_beyond_the_limit_is_counted() -> None:
    done = run("head -c 300000 /dev/zero; head -c 1000 /dev/zero >&2", limit=1000)
    assert (len(done.stdout), done.stdout_bytes) == (1000, 300_000)
    assert (len(done.stderr), done.stderr_bytes) == (1000, 1000)
    assert done.is_truncated


def test_a_program_that_does_not_read_its_input_ends() -> None:
    assert run("exec true", stdin=b"x" * 1_000_000).returncode == 0


def test_a_missing_program_is_an_os_error() -> None:
    with pytest.raises(OSError, match="no-such-program"):
        run_program(["no-such-program"], env=ENV, timeout_s=1, max_output_bytes=1)


def test_the_environment_is_the_given_one_and_the_mark() -> None:
    done = run_program(["env"], env={"A": "1"}, timeout_s=20, max_output_bytes=9999)
    names = {line.split(b"=")[0] for line in done.stdout.splitlines()}
    assert names == {b"A", MARK.encode()}
