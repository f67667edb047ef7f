"""Running a tool within a time limit, in a thread that can be given up.

Python cannot stop a thread. A call that outlives its limit is given up: its caller gets a
``ToolTimeout``, its place is free for the next call, and the thread goes on until the tool
returns or the process ends. Tools that may hang for good belong into a process that can be killed;
whoever has such processes hands the executor a runner of its own.
"""

from __future__ import annotations

import logging
import threading
import time
from contextvars import copy_context
from typing import Any, Protocol

from tools_app.core.cancellation import CancelToken, deadline_in
from tools_app.core.errors import (
    ToolCancelled,
    ToolCapacityExhausted,
    ToolError,
    ToolFailed,
    ToolTimeout,
)
from tools_app.core.tool import BaseTool

logger = logging.getLogger(__name__)

MAX_PARALLEL_CALLS = 256  # threads that wait cost little; this only stops a runaway


class ToolRunner(Protocol):
    """Runs one call of one tool."""

    def run(
        self, tool: BaseTool, params: dict[str, Any], timeout_s: float, cancel: CancelToken | None
    ) -> object:
        """Return what the tool returned.

        Raises ToolTimeout, ToolCancelled, ToolCapacityExhausted, a ToolError the tool raised, or
        ToolFailed for any other exception of the tool.
        """


class ThreadRunner:
    """Runs bounded tools in the caller's thread, all others in a daemon thread per call.

    At most ``max_parallel`` calls hold a place at a time; a further call waits for one, at most
    as long as its own limit, and then has that limit in full for itself.
    """

    def __init__(self, max_parallel: int = MAX_PARALLEL_CALLS) -> None:
        self._places = threading.BoundedSemaphore(max_parallel)

    def run(
        self, tool: BaseTool, params: dict[str, Any], timeout_s: float, cancel: CancelToken | None
    ) -> object:
        """Run the tool; see ``ToolRunner.run``."""
        if cancel is not None and cancel.is_cancelled:
            raise ToolCancelled("cancelled before the tool started")
        if tool.is_bounded:
            return _run_here(tool, params)
        if not self._places.acquire(timeout=timeout_s):
            raise ToolCapacityExhausted(
                f"no free place to run '{tool.tool_id}' within {timeout_s:g} s"
            )
        try:
            return _run_in_thread(tool, params, timeout_s, cancel)
        finally:
            self._places.release()


def _run_here(tool: BaseTool, params: dict[str, Any]) -> object:
    try:
        return tool.execute(**params)
    except KeyboardInterrupt:
        if threading.current_thread() is threading.main_thread():
            raise  # Ctrl-C reaches the main thread, wherever it happens to be
        raise ToolFailed("the tool raised KeyboardInterrupt") from None
    except BaseException as error:
        raise failure_of(error) from error


def _run_in_thread(
    tool: BaseTool, params: dict[str, Any], timeout_s: float, cancel: CancelToken | None
) -> object:
    ended = threading.Event()  # by the tool, or by a cancellation
    outcome: list[object] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            with deadline_in(timeout_s):
                outcome.append(tool.execute(**params))
        except BaseException as error:
            failure.append(error)
        finally:
            ended.set()

    context = copy_context()
    thread = threading.Thread(
        target=context.run, args=(work,), name=f"tool-{tool.tool_id}", daemon=True
    )
    started = time.monotonic()
    thread.start()
    if cancel is None:
        ended.wait(timeout_s)
    else:
        with cancel.calling(ended.set):
            ended.wait(timeout_s)
    if outcome:
        return outcome[0]
    if failure:
        raise failure_of(failure[0]) from failure[0]
    logger.warning("gave up on '%s'; its thread goes on until the tool returns", tool.tool_id)
    if cancel is not None and cancel.is_cancelled:
        waited = time.monotonic() - started
        raise ToolCancelled(f"cancelled after {waited:.3g} s")
    raise ToolTimeout(f"timed out after {timeout_s:g} s")


def failure_of(error: BaseException) -> ToolError:
    """Return the expected failure that stands for an exception a tool raised."""
    if isinstance(error, ToolError):
        return error
    try:
        text = str(error)
    except Exception:  # a tool's exception may be broken as well
        text = ""
    name = type(error).__name__
    return ToolFailed(f"the tool raised {name}: {text}" if text else f"the tool raised {name}")
