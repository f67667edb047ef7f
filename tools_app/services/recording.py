"""Step 7 of a run: its row and its event are committed before the answer leaves.

Many threads of a web process finish runs at once, and SQLite has one writer. So one thread of
the process writes for all of them (group commit): it takes what has gathered, stores it in one
transaction, and lets the callers go. Where that thread was not started (commands, workers,
tests) the caller writes itself, in the transaction it is in.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import F

from tools_app.models import Event, Freeze, SealedPayload, ToolRun
from tools_app.services import events
from tools_app.services.row_writer import RowWriter
from tools_app.services.run_facts import run_data

log = structlog.get_logger(__name__)

MAX_BATCH = 200  # records in one transaction; 32 callers rarely gather more than 16


@dataclass(slots=True)
class Record:
    """A finished or refused run that is to be stored, and the event that tells of it."""

    run: ToolRun
    kind: str
    sealed: SealedPayload | None = None
    freeze_id: int | None = None  # the freeze that refused the run; it counts its refusals


@dataclass(slots=True)
class _Waiting:
    """A record whose caller waits; ``stored`` is held until the record is committed."""

    record: Record
    stored: threading.Lock = field(default_factory=threading.Lock)
    error: BaseException | None = None


class Recorder:
    """Stores the records of all threads of this process in shared transactions."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        """Whether somebody would take a record from the queue."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the writing thread; starting twice is no error."""
        if not self.is_running:
            self._thread = threading.Thread(target=self._write, name="recorder", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Store what was handed over and end the thread."""
        if self._thread is not None and self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
        self._thread = None

    def store(self, record: Record) -> None:
        """Return when the record is committed; raises what the database raised."""
        waiting = _Waiting(record)
        waiting.stored.acquire()
        self._queue.put(waiting)
        waiting.stored.acquire()
        if waiting.error is not None:
            raise waiting.error

    def _write(self) -> None:
        try:
            while batch := self._gather():
                self._store_batch(batch)
        finally:
            connection.close()

    def _gather(self) -> list[_Waiting]:
        """Wait for one record and take what is there besides; empty when it is time to end."""
        first = self._queue.get()
        if first is None:
            return []
        batch = [first]
        while len(batch) < MAX_BATCH:
            try:
                waiting = self._queue.get_nowait()
            except Empty:
                break
            if waiting is None:
                self._queue.put(None)  # end after this batch
                break
            batch.append(waiting)
        return batch

    def _store_batch(self, batch: list[_Waiting]) -> None:
        try:
            write_records([waiting.record for waiting in batch])
        except BaseException as error:
            if len(batch) > 1:  # one bad record must not take its neighbours with it
                for waiting in batch:
                    self._store_batch([waiting])
                return
            batch[0].error = error
            connection.close_if_unusable_or_obsolete()
        for waiting in batch:
            waiting.stored.release()


RECORDER = Recorder()


def store(record: Record) -> None:
    """Store one record and return when it is committed, or when the caller's transaction has it."""
    if RECORDER.is_running and not connection.in_atomic_block:
        RECORDER.store(record)
    else:
        write_records([record])


def write_records(records: Sequence[Record]) -> None:
    """Write runs, sealed payloads and events in one transaction, then ring the doorbell."""
    log_rows = [_event(record) for record in records]
    refusals = Counter(record.freeze_id for record in records if record.freeze_id)
    with transaction.atomic():
        with connection.cursor() as cursor:
            _writer(ToolRun).insert(cursor, [record.run for record in records])
            if sealed := [record.sealed for record in records if record.sealed is not None]:
                SealedPayload.objects.bulk_create(sealed)
            for freeze_id, count in refusals.items():
                Freeze.objects.filter(pk=freeze_id).update(refused_count=F("refused_count") + count)
            # The log last: whoever holds its lock must wait for no other row's.
            events.lock_log(cursor)
            _writer(Event).insert(cursor, log_rows)
        transaction.on_commit(events.wake)


@dataclass(slots=True)
class _EventRow:
    """The columns of an event, without the cost of a model instance."""

    at: datetime
    kind: str
    agent: str
    tool: str
    run_id: UUID
    actor: str
    data: dict[str, Any]


def _event(record: Record) -> _EventRow:
    run = record.run
    return _EventRow(
        at=run.finished_at or run.requested_at,
        kind=record.kind,
        agent=run.agent,
        tool=run.tool_name,
        run_id=run.pk,
        actor=run.actor,
        data=run_data(run),
    )


_WRITERS: dict[tuple[type, str], RowWriter] = {}


def _writer(model: type[ToolRun] | type[Event]) -> RowWriter:
    key = (model, connection.vendor)
    if key not in _WRITERS:
        _WRITERS[key] = RowWriter(model, connection)
    return _WRITERS[key]
