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

# Every pattern starts at a fixed text or a digit, so that the search stays linear.
_PII = re.compile(
    r"\b\d{3}-\d{2}-\d{4}\b"
    r"|\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}\b"
    r"|(?<![\d-])(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}\b",
    re.ASCII,
)
_EMAIL = re.compile(r"(?<=[\w.%+-])@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[a-z]{2}", re.ASCII | re.I)
_SECRET = re.compile(
    r"\b(?:sk|pk|api)[_-][a-z0-9]{20}"
    r"|\bgh[pousr]_[a-z0-9]{36}"
    r"|\bgithub_pat_\w{22}"
    r"|-----begin (?:[a-z]{1,12} ){0,3}private key-----"
    r"|(?:bearer|token|password|secret|key)\s{0,8}[=:]\s{0,8}\S{8}",
    re.ASCII,
)
# A text without any of these has no secret, and searching for them is far cheaper.
_SECRET_HINTS = (
    *("sk_", "sk-", "pk_", "pk-", "api_", "api-", "gh", "bearer", "token", "password", "secret"),
    "key",
)


def detect_taint(text: str) -> TaintSet:
    """Return the labels whose patterns a text contains."""
    labels = set()
    if _PII.search(text) or ("@" in text and _EMAIL.search(text)):
        labels.add(TaintLabel.PII)
    lowered = text.lower()
    if any(hint in lowered for hint in _SECRET_HINTS) and _SECRET.search(lowered):
        labels.add(TaintLabel.SECRET)
    return TaintSet(labels)


def check_taint(tool_name: str, labels: Iterable[TaintLabel]) -> str | None:
    """Return why a tool must not receive data with these labels, ``None`` when it may."""
    forbidden = sorted(SINKS.get(tool_name, TaintSet()) & set(labels))
    if not forbidden:
        return None
    return f"Data with labels [{', '.join(forbidden)}] cannot be sent to '{tool_name}'."
