"""The processes behind the web: workers that run tools, and the ticker that keeps house."""

from __future__ import annotations

import warnings
from typing import Any

from celery.apps import worker  # noqa: F401  (loaded before the fork, so that all share it)
from celery.beat import EmbeddedService
from celery.concurrency import prefork, solo  # noqa: F401
from celery.exceptions import SecurityWarning
from django.conf import settings

from openjarvis_web import file_queue
from openjarvis_web.celery import app

DRAIN_SECONDS = 0.2  # Celery's 2 s would be most of the time we have to stop


def run_worker() -> None:
    """Run tools until SIGTERM, each in a child that can be killed at its deadline."""
    _consume(
        settings.CELERY_TASK_DEFAULT_QUEUE,
        "--pool=prefork",
        f"--concurrency={settings.OPENJARVIS_WORKERS}",
        "-Ofair",
    )


def run_ticker() -> None:
    """Dispatch the periodic tasks, and run housekeeping, until SIGTERM.

    Housekeeping has this process for itself: it must go on when every worker is busy with a
    long tool. Only one ticker may run per installation.
    """
    beat: Any = EmbeddedService(app, thread=True, scheduler_cls=settings.CELERY_BEAT_SCHEDULER)
    beat.start()
    _consume(settings.HOUSEKEEPING_QUEUE, "--pool=solo")


def _consume(queue: str, *options: str) -> None:
    file_queue.Transport.longest_drain_s = DRAIN_SECONDS
    # Celery warns about root because a pickled message could run anything; ours are JSON.
    warnings.simplefilter("ignore", SecurityWarning)
    app.worker_main(
        [
            "--quiet",
            "worker",
            f"--queues={queue}",
            f"--hostname={queue}@%h",
            f"--loglevel={settings.OPENJARVIS_LOG_LEVEL}",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
            *options,
        ]
    )
