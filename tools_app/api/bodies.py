"""JSON in and out: read strictly, written once.

What comes in has passed the core's strict reader (no NaN, no duplicate keys, limited depth and
size) and holds no U+0000, which PostgreSQL cannot keep in a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from tools_app.core.errors import InvalidArguments
from tools_app.core.json_text import parse_json, write_json

JSON = "application/json"
OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC | orjson.OPT_NON_STR_KEYS


def read_body(body: bytes) -> Any:
    """Return the JSON value of a request body; raises ParseError with the parser's position."""
    try:
        value = parse_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ParseError(f"The body is not UTF-8: {error.reason} at byte {error.start}.") from None
    except InvalidArguments as error:
        raise ParseError(error.message[:1].upper() + error.message[1:]) from None
    if b"\\u0000" in body and _holds_nul(value):
        raise ParseError("A text in the body contains U+0000, which cannot be stored.")
    return value


def _holds_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any("\0" in key or _holds_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(_holds_nul(item) for item in value)


def write_body(data: object) -> bytes:
    """Return ``data`` as JSON; times as RFC 3339 in UTC, UUIDs as text."""
    return write_json(data, default=_plain, option=OPTIONS)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | set | frozenset):
        return list(value)
    return str(value)


class StrictJSONParser(BaseParser):
    """The one parser of REST views."""

    media_type = JSON

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return read_body(stream.read())


class JSONRenderer(BaseRenderer):
    """The one renderer of REST views."""

    media_type = JSON
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else write_body(data)


class JSONOnly(BaseContentNegotiation):
    """There is one format each way: a body of another type is refused, ``Accept`` is not asked."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        sent = (request.content_type or "").partition(";")[0].strip().lower()
        return next(iter(parsers)) if sent == JSON else None

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type
