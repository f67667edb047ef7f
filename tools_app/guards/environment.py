"""The environment of child processes: an allow-list, never a copy of the service's own.

The service's environment holds database addresses, keys and tokens. A child gets the few
variables that programs need to work, and what its tool was configured to add.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from tools_app.core.errors import ToolError

INHERITED = frozenset({"PATH", "LANG", "LANGUAGE", "TERM", "TZ", "COLUMNS", "LINES"})
_INHERITED_PREFIXES = ("LC_",)
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"

# Variables that change which code a program loads or how a shell reads its input.
REFUSED_NAMES = frozenset(
    {"BASH_ENV", "CDPATH", "ENV", "GCONV_PATH", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL"}
    | {"GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "IFS"}
    | {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "LUA_INIT", "NODE_OPTIONS"}
    | {"NODE_PATH", "PATH", "PERL5LIB", "PERL5OPT", "PROMPT_COMMAND", "PS4", "PYTHONHOME"}
    | {"PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "RUBYLIB", "RUBYOPT", "SHELL"}
    | {"SHELLOPTS", "BASHOPTS", "SSLKEYLOGFILE"}
)
_REFUSED_PREFIXES = ("DYLD_", "LD_", "BASH_FUNC_")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,255}\Z")


class EnvironmentRefused(ToolError):
    """A variable must not be set for a child process."""

    code = "environment_refused"


def is_refused_variable(name: str) -> bool:
    """Return whether a variable may change what a program loads; without regard to case."""
    upper = name.upper()
    return upper in REFUSED_NAMES or upper.startswith(_REFUSED_PREFIXES)


def child_environment(
    extra: Mapping[str, str] | None = None,
    *,
    home: str | None = None,
    path_prepend: Sequence[str] = (),
    inherited: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the whole environment of a child process.

    ``extra`` is what a call asks for, ``home`` a scratch folder for HOME and TMPDIR, ``inherited``
    where the allow-listed variables come from (the process's own environment). Raises
    EnvironmentRefused for a name in ``extra`` that is refused or malformed.
    """
    source = os.environ if inherited is None else inherited
    environment = {
        name: value
        for name, value in source.items()
        if name in INHERITED or name.startswith(_INHERITED_PREFIXES)
    }
    environment["PATH"] = os.pathsep.join([*path_prepend, environment.get("PATH") or _DEFAULT_PATH])
    if home is not None:
        environment["HOME"] = environment["TMPDIR"] = home
    for name, value in (extra or {}).items():
        _check_variable(name, value)
        environment[name] = value
    return environment


def _check_variable(name: object, value: object) -> None:
    if not isinstance(name, str) or not _NAME.match(name):
        raise EnvironmentRefused(f"{name!r:.80} is no name of an environment variable")
    if is_refused_variable(name):
        raise EnvironmentRefused(f"environment variable '{name}' must not be set")
    if not isinstance(value, str) or "\0" in value:
        raise EnvironmentRefused(f"environment variable '{name}' must be a text without NUL")
