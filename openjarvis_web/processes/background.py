"""The processes behind the web: workers that run tools, and the ticker that keeps house."""

from __future__ import annotations

from celery.beat import EmbeddedService
from django.conf import settings

from openjarvis_web.celery import app

QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat"]


def run_worker() -> None:
    """Run tools until SIGTERM, each in a child that can be killed at its deadline."""
    app.worker_main(
        [
            "worker",
            "--pool=prefork",
            f"--concurrency={settings.OPENJARVIS_WORKERS}",
            f"--queues={settings.CELERY_TASK_DEFAULT_QUEUE}",
            f"--loglevel={settings.OPENJARVIS_LOG_LEVEL}",
            "-Ofair",
            *QUIET,
        ]
    )


def run_ticker() -> None:
    """Dispatch the periodic tasks, and run housekeeping, until SIGTERM.

    Housekeeping has this process for itself: it must go on when every worker is busy with a
    long tool. Only one ticker may run per installation.
    """
    EmbeddedService(app, thread=True, scheduler_cls=settings.CELERY_BEAT_SCHEDULER).start()
    app.worker_main(
        [
            "worker",
            "--pool=solo",
            f"--queues={settings.HOUSEKEEPING_QUEUE}",
            f"--loglevel={settings.OPENJARVIS_LOG_LEVEL}",
            *QUIET,
        ]
    )
