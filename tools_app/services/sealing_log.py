"""A hash chain over the event log, so that a later change of a sealed event is seen.

Each seal covers the events up to some ``seq`` and, by the digest of the seal before it, all
earlier ones. Digests are keyed (HMAC-SHA256 under the server's key): who can write to the
database but has no key cannot make a new chain that fits.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from tools_app.models import Event, EventSeal
from tools_app.services.access import SYSTEM
from tools_app.services.events import lock_log, record_event

log = structlog.get_logger(__name__)

EVENTS_PER_SEAL = 1000
SEAL_AFTER = timedelta(minutes=1)
MAX_SEALS_AT_ONCE = 20
MAX_FAULTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFault:
    """One place where the log does not fit its seals."""

    first_seq: int
    last_seq: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReport:
    """What a check of the log found."""

    seals: int
    sealed_events: int
    unsealed_events: int
    faults: tuple[LogFault, ...] = field(default=())

    @property
    def is_intact(self) -> bool:
        """Whether every sealed event is as it was."""
        return not self.faults


def seal_log(*, after: timedelta = SEAL_AFTER) -> int:
    """Seal what was logged since the last seal; returns how many events that were.

    A link is made for every 1000 events, and for fewer once the oldest waits for longer than
    ``after``. Before it adds a link it checks the newest one; when that does not fit, the event
    ``log.gap`` says so, once, and sealing goes on. Each link is an event ``log.sealed`` itself;
    so that the log does not talk about itself for ever, none is made for such events alone.
    """
    sealed = 0
    _check_newest()
    for _ in range(MAX_SEALS_AT_ONCE):
        count = _seal_next(timezone.now() - after)
        sealed += count
        if count < EVENTS_PER_SEAL:
            break
    return sealed


def verify_log() -> LogReport:
    """Recompute every seal: finds events that were changed, removed or put in.

    Reads the whole log in constant memory. A fault is recorded as ``log.gap``, once per place.
    """
    report = _verify()
    for fault in report.faults:
        _record_gap(fault)
    return report


@transaction.atomic
def purge_events_before(moment: datetime) -> int:
    """Remove whole sealed parts whose events are all older than ``moment``, oldest first.

    The event ``log.purged`` keeps the digest that the remaining chain starts from, so that a
    beginning which vanishes without such an event is seen. Returns the number of events.
    """
    doomed: list[EventSeal] = []
    for seal in EventSeal.objects.order_by("first_seq").iterator():
        last = Event.objects.filter(seq=seal.last_seq).first()
        if last is None or last.at >= moment:
            break
        doomed.append(seal)
    if not doomed:
        return 0
    newest = doomed[-1]
    removed, _ = Event.objects.filter(seq__lte=newest.last_seq).delete()
    EventSeal.objects.filter(last_seq__lte=newest.last_seq).delete()
    data = {"through_seq": newest.last_seq, "digest": newest.digest, "events": removed}
    record_event("log.purged", actor=SYSTEM.label, data=data)
    return removed


# --- sealing ---------------------------------------------------------------------------------


@transaction.atomic
def _seal_next(waiting_since: datetime) -> int:
    with connection.cursor() as cursor:
        lock_log(cursor)  # two processes must not make the same link
    previous = EventSeal.objects.order_by("-first_seq").first()
    after = previous.last_seq if previous else 0
    rows = Event.objects.filter(seq__gt=after).order_by("seq")
    events: list[Row] = list(rows.values_list(*_COLUMNS)[:EVENTS_PER_SEAL])
    if all(kind == "log.sealed" for _, _, kind, *_ in events):
        return 0
    if len(events) < EVENTS_PER_SEAL and events[0][1] > waiting_since:
        return 0
    seal = EventSeal.objects.create(
        first_seq=events[0][0],
        last_seq=events[-1][0],
        event_count=len(events),
        previous_digest=previous.digest if previous else "",
        digest=_digest(previous.digest if previous else "", events, settings.SECRET_KEY),
    )
    data = {"first_seq": seal.first_seq, "last_seq": seal.last_seq, "digest": seal.digest}
    record_event("log.sealed", actor=SYSTEM.label, data=data)
    return len(events)


def _check_newest() -> None:
    newest = EventSeal.objects.order_by("-first_seq").first()
    if newest is not None and (fault := _fault_of(newest, newest.previous_digest)):
        _record_gap(fault)


# What a seal covers of an event: all of it. Rows and not objects, and the C encoder of JSON:
# sealing is paid for every event there ever is.
_COLUMNS = ("seq", "at", "kind", "agent", "tool", "run_id", "actor", "data")
Row = tuple[int, datetime, str, str, str, UUID | None, str, Any]
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _digest(previous: str, events: Sequence[Row], key: str) -> str:
    digest = hmac.new(_chain_key(key), previous.encode(), hashlib.sha256)
    for seq, at, kind, agent, tool, run_id, actor, data in events:
        # Times as UTC and ids as text: the same whichever database they come from.
        moment, run = at.astimezone(UTC).isoformat(), run_id and str(run_id)
        digest.update(_encode([seq, moment, kind, agent, tool, run, actor, data]).encode())
    return f"hmac:{digest.hexdigest()}"


def _chain_key(key: str) -> bytes:
    return hashlib.sha256(b"tools_app.event_seal" + key.encode()).digest()


# --- verifying -------------------------------------------------------------------------------


def _verify() -> LogReport:
    faults: list[LogFault] = []
    seals = events = 0
    previous: EventSeal | None = None
    for seal in EventSeal.objects.order_by("first_seq").iterator(chunk_size=100):
        faults += _link_faults(previous, seal)
        if fault := _fault_of(seal, seal.previous_digest):
            faults.append(fault)
        seals, events, previous = seals + 1, events + seal.event_count, seal
        if len(faults) >= MAX_FAULTS:
            break
    unsealed = Event.objects.filter(seq__gt=previous.last_seq if previous else 0).count()
    return LogReport(
        seals=seals, sealed_events=events, unsealed_events=unsealed, faults=tuple(faults)
    )


def _fault_of(seal: EventSeal, previous_digest: str) -> LogFault | None:
    """Compare one seal with the events it covers."""
    covered = Event.objects.filter(seq__gte=seal.first_seq, seq__lte=seal.last_seq)
    events: list[Row] = list(covered.order_by("seq").values_list(*_COLUMNS))
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    if any(hmac.compare_digest(seal.digest, _digest(previous_digest, events, k)) for k in keys):
        return None
    difference = len(events) - seal.event_count
    if difference < 0:
        problem = f"{-difference} events were removed"
    elif difference > 0:
        problem = f"{difference} events were put in"
    else:
        problem = "events or their seal were changed"
    return LogFault(first_seq=seal.first_seq, last_seq=seal.last_seq, problem=problem)


def _link_faults(previous: EventSeal | None, seal: EventSeal) -> Iterator[LogFault]:
    """Compare where a seal begins with where the one before it ended."""
    end, digest = (previous.last_seq, previous.digest) if previous else _start_of_chain()
    if seal.previous_digest != digest:
        yield LogFault(
            first_seq=end + 1, last_seq=seal.first_seq - 1, problem="a part of the log is missing"
        )
    between = Event.objects.filter(seq__gt=end, seq__lt=seal.first_seq).count()
    if between:
        yield LogFault(
            first_seq=end + 1,
            last_seq=seal.first_seq - 1,
            problem=f"{between} events were put in between two seals",
        )


def _start_of_chain() -> tuple[int, str]:
    """Return where the log begins: at its start, or where it was last purged up to."""
    purged = Event.objects.filter(kind="log.purged").order_by("-seq").first()
    if purged is None:
        return 0, ""
    return int(purged.data["through_seq"]), str(purged.data["digest"])


def _record_gap(fault: LogFault) -> None:
    place = {"first_seq": fault.first_seq, "last_seq": fault.last_seq, "problem": fault.problem}
    if Event.objects.filter(kind="log.gap", data=place).exists():
        return
    log.error("the event log does not fit its seals", **place, at=timezone.now().isoformat())
    record_event("log.gap", actor=SYSTEM.label, data=place)
