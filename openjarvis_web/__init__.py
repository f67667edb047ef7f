"""OpenJarvis Web, the Django project: settings, processes, and errors over HTTP."""

from openjarvis_web.celery import app as celery_app

__all__ = ["celery_app"]
