"""A product with the note tool, and a client that goes on while the product is being broken."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psutil
import pytest

from tests.product import Answer, Product
from tests.servers import wait_until

CLIENTS = 4
FINAL = {"succeeded", "failed", "timed_out", "cancelled", "interrupted"}
SETTLE_SECONDS = 90.0  # a lease of 30 s, a resend after 10 s, and a busy machine


@dataclass(slots=True)
class Workshop:
    """The product, a token that may do everything, and the notebook its tool writes to."""

    product: Product
    notebook: Path
    token: str = ""

    def start(self, *arguments: str) -> Workshop:
        self.product.start(*arguments)
        self.token = self.token or self.product.token()
        return self

    def execute(self, tool: str, arguments: dict[str, object], **headers: str) -> Answer:
        return self.product.send(
            "POST",
            f"/api/v1/tools/{tool}/execute",
            {"arguments": arguments, "agent": "main"},
            token=self.token,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    def queue_note(self, text: str, seconds: float = 0) -> str:
        """Hand a note to a worker and return the id of its run."""
        answer = self.execute("note", {"text": text, "seconds": seconds}, Prefer="respond-async")
        assert answer.status == 202, answer.text
        return str(answer.json["run"]["id"])

    def run(self, run_id: str) -> dict[str, object]:
        answer = self.product.get(f"/api/v1/runs/{run_id}", token=self.token)
        assert answer.status == 200, answer.text
        return dict(answer.json)

    def settle(self, runs: list[str]) -> dict[str, str]:
        """Wait until every run ended; return its status by id."""
        statuses: dict[str, str] = {}

        def all_ended() -> bool:
            for run_id in runs:
                if run_id not in statuses:
                    status = str(self.run(run_id)["status"])
                    if status in FINAL:
                        statuses[run_id] = status
            return len(statuses) == len(runs)

        wait_until(all_ended, "the end of every run", SETTLE_SECONDS)
        return statuses

    def notes(self) -> Counter[str]:
        """Return how often each text was noted."""
        return Counter(self.notebook.read_text().split()) if self.notebook.exists() else Counter()

    def process(self, role: str) -> psutil.Process:
        """Return the process that has a role: web, worker or ticker."""
        assert self.product.process is not None
        children = psutil.Process(self.product.process.pid).children()
        return next(process for process in children if process.name() == f"ojw-{role}")

    @contextmanager
    def under_load(self) -> Iterator[Load]:
        """Calculate from several clients while the block runs."""
        load = Load(self)
        with ThreadPoolExecutor(CLIENTS) as pool:
            working = [pool.submit(load.work) for _ in range(CLIENTS)]
            try:
                yield load
            finally:
                load.is_over.set()
        for work in working:
            work.result()


@dataclass(slots=True)
class Load:
    """Calls with one idempotency key each, and what came of them."""

    workshop: Workshop
    numbers: Iterator[int] = field(default_factory=count)
    answered: dict[str, str] = field(default_factory=dict)  # key → id of the run
    unanswered: list[str] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def work(self) -> None:
        while not self.is_over.is_set():
            self.call(f"call-{next(self.numbers)}")

    def call(self, key: str) -> None:
        """Make one call; a connection that breaks leaves its key unanswered."""
        try:
            answer = self.workshop.execute(
                "calculator", {"expression": "6 * 7"}, Idempotency_Key=key
            )
        except OSError:
            self.unanswered.append(key)
            self.is_over.wait(0.05)
            return
        assert answer.status == 200, answer.text
        self.answered[key] = str(answer.json["run"]["id"])

    def has_answered(self, more_than: int) -> Callable[[], bool]:
        return lambda: len(self.answered) > more_than


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    """A workshop that is not started yet."""
    notebook = tmp_path / "notebook"
    settings = {"OPENJARVIS_TOOL_MODULES": "tests.faults.notebook", "NOTEBOOK": str(notebook)}
    shop = Workshop(Product(tmp_path, settings), notebook)
    yield shop
    if shop.product.process is not None:
        shop.product.kill()
    assert not os.path.ismount(tmp_path / "data")
