"""``manage.py prepare``: what ``serve`` does before it serves, for installations that run
their processes one by one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from openjarvis_web.preparation import prepare


class Command(BaseCommand):
    """Migrate, and make the roles, the first admin and the samples where they are missing."""

    help = "Bring the database up to date and make what a first start needs."
    requires_system_checks = ["openjarvis"]

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(prepare())
