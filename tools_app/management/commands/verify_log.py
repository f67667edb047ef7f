"""``manage.py verify_log``: check the event log against its seals."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tools_app.services.sealing_log import verify_log


class Command(BaseCommand):
    """Exits with 1, naming each place, when a sealed event was changed, removed or put in."""

    help = "Check the event log against its seals."

    def handle(self, *args: Any, **options: Any) -> None:
        report = verify_log()
        self.stdout.write(
            f"{report.sealed_events} events under {report.seals} seals,"
            f" {report.unsealed_events} not sealed yet"
        )
        if report.is_intact:
            self.stdout.write("The log is intact.")
            return
        for fault in report.faults:
            self.stderr.write(f"{fault.first_seq}-{fault.last_seq}: {fault.problem}")
        raise CommandError("The log does not fit its seals.")
