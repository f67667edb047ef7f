"""What a client asked of a stream: its filters and its place in the log."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.http import QueryDict

from tools_app.selectors.events import EventFilters
from tools_app.services.errors import InvalidRequest

MAX_SEQ = 2**63 - 1
MAX_KINDS = 50
PARAMETERS = frozenset({"since", "type", "agent", "tool", "run", "ticket"})


def filters_of(query: QueryDict) -> EventFilters:
    """Return the filters in a query string; raises InvalidRequest."""
    if unknown := sorted(set(query) - PARAMETERS):
        raise _invalid(unknown[0], "there is no such parameter")
    for name in query:
        if any("\0" in value for value in query.getlist(name)):
            raise _invalid(name, "must not contain NUL")
    if len(query.getlist("type")) > MAX_KINDS:
        raise _invalid("type", f"give at most {MAX_KINDS}")
    return EventFilters(
        kinds=frozenset(kind.removesuffix(".*") for kind in query.getlist("type") if kind),
        agent=query.get("agent", ""),
        tool=query.get("tool", ""),
        run_id=_uuid(query.get("run", "")),
    )


def since_of(query: QueryDict, headers: Mapping[str, str] | None = None) -> int | None:
    """Return the event number to resume after, or ``None``; raises InvalidRequest.

    A browser that reconnects repeats its first address, so ``Last-Event-ID`` goes before it.
    """
    text = (headers or {}).get("Last-Event-ID") or query.get("since") or ""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= MAX_SEQ):
        raise _invalid("since", "must be the number of an event")
    return int(text)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        raise _invalid("run", "must be the id of a run") from None


def _invalid(name: str, message: str) -> InvalidRequest:
    return InvalidRequest(
        f"The parameter {name} cannot be used: {message}.",
        extra={"errors": [{"path": f"$.{name}", "message": message}]},
    )
