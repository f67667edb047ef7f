"""``manage.py sign_in_link USER``: another way in, for whoever runs this machine."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from openjarvis_web.preparation import base_url
from tools_app.services.sign_in_links import make_sign_in_link


class Command(BaseCommand):
    """Print a link that signs a user in once."""

    help = "Print a link that signs a user in once; it works for a short time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str = "", **options: Any) -> None:
        users = get_user_model().objects
        user = users.filter(username=username, is_active=True).first()
        if user is None:
            raise CommandError(f"there is no active user {username!r}")
        self.stdout.write(f"{base_url()}{make_sign_in_link(user)}")
