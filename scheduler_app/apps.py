"""Scheduled tasks: what runs when nobody clicks."""

from django.apps import AppConfig


class SchedulerConfig(AppConfig):
    name = "scheduler_app"
    verbose_name = "Schedules"
