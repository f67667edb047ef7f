"""Reading settings from the environment: typed, named in every complaint, and listed.

Every value the product takes from outside comes through one :class:`Environment`, so that
a bad one can be reported by name with the form it must have, and so that a test can compare
the names that are read with the ones that ``docs/settings.md`` explains.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


class BadSetting(SystemExit):
    """A setting has a value that cannot be used; the message names it and the allowed form.

    A ``SystemExit``, because a process without settings has nothing else to do: whichever
    program reads them (``manage.py``, celery, uvicorn) stops with this line and no traceback.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"Setting {name}: {problem}")
        self.name, self.problem = name, problem


class Environment:
    """A view of environment variables that remembers which names were asked for."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        self._variables = os.environ if variables is None else variables
        self.declared: set[str] = set()

    def text(self, name: str, default: str = "") -> str:
        """Return the value as it is; an empty variable counts as not set."""
        self.declared.add(name)
        return self._variables.get(name, "").strip() or default

    def secret(self, name: str, default: str = "") -> str:
        """Return a secret from ``NAME`` or from the file that ``NAME_FILE`` names."""
        file_name = self.text(f"{name}_FILE")
        value = self.text(name)
        if file_name and value:
            raise BadSetting(name, f"give {name} or {name}_FILE, not both")
        if not file_name:
            return value or default
        try:
            content = Path(file_name).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadSetting(f"{name}_FILE", f"cannot read the file: {error}") from None
        if not content:
            raise BadSetting(f"{name}_FILE", "the file is empty")
        return content

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a yes or no."""

        def parse(value: str) -> bool:
            if value.lower() in TRUE_WORDS | FALSE_WORDS:
                return value.lower() in TRUE_WORDS
            raise ValueError

        return self._parsed(name, default, parse, "must be true or false")

    def whole(self, name: str, default: int, *, at_least: int, at_most: int) -> int:
        """Return a whole number within its limits."""

        def parse(value: str) -> int:
            number = int(value)
            if not at_least <= number <= at_most:
                raise ValueError
            return number

        form = f"must be a whole number from {at_least} to {at_most}"
        return self._parsed(name, default, parse, form)

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed words."""

        def parse(value: str) -> str:
            if value not in allowed:
                raise ValueError
            return value

        return self._parsed(name, default, parse, f"must be one of {', '.join(allowed)}")

    def names(self, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return a comma-separated list without its empty places."""
        value = self.text(name)
        return tuple(part.strip() for part in value.split(",") if part.strip()) or default

    def folder(self, name: str, default: Path) -> Path:
        """Return an absolute folder path; ``~`` is the home of the user who runs us."""
        value = self.text(name)
        return Path(value).expanduser().absolute() if value else default.absolute()

    def folders(self, name: str, default: tuple[Path, ...]) -> tuple[Path, ...]:
        """Return existing folders from a list separated like ``PATH``."""
        value = self.text(name)
        if not value:
            return default
        paths = tuple(Path(p).expanduser().absolute() for p in value.split(os.pathsep) if p)
        for path in paths:
            if not path.is_dir():
                raise BadSetting(name, f"{path} is not a folder; list folders with {os.pathsep!r}")
        return paths

    def url(self, name: str, default: str, schemes: tuple[str, ...]) -> str:
        """Return a URL whose scheme is one of ``schemes``; it may hold a password."""
        value = self.secret(name, default)
        if value and value.partition("://")[0] not in schemes:
            allowed = ", ".join(f"{scheme}://" for scheme in schemes)
            raise BadSetting(name, f"must be a URL that starts with {allowed}")
        return value

    def _parsed(self, name: str, default: T, parse: Callable[[str], T], form: str) -> T:
        value = self.text(name)
        if not value:
            return default
        try:
            return parse(value)
        except ValueError:
            raise BadSetting(name, f"{form}, not {value[:80]!r}") from None


def prepare_data_folder(path: Path) -> Path:
    """Create the data folder, readable by its owner alone, and check that it can be written.

    Raises :class:`BadSetting` when it cannot, which includes a full disk.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("workspace", "queue", "queue/control", "static", "temporary"):
            (path / name).mkdir(mode=0o700, exist_ok=True)
        probe = path / f".writable-{os.getpid()}"
        probe.write_bytes(b"x" * 4096)
        probe.unlink()
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadSetting("OPENJARVIS_DATA_DIR", f"cannot write to {path}: {reason}") from None
    return path


def kept_secret_key(path: Path) -> str:
    """Return the key kept in ``path``; the first process to ask makes it (mode 600)."""
    try:
        if not path.exists():
            draft = path.with_name(f".{path.name}-{os.getpid()}")
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(48))
            try:
                os.link(draft, path)  # fails when another process was first: then its key counts
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting("OPENJARVIS_SECRET_KEY", f"cannot keep a key in {path}: {error}") from None
    if len(key) < 32:
        raise BadSetting("OPENJARVIS_SECRET_KEY", f"the key in {path} is too short; remove it")
    return key
