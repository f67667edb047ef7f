"""Real PostgreSQL and Redis servers on free ports, each in a folder of its own.

As a program, ``python -m tests.servers COMMAND …`` runs a command whose environment makes the
tests use both, and stops them afterwards.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 30.0
POLL_SECONDS = 0.05


class NotAvailable(Exception):
    """A server cannot be started here; the message names what to install."""


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(is_true: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
    """Look again until it is so; raises ``TimeoutError`` naming what was waited for."""
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(POLL_SECONDS)


def accepts(port: int) -> bool:
    """Say whether somebody listens on a port of this machine."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def postgres_programs() -> Path | None:
    """Return the folder of the newest PostgreSQL installed, or ``None``."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    found = shutil.which("initdb")
    return folders[-1] if folders else Path(found).parent if found else None


@contextmanager
def postgres_server(*, fsync: bool = False) -> Iterator[str]:
    """Run a PostgreSQL server; give its ``DATABASE_URL``. Raises ``NotAvailable``.

    Without ``fsync`` it is quick, and loses what it holds when the machine stops.
    """
    programs = postgres_programs()
    if programs is None:
        raise NotAvailable("PostgreSQL is not installed; its package is named postgresql")
    as_user = []
    with tempfile.TemporaryDirectory(prefix="openjarvis-postgres-") as name:
        folder, port = Path(name), free_port()
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, "postgres", "postgres")
            as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        make = [*as_user, str(programs / "initdb"), "-D", str(folder / "data")]
        subprocess.run(
            [*make, "-U", "openjarvis", "-A", "trust", "--no-sync", "-E", "UTF8"],
            check=True,
            capture_output=True,
            cwd="/",
        )
        serve = [*as_user, str(programs / "postgres"), "-D", str(folder / "data")]
        serve += ["-p", str(port), "-c", f"unix_socket_directories={folder}"]
        serve += ["-c", "listen_addresses=127.0.0.1", "-c", f"fsync={'on' if fsync else 'off'}"]
        ready = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
        with _running(serve, lambda: subprocess.run(ready, check=False).returncode == 0):
            yield f"postgres://openjarvis@127.0.0.1:{port}/postgres"


@contextmanager
def redis_server() -> Iterator[str]:
    """Run a Redis server; give its ``REDIS_URL``. Raises ``NotAvailable``."""
    program = shutil.which("redis-server")
    if program is None:
        raise NotAvailable("Redis is not installed; its package is named redis-server")
    port = free_port()
    serve = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with _running(serve, lambda: accepts(port)):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def _running(command: list[str], is_ready: Callable[[], bool]) -> Iterator[None]:
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", start_new_session=True)
        try:
            wait_until(lambda: process.poll() is not None or is_ready(), command[0])
            if process.poll() is not None:
                log.seek(0)
                raise NotAvailable(f"{command} ended: {log.read().decode(errors='replace')}")
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def main() -> int:
    """Run the command of our arguments with both servers beside it; return its exit code."""
    try:
        with postgres_server() as database_url, redis_server() as redis_url:
            environment = {
                **os.environ,
                "OPENJARVIS_TEST_DATABASE_URL": database_url,
                "OPENJARVIS_TEST_REDIS_URL": redis_url,
            }
            return subprocess.run(sys.argv[1:], env=environment, check=False).returncode
    except NotAvailable as error:
        print(f"tests.servers: {error}", file=sys.stderr)
        return 69  # EX_UNAVAILABLE


if __name__ == "__main__":
    sys.exit(main())
