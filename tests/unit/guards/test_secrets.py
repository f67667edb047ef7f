"""Scanners and the boundary guard."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.core import EventBus, SecurityBlocked
from tools_app.guards.boundary import BoundaryGuard, BoundaryMode
from tools_app.guards.secrets import PIIScanner, Scanner, SecretScanner

KEY = "sk-abcdefghijklmnopqrstuvwxyz1234"


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("call (415) 555-0100", "us_phone"),
        ("call +1 415 555 0100", "us_phone"),
        ("card 5500 0000 0000 0004", "credit_card_mastercard"),
        ("card 2221000000000009", "credit_card_mastercard"),
        ("card 3400 000000 00009", "credit_card_amex"),
        ("card 4111-1111-1111-1111", "credit_card_visa"),
        ("from 8.8.8.8", "ipv4_public"),
        ("a.b+c@mail.example.co.uk!", "email"),
    ],
)
def test_personal_data_is_found(text: str, pattern: str) -> None:
    assert [f.pattern for f in PIIScanner().scan(text)] == [pattern]


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "192.168.1.1",
        "300.1.1.1",
        "version 1.2.3.4.5",
        "2026-03-27",
        "user@localhost",
        "order 41111111111111119999",
        "tel 12-34",
        "@handle",
        "ratio 1.5",
        "1234-56-78901",
    ],
)
def test_other_numbers_and_names_pass(text: str) -> None:
    assert PIIScanner().scan(text) == []


def test_findings_say_where_and_do_not_overlap() -> None:
    text = f"a {KEY} b password={KEY}"
    findings = SecretScanner().scan(text)
    assert [text[f.start : f.end] for f in findings] == [f.text for f in findings]
    assert [f.pattern for f in findings] == ["openai_key", "openai_key"]
    assert Scanner.highest(findings) == "critical"
    assert KEY not in SecretScanner().redact(text)


@given(st.text())
def test_redaction_leaves_nothing_to_find(text: str) -> None:
    for scanner in (SecretScanner(), PIIScanner()):
        redacted = scanner.redact(f"{text} {KEY} a@b.example")
        assert not [f for f in scanner.scan(redacted) if f.text in (KEY, "a@b.example")]


@pytest.mark.parametrize("piece", ["1", "1-", "1.", "a@", "(123) ", "4111 ", "a.b@c.", "@", "1 "])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = (piece * 200_000)[:200_000]
    started = time.process_time()
    PIIScanner().scan(text)
    assert time.process_time() - started < 1.5


ARGUMENTS: dict[str, Any] = {"q": f"use {KEY}", "n": [1, {"mail": "bob@example.com"}], "ok": True}


def test_arguments_are_redacted_value_by_value() -> None:
    bus = EventBus(record_history=True)
    guarded = BoundaryGuard(bus=bus).check_outbound("web_search", ARGUMENTS)
    assert guarded == {
        "q": "use [REDACTED:openai_key]",
        "n": [1, {"mail": "[REDACTED:email]"}],
        "ok": True,
    }
    assert ARGUMENTS["q"] == f"use {KEY}"
    event = bus.history[0]
    assert (event.event_type, event.data["destination"]) == ("security_alert", "web_search")
    assert KEY not in json.dumps(event.data)


def test_arguments_can_be_blocked_or_only_reported() -> None:
    bus = EventBus(record_history=True)
    with pytest.raises(SecurityBlocked, match="email, openai_key"):
        BoundaryGuard(BoundaryMode.BLOCK, bus=bus).check_outbound("web_search", ARGUMENTS)
    warned = BoundaryGuard(BoundaryMode.WARN, bus=bus).check_outbound("web_search", ARGUMENTS)
    assert warned == ARGUMENTS
    assert [e.event_type for e in bus.history] == ["security_block", "security_alert"]


def test_clean_arguments_pass_without_a_word() -> None:
    bus = EventBus(record_history=True)
    clean = {"q": "weather in Bern"}
    assert BoundaryGuard(BoundaryMode.BLOCK, bus=bus).check_outbound("web_search", clean) is clean
    assert bus.history == []
