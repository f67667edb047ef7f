"""Descriptions an operator wrote instead of a tool's own, from one TOML file.

The file has one table per tool name with a text ``description``::

    [calculator]
    description = "Use this for all arithmetic."
"""

from __future__ import annotations

import logging
import threading
import tomllib
from pathlib import Path

from tools_app.core.types import ToolSpec

logger = logging.getLogger(__name__)


class DescriptionOverrides:
    """The texts of one file, read again whenever the file changes.

    A file that cannot be read or parsed is logged and the last good texts stay.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._texts: dict[str, str] = {}

    def get(self, tool_name: str) -> str | None:
        """Return the text for a tool, ``None`` when the file has none."""
        with self._lock:
            self._refresh()
            return self._texts.get(tool_name)

    def _refresh(self) -> None:
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            self._stamp, self._texts = None, {}
            return
        except OSError:
            logger.exception("cannot read tool descriptions from %s", self._path)
            return
        stamp = (stat.st_mtime_ns, stat.st_size)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._texts = _parse(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            logger.exception("cannot read tool descriptions from %s", self._path)


def _parse(text: str) -> dict[str, str]:
    """Return name → description; raises ValueError for what is no TOML or has another shape."""
    texts = {}
    for name, table in tomllib.loads(text).items():
        description = table.get("description") if isinstance(table, dict) else None
        if not isinstance(description, str):
            raise ValueError(f"[{name}] needs a text 'description'")
        texts[name] = description
    return texts


_active: DescriptionOverrides | None = None


def use_description_overrides(path: Path | None) -> None:
    """Take descriptions from ``path`` in this process from now on; ``None`` switches it off."""
    global _active
    _active = DescriptionOverrides(path) if path is not None else None


def description_of(spec: ToolSpec) -> str:
    """Return the operator's description of a tool, else its own."""
    override = _active.get(spec.name) if _active is not None else None
    return spec.description if override is None else override
