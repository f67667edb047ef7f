"""The product as its users run it: a subprocess with a data folder and a port of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import Any

import psutil

from tests.servers import accepts, free_port, wait_until

ROOT = Path(__file__).resolve().parents[1]
ADMIN, PASSWORD = "admin", "correct horse battery staple"
START_SECONDS = 60.0
STOP_SECONDS = 10.0
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "PYTHONDONTWRITEBYTECODE")


def with_us() -> tuple[str, ...]:
    """Return the start of a command that ends with this process, even when that is killed."""
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return (setpriv, "--pdeathsig", "KILL") if setpriv else ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back over HTTP."""

    status: int
    headers: Message  # looked up without regard to case
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(slots=True)
class Product:
    """``manage.py serve`` in a folder; start it, use it, stop or kill it."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    launcher: tuple[str, ...] = ()  # a program, with its options, that starts ours
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def admin(self) -> tuple[str, str]:
        """Name and password of the first admin."""
        return self.environment["OPENJARVIS_ADMIN_USERNAME"], PASSWORD

    @property
    def environment(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        return {
            **inherited,
            "OPENJARVIS_DATA_DIR": str(self.folder / "data"),
            "OPENJARVIS_PORT": str(self.port),
            "OPENJARVIS_ADMIN_USERNAME": ADMIN,
            "OPENJARVIS_ADMIN_PASSWORD": PASSWORD,
            **self.settings,
        }

    @property
    def log_file(self) -> Path:
        return self.folder / "serve.log"

    def log(self) -> str:
        """Return what the product printed so far."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def start(self, *arguments: str) -> Product:
        """Start and wait for the first answer; raises ``AssertionError`` with the log."""
        process = self.launch(*arguments)
        try:
            wait_until(
                lambda: process.poll() is not None or self.is_healthy(), "serve", START_SECONDS
            )
        except TimeoutError as error:
            self.kill()
            raise AssertionError(f"{error}\n{self.log()}") from None
        assert process.poll() is None, f"serve ended by itself:\n{self.log()}"
        return self

    def launch(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start without waiting."""
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *with_us(),
                    *self.launcher,
                    sys.executable,
                    str(ROOT / "manage.py"),
                    "serve",
                    *arguments,
                ],
                env=self.environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self.process

    def is_healthy(self) -> bool:
        try:
            return accepts(self.port) and self.get("/healthz").status == 200
        except OSError:
            return False

    def manage(self, *arguments: str) -> str:
        """Run a management command beside the running product; return what it printed."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def token(self, name: str = "test", *scopes: str, agent: str = "") -> str:
        """Return the text of a new API token; without scopes it may do everything."""
        options = [part for scope in scopes or ("admin",) for part in ("--scope", scope)]
        options += ["--agent", agent] if agent else []
        printed = self.manage("create_token", name, *options)
        return next(word for word in printed.split() if word.startswith("ojw_"))

    def get(self, path: str, *, token: str = "") -> Answer:
        return self.send("GET", path, token=token)

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str = "",
        headers: Mapping[str, str] | None = None,
        timeout: float = 60,
    ) -> Answer:
        """Send one request, with a JSON body when there is one."""
        sent = {**(headers or {})}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        data = None
        if body is not None:
            data, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(self.url + path, data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return Answer(answer.status, answer.headers, answer.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read().decode())

    def tree(self) -> list[psutil.Process]:
        """Return the supervisor and everything below it."""
        assert self.process is not None
        try:
            root = psutil.Process(self.process.pid)
            return [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def stop(self, number: int = signal.SIGINT) -> int:
        """Stop as Ctrl-C does and return the exit code; kill what does not obey."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"serve does not stop:\n{self.log()}") from None
        return self.process.returncode

    def kill(self) -> None:
        """End everything at once, without asking."""
        assert self.process is not None
        for process in self.tree():
            process.kill()
        self.process.wait()
