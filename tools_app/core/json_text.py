"""JSON from strangers, read strictly, and JSON for everybody, written whatever it holds.

What the reader lets through is safe to handle, and the writer writes all of it.

Refused with ``InvalidArguments``: NaN, Infinity and numbers beyond a float, duplicate keys
(readers disagree about which one counts, so an approval could show another value than the one
that runs), lone surrogates, nesting deeper than ``MAX_DEPTH``, more than ``MAX_BYTES``.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import orjson

from tools_app.core.errors import InvalidArguments

MAX_BYTES = 1024 * 1024  # of UTF-8; a tool call larger than that is no tool call
MAX_DEPTH = 64  # containers within containers; far below any recursion limit

MAX_INTEGER_BITS = 14_000  # about 4 200 digits, the most that Python turns into text
MAX_PATH_CHARACTERS = 200  # of a JSON path in an error message

# Always matches from a quote on, also when the text stops early: never two looks at one character.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_Place: TypeAlias = "tuple[_Place, str | int] | None"  # a step, and the place it starts from

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; raises InvalidArguments with the parser's position."""
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise InvalidArguments(f"the JSON text is larger than {MAX_BYTES} bytes")
    _check_text_depth(text)
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(text, error) from None
    except _Refused as error:
        raise InvalidArguments(f"invalid JSON: {error}") from None
    except ValueError:  # the interpreter's limit on the digits of an integer
        raise InvalidArguments("invalid JSON: an integer has too many digits") from None
    if "\\u" in text or not text.isascii():
        check_json_value(value)
    return value


def write_json(
    value: object, *, default: Callable[[Any], Any] | None = None, option: int = 0
) -> bytes:
    """Return the value as UTF-8 JSON; ``default`` and ``option`` are those of orjson.

    orjson refuses integers of more than 64 bits, which are legal JSON and which the reader lets
    in; a value that holds one is written all the same. Raises TypeError for what is no JSON.
    """
    try:
        return orjson.dumps(value, default=default, option=option)
    except TypeError:
        return orjson.dumps(_with_long_integers(value), default=default, option=option)


def check_json_value(value: object) -> None:
    """Check that an object is plain JSON data within the limits; raises InvalidArguments.

    Containers must be ``dict`` or ``list`` (other mappings and tuples are no JSON).
    """
    size = 0
    pending: list[tuple[object, _Place, int]] = [(value, None, 1)]
    while pending:
        item, place, depth = pending.pop()
        size += _checked_size(item, place)
        if size > MAX_BYTES:
            raise InvalidArguments(f"the value is larger than {MAX_BYTES} bytes")
        if not isinstance(item, dict | list):
            continue
        if depth > MAX_DEPTH:
            raise _refusal(None, f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(item, list):
            pending.extend((child, (place, i), depth + 1) for i, child in enumerate(item))
            continue
        for key, child in item.items():
            if not isinstance(key, str):
                raise _refusal(place, f"a key is a {type(key).__name__}, not a text")
            size += _checked_size(key, place)
            pending.append((child, (place, key), depth + 1))


def json_path(steps: Iterable[str | int]) -> str:
    """Return the JSON path of a place: ``$.tags[0]``, or ``$["odd name"]``."""
    path = "$"
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_KEY.match(step):
            path += f".{step}"
        else:
            path += f"[{json.dumps(step)}]"
        if len(path) > MAX_PATH_CHARACTERS:
            return path[:MAX_PATH_CHARACTERS] + "…"
    return path


def _with_long_integers(value: object) -> object:
    """Return the value with each integer that orjson refuses written out already."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -(2**63) <= value < 2**64 else orjson.Fragment(str(int(value)))
    if isinstance(value, Mapping):
        return {key: _with_long_integers(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [_with_long_integers(item) for item in value]
    return value


def _checked_size(item: object, place: _Place) -> int:
    """Return about how many bytes a scalar takes in JSON; 2 for a container."""
    if isinstance(item, str):
        try:
            return len(item.encode()) + 2
        except UnicodeEncodeError:
            raise _refusal(place, "a text has half a surrogate pair") from None
    if item is None or isinstance(item, bool | dict | list):
        return 2
    if isinstance(item, float):
        if not math.isfinite(item):
            raise _refusal(place, f"{item} is not JSON")
        return 8
    if isinstance(item, int):
        if item.bit_length() > MAX_INTEGER_BITS:
            raise _refusal(place, "an integer has too many digits")
        return item.bit_length() // 4 + 1
    raise _refusal(place, f"a {type(item).__name__} is not JSON")


def _refusal(place: _Place, message: str) -> InvalidArguments:
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    path = json_path(reversed(steps))
    return InvalidArguments(
        f"invalid JSON: {path}: {message}", errors=[{"path": path, "message": message}]
    )


def _check_text_depth(text: str) -> None:
    """Refuse deep nesting before the parser recurses into it."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for character in re.findall(r"[\[\]{}]", _STRING.sub("", text)):
        depth += 1 if character in "[{" else -1
        if depth > MAX_DEPTH:
            raise InvalidArguments(f"invalid JSON: nested deeper than {MAX_DEPTH} levels")


def _syntax_error(text: str, error: json.JSONDecodeError) -> InvalidArguments:
    is_cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    where = f"line {error.lineno} column {error.colno}"
    if is_cut:
        return InvalidArguments(
            f"invalid JSON: the text ends too early, at {where} ({error.msg})",
            code="truncated_arguments",
        )
    return InvalidArguments(f"invalid JSON at {where}: {error.msg}")


class _Refused(ValueError):
    """Legal for Python's parser, not for ours."""


def _refuse_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _Refused("a number is too large")
    return number


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _Refused(f"the key {json.dumps(twice[:MAX_PATH_CHARACTERS])} appears twice")
    return members


_decoder = json.JSONDecoder(
    parse_constant=_refuse_constant,
    parse_float=_finite_float,
    object_pairs_hook=_unique_members,
)
