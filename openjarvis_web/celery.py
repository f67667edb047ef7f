"""The Celery application: workers run tools, beat gives the ticks."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openjarvis_web.settings")

app = Celery("openjarvis_web")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
