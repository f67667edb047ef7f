"""The two shapes of the product that are measured: embedded, and beside PostgreSQL and Redis."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests import servers
from tests.product import ROOT, START_SECONDS, Product

WEB_PROCESSES = 2  # of the production shape: one per core of the reference machine
QUIET_S, QUIET_SHARE = 1.0, 0.1  # a product at rest uses less than this share of a core
SETTLE_S = 15.0
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Shape:
    """A running product, and the processes that make it up.

    ``own`` are the roots of the product's process trees, ``databases`` those of its servers.
    """

    name: str
    product: Product
    own: list[psutil.Process]
    databases: list[psutil.Process]

    def cpu_s(self) -> tuple[float, float]:
        """Return the CPU seconds used so far by the product and by its databases."""
        return _cpu_of_trees(self.own), _cpu_of_trees(self.databases)

    def settle(self) -> None:
        """Wait until nothing is left to do of what came before, or for at most ``SETTLE_S``."""
        deadline, before = time.monotonic() + SETTLE_S, sum(self.cpu_s())
        while time.monotonic() < deadline:
            time.sleep(QUIET_S)
            now = sum(self.cpu_s())
            if now - before < QUIET_SHARE * QUIET_S:
                return
            before = now


@contextmanager
def embedded() -> Iterator[Shape]:
    """Run the product as ``make run`` does: one command, SQLite, no server beside it."""
    with _folder() as folder:
        product = Product(folder).start()
        try:
            yield Shape("embedded", product, [_root_of(product)], [])
        finally:
            product.stop()


@contextmanager
def production() -> Iterator[Shape]:
    """Run PostgreSQL, Redis, web processes, a worker and the ticker as docs/running.md says."""
    us = psutil.Process()
    before = set(us.children())
    with (
        _folder() as folder,
        servers.postgres_server(fsync=True) as database_url,
        servers.redis_server() as redis_url,
    ):
        databases = [process for process in us.children() if process not in before]
        product = Product(folder, {"DATABASE_URL": database_url, "REDIS_URL": redis_url})
        product.manage("prepare")
        product.launch("--only", "worker", "--only", "ticker")
        web = _start_uvicorn(product)
        try:
            servers.wait_until(product.is_healthy, "uvicorn", START_SECONDS)
            yield Shape(
                "production", product, [_root_of(product), psutil.Process(web.pid)], databases
            )
        finally:
            web.terminate()
            web.wait()
            product.stop()


SHAPES: Mapping[str, Callable[[], AbstractContextManager[Shape]]] = {
    "embedded": embedded,
    "production": production,
}


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="openjarvis-bench-") as name:
        yield Path(name)


def _start_uvicorn(product: Product) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "uvicorn", "openjarvis_web.asgi:application"]
    command += ["--host", HOST, "--port", str(product.port), "--workers", str(WEB_PROCESSES)]
    command += ["--no-access-log", "--no-server-header", "--ws-per-message-deflate", "false"]
    with product.log_file.open("ab") as log:
        return subprocess.Popen(command, env=product.environment, cwd=ROOT, stdout=log, stderr=log)


def _root_of(product: Product) -> psutil.Process:
    assert product.process is not None
    return psutil.Process(product.process.pid)


def _cpu_of_trees(roots: list[psutil.Process]) -> float:
    total = 0.0
    for root in roots:
        for process in (root, *root.children(recursive=True)):
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system
    return total
