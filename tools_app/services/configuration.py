"""Configuration kept in memory, never older than the last committed change.

Every change renews a stamp in the transaction that makes it (:func:`bump`). Before a process
answers from memory it compares the stamps, all read by one query: once per HTTP request, and
each time outside of one. Nothing is pushed, so no process can miss a message.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core.signals import request_finished, request_started
from django.db import connection, transaction

from tools_app.models import ConfigurationRevision

REVISIONS = (
    "policy", "tools", "agents", "tokens", "access", "freezes", "limits", "grants",
)  # fmt: skip
READING_MAX_AGE_S = 1.0  # within one request; a long poll must notice what changes meanwhile

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)
Stamps = tuple[int, ...]

# One row with a column per name: fetching each row gives the interpreter lock to another thread,
# and with many callers every one of those costs a wait for it.
_SELECT = "SELECT {columns} FROM tools_app_configurationrevision".format(  # noqa: S608  (our names)
    columns=", ".join(f"MAX(CASE name WHEN '{name}' THEN value END)" for name in REVISIONS)
)


@dataclass(slots=True)
class _Reading:
    """The stamps as one request saw them."""

    values: Mapping[str, int] | None = None
    read_at: float = 0.0


class _Requests(threading.local):
    """The reading of the HTTP request that this thread serves, ``None`` outside of one."""

    reading: _Reading | None = None


_requests = _Requests()


def revision_values() -> Mapping[str, int]:
    """Return the stamp of each kind of configuration; 0 where nothing was ever changed."""
    reading = _requests.reading
    if reading is None:
        return _read()
    now = time.monotonic()
    if reading.values is None or now - reading.read_at > READING_MAX_AGE_S:
        reading.values, reading.read_at = _read(), now
    return reading.values


def bump(*names: str) -> None:
    """Renew stamps; call it in the transaction that makes the change."""
    unknown = set(names) - set(REVISIONS)
    if unknown:
        raise ValueError(f"unknown revision names: {sorted(unknown)}")
    # Sorted, so that two transactions never take the same rows in opposite order.
    rows = [ConfigurationRevision(name=name, value=_new_stamp()) for name in sorted(set(names))]
    with transaction.atomic():
        ConfigurationRevision.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["name"], update_fields=["value"]
        )
    forget_reading()


def forget_reading() -> None:
    """Look at the stamps again; call it after a transaction that renewed some was given up."""
    if _requests.reading is not None:
        _requests.reading.values = None


class Cached(Generic[Value]):
    """One value built from configuration; built again when one of its stamps moved."""

    def __init__(self, *names: str, load: Callable[[], Value]) -> None:
        self._names = names
        self._load = load
        self._held: tuple[Stamps, Value] | None = None

    def get(self) -> Value:
        """Return the value; raises what building it raises, and then keeps nothing."""
        # Stamps first, content second: content may be newer than its stamps and is then
        # built once more than needed, but it is never older.
        stamps = current_stamps(self._names)
        held = self._held
        if held is not None and held[0] == stamps:
            return held[1]
        value = self._load()
        self._held = stamps, value
        return value


class CachedByKey(Generic[Key, Value]):
    """Values built from configuration by key, never ``None``; all go when a stamp moved.

    At most ``limit`` are kept, the least recently used go first.
    """

    def __init__(self, *names: str, load: Callable[[Key], Value], limit: int = 4096) -> None:
        self._names = names
        self._load = load
        self._limit = limit
        self._lock = threading.Lock()
        self._stamps: Stamps = ()
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value:
        """Return the value for ``key``; raises what building it raises, and then keeps nothing."""
        stamps = self.stamps()
        value = self.find(key, stamps)
        if value is None:
            value = self._load(key)
            self.keep(key, value, stamps)
        return value

    def stamps(self) -> Stamps:
        """Return the stamps a value that is built from now on belongs to."""
        return current_stamps(self._names)

    def find(self, key: Key, stamps: Stamps) -> Value | None:
        """Return the value kept under these stamps, if there is one."""
        with self._lock:
            if self._stamps != stamps or key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def keep(self, key: Key, value: Value, stamps: Stamps) -> None:
        """Keep a value that was built after reading ``stamps``."""
        with self._lock:
            if self._stamps != stamps:
                self._stamps, self._values = stamps, OrderedDict()
            self._values[key] = value
            while len(self._values) > self._limit:
                self._values.popitem(last=False)


def current_stamps(names: tuple[str, ...]) -> Stamps:
    """Return the stamps of ``names`` in their order, to compare with earlier ones."""
    return tuple(map(revision_values().__getitem__, names))


def _read() -> Mapping[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(_SELECT)
        row = cursor.fetchone()
    return {name: value or 0 for name, value in zip(REVISIONS, row, strict=True)}


def _new_stamp() -> int:
    return secrets.randbits(62) + 1


def _request_began(**_: Any) -> None:
    _requests.reading = _Reading()


def _request_ended(**_: Any) -> None:
    _requests.reading = None


request_started.connect(_request_began, dispatch_uid="configuration-reading-begins")
request_finished.connect(_request_ended, dispatch_uid="configuration-reading-ends")
