"""The Celery application: workers run tools, beat gives the ticks."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import worker_process_init

from openjarvis_web import file_queue
from openjarvis_web.processes.parent import die_with_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openjarvis_web.settings")

file_queue.use()
app = Celery("openjarvis_web")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def end_with_worker(**kwargs: object) -> None:
    """Leave no tool running when the worker is killed without warning."""
    die_with_parent(os.getppid())
