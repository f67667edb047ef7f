"""``manage.py serve``: the whole product with one command, or some of its processes."""

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
        try:
            self._serve(only or list(ROLES))
        except KeyboardInterrupt:  # Ctrl-C while preparing; afterwards the supervisor has it
            sys.exit(130)

    def _serve(self, chosen: list[str]) -> None:
        use_temporary_folder()
        roles = web_role() if "web" in chosen else {}
        if {"worker", "ticker"} & set(chosen):
            roles |= background_roles(chosen)
        connections.close_all()  # a connection must not be shared over a fork
        from openjarvis_web.processes.supervisor import Supervisor

        Supervisor(roles).run()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # all is stopped; taking a large program apart would take another second


def web_role() -> dict[str, Callable[[], None]]:
    """Prepare what pages need, greet, and return the web process."""
    from openjarvis_web.preparation import prepare
    from openjarvis_web.processes.web import listen, run_web

    listener = listen()  # first: a port in use is found before anything is changed
    print(prepare(), flush=True)
    return {"web": partial(run_web, listener)}


def background_roles(chosen: list[str]) -> dict[str, Callable[[], None]]:
    """Return the chosen processes behind the web."""
    from openjarvis_web.processes.background import run_ticker, run_worker

    known = {"worker": run_worker, "ticker": run_ticker}
    return {name: known[name] for name in chosen if name in known}


def use_temporary_folder() -> None:
    """Keep temporary files on the disk of the data: the queue moves messages by renaming."""
    folder = str(settings.OPENJARVIS_DATA_DIR / "temporary")
    os.environ["TMPDIR"] = folder
    tempfile.tempdir = folder
