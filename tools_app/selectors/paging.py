"""Lists by cursor: a page costs the same at the end of a list as at its start."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet

from tools_app.services.errors import InvalidRequest

Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """Some items of a list; a cursor is ``None`` where the list ends."""

    items: Sequence[Item]
    next_cursor: str | None = None
    previous_cursor: str | None = None


def encode_cursor(direction: str, key: str) -> str:
    """Return an opaque cursor; ``direction`` is ``n`` (after the key) or ``p`` (before it)."""
    return base64.urlsafe_b64encode(f"{direction}{key}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[str, str]:
    """Return direction and key; raises InvalidRequest for what is no cursor of ours."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (ValueError, binascii.Error):
        text = ""
    if text[:1] not in ("n", "p") or len(text) < 2:
        raise _no_cursor()
    return text[0], text[1:]


def check_limit(limit: int | None) -> int:
    """Return the size of a page; raises InvalidRequest outside of 1 to ``MAX_LIMIT``."""
    if limit is None:
        return DEFAULT_LIMIT
    if not 1 <= limit <= MAX_LIMIT:
        message = f"The limit must be from 1 to {MAX_LIMIT}."
        raise InvalidRequest(message, extra={"errors": [{"path": "limit", "message": message}]})
    return limit


def page_of_rows(
    rows: QuerySet[Row],
    *,
    cursor: str | None,
    limit: int | None,
    key: Callable[[str], Any],
    field: str = "id",
) -> Page[Row]:
    """Return one page of ``rows``, newest (greatest ``field``) first, with one query.

    ``key`` reads a cursor's text as a value of ``field``; a ValueError is InvalidRequest.
    """
    size = check_limit(limit)
    direction, at = ("n", None) if not cursor else _position(cursor, key)
    backwards = direction == "p"
    if at is not None:
        rows = rows.filter(**{f"{field}__{'gt' if backwards else 'lt'}": at})
    found = list(rows.order_by(field if backwards else f"-{field}")[: size + 1])
    more, found = len(found) > size, found[:size]
    if backwards:
        found.reverse()
    has_next = bool(found) and (more or backwards)
    has_previous = bool(found) and (more if backwards else at is not None)
    return Page(
        items=found,
        next_cursor=encode_cursor("n", str(getattr(found[-1], field))) if has_next else None,
        previous_cursor=encode_cursor("p", str(getattr(found[0], field))) if has_previous else None,
    )


def page_of_names(names: Sequence[str], *, cursor: str | None, limit: int | None) -> Page[str]:
    """Return one page of sorted ``names``, in their order."""
    size = check_limit(limit)
    direction, at = decode_cursor(cursor) if cursor else ("n", "")
    if direction == "n":
        start = bisect_right(names, at) if cursor else 0
    else:
        start = max(bisect_left(names, at) - size, 0)
    stop = min(start + size, bisect_left(names, at) if direction == "p" else len(names))
    found = names[start:stop]
    return Page(
        items=found,
        next_cursor=encode_cursor("n", found[-1]) if found and stop < len(names) else None,
        previous_cursor=encode_cursor("p", found[0]) if found and start > 0 else None,
    )


def _position(cursor: str, key: Callable[[str], Any]) -> tuple[str, Any]:
    direction, text = decode_cursor(cursor)
    try:
        return direction, key(text)
    except ValueError:
        raise _no_cursor() from None


def _no_cursor() -> InvalidRequest:
    message = "This is no cursor of this list."
    return InvalidRequest(message, extra={"errors": [{"path": "cursor", "message": message}]})
