"""Step 7 of a run: its row and its event are committed before the answer leaves.

Many threads of a web process finish runs at once, and SQLite has one writer. So they share
transactions (group commit): while one caller writes, the records of the others gather, and the
next one writes them all. A thread of its own for writing was tried; it costs every record two
switches between threads, also where nobody shares. Inside a transaction the caller's record is
part of it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F

from tools_app.models import Event, Freeze, SealedPayload, ToolRun
from tools_app.services import events
from tools_app.services.row_writer import RowWriter
from tools_app.services.run_facts import run_data

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
    """A record on its way; its caller waits for ``turn``, to find it stored or to be the writer."""

    record: Record
    turn: threading.Lock = field(default_factory=threading.Lock)
    is_stored: bool = False
    error: BaseException | None = None


class Recorder:
    """Stores the records of all threads of this process in shared transactions.

    The first caller writes its record at once. Those that come meanwhile gather; when it is
    done, the first of them writes for all of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gathered: list[_Waiting] = []
        self._is_writing = False

    def store(self, record: Record) -> None:
        """Return when the record is committed; raises what the database raised."""
        own = _Waiting(record)
        with self._lock:
            self._gathered.append(own)
            is_first, self._is_writing = not self._is_writing, True
            own.turn.acquire()
        if not is_first:
            own.turn.acquire()
        if not own.is_stored:
            self._write_gathered()
        if own.error is not None:
            raise own.error

    def _write_gathered(self) -> None:
        """Write what has gathered, this caller's own record first, and pass the turn on."""
        with self._lock:
            batch, self._gathered = self._gathered[:MAX_BATCH], self._gathered[MAX_BATCH:]
        try:
            _write_batch(batch)
        finally:
            for waiting in batch:
                waiting.is_stored = True
                waiting.turn.release()
            with self._lock:
                if self._gathered:
                    self._gathered[0].turn.release()
                else:
                    self._is_writing = False


def _write_batch(batch: Sequence[_Waiting]) -> None:
    try:
        write_records([waiting.record for waiting in batch])
    except BaseException as error:
        if len(batch) > 1:  # one bad record must not take its neighbours with it
            for waiting in batch:
                _write_batch([waiting])
        else:
            batch[0].error = error


_recorder = Recorder()


def store(record: Record) -> None:
    """Store one record and return when it is committed, or when the caller's transaction has it."""
    if connection.in_atomic_block:
        write_records([record])
    else:
        _recorder.store(record)


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
