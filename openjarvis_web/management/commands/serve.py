"""``manage.py serve``: the whole product with one command, or one of its processes."""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connections

ROLES = ("web", "worker", "ticker")


class Command(BaseCommand):
    """Prepare the database, then supervise web, worker and ticker until Ctrl-C."""

    help = "Run OpenJarvis Web: web, worker and ticker, or only some of them."
    requires_system_checks = ["openjarvis"]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--only",
            choices=ROLES,
            action="append",
            help="run only this process (may be repeated); only the web process prepares",
        )

    def handle(self, *args: Any, only: list[str] | None = None, **options: Any) -> None:
        from openjarvis_web.preparation import prepare
        from openjarvis_web.processes.supervisor import Supervisor
        from openjarvis_web.processes.web import listen, run_web

        chosen = only or list(ROLES)
        roles: dict[str, Callable[[], None]] = {}
        if "web" in chosen:
            listener = listen()  # first: a port in use is found before anything is changed
            roles["web"] = partial(run_web, listener)
            welcome = prepare()
        if {"worker", "ticker"} & set(chosen):
            from openjarvis_web.processes.background import run_ticker, run_worker

            background = {"worker": run_worker, "ticker": run_ticker}
            roles.update((name, background[name]) for name in chosen if name in background)
        use_temporary_folder()
        connections.close_all()  # a connection must not be shared over a fork
        if "web" in chosen:
            self.stdout.write(welcome)
        self.stdout.flush()
        Supervisor(roles).run()
        sys.exit(0)


def use_temporary_folder() -> None:
    """Keep temporary files on the disk of the data: the queue moves messages by renaming."""
    folder = str(settings.OPENJARVIS_DATA_DIR / "temporary")
    os.environ["TMPDIR"] = folder
    tempfile.tempdir = folder
