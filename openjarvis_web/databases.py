"""From ``DATABASE_URL`` to Django's settings, with what each database needs to be safe here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import environ

from openjarvis_web.environment import BadSetting

SCHEMES = ("sqlite", "postgres", "postgresql")
FORM = "must look like postgres://user:password@host:5432/name or sqlite:////path/to/file"

# All three together, or parallel writers fail with "database is locked": the write-ahead log
# lets readers pass a writer, IMMEDIATE takes the write lock before reading, and the time-out
# makes a second writer wait its turn. No mmap_size: in WAL mode the growing file is mapped and
# unmapped again for every single reader, which costs a tenth of a whole request.
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
        "PRAGMA cache_size=-16000; PRAGMA journal_size_limit=67108864"
    ),
}


def database_settings(url: str, default_file: Path) -> dict[str, Any]:
    """Return one entry of ``DATABASES``; raises ``BadSetting`` for a URL we cannot serve."""
    if not url:
        url = f"sqlite:///{default_file}"
    scheme, separator, _ = url.partition("://")
    if not separator or scheme not in SCHEMES:
        raise BadSetting("DATABASE_URL", FORM)
    try:
        config: dict[str, Any] = environ.Env.db_url_config(url)
    except Exception:  # the parser raises many kinds; none may print the password in the URL
        raise BadSetting("DATABASE_URL", FORM) from None
    if not config.get("NAME"):
        raise BadSetting("DATABASE_URL", FORM)
    config["CONN_MAX_AGE"] = None
    if "sqlite" in config["ENGINE"]:
        config["OPTIONS"] = {**config.get("OPTIONS", {}), **SQLITE_OPTIONS}
    else:
        config["CONN_HEALTH_CHECKS"] = True
    return config
