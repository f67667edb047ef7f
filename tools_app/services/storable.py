"""Text and JSON in a form that every database we run on can keep.

PostgreSQL takes neither U+0000 nor NaN, and no database takes lone surrogates, but tools may
return all of them. What is replaced here is a display of the value; the true content is sealed.
"""

from __future__ import annotations

import json
import math
from typing import Any

from tools_app.core.json_text import MAX_INTEGER_BITS

MAX_CONTENT_CHARACTERS = 4 * 1024 * 1024  # of one result; beyond that it is cut, and says so
_NUL_SHOWN = "\N{SYMBOL FOR NULL}"


def storable_text(text: str) -> str:
    """Return the text with NUL and lone surrogates replaced by visible signs."""
    if "\0" in text:
        text = text.replace("\0", _NUL_SHOWN)
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode() if _has_surrogate(text) else text


def storable_json(value: Any) -> Any:
    """Return the value as plain JSON data; what is no JSON becomes its text; NaN and
    integers that no reader takes become null."""
    if isinstance(value, str):
        return storable_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= MAX_INTEGER_BITS else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {storable_text(str(key)): storable_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(item) for item in value]
    return storable_text(str(value))


def json_members(value: dict[str, Any]) -> dict[str, Any]:
    """Return the members that can be written as JSON, storable; the others are left out."""
    return {str(key): storable_json(item) for key, item in value.items() if _is_json(item)}


def _is_json(value: object) -> bool:
    if value is None or isinstance(value, str | bool | int | float):
        return True
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
