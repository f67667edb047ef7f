"""Names and shapes of secrets, and their masking in whatever is published, logged or stored.

Masking works on parsed values, never on JSON text. Every pattern is linear in the length of the
text: it starts at a fixed text, and its repetitions are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

Level = Literal["low", "medium", "high", "critical"]

MASK = "[REDACTED]"
LONGEST_SECRET = 16_384  # characters that a pattern takes at most, about


@dataclass(frozen=True, slots=True)
class Pattern:
    """One shape to find. ``hints`` are lower-case texts of which any match contains one.

    Without hints the pattern is always searched for.
    """

    name: str
    level: Level
    description: str
    regex: re.Pattern[str]
    hints: tuple[str, ...] = ()

    def may_match(self, lowered: str) -> bool:
        """Return whether searching is worth while; far cheaper than the search itself."""
        return not self.hints or any(hint in lowered for hint in self.hints)


def _pattern(
    name: str, level: Level, description: str, regex: str, hints: Iterable[str] = (), flags: int = 0
) -> Pattern:
    return Pattern(name, level, description, re.compile(regex, flags | re.ASCII), tuple(hints))


_ASSIGNED = r"[\"']?\s{0,8}[=:]\s{0,8}"  # what stands between a name and its value

SECRET_PATTERNS: tuple[Pattern, ...] = (
    _pattern(
        "private_key",
        "critical",
        "private key in PEM form",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----)){0,16000}-----END [A-Z0-9 ]{0,48}-----"
        r"|(?:\s{1,4}[A-Za-z0-9+/=]{32,76}){0,256})",
        ["private key"],
    ),
    _pattern(
        "anthropic_key",
        "critical",
        "Anthropic API key",
        r"\bsk-ant-[\w-]{16,256}",
        ["sk-ant-"],
    ),
    _pattern(
        "openai_key",
        "critical",
        "OpenAI API key",
        r"\bsk-(?!ant-)[\w-]{20,256}",
        ["sk-"],
    ),
    _pattern(
        "aws_access_key",
        "critical",
        "AWS access key id",
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
        ["akia", "asia"],
    ),
    _pattern(
        "github_token",
        "critical",
        "GitHub token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})",
        ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    ),
    _pattern(
        "stripe_key",
        "critical",
        "Stripe key",
        r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}",
        ["k_live_", "k_test_"],
    ),
    _pattern(
        "openjarvis_token",
        "critical",
        "API token of this product",
        r"\bojw_[0-9A-Za-z]{1,16}_[\w-]{16,128}",
        ["ojw_"],
    ),
    _pattern(
        "slack_token",
        "high",
        "Slack token",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}",
        ["xox"],
    ),
    _pattern(
        "google_api_key",
        "high",
        "Google API key",
        r"\bAIza[\w-]{35}",
        ["aiza"],
    ),
    _pattern(
        "json_web_token",
        "high",
        "JSON Web Token",
        r"\beyJ[\w-]{8,4096}\.eyJ[\w-]{8,4096}\.[\w-]{8,1024}",
        [".eyj"],
    ),
    _pattern(
        "db_connection_string",
        "high",
        "database address with a password",
        r"\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql)"
        r"(?:\+\w{1,16})?://[^\s:/@\"']{0,128}:[^\s@\"']{1,256}@[^\s\"']{1,512}",
        ["://"],
        re.IGNORECASE,
    ),
    _pattern(
        "url_credentials",
        "high",
        "address with a password",
        r"\b(?:https?|wss?|ftp)://[^\s:/@\"']{0,128}:[^\s/@\"']{1,256}@[^\s/\"']{1,256}",
        ["://"],
        re.IGNORECASE,
    ),
    _pattern(
        "authorization_header",
        "high",
        "credentials of an Authorization header",
        r"\b(?:bearer|basic)\s{1,4}(?=[\w.~+/-]{0,24}[\d=.~+/_])[\w.~+/-]{16,4096}={0,2}",
        ["bearer", "basic"],
        re.IGNORECASE,
    ),
    _pattern(
        "password_assignment",
        "high",
        "password written out",
        r"\b(?:password|passwd|pwd|passphrase)" + _ASSIGNED + r"(?:\"[^\"\n]{4,256}\""
        r"|'[^'\n]{4,256}'|[^\s\"',;&}]{6,256})",
        ["password", "passwd", "pwd", "passphrase"],
        re.IGNORECASE,
    ),
    _pattern(
        "generic_api_key",
        "high",
        "key or token written out",
        r"(?<![a-z])(?:api[_-]?key|access[_-]?key|secret[_-]?key|client[_-]?secret|auth[_-]?token"
        r"|access[_-]?token|refresh[_-]?token|secret|token)"
        + _ASSIGNED
        + r"[\"']?[\w.~+/-]{16,1024}={0,2}[\"']?",
        ["key", "secret", "token"],
        re.IGNORECASE,
    ),
)

_ALL_HINTS = tuple(dict.fromkeys(hint for pattern in SECRET_PATTERNS for hint in pattern.hints))
_SHORTEST_SECRET = len("pwd=secret")  # that any pattern finds

_SECRET_WORDS = frozenset(
    {"apikey", "auth", "authorization", "cookie", "cookies", "credential", "credentials"}
    | {"passphrase", "passwd", "password", "passwords", "pwd", "secret", "secrets", "token"}
)
_SECRET_KEYS = frozenset(  # … key
    {"access", "account", "api", "auth", "client", "encryption", "host", "license", "master"}
    | {"private", "secret", "service", "session", "shared", "signing", "ssh", "storage"}
    | {"subscription"}
)
# "token_count" counts and "secret_name" names: the value is no secret.
_HARMLESS_ENDINGS = frozenset(
    {"at", "budget", "count", "counts", "enabled", "endpoint", "exists", "expires", "expiry"}
    | {"field", "hint", "id", "ids", "length", "limit", "limits", "max", "min", "mode", "name"}
    | {"names", "path", "policy", "present", "prefix", "required", "ttl", "type", "types", "uri"}
    | {"url", "usage", "used"}
)
_CURSOR_WORDS = frozenset({"continuation", "cursor", "next", "page", "pagination", "sync"})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def is_secret_name(name: str) -> bool:
    """Return whether a value of this name (field, header, variable) is a secret."""
    words = [word.lower() for word in _WORDS.findall(name[:256])]
    if not words or words[-1] in _HARMLESS_ENDINGS:
        return False
    if words[-1] == "token" and _CURSOR_WORDS.intersection(words):
        return False
    if not _SECRET_WORDS.isdisjoint(words):
        return True
    return any(
        second in ("key", "keys") and first in _SECRET_KEYS for first, second in pairwise(words)
    )


def redact_text(text: str) -> str:
    """Return the text with every known secret replaced by ``[REDACTED:pattern]``."""
    if len(text) < _SHORTEST_SECRET:
        return text
    lowered = text.lower()
    for hint in _ALL_HINTS:  # most texts contain none of them
        if hint in lowered:
            break
    else:
        return text
    for pattern in SECRET_PATTERNS:
        if pattern.may_match(lowered):
            text = pattern.regex.sub(f"[REDACTED:{pattern.name}]", text)
    return text


def redact(value: Any) -> Any:
    """Return a copy of JSON data with secrets masked, by the name they go by or by their shape.

    Values of a secret name become ``[REDACTED]`` (``null``, booleans and empty texts stay), also
    in pairs like ``{"name": "Authorization", "value": "…"}``.
    """
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, dict):
        return _redact_object(value)
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    return value


def _redact_object(value: dict[Any, Any]) -> dict[Any, Any]:
    named = value.get("name", value.get("key"))
    is_secret_pair = isinstance(named, str) and is_secret_name(named)
    return {
        (redact_text(key) if isinstance(key, str) else key): (
            _mask(item)
            if (is_secret_pair and key == "value") or (isinstance(key, str) and is_secret_name(key))
            else redact(item)
        )
        for key, item in value.items()
    }


def _mask(value: Any) -> Any:
    if value is None or value == "" or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return {key: _mask(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mask(item) for item in value]
    return MASK
