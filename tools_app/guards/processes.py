"""Starting programs so that they can be ended with everything they started.

A child gets a session of its own and a mark in its environment, which its descendants inherit.
Killing the tree finds them by parentage, by session and by the mark: also those that left the
session (``setsid``) or whose parent is gone (double fork).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

import psutil

MARK = "OPENJARVIS_PROCESS_TREE"  # the variable that descendants inherit
KILL_ROUNDS = 50  # processes may be forking while they are killed
ROUND_PAUSE_S = 0.02
DRAIN_S = 2.0  # for readers to reach the end of the pipes once the tree is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a program ended. Counts are of all bytes written, kept or not."""

    returncode: int
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    is_timed_out: bool

    @property
    def is_truncated(self) -> bool:
        """Whether some output was dropped."""
        return self.stdout_bytes > len(self.stdout) or self.stderr_bytes > len(self.stderr)


class ProcessTree:
    """A program and all its descendants."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str) -> None:
        self.process = process
        self._mark = mark

    @classmethod
    def start(
        cls,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | None = None,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.DEVNULL,
        stderr: int | IO[bytes] = subprocess.DEVNULL,
    ) -> ProcessTree:
        """Start a program, without a shell; raises OSError when it cannot be started."""
        mark = uuid.uuid4().hex
        process = subprocess.Popen(  # noqa: S603 - the caller's policy decided about argv
            list(argv),
            env={**env, MARK: mark},
            cwd=cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        return cls(process, mark)

    def kill(self) -> None:
        """Kill every process of the tree and return when none is left."""
        for _ in range(KILL_ROUNDS):
            members = self._members()
            for member in members:
                with contextlib.suppress(psutil.Error):
                    member.kill()
            self.process.poll()  # reap it: a zombie would count as a survivor
            if not members:
                break
            psutil.wait_procs(members, timeout=ROUND_PAUSE_S)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=ROUND_PAUSE_S)

    def _members(self) -> list[psutil.Process]:
        """Return the living processes of the tree, except the caller's own."""
        found: dict[int, psutil.Process] = {}
        if self.process.returncode is None:
            with contextlib.suppress(psutil.Error):
                root = psutil.Process(self.process.pid)
                found[root.pid] = root
                found.update((child.pid, child) for child in root.children(recursive=True))
        for process in psutil.process_iter():
            if process.pid not in found and self._is_marked(process.pid):
                found[process.pid] = process
        found.pop(os.getpid(), None)
        return [process for process in found.values() if _is_alive(process)]

    def _is_marked(self, pid: int) -> bool:
        try:
            if os.getsid(pid) == self.process.pid:
                return True
            with open(f"/proc/{pid}/environ", "rb") as stream:
                return f"{MARK}={self._mark}".encode() in stream.read().split(b"\0")
        except OSError:
            return False


def run_program(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    timeout_s: float,
    max_output_bytes: int,
    cwd: str | None = None,
    stdin: bytes = b"",
) -> Completed:
    """Run a program to its end, or kill its tree at the time limit.

    Of stdout and stderr each at most ``max_output_bytes`` are kept, the rest is read and counted.
    Whatever the program left behind is killed as well. Raises OSError when it cannot be started.
    """
    tree = ProcessTree.start(
        argv,
        env=env,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process = tree.process
    readers = [_Reader(stream, max_output_bytes) for stream in (process.stdout, process.stderr)]
    threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True).start()
    try:
        process.wait(timeout=timeout_s)
        is_timed_out = False
    except subprocess.TimeoutExpired:
        is_timed_out = True
    finally:
        tree.kill()
    deadline = time.monotonic() + DRAIN_S
    for reader in readers:
        reader.join(deadline)
    stdout, stderr = readers
    return Completed(
        returncode=process.returncode if process.returncode is not None else -signal.SIGKILL,
        stdout=bytes(stdout.kept),
        stderr=bytes(stderr.kept),
        stdout_bytes=stdout.total_bytes,
        stderr_bytes=stderr.total_bytes,
        is_timed_out=is_timed_out,
    )


class _Reader:
    """Reads a pipe to its end in a thread, so that a talkative program never blocks."""

    def __init__(self, stream: IO[bytes] | None, max_bytes: int) -> None:
        self.kept = bytearray()
        self.total_bytes = 0
        self._stream = stream
        self._max_bytes = max_bytes
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def join(self, deadline: float) -> None:
        """Wait for the end of the pipe, until ``deadline`` on the monotonic clock."""
        self._thread.join(max(deadline - time.monotonic(), 0))

    def _read(self) -> None:
        if self._stream is None:
            return
        with self._stream as stream:
            while data := os.read(stream.fileno(), 65536):
                self.total_bytes += len(data)
                self.kept += data[: self._max_bytes - len(self.kept)]


def _feed(stream: IO[bytes] | None, data: bytes) -> None:
    if stream is None:
        return
    with contextlib.suppress(OSError, ValueError), stream:  # the program may not want to read
        stream.write(data)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
