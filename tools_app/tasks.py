"""What workers and the ticker do when a message wakes them."""

from __future__ import annotations

import os
import signal
from uuid import UUID

import psutil
import structlog
from billiard.process import current_process
from celery import shared_task
from django.db import connections

from tools_app.models import ToolRun
from tools_app.services import housekeeping
from tools_app.services.queueing import TASK_NAME
from tools_app.services.running import execute_claimed
from tools_app.services.running.execution import leave_thread

log = structlog.get_logger(__name__)


@shared_task(name=TASK_NAME, ignore_result=True)
def run_tool(run_id: str) -> None:
    """Execute one queued run, if it is still there to be claimed."""
    execute_claimed(UUID(run_id), abandon=end_this_child)


@shared_task(name="tools_app.housekeeping", ignore_result=True)
def run_housekeeping() -> None:
    """Do everything that is due now."""
    housekeeping.tick()


def end_this_child(run: ToolRun) -> None:
    """Kill this pool child and every process its tool started; Celery replaces the child.

    A thread cannot be stopped, a process can. Outside of a pool of processes there is none to
    spare: the thread is left behind, and the log says so.
    """
    if current_process().name == "MainProcess":
        leave_thread(run)
        return
    log.warning("ending a worker child to end its tool", run=str(run.pk), tool=run.tool_name)
    connections.close_all()
    for process in psutil.Process().children(recursive=True):
        try:
            process.kill()
        except psutil.Error:  # it has just ended by itself
            continue
    os.kill(os.getpid(), signal.SIGKILL)
