"""System checks for what can only be seen at start."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks


@checks.register("openjarvis")
def browser_is_there(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[checks.Warning]:
    """Browser tools need Chromium; everything else works without it."""
    if shutil.which(settings.OPENJARVIS_CHROMIUM_PATH):
        return []
    return [
        checks.Warning(
            f"No browser at {settings.OPENJARVIS_CHROMIUM_PATH}: browser tools cannot run.",
            hint="Install Chromium, or set OPENJARVIS_CHROMIUM_PATH.",
            id="openjarvis.W001",
        )
    ]


@checks.register("openjarvis")
def open_address_names_its_hosts(
    app_configs: Sequence[Any] | None, **kwargs: Any
) -> list[checks.Warning]:
    """A server that listens everywhere must be told the names it is reached by."""
    if settings.OPENJARVIS_HOST not in ("0.0.0.0", "::"):  # noqa: S104  (compared, not bound)
        return []
    if set(settings.ALLOWED_HOSTS) - {"127.0.0.1", "localhost", "[::1]", "0.0.0.0", "::"}:  # noqa: S104
        return []
    return [
        checks.Warning(
            "OPENJARVIS_HOST listens on every address, but OPENJARVIS_ALLOWED_HOSTS names none.",
            hint="Set OPENJARVIS_ALLOWED_HOSTS to the names this server is reached by.",
            id="openjarvis.W002",
        )
    ]


@checks.register("openjarvis")
def queue_folder_is_writable(
    app_configs: Sequence[Any] | None, **kwargs: Any
) -> list[checks.Error]:
    """The queue of the embedded mode is a folder that all processes write to."""
    options: dict[str, Any] = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    folder = options.get("data_folder_out")
    if not folder or os.access(folder, os.W_OK):
        return []
    return [
        checks.Error(
            f"The queue folder {folder} cannot be written.",
            hint="Fix its permissions, or set OPENJARVIS_DATA_DIR or CELERY_BROKER_URL.",
            id="openjarvis.E001",
        )
    ]
