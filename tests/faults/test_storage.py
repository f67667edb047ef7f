"""What the product does when its storage lets it down: lost messages, a lock, a full disk."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.faults.conftest import Workshop
from tests.servers import wait_until

pytestmark = pytest.mark.slow

SMALL_DISK = "24m"
CALCULATION = {"expression": "6 * 7"}


def test_a_queue_that_loses_its_messages_delays_runs_but_loses_none(workshop: Workshop):
    workshop.start("--only", "web")
    runs = [workshop.queue_note(f"note-{n}") for n in range(5)]
    messages = list((workshop.product.folder / "data" / "queue").glob("*.msg"))
    assert len(messages) >= len(runs)
    for message in messages:
        message.unlink()
    workshop.product.stop()

    workshop.start()

    assert set(workshop.settle(runs).values()) == {"succeeded"}
    assert workshop.notes() == {f"note-{n}": 1 for n in range(5)}


def test_a_message_delivered_twice_runs_once(workshop: Workshop):
    workshop.start("--only", "web")
    run_id = workshop.queue_note("once", seconds=0.5)
    queue = workshop.product.folder / "data" / "queue"
    for number, message in enumerate(list(queue.glob("*.celery.msg"))):
        shutil.copy(message, queue / f"{number}_again.celery.msg")
    workshop.product.stop()

    workshop.start()

    assert workshop.settle([run_id]) == {run_id: "succeeded"}
    wait_until(lambda: not list(queue.glob("*.celery.msg")), "both messages to be taken")
    assert workshop.notes() == {"once": 1}


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Hold SQLite's write lock, as a backup or a stuck writer would."""
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        yield
        writer.execute("ROLLBACK")


def test_a_locked_database_is_a_clear_answer_and_not_the_end(workshop: Workshop):
    workshop.start()
    with locked(workshop.product.folder / "data" / "openjarvis.sqlite3"):
        refused = workshop.execute("calculator", CALCULATION)

    assert (refused.status, refused.json["code"]) == (503, "database_unavailable")
    assert int(refused.headers["Retry-After"]) >= 1
    assert workshop.execute("calculator", CALCULATION).json["result"]["content"] == "42"


@pytest.fixture
def on_a_small_disk(workshop: Workshop) -> Workshop:
    """A product whose data folder is a small file system of its own, which ends with it."""
    if not (sys.platform == "linux" and shutil.which("unshare")):
        pytest.skip("needs Linux with unshare(1) to make a small disk")
    data = workshop.product.folder / "data"
    data.mkdir()
    mount = f'mount -t tmpfs -o size={SMALL_DISK} tmpfs "{data}" && exec "$@"'
    workshop.product.launcher = ("unshare", "--user", "--map-root-user", "--mount")
    workshop.product.launcher += ("sh", "-c", mount, "sh")
    return workshop


def fill(workshop: Workshop) -> Path:
    """Fill the product's disk to the last byte; return the file that takes the room."""
    assert workshop.product.process is not None
    inside = Path(f"/proc/{workshop.product.process.pid}/root")
    filler = inside / str(workshop.product.folder / "data" / "filler").lstrip("/")
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                continue
    return filler


def test_a_full_disk_is_a_clear_answer_and_work_goes_on_when_there_is_room(
    on_a_small_disk: Workshop,
):
    workshop = on_a_small_disk
    workshop.product.start()
    workshop.token = inside_token(workshop)
    assert workshop.execute("calculator", CALCULATION).status == 200
    filler = fill(workshop)

    answers = [workshop.execute("calculator", CALCULATION) for _ in range(40)]
    refused = [answer for answer in answers if answer.status != 200]

    assert refused, "a full disk must be noticed"
    assert {(a.status, a.json["code"]) for a in refused} == {(507, "storage_full")}
    filler.unlink()
    assert workshop.execute("calculator", CALCULATION).status == 200


def inside_token(workshop: Workshop) -> str:
    """Make a token where the product's disk can be seen: inside its own mounts."""
    product = workshop.product
    assert product.process is not None
    target = [
        "nsenter",
        f"--target={product.process.pid}",
        "--user",
        "--mount",
        "--preserve-credentials",
    ]
    manage = [sys.executable, str(Path(__file__).parents[2] / "manage.py")]
    done = subprocess.run(
        [*target, *manage, "create_token", "test", "--scope", "admin"],
        env=product.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


def test_a_start_on_a_full_disk_says_so(workshop: Workshop):
    if not shutil.which("unshare"):
        pytest.skip("needs unshare(1) to make a small disk")
    data = workshop.product.folder / "data"
    data.mkdir()
    full = f'mount -t tmpfs -o size=64k tmpfs "{data}"; cat /dev/zero > "{data}/filler" 2>/dev/null'
    workshop.product.launcher = ("unshare", "--user", "--map-root-user", "--mount")
    workshop.product.launcher += ("sh", "-c", f'{full}; exec "$@"', "sh")

    code = workshop.product.launch().wait(60)

    assert code == 1
    assert "Setting OPENJARVIS_DATA_DIR: cannot write to" in workshop.product.log()
    assert "No space left on device" in workshop.product.log()
    assert "Traceback" not in workshop.product.log()
