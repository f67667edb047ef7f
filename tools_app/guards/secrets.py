"""Scanners for secrets and personal data in text, and the masking of both.

``redact`` and ``redact_text`` of ``tools_app.core.redaction`` are handed on from here: secrets are
masked in everything that is stored or shown, personal data only where a scanner is asked to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from tools_app.core.redaction import (
    SECRET_PATTERNS,
    Level,
    Pattern,
    is_secret_name,
    redact,
    redact_text,
)
from tools_app.guards.addresses import blocked_reason

__all__ = [
    "LEVELS",
    "PII_PATTERNS",
    "Finding",
    "PIIScanner",
    "Scanner",
    "SecretScanner",
    "is_secret_name",
    "redact",
    "redact_text",
]

LEVELS: tuple[Level, ...] = ("low", "medium", "high", "critical")


def _pii(name: str, level: Level, description: str, regex: str, *hints: str) -> Pattern:
    return Pattern(name, level, description, re.compile(regex, re.ASCII), hints)


_GAP = "[ -]?"
PII_PATTERNS: tuple[Pattern, ...] = (
    _pii("us_ssn", "critical", "social security number", r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])"),
    _pii(
        "credit_card_visa",
        "critical",
        "Visa card number",
        rf"(?<!\d)4\d{{3}}{_GAP}\d{{4}}{_GAP}\d{{4}}{_GAP}\d{{4}}(?!\d)",
    ),
    _pii(
        "credit_card_mastercard",
        "critical",
        "Mastercard number",
        rf"(?<!\d)(?:5[1-5]\d{{2}}|2[2-7]\d{{2}}){_GAP}\d{{4}}{_GAP}\d{{4}}{_GAP}\d{{4}}(?!\d)",
    ),
    _pii(
        "credit_card_amex",
        "critical",
        "American Express card number",
        rf"(?<!\d)3[47]\d{{2}}{_GAP}\d{{6}}{_GAP}\d{{5}}(?!\d)",
    ),
    _pii(
        "email",
        "medium",
        "e-mail address",
        r"(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}(?![\w-])",
        "@",
    ),
    _pii(
        "us_phone",
        "medium",
        "North American telephone number",
        r"(?<![\d-])(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?!\d)",
    ),
    _pii(
        "ipv4_public",
        "low",
        "public IPv4 address",
        r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])",
    ),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One match: ``text[start:end]`` of what was scanned."""

    pattern: str
    text: str
    level: Level
    start: int
    end: int
    description: str


class Scanner:
    """Finds a set of patterns in text. Findings do not overlap; the graver one stays."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = tuple(patterns)

    def scan(self, text: str) -> list[Finding]:
        """Return the findings in order of their place."""
        lowered = text.lower()
        found = [
            Finding(p.name, match.group(), p.level, *match.span(), p.description)
            for p in self._patterns
            if p.may_match(lowered)
            for match in p.regex.finditer(text)
            if p.name != "ipv4_public" or _is_public_ipv4(match.group())
        ]
        return _without_overlaps(found)

    def redact(self, text: str) -> str:
        """Return the text with every finding replaced by ``[REDACTED:pattern]``."""
        for finding in reversed(self.scan(text)):
            text = f"{text[: finding.start]}[REDACTED:{finding.pattern}]{text[finding.end :]}"
        return text

    @staticmethod
    def highest(findings: Sequence[Finding]) -> Level | None:
        """Return the gravest level among findings, ``None`` when there are none."""
        return max((f.level for f in findings), key=LEVELS.index, default=None)


class SecretScanner(Scanner):
    """Finds keys, tokens and passwords."""

    def __init__(self) -> None:
        super().__init__(SECRET_PATTERNS)


class PIIScanner(Scanner):
    """Finds personal data."""

    def __init__(self) -> None:
        super().__init__(PII_PATTERNS)


def _is_public_ipv4(text: str) -> bool:
    try:
        return blocked_reason(ip_address(text)) is None
    except ValueError:  # 300.1.1.1, or leading zeros
        return False


def _without_overlaps(findings: list[Finding]) -> list[Finding]:
    """Keep of overlapping findings the graver, then the longer one."""
    findings.sort(key=lambda f: (f.start, -LEVELS.index(f.level), f.start - f.end))
    kept: list[Finding] = []
    for finding in findings:
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
        elif LEVELS.index(finding.level) > LEVELS.index(kept[-1].level):
            kept[-1] = finding
    return kept
