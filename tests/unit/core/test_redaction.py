"""Masking: what must be masked, what must pass, and how fast."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.core import CapabilityPolicy, InvalidSetting, is_secret_name, redact, redact_text

SECRET_NAMES = [
    "password",
    "passwd",
    "PWD",
    "api_key",
    "apiKey",
    "API-Key",
    "x-api-key",
    "X-Auth-Token",
    "token",
    "access_token",
    "refreshToken",
    "client_secret",
    "clientSecret",
    "Authorization",
    "Proxy-Authorization",
    "cookie",
    "Set-Cookie",
    "private_key",
    "AWS_SECRET_ACCESS_KEY",
    "db_password",
    "passwordHash",
    "credentials",
    "ssh_key",
    "passphrase",
    "OPENAI_API_KEY",
    "secret",
    "secrets",
    "signing-key",
    "session_key",
]
HARMLESS_NAMES = [
    "max_tokens",
    "token_count",
    "tokens",
    "total_tokens",
    "author",
    "authors",
    "keyboard",
    "primary_key",
    "key",
    "keys",
    "token_type",
    "tokenizer",
    "secretary",
    "next_page_token",
    "nextPageToken",
    "password_length",
    "secret_name",
    "monkey",
    "turkey",
    "path",
    "url",
    "expression",
    "cookie_policy",
    "sort_key",
    "authority",
    "passing",
    "session_id",
]

SECRET_TEXTS = [
    "sk-abcdefghijklmnopqrstuvwxyz1234",
    "sk-proj-abcdefghijklmnop_qrstuv-wxyz",
    "sk-ant-api03-abcdefghijklmnopqrstuvwxyz",
    "AKIAIOSFODNN7EXAMPLE",
    "ojw_0123456789ab_" + "a1" * 20,
    "ghp_" + "a1" * 18,
    "github_pat_" + "a1" * 15,
    "sk_live_" + "a1" * 10,
    "xoxb-123456789012-abcdefABCDEF",
    "AIza" + "a" * 35,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "postgres://user:hunter22@db.example/app",
    "https://user:hunter22@example.com/x",
    "Authorization: Bearer abc123def456ghi789",
    "Authorization: Basic dXNlcjpodW50ZXIyMg==",
    "password = hunter22",
    'PASSWORD: "correct horse"',
    "api_key=abcdefghijklmnop1234",
    '"access_token": "abcdefghijklmnop1234"',
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n" + "B" * 64,
]
HARMLESS_TEXTS = [
    "the token is refreshed daily",
    "basic understanding of authentication",
    "bearer of good news everywhere",
    "password: yes",
    "max_tokens=4096",
    "see https://example.com/a:b@c",
    "git commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "skill-based-matching-of-all-the-players",
    "task-force",
    "key = value",
    "-----BEGIN CERTIFICATE-----",
    "",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_values_of_secret_names_are_masked(name: str) -> None:
    assert is_secret_name(name)
    assert redact({name: "x"}) == {name: "[REDACTED]"}


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_values_of_other_names_pass(name: str) -> None:
    assert not is_secret_name(name)
    assert redact({name: "x"}) == {name: "x"}


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_secrets_are_masked_wherever_they_stand(text: str) -> None:
    masked = redact_text(f"before {text} after")
    assert "[REDACTED:" in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert not any(
        part in masked for part in ("hunter22", "correct horse", "MIIEow", "AAAA", "a1a1")
    )


@pytest.mark.parametrize("text", HARMLESS_TEXTS)
def test_other_text_passes(text: str) -> None:
    assert redact_text(text) == text


def test_a_whole_secret_value_is_masked_and_its_shape_stays() -> None:
    value = {"credentials": {"user": "u", "pin": 1234, "active": True, "old": None, "all": ["a"]}}
    assert redact(value) == {
        "credentials": {
            "user": "[REDACTED]",
            "pin": "[REDACTED]",
            "active": True,
            "old": None,
            "all": ["[REDACTED]"],
        }
    }


def test_named_pairs_are_masked() -> None:
    headers = [{"name": "Authorization", "value": "x"}, {"name": "Accept", "value": "x"}]
    assert redact(headers) == [
        {"name": "Authorization", "value": "[REDACTED]"},
        {"name": "Accept", "value": "x"},
    ]


def test_a_secret_key_of_an_object_is_masked() -> None:
    assert list(redact({SECRET_TEXTS[0]: 1})) == ["[REDACTED:openai_key]"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda c: st.lists(c) | st.dictionaries(st.text() | st.sampled_from(SECRET_NAMES), c),
        max_leaves=20,
    )
)
def test_masking_keeps_json_json_and_is_idempotent(value: Any) -> None:
    once = redact(value)
    assert type(once) is type(value)
    json.dumps(once)
    assert redact(once) == once


@given(st.sampled_from(SECRET_TEXTS[:6]), st.text(max_size=50), st.text(max_size=50))
def test_a_key_never_survives_its_surroundings(secret: str, before: str, after: str) -> None:
    assert secret not in redact_text(f"{before} {secret} {after}")


@pytest.mark.parametrize(
    "piece",
    """
    a sk- eyJ eyJa. http:// -----BEGIN_PRIVATE_KEY----- token=_ bearer_ password_ a@ -----
    postgres://a: AKIA api_key_ \\ basic_a
    """.split(),  # noqa: SIM905 - reads better than a list
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = (piece.replace("_", " ") * 300_000)[:300_000]
    started = time.process_time()
    redact_text(text)
    assert time.process_time() - started < 1.5


def test_a_capability_file_that_cannot_be_used_is_an_error(tmp_path: Any) -> None:
    path = tmp_path / "capabilities.json"
    with pytest.raises(InvalidSetting):
        CapabilityPolicy.from_file(path)
    for text in ("{", "[]", '{"agents": [{"grants": []}]}', '{"agents": [3]}'):
        path.write_text(text)
        with pytest.raises(InvalidSetting):
            CapabilityPolicy.from_file(path)
    path.write_text(
        json.dumps(
            {
                "agents": [
                    {
                        "agent_id": "a",
                        "grants": [{"capability": "file:*", "pattern": "file_*"}],
                        "deny": ["file:write"],
                    }
                ]
            }
        )
    )
    policy = CapabilityPolicy.from_file(path, default_deny=True)
    assert policy.check("a", "file:read", "file_read")
    assert not policy.check("a", "file:read", "other")
    assert not policy.check("a", "file:write", "file_write")
    assert not policy.check("b", "file:read", "file_read")
