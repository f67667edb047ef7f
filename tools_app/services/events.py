"""Writing the event log: one append-only table whose ``seq`` grows in the order of commits.

A reader that has seen ``seq`` N asks for what is greater and misses nothing. SQLite has one
writer at a time, so there the order is given; on PostgreSQL a transaction that logs takes a
lock first and holds it until its commit. The doorbell of this process only wakes readers: what
counts is the table.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Max
from django.utils import timezone

from tools_app.models import Event
from tools_app.services.event_kinds import EVENT_KINDS, register_event_kind

__all__ = [
    "EVENT_KINDS",
    "add_listener",
    "event_json",
    "latest_seq",
    "lock_log",
    "record_event",
    "register_event_kind",
    "remove_listener",
    "wake",
]

log = structlog.get_logger(__name__)

_LOG_LOCK = 0x6F6A77_6C6F67  # "ojwlog": one advisory lock of the database, held by who appends


def record_event(
    kind: str,
    *,
    agent: str = "",
    tool: str = "",
    run_id: UUID | None = None,
    actor: str = "",
    data: Mapping[str, Any] | None = None,
) -> Event:
    """Append one event in the caller's transaction and ring the doorbell after its commit.

    ``data`` must be plain JSON and already redacted. Raises ValueError for an unknown kind.
    """
    if kind not in EVENT_KINDS:
        raise ValueError(f"unknown event kind {kind!r}; register it first")
    with transaction.atomic():
        with connection.cursor() as cursor:
            lock_log(cursor)
        event = Event.objects.create(
            at=timezone.now(),
            kind=kind,
            agent=agent,
            tool=tool,
            run_id=run_id,
            actor=actor,
            data=dict(data or {}),
        )
        transaction.on_commit(wake)
    return event


def lock_log(cursor: CursorWrapper) -> None:
    """Let one transaction at a time append; others wait until it ends. Take it late."""
    if connection.vendor == "postgresql":
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOG_LOCK])


def latest_seq() -> int:
    """Return the ``seq`` of the newest event, 0 for an empty log."""
    return Event.objects.aggregate(seq=Max("seq"))["seq"] or 0


def event_json(event: Event) -> dict[str, Any]:
    """Return an event as readers get it: {seq, at, kind, agent, tool, run, actor, data}."""
    return {
        "seq": event.seq,
        "at": event.at.isoformat(),
        "kind": event.kind,
        "agent": event.agent,
        "tool": event.tool,
        "run": str(event.run_id) if event.run_id else None,
        "actor": event.actor,
        "data": event.data,
    }


# --- the doorbell ----------------------------------------------------------------------------

Listener = Callable[[], object]
_listeners: list[Listener] = []
_changing = threading.Lock()


def add_listener(listener: Listener) -> None:
    """Call ``listener`` after each commit of this process that logged; it must not block."""
    with _changing:
        if listener not in _listeners:
            _listeners.append(listener)


def remove_listener(listener: Listener) -> None:
    """Stop calling ``listener``; removing it twice is no error."""
    with _changing:
        if listener in _listeners:
            _listeners.remove(listener)


def wake() -> None:
    """Ring the doorbell: there is something new in the log."""
    for listener in tuple(_listeners):
        try:
            listener()
        except Exception:
            log.exception("a listener of the event log failed")
