"""The embedded queue: kombu's folder of messages, written so that no reader sees half of one.

kombu 5.6's filesystem transport opens a message under its final name and then writes it, and
treats its exchange tables alike. A worker that polls in between reads an empty file, fails to
decode it and stops. Here every file appears complete, by renaming it into place.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads


def _write_whole(path: Path, value: object) -> None:
    """Put ``value`` as JSON at ``path`` in one step."""
    unfinished = path.with_name(f".{uuid.uuid4()}.part")
    try:
        unfinished.write_text(dumps(value), encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise ChannelError(f"Cannot write {path}") from error


class Channel(filesystem.Channel):
    """A channel whose messages and exchange tables are never half-written."""

    def _put(  # type: ignore[override]  # the stubs contradict each other
        self, queue: str, message: Any, **kwargs: Any
    ) -> None:
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        _write_whole(Path(self.data_folder_out) / name, message)

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str | None, queue: str) -> None:
        bound = [routing_key or "", pattern or "", queue or ""]
        self.control_folder.mkdir(exist_ok=True)
        path: Path = self._exchange_file(exchange)  # type: ignore[attr-defined]  # not in the stubs
        with self._table_lock():
            table = loads(path.read_text(encoding="utf-8")) if path.exists() else []
            if bound not in [list(row) for row in table]:
                _write_whole(path, [bound, *table])

    @contextmanager
    def _table_lock(self) -> Iterator[None]:
        with (self.control_folder / "tables.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Transport(filesystem.Transport):
    """kombu's filesystem transport with :class:`Channel`."""

    Channel = Channel

    longest_drain_s: float | None = None  # a worker looks in between whether it is to stop

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> None:
        """Deliver one message; raises ``socket.timeout`` when none comes in time."""
        limits = [s for s in (timeout, self.longest_drain_s) if s is not None]
        super().drain_events(connection, timeout=min(limits, default=None))


def use() -> None:
    """Make ``filesystem://`` mean this transport in the present process."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"
