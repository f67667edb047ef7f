"""What a process tells the system of itself: its name, and that it ends with its parent.

The second leaves nothing behind when a supervisor is killed without warning.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading

PR_SET_PDEATHSIG = 1  # prctl(2)
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int | bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that they can be found."""
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)


def name_process(role: str) -> None:
    """Show the role where processes are listed (``ps -o comm``); 15 bytes are kept."""
    if sys.platform == "linux":
        _prctl(PR_SET_NAME, f"ojw-{role}".encode())


def die_with_parent(parent_pid: int) -> None:
    """Have the system end this process as soon as its parent is gone."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(parent_pid,), daemon=True).start()
    if os.getppid() != parent_pid:  # it ended before the line above
        os._exit(1)


def _watch(parent_pid: int) -> None:
    pause = threading.Event()
    while os.getppid() == parent_pid:
        pause.wait(0.5)
    os.killpg(os.getpgrp(), signal.SIGKILL)
