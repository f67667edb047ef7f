"""The two shapes of the product that are measured: embedded, and beside PostgreSQL and Redis."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
START_S = 60.0
STOP_S = 10.0
QUIET_S, QUIET_SHARE = 1.0, 0.1  # a product at rest uses less than this share of a core
CPU_COUNT = 2  # web processes of the production shape: one per core of the reference machine


class NotStarted(Exception):
    """A server did not come up; the message has the end of its log."""


@dataclass(slots=True)
class Shape:
    """A running product. ``processes`` are its own trees, ``servers`` those of its databases."""

    name: str
    folder: Path
    port: int
    environment: Mapping[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    servers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def host(self) -> str:
        """The address it listens on."""
        return "127.0.0.1"

    def cpu_s(self) -> tuple[float, float]:
        """Return the CPU seconds used so far by the product and by its databases."""
        return _cpu_of_trees(self.processes), _cpu_of_trees(self.servers)

    def settle(self) -> None:
        """Wait until nothing of the start is left to do, or for at most ``START_S``."""
        deadline, before = time.monotonic() + START_S, sum(self.cpu_s())
        while time.monotonic() < deadline:
            time.sleep(QUIET_S)
            now = sum(self.cpu_s())
            if now - before < QUIET_SHARE * QUIET_S:
                return
            before = now

    def manage(self, *arguments: str) -> str:
        """Run a management command against this product and return what it printed.

        Raises ``NotStarted`` with what it wrote to stderr when it fails.
        """
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=dict(self.environment),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode:
            raise NotStarted(f"manage.py {arguments[0]}: {done.stderr[-2000:]}")
        return done.stdout

    def token(self, name: str, *scopes: str, agent: str = "") -> str:
        """Return the text of a new API token."""
        chosen = [part for scope in scopes for part in ("--scope", scope)]
        if agent:
            chosen += ["--agent", agent]
        printed = self.manage("create_token", name, *chosen)
        return next(word for word in printed.split() if word.startswith("ojw_"))

    def start(self, name: str, command: list[str], *, is_server: bool = False) -> None:
        """Start a process of this product, its output going to a log in the folder."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                env=dict(self.environment),
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        (self.servers if is_server else self.processes).append(process)

    def wait_until(self, name: str, is_ready: Callable[[], bool]) -> None:
        """Wait for a process to be ready; raises ``NotStarted``."""
        deadline = time.monotonic() + START_S
        while not is_ready():
            ended = [p for p in (*self.processes, *self.servers) if p.poll() is not None]
            if ended or time.monotonic() > deadline:
                log = (self.folder / f"{name}.log").read_text(errors="replace")
                raise NotStarted(f"{name} did not start:\n{log[-3000:]}")
            time.sleep(0.05)

    def close(self) -> None:
        """Stop everything, the product before its databases, and remove the folder."""
        for process in (*self.processes, *self.servers):
            _stop(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def is_answering(self) -> bool:
        """Whether the product answers its health check."""
        try:
            url = f"http://{self.host}:{self.port}/healthz"
            with urllib.request.urlopen(url, timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def embedded() -> Shape:
    """Start the product as ``make run`` does: one command, SQLite, no server beside it."""
    shape = _new_shape("embedded", {})
    try:
        shape.start("serve", [sys.executable, str(ROOT / "manage.py"), "serve"])
        shape.wait_until("serve", shape.is_answering)
    except BaseException:
        shape.close()
        raise
    return shape


def production() -> Shape:
    """Start PostgreSQL, Redis, web processes, a worker and the ticker as docs/running.md says."""
    postgres_port, redis_port = free_port(), free_port()
    shape = _new_shape(
        "production",
        {
            "DATABASE_URL": f"postgres://openjarvis@127.0.0.1:{postgres_port}/postgres",
            "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
        },
    )
    try:
        _start_postgres(shape, postgres_port)
        _start_redis(shape, redis_port)
        manage = [sys.executable, str(ROOT / "manage.py")]
        shape.manage("prepare")
        shape.start("background", [*manage, "serve", "--only", "worker", "--only", "ticker"])
        shape.start("web", _uvicorn(shape.port))
        shape.wait_until("web", shape.is_answering)
    except BaseException:
        shape.close()
        raise
    return shape


SHAPES: Mapping[str, Callable[[], Shape]] = {"embedded": embedded, "production": production}


def _new_shape(name: str, extra: Mapping[str, str]) -> Shape:
    folder = Path(tempfile.mkdtemp(prefix=f"openjarvis-bench-{name}-"))
    port = free_port()
    inherited = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "LC_ALL")}
    environment = {
        **inherited,
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "openjarvis_web.settings",
        "OPENJARVIS_DATA_DIR": str(folder / "data"),
        "OPENJARVIS_PORT": str(port),
        "OPENJARVIS_ADMIN_USERNAME": "bench",
        "OPENJARVIS_ADMIN_PASSWORD": secrets.token_urlsafe(16),
        **extra,
    }
    return Shape(name, folder, port, environment)


def _uvicorn(port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "uvicorn", "openjarvis_web.asgi:application"),
        *("--host", "127.0.0.1", "--port", str(port), "--workers", str(CPU_COUNT)),
        *("--no-access-log", "--no-server-header", "--ws-per-message-deflate", "false"),
    ]


def _start_postgres(shape: Shape, port: int) -> None:
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
    if programs is None:
        raise NotStarted("PostgreSQL is not installed; its package is named postgresql")
    data = shape.folder / "postgres"
    data.mkdir()
    as_user: list[str] = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shape.folder.chmod(0o711)
        shutil.chown(data, "postgres", "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    subprocess.run(
        [*as_user, str(programs / "initdb"), "-D", str(data), "-U", "openjarvis", "-A", "trust"],
        check=True,
        capture_output=True,
        cwd="/",
    )
    command = [*as_user, str(programs / "postgres"), "-D", str(data), "-p", str(port)]
    command += ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}"]
    shape.start("postgres", command, is_server=True)
    ready = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    shape.wait_until("postgres", lambda: subprocess.run(ready, check=False).returncode == 0)


def _start_redis(shape: Shape, port: int) -> None:
    program = shutil.which("redis-server")
    if program is None:
        raise NotStarted("Redis is not installed; its package is named redis-server")
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    shape.start("redis", command, is_server=True)
    shape.wait_until("redis", lambda: _accepts(port))


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _cpu_of_trees(roots: list[subprocess.Popen[bytes]]) -> float:
    total = 0.0
    for root in roots:
        tree = psutil.Process(root.pid)
        for process in (tree, *tree.children(recursive=True)):
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system
    return total


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
