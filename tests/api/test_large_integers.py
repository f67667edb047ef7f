"""Integers of more than 64 bits are legal JSON: they are taken or refused, and break nothing."""

from __future__ import annotations

import pytest

from tests.api.callers import code_of
from tools_app.services.policies import current_version

LARGE = 10**400


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, LARGE])
def test_a_call_with_a_large_integer_is_shown_in_every_list(admin, number):
    answer = admin.execute(arguments={"expression": "1", "extra": number})
    run = answer.json()["run"]
    run_id = run["id"] if isinstance(run, dict) else run
    for path in ("runs", f"runs/{run_id}", f"runs/{run_id}/events", "events"):
        assert admin.get(path).status_code == 200, path
    assert admin.get("runs").json()["items"][0]["arguments"]["extra"] == number
    for form in ("csv", "ndjson"):
        exported = b"".join(admin.get(f"runs?format={form}").streaming_content)
        assert str(number).encode() in exported


def test_a_policy_with_a_large_integer_is_shown_as_it_was_published(admin):
    document = {"agents": {"defaults": {"subagents": {"maxSpawnDepth": LARGE}}}}
    tag = f'"{current_version().number}"'
    answer = admin.put("policy", {"document": document}, headers={"If-Match": tag})
    assert answer.status_code == 200, answer.content
    assert admin.get("policy").json()["document"] == document
    assert admin.get("tools?session=agent:main:subagent:x").status_code == 200


def test_a_timeout_or_a_maximum_that_is_too_large_is_refused(admin):
    answers = [
        admin.execute(timeout_seconds=LARGE),
        admin.post("limits", {"scope": "tool", "target": "*", "max_calls": LARGE}),
        admin.post("limits", {"scope": "tool", "target": "*", "max_concurrency": LARGE}),
    ]
    assert [(a.status_code, code_of(a)) for a in answers] == [(422, "invalid_request")] * 3
