"""Fingerprints that do not depend on how a JSON value was spelled.

The canonical form is RFC 8785's: members sorted by UTF-16 code units, no white space, numbers as
ECMAScript prints them (so ``1.0`` and ``1`` are one number). It differs in one point: integers
beyond 2**53 keep all their digits, where RFC 8785 would round different ones to the same text.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tools_app.core.json_text import check_json_value
from tools_app.core.types import ToolSpec

_scalar = json.JSONEncoder(ensure_ascii=False).encode
_EXACT_INTEGERS = 1e21  # ECMAScript prints integral floats below this without an exponent


def canonical_json(value: object) -> bytes:
    """Return the canonical JSON of a value; raises InvalidArguments when it is no JSON."""
    check_json_value(value)
    parts: list[str] = []
    _encode(value, parts)
    return "".join(parts).encode()


def arguments_digest(values: Mapping[str, Any]) -> str:
    """Return ``sha256:…`` of a call's arguments; an approval is bound to it."""
    return _digest(canonical_json(dict(values)))


def definition_hash(spec: ToolSpec) -> str:
    """Return ``sha256:…`` of what a caller sees of a tool: name, description, parameters."""
    return _definition_hash(spec.name, spec.description, json.dumps(spec.parameters))


@lru_cache(maxsize=4096)
def _definition_hash(name: str, description: str, parameters_text: str) -> str:
    parameters = json.loads(parameters_text)
    return _digest(
        canonical_json({"name": name, "description": description, "parameters": parameters})
    )


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _encode(value: object, parts: list[str]) -> None:
    if isinstance(value, dict):
        opener = "{"
        for key in sorted(value, key=_utf16):
            parts.append(f"{opener}{_scalar(key)}:")
            _encode(value[key], parts)
            opener = ","
        parts.append("}" if value else "{}")
    elif isinstance(value, list):
        opener = "["
        for item in value:
            parts.append(opener)
            _encode(item, parts)
            opener = ","
        parts.append("]" if value else "[]")
    else:
        parts.append(_number(value) if isinstance(value, float) else _scalar(value))


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be")


def _number(value: float) -> str:
    """Return a finite float as ECMAScript's Number::toString prints it."""
    if value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return str(int(value))
    mantissa, _, exponent_text = repr(value).partition("e")
    if not exponent_text:
        return mantissa
    exponent = int(exponent_text)
    if -6 <= exponent < 0:  # Python changes to an exponent at 1e-05, ECMAScript at 1e-07
        sign = "-" if math.copysign(1, value) < 0 else ""
        digits = mantissa.lstrip("-").replace(".", "")
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return f"{mantissa.removesuffix('.0')}e{exponent:+d}"
