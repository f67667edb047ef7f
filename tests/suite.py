"""The whole suite, as ``make test`` runs it: lint, then every kind of test where it belongs.

The services, api and ws tests run twice, on SQLite and beside real PostgreSQL and Redis servers;
the quick ones also on Python 3.13 with Django 6.0 where that interpreter is found.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.servers import postgres_programs

ROOT = Path(__file__).resolve().parents[1]
NEWER = "3.13"
PARALLEL = ("-n", "2", "--dist", "loadfile")
DEPLOYED = {  # the settings under which `check --deploy` has nothing to say
    "OPENJARVIS_BEHIND_TLS": "true",
    "OPENJARVIS_ALLOWED_HOSTS": "tools.example.org",
    "OPENJARVIS_SECRET_KEY": "only-for-the-check-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEF",
}
THAI_FONTS = Path("/usr/share/fonts/truetype/tlwg")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the suite."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    failed_alone: bool = False  # what failed beside other tests is judged by itself


@dataclass(frozen=True, slots=True)
class Need:
    """Something of the system that tests use."""

    package: str
    is_there: bool
    without_it: str


def needs() -> list[Need]:
    """Return what the tests want from the system."""
    browser = os.environ.get("OPENJARVIS_CHROMIUM_PATH", "/usr/bin/chromium")
    return [
        Need("chromium", bool(shutil.which(browser)), "tests/e2e"),
        Need("redis-server", bool(shutil.which("redis-server")), "the tests on PostgreSQL"),
        Need("postgresql", postgres_programs() is not None, "the tests on PostgreSQL"),
        Need("gettext", bool(shutil.which("xgettext")), "the check for untranslated sentences"),
        Need("fonts-thai-tlwg", THAI_FONTS.is_dir(), "Thai letters in screenshots"),
    ]


def install_missing() -> None:
    """Install what is missing, where we may: as root on Debian."""
    missing = [need.package for need in needs() if not need.is_there]
    if not missing or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    # Run level 1 keeps the packages' servers from starting: the tests start their own.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing]
    for command in (["apt-get", "update", "-q"], install):
        subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)


def pytest(name: str, *arguments: str, python: str = sys.executable, servers: bool = False) -> Step:
    """Return a step that runs tests, beside servers of its own when asked."""
    beside = [python, "-m", "tests.servers"] if servers else []
    return Step(name, [*beside, python, "-m", "pytest", "-q", *arguments])


def newer_python() -> str | None:
    """Return Python 3.13 where it is found, unless this is it or newer."""
    if sys.version_info >= (3, 13):
        return None
    installed = sorted(Path.home().glob(f".pyenv/versions/{NEWER}.*/bin/python3"))
    return str(installed[-1]) if installed else shutil.which(f"python{NEWER}")


def newer_steps() -> list[Step]:
    """Return the steps on the newer Python, none when there is no such interpreter."""
    python = newer_python()
    if python is None:
        return []
    folder = ROOT / f".venv-{NEWER}"
    own = str(folder / "bin" / "python")
    install = [own, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    return [
        Step(f"make {folder.name}", [python, "-m", "venv", str(folder)]),
        Step(f"install into {folder.name}", [*install, "-c", "constraints.txt", "-e", ".[dev]"]),
        pytest(f"Python {NEWER}", *PARALLEL, *paths("unit", "services", "api"), python=own),
    ]


def paths(*kinds: str) -> list[str]:
    """Return the folders of these kinds of tests that there are."""
    return [f"tests/{kind}" for kind in kinds if (ROOT / "tests" / kind).is_dir()]


def project_steps() -> list[Step]:
    """Return the checks that ask the project itself."""
    manage = [sys.executable, "manage.py"]
    return [
        Step("migrations", [*manage, "makemigrations", "--check", "--dry-run"]),
        Step("deployment", [*manage, "check", "--deploy", "--fail-level", "WARNING"], DEPLOYED),
        Step(
            "schema",
            [*manage, "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull],
        ),
    ]


def steps() -> list[Step]:
    """Return the whole suite in order; the largest part is last, its summary ends the output."""
    present = {need.package: need.is_there for need in needs()}
    found = [Step("lint", ["make", "--no-print-directory", "lint"]), *newer_steps()]
    if present["redis-server"] and present["postgresql"]:
        kinds = paths("services", "api", "ws")
        found.append(pytest("PostgreSQL and Redis", *PARALLEL, *kinds, servers=True))
    slow = paths(*(["e2e"] if present["chromium"] else []), "interop", "faults")
    if slow:
        beside = pytest("the running product", *PARALLEL, *slow)
        found.append(replace(beside, failed_alone=True))
    quick = paths("unit", "services", "api", "ws", "contract")
    return [*found, pytest("everything else", *PARALLEL, *quick)]


def run(chosen: Sequence[Step]) -> int:
    """Run every step, also after a failure; return 1 when any failed."""
    results = []
    with tempfile.TemporaryDirectory(prefix="openjarvis-checks-") as data:
        for step in chosen:
            print(f"\n=== {step.name}: {' '.join(step.command)}", flush=True)
            environment = {**os.environ, "OPENJARVIS_DATA_DIR": data, **step.environment}
            started = time.monotonic()
            code = subprocess.run(step.command, cwd=ROOT, env=environment, check=False).returncode
            if code and step.failed_alone:
                print(f"\n=== {step.name}: what failed, one test at a time", flush=True)
                alone = [*step.command, "--last-failed", "-n", "0"]
                code = subprocess.run(alone, cwd=ROOT, env=environment, check=False).returncode
            results.append((step.name, code, time.monotonic() - started))
    print()
    for name, code, seconds in results:
        print(f"{'FAILED' if code else 'ok':8}{seconds:6.0f} s  {name}")
    return int(any(code for _, code, _ in results))


def main() -> int:
    """Run everything, or with ``--project`` only what asks the project itself."""
    if sys.argv[1:] == ["--project"]:
        return run(project_steps())
    install_missing()
    for need in needs():
        if not need.is_there:
            print(f"{need.package} is not installed, so this is left out: {need.without_it}")
    if newer_python() is None:
        print(f"Python {NEWER} was not found, so the tests run on {sys.version.split()[0]} alone")
    return run(steps())


if __name__ == "__main__":
    sys.exit(main())
