"""What must be so before the first request: tables, groups, the first admin, sample agents."""

from __future__ import annotations

from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from openjarvis_web.environment import BadSetting
from tools_app.services.first_run import FirstRun
from tools_app.services.first_run import prepare as prepare_rows


def prepare() -> str:
    """Bring the database up to date, make what a first start needs, return the greeting.

    Raises ``BadSetting`` naming the database setting when the database cannot be used.
    """
    try:
        if not is_migrated():
            call_command("migrate", interactive=False, verbosity=0)
        first = prepare_rows()
    except DatabaseError as error:
        raise BadSetting(_database_setting(), f"cannot use the database: {error}") from None
    return greeting(first)


def is_migrated() -> bool:
    """Compare names of migration files with the rows of applied ones.

    Django's own plan imports and orders every migration, which takes longer than the rest of
    a start; a name that is missing from the table is all we need to know.
    """
    applied = {(row.app, row.name) for row in _applied_migrations()}
    return all(
        (config.label, file.stem) in applied
        for config in apps.get_app_configs()
        for file in (Path(config.path) / "migrations").glob("[!_]*.py")
    )


def _applied_migrations() -> list[MigrationRecorder.Migration]:
    recorder = MigrationRecorder(connection)
    return list(recorder.migration_qs) if recorder.has_table() else []


def _database_setting() -> str:
    return "OPENJARVIS_DATA_DIR" if connection.vendor == "sqlite" else "DATABASE_URL"


def base_url() -> str:
    """Return where a browser on this machine finds us."""
    host = settings.OPENJARVIS_HOST
    if host in ("0.0.0.0", "::", ""):  # noqa: S104  (compared, not bound)
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.OPENJARVIS_PORT}"


def greeting(first: FirstRun) -> str:
    """Return what the terminal shows when the product is up."""
    lines = ["", f"OpenJarvis Web is on {base_url()}/  (Ctrl-C stops it)"]
    if first.created:
        lines += ["", f"  First admin:   {first.admin_username}"]
        if first.password:
            lines.append(f"  Password:      {first.password}   (shown only now)")
        if first.sign_in_path:
            minutes = settings.PASSWORD_RESET_TIMEOUT // 60
            lines.append(f"  Sign in once:  {base_url()}{first.sign_in_path}")
            lines.append(f"                 (works once, for {minutes} minutes)")
    return "\n".join([*lines, ""])
