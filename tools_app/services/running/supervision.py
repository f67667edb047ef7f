"""Running a tool in a thread that is watched, and given up when its time or its leave is over.

Python cannot stop a thread, so a run that was given up leaves one behind; whoever started the
run then ends the whole process (see :mod:`tools_app.tasks`).
"""

from __future__ import annotations

import threading
import time
from contextvars import copy_context
from typing import Any

import structlog
from django.db import DatabaseError
from django.utils import timezone

from tools_app.core import BaseTool, ToolCancelled, ToolTimeout
from tools_app.core.cancellation import CancelToken, deadline_in
from tools_app.core.runner import failure_of
from tools_app.models import RunStatus, ToolRun
from tools_app.services.running.claiming import LEASE

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 0.2  # a cancelled run must end within a second
RENEW_EVERY_S = LEASE.total_seconds() / 6


class SupervisedRunner:
    """Runs the tool of one claimed run; a ``ToolRunner`` for the executor.

    While the tool runs it renews the lease and looks for a cancellation. Afterwards
    ``gave_up`` says that the tool's thread is still there, ``stopped_as`` what was asked for.
    """

    def __init__(self, run: ToolRun) -> None:
        self._run = run
        self._row = ToolRun.objects.filter(
            pk=run.pk, status=RunStatus.RUNNING, lease_owner=run.lease_owner
        )
        self._renewed = time.monotonic()
        self.gave_up = False
        self.stopped_as = ""

    def run(
        self, tool: BaseTool, params: dict[str, Any], timeout_s: float, cancel: CancelToken | None
    ) -> object:
        """Return what the tool returned; see ``ToolRunner.run``. The run's own limit counts."""
        limit_s = self._run.timeout_s
        work = _Work(tool, params, limit_s)
        end = time.monotonic() + limit_s
        work.start()
        while not work.ended.wait(max(0.0, min(LOOK_EVERY_S, end - time.monotonic()))):
            if time.monotonic() >= end:
                self.gave_up = True
                raise ToolTimeout(f"timed out after {limit_s:g} s")
            if reason := self._reason_to_stop():
                self.gave_up = True
                raise ToolCancelled(reason)
        return work.result()

    def _reason_to_stop(self) -> str:
        try:
            return self._look()
        except DatabaseError:  # a database that is busy is no reason to end a run
            log.exception("a running tool could not be looked after", run=str(self._run.pk))
            return ""

    def _look(self) -> str:
        row = self._row.values("cancel_requested_at", "cancel_reason", "outcome").first()
        if row is None:
            return "the lease of this run was lost"
        if row["cancel_requested_at"] is not None:
            self.stopped_as = row["outcome"]
            return str(row["cancel_reason"])
        if time.monotonic() - self._renewed > RENEW_EVERY_S:
            self._row.update(lease_expires_at=timezone.now() + LEASE)
            self._renewed = time.monotonic()
        return ""


class _Work:
    """One call of a tool, in a daemon thread."""

    def __init__(self, tool: BaseTool, params: dict[str, Any], limit_s: float) -> None:
        self._call = (tool, params, limit_s)
        self._returned: object = None
        self._failure: BaseException | None = None
        self.ended = threading.Event()

    def start(self) -> None:
        name = f"tool-{self._call[0].tool_id}"
        context = copy_context()
        threading.Thread(target=context.run, args=(self._do,), name=name, daemon=True).start()

    def result(self) -> object:
        """Return what the tool returned, or raise the ToolError that stands for its failure."""
        if self._failure is not None:
            raise failure_of(self._failure) from self._failure
        return self._returned

    def _do(self) -> None:
        tool, params, limit_s = self._call
        try:
            with deadline_in(limit_s):
                self._returned = tool.execute(**params)
        except BaseException as error:  # SystemExit too: nothing a tool does may escape
            self._failure = error
        finally:
            self.ended.set()
