"""The embedded queue under writers and readers at once."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from queue import Empty

from kombu import Connection

from openjarvis_web import file_queue


def connection(folder):
    file_queue.use()
    for name in ("messages", "control"):
        (folder / name).mkdir(exist_ok=True)
    return Connection(
        "filesystem://",
        transport_options={
            "data_folder_in": str(folder / "messages"),
            "data_folder_out": str(folder / "messages"),
            "control_folder": str(folder / "control"),
        },
    )


SIZE, EACH, WRITERS = 50_000, 60, 2


def write(folder, writer):
    """What one other process of the product does: put messages."""
    with connection(folder) as link, link.SimpleQueue("work") as queue:
        for number in range(EACH):
            queue.put({"id": f"{writer}-{number}", "filler": "x" * SIZE})


def test_a_reader_that_polls_while_others_write_gets_every_message_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    received = []
    with ProcessPoolExecutor(WRITERS, get_context("spawn")) as pool, connection(tmp_path) as link:
        writing = [pool.submit(write, tmp_path, writer) for writer in range(WRITERS)]
        with link.SimpleQueue("work") as queue:
            while len(received) < EACH * WRITERS:
                try:
                    message = queue.get(timeout=30)
                except Empty:
                    break
                assert len(message.payload["filler"]) == SIZE
                received.append(message.payload["id"])
                message.ack()
        for future in writing:
            future.result()

    assert sorted(received) == sorted(f"{w}-{n}" for w in range(WRITERS) for n in range(EACH))


def test_bindings_made_at_once_are_all_kept(tmp_path):
    def bind(number):
        with connection(tmp_path) as link:
            link.channel()._queue_bind("shared", f"key-{number}", "", f"queue-{number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(bind, range(40)))

    with connection(tmp_path) as link:
        table = link.channel().get_table("shared")
    assert {row.queue for row in table} == {f"queue-{number}" for number in range(40)}
