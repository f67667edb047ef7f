"""Labels on data that must not reach certain tools."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum


class TaintLabel(StrEnum):
    """Why data needs care."""

    PII = "pii"
    SECRET = "secret"  # noqa: S105 - a label, not a password
    USER_PRIVATE = "user_private"
    EXTERNAL = "external"


class TaintSet(frozenset[TaintLabel]):
    """An immutable set of labels."""


# Tool name → labels it must not receive.
SINKS: dict[str, TaintSet] = {
    "web_search": TaintSet({TaintLabel.PII, TaintLabel.SECRET}),
    "channel_send": TaintSet({TaintLabel.SECRET}),
    "code_interpreter": TaintSet({TaintLabel.SECRET}),
}

# Every pattern either starts at a fixed text or is kept from starting inside a run of its own
# characters, so that the search stays linear in the length of the text.
_PATTERNS = {
    TaintLabel.PII: re.compile(
        r"\b\d{3}-\d{2}-\d{4}\b"
        r"|(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
        r"|\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}\b"
        r"|(?<![\d-])(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}\b",
        re.ASCII,
    ),
    TaintLabel.SECRET: re.compile(
        r"\b(?:sk|pk|api)[_-][A-Za-z0-9]{20}"
        r"|\bgh[pousr]_[A-Za-z0-9]{36}"
        r"|\bgithub_pat_\w{22}"
        r"|-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----"
        r"|(?:bearer|token|password|secret|key)\s{0,8}[=:]\s{0,8}\S{8}",
        re.ASCII | re.IGNORECASE,
    ),
}


def detect_taint(text: str) -> TaintSet:
    """Return the labels whose patterns a text contains."""
    return TaintSet(label for label, pattern in _PATTERNS.items() if pattern.search(text))


def check_taint(tool_name: str, labels: Iterable[TaintLabel]) -> str | None:
    """Return why a tool must not receive data with these labels, ``None`` when it may."""
    forbidden = sorted(SINKS.get(tool_name, TaintSet()) & set(labels))
    if not forbidden:
        return None
    return f"Data with labels [{', '.join(forbidden)}] cannot be sent to '{tool_name}'."
