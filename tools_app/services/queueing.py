"""Waking a worker for a queued run. The message only carries the id; the row is the truth.

A message may be lost, doubled or never sent: whoever gets it claims the row, and the tick sends
again what waited too long.
"""

from __future__ import annotations

import math
from datetime import timedelta
from functools import partial
from uuid import UUID

import structlog
from celery import current_app
from django.db import transaction

from tools_app.models import ToolRun

log = structlog.get_logger(__name__)

TASK_NAME = "tools_app.run_tool"
RESEND_AFTER = timedelta(seconds=10)  # a queued run nobody claimed; its message may be lost

# Celery's own limit only bites when the supervisor cannot: when a tool holds the interpreter's
# lock. It is later than the deadline, so that normally the supervisor ends the run.
HARD_LIMIT_GRACE_S = 5.0


def wake_worker_after_commit(run: ToolRun) -> None:
    """Send the message once the row is visible to whoever gets it."""
    transaction.on_commit(partial(wake_worker, run.pk, run.timeout_s))


def wake_worker(run_id: UUID, timeout_s: float) -> None:
    """Send the message; a broker that is down is logged, and the row stays queued."""
    try:
        current_app.send_task(
            TASK_NAME,
            args=[str(run_id)],
            time_limit=math.ceil(timeout_s + HARD_LIMIT_GRACE_S),
            ignore_result=True,
            retry=False,
        )
    except Exception:
        log.exception("no worker could be woken; the run stays queued", run=str(run_id))
