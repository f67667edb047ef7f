"""``manage.py create_token``: an API token for scripts, printed once."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tools_app.services.access import ADMIN, SCOPES, SYSTEM, people_with
from tools_app.services.errors import ServiceError
from tools_app.services.tokens import create_token


class Command(BaseCommand):
    """Prints nothing but the token to standard output, so that a script can read it."""

    help = "Create an API token and print it. It cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what the token is for")
        parser.add_argument(
            "--scope", action="append", dest="scopes", metavar="SCOPE", required=True,
            help=f"may be given several times: {', '.join(SCOPES)}",
        )  # fmt: skip
        parser.add_argument("--agent", default="", help="the only agent it may act for")
        parser.add_argument(
            "--tool", action="append", dest="tools", metavar="TOOL",
            help="a tool it may use, may be given several times; default: every tool",
        )  # fmt: skip
        parser.add_argument("--owner", help="user name; default: the first admin")
        parser.add_argument("--days", type=int, help="days until it expires; default: never")

    def handle(self, *args: Any, **options: Any) -> None:
        days = options["days"]
        try:
            new = create_token(
                actor=SYSTEM,
                owner=_owner(options["owner"]),
                name=options["name"],
                scopes=options["scopes"],
                agent=options["agent"],
                tools=options["tools"],
                expires_at=None if days is None else timezone.now() + timedelta(days=days),
            )
        except ServiceError as error:
            raise CommandError(_text(error)) from None
        self.stdout.write(new.secret_text)


def _owner(username: str | None) -> Any:
    users = get_user_model()._default_manager
    if username is not None:
        owner = users.filter(username=username, is_active=True).first()
        if owner is None:
            raise CommandError(f"There is no active user {username!r}.")
        return owner
    admins = people_with(ADMIN)
    if not admins:
        raise CommandError("There is no admin yet; start the product once, or give --owner.")
    return users.get(pk=min(admins))


def _text(error: ServiceError) -> str:
    errors = error.extra.get("errors")
    details = [f"{e['path']}: {e['message']}" for e in errors] if isinstance(errors, list) else []
    return " ".join([error.message, *details])
