"""What a live stream says, and how each transport writes it.

Events are encoded once per process (:class:`Encoded`); a frame only joins those bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from tools_app.core.json_text import write_json
from tools_app.models import Event
from tools_app.services.events import event_json

HEARTBEAT_S = 3.0  # clients call their data stale after two missed ones

BAD_REQUEST = 4000
SIGNED_OUT = 4001
RIGHTS_CHANGED = 4003
RESTARTING = 1012


@dataclass(frozen=True, slots=True)
class Encoded:
    """One event and its JSON, shared by every stream that sends it."""

    event: Event
    body: bytes

    @property
    def seq(self) -> int:
        """The event's place in the log."""
        return self.event.seq


def encode(event: Event) -> Encoded:
    """Return the event with its JSON bytes."""
    return Encoded(event, write_json(event_json(event), default=str))


@dataclass(frozen=True, slots=True)
class Hello:
    """The first frame; ``seq`` is the newest event of the log."""

    seq: int


@dataclass(frozen=True, slots=True)
class Events:
    """Events in order."""

    items: Sequence[Encoded]


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A sign of life; every event up to ``seq`` that concerns the reader was sent."""

    seq: int


@dataclass(frozen=True, slots=True)
class Resync:
    """Events after ``after`` were dropped because the reader was too slow."""

    after: int


@dataclass(frozen=True, slots=True)
class Closing:
    """The last frame: why the stream ends."""

    code: int
    reason: str


Frame: TypeAlias = Hello | Events | Heartbeat | Resync | Closing


def as_json(frame: Frame) -> bytes:
    """Return the frame as the WebSocket sends it."""
    if isinstance(frame, Events):
        joined = b",".join(item.body for item in frame.items)
        return b'{"type":"events","events":[' + joined + b"]}"
    return orjson.dumps({"type": type(frame).__name__.lower(), **_fields(frame)})


def as_server_sent(frame: Frame) -> bytes:
    """Return the frame in the format of WHATWG HTML §9.2 (text/event-stream)."""
    if isinstance(frame, Events):
        return b"".join(b"id: %d\ndata: %b\n\n" % (item.seq, item.body) for item in frame.items)
    name = type(frame).__name__.lower().encode()
    # A heartbeat moves the browser's Last-Event-ID past events that were not the reader's.
    mark = b"id: %d\n" % frame.seq if isinstance(frame, Heartbeat) else b""
    return b"%bevent: %b\ndata: %b\n\n" % (mark, name, orjson.dumps(_fields(frame)))


def _fields(frame: Hello | Heartbeat | Resync | Closing) -> dict[str, object]:
    match frame:
        case Hello(seq):
            return {"seq": seq, "heartbeat_s": HEARTBEAT_S}
        case Heartbeat(seq):
            return {"seq": seq}
        case Resync(after):
            return {"after": after}
        case Closing(code, reason):
            return {"code": code, "reason": reason}
