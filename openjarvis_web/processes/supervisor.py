"""One parent for all processes: starts them, replaces the dead, stops everything.

Children are forked from a process that has loaded the program once, so they start at once and
share its memory. Each has its own process group, so that Ctrl-C reaches the supervisor alone,
and dies with the supervisor however that ends.
"""

from __future__ import annotations

import gc
import logging
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import psutil
import structlog

from openjarvis_web.processes.parent import adopt_orphans, die_with_parent, name_process

log = structlog.get_logger(__name__)

STOP_SECONDS = 3.5  # what children have to finish before they are killed
FIRST_DELAY_S, LAST_DELAY_S = 0.1, 10.0  # before a dead child is started again; doubles
STEADY_SECONDS = 30.0  # a child that lived this long starts again without delay
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Child:
    """One role and the process that has it now."""

    name: str
    run: Callable[[], None]
    pid: int = 0
    started_at: float = 0.0
    delay_s: float = FIRST_DELAY_S
    start_at: float = field(default=0.0)  # when to start it, while it has no process


class Supervisor:
    """Keep one process alive per role until a stop signal comes."""

    def __init__(self, roles: Mapping[str, Callable[[], None]]) -> None:
        self._children = [Child(name, run) for name, run in roles.items()]
        self._signals = 0
        self._wake, self._waker = socket.socketpair()

    def run(self) -> None:
        """Start everything and return when everything has stopped."""
        adopt_orphans()
        gc.freeze()  # what is loaded stays: children need not copy its pages to count references
        self._listen_for_signals()
        while not self._signals:
            self._start_due()
            self._sleep(self._seconds_to_next_start())
            self._reap()
        self._stop()

    def _listen_for_signals(self) -> None:
        self._wake.setblocking(False)
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in STOP_SIGNALS:
            signal.signal(number, self._count_signal)

    def _count_signal(self, *_: object) -> None:
        self._signals += 1

    def _sleep(self, seconds: float | None) -> None:
        if select.select([self._wake], [], [], seconds)[0]:
            self._wake.recv(4096)

    def _start_due(self) -> None:
        now = time.monotonic()
        for child in self._children:
            if not child.pid and child.start_at <= now:
                self._start(child)

    def _seconds_to_next_start(self) -> float | None:
        waiting = [child.start_at for child in self._children if not child.pid]
        return max(0.0, min(waiting) - time.monotonic()) if waiting else None

    def _start(self, child: Child) -> None:
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        child.pid = os.fork()
        child.started_at = time.monotonic()
        if child.pid == 0:
            self._become(child, parent)

    def _become(self, child: Child, parent: int) -> None:
        """Turn the forked process into the child; never returns."""
        code = 1
        try:
            os.setpgid(0, 0)
            die_with_parent(parent)
            name_process(child.name)
            signal.set_wakeup_fd(-1)
            for number in (*STOP_SIGNALS, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            self._wake.close()
            self._waker.close()
            child.run()
            code = 0
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
            if isinstance(leaving.code, str):
                log.error("a process cannot go on", process=child.name, reason=leaving.code)
        except BaseException:
            log.exception("a process failed", process=child.name)
        finally:
            logging.shutdown()
            os._exit(code)

    def _reap(self) -> None:
        while (ended := _wait_for_any()) is not None:
            pid, status = ended
            for child in self._children:
                if child.pid == pid:
                    self._plan_restart(child, status)

    def _plan_restart(self, child: Child, status: int) -> None:
        lived_s = time.monotonic() - child.started_at
        if lived_s >= STEADY_SECONDS:
            child.delay_s = FIRST_DELAY_S
        child.pid, child.start_at = 0, time.monotonic() + child.delay_s
        if not self._signals:
            log.warning(
                "a process ended and is started again",
                process=child.name,
                how=_how_it_ended(status),
                after_s=round(lived_s, 1),
                again_in_s=child.delay_s,
            )
        child.delay_s = min(child.delay_s * 2, LAST_DELAY_S)

    def _stop(self) -> None:
        """Ask all to stop; kill whatever is left at the deadline or at the second signal."""
        asked, deadline = self._signals, time.monotonic() + STOP_SECONDS
        for child in self._children:
            if child.pid:
                _send(child.pid, signal.SIGTERM)
        while self._has_children() and self._signals == asked:
            if (left_s := deadline - time.monotonic()) <= 0:
                break
            self._sleep(left_s)
            self._reap()
        self._kill_descendants()

    def _has_children(self) -> bool:
        return any(child.pid for child in self._children)

    def _kill_descendants(self) -> None:
        """Kill until none is left: one that forks while we look is found the next time."""
        me = psutil.Process()
        while descendants := me.children(recursive=True):
            for process in descendants:
                _send(process.pid, signal.SIGKILL)
            psutil.wait_procs(descendants, timeout=0.2)
            self._reap()


def _wait_for_any() -> tuple[int, int] | None:
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _how_it_ended(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit code {os.WEXITSTATUS(status)}"
