"""Waiting for a run or an approval that another thread or process will end.

The row is looked at often at first, since most runs are short, and then every tenth of a second.
The doorbell of the event log is not used: on a busy server it rings a thousand times a second,
and each ring would make every waiting thread ask the database.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import UUID

from django.db import connection

from tools_app.models import FINAL_STATUSES, Approval, ApprovalStatus, ToolRun
from tools_app.services.errors import NotFound

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.005, 0.1


def wait_for_run(run_id: UUID, timeout_s: float) -> ToolRun:
    """Return the run when it is finished, or as it stands after ``timeout_s`` seconds.

    A run that waits for approval is waited for as well. Raises NotFound.
    """

    def is_finished() -> bool:
        return ToolRun.objects.filter(pk=run_id, status__in=FINAL_STATUSES).exists()

    wait_until(is_finished, timeout_s)
    run = ToolRun.objects.select_related("decision").filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    return run


def wait_for_approval(approval_id: UUID, timeout_s: float) -> Approval:
    """Return the approval when it is no longer pending, or as it stands after ``timeout_s``.

    Raises NotFound.
    """

    def is_decided() -> bool:
        row = Approval.objects.filter(pk=approval_id)
        return not row.filter(status=ApprovalStatus.PENDING).exists()

    wait_until(is_decided, timeout_s)
    approval = Approval.objects.select_related("run", "run__decision").filter(pk=approval_id)
    found = approval.first()
    if found is None:
        raise NotFound("There is no such approval.")
    return found


def wait_until(holds: Callable[[], bool], timeout_s: float) -> bool:
    """Return whether ``holds()`` came true within ``timeout_s``; look once at least.

    Inside a transaction nobody else's change would ever be seen, so there it looks only once.
    """
    end = time.monotonic() + timeout_s
    pause = FIRST_PAUSE_S
    while True:
        if holds():
            return True
        left = end - time.monotonic()
        if left <= 0 or connection.in_atomic_block:
            return False
        time.sleep(min(pause, left))
        pause = min(pause * 2, LONGEST_PAUSE_S)
