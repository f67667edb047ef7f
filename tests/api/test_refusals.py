"""One walk over the refusals: each has its own stable code, status and row."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.api.callers import caller, code_of
from tools_app.models import Event, PolicyVersion, ToolRun
from tools_app.services.configuration import bump


def frozen(admin):
    admin.post(
        "freezes",
        {
            "scope": "everything",
            "reason": "drill",
            "expires_at": (timezone.now() + timedelta(minutes=1)).isoformat(),
        },
    )
    return admin.execute()


def limited(admin, **maxima):
    admin.post("limits", {"scope": "tool", "target": "calculator", **maxima})
    return admin.execute()


def unreadable(admin):
    PolicyVersion.objects.all().delete()
    bump("policy")
    return admin.execute()


def expensive(admin):
    admin.post("limits", {"scope": "tool", "target": "*", "max_cost_usd": 0})
    return admin.execute()


def inactive(admin):
    admin.patch("agents/main", {"is_active": False}, headers={"If-Match": '"1"'})
    return admin.execute(agent="main")


def not_exposed(admin):
    admin.patch("tools/calculator", {"exposed_on": ["console"]})
    return admin.execute()


REFUSALS = {
    "unknown_tool": (404, lambda admin: admin.execute("nope")),
    "unknown_agent": (404, lambda admin: admin.execute(agent="nobody")),
    "agent_inactive": (403, inactive),
    "not_exposed": (403, not_exposed),
    "denied_by_policy": (403, lambda admin: admin.execute(agent="support")),
    "invalid_arguments": (422, lambda admin: admin.execute(arguments={"expression": 7})),
    "truncated_arguments": (422, lambda admin: admin.execute(arguments='{"expression": "2')),
    "frozen": (423, frozen),
    "rate_limited": (429, lambda admin: limited(admin, max_calls=0)),
    "budget_exceeded": (429, expensive),
    "concurrency_exceeded": (429, lambda admin: limited(admin, max_concurrency=0)),
    "policy_unreadable": (503, unreadable),
}


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_each_refusal_has_its_code_and_is_stored(admin, code):
    status, provoke = REFUSALS[code]
    response = provoke(admin)
    assert (response.status_code, code_of(response)) == (status, code)
    run = ToolRun.objects.get(pk=response.json()["run"])
    assert (run.status, run.outcome) == ("refused", code)
    [event] = Event.objects.filter(run_id=run.pk)
    assert (event.kind, event.data["outcome"]) == ("run.refused", code)
    assert response.json()["type"] == f"/api/docs/problems/#{code}"
    if status in (423, 429):
        assert int(response["Retry-After"]) >= 1


@pytest.mark.parametrize(
    ("fields", "scopes"),
    [
        ({}, ["tools:read"]),
        ({"agent": "coding"}, ["tools:execute"]),
        ({"tools": ["think"]}, ["tools:execute"]),
    ],
)
def test_a_token_that_is_too_narrow_is_told_so(installed, fields, scopes):
    narrow = caller("nina", "operator", scopes=scopes, **fields)
    response = narrow.execute(agent="main" if "agent" in fields else "")
    assert (response.status_code, code_of(response)) == (403, "token_scope")
    assert ToolRun.objects.get(pk=response.json()["run"]).outcome == "token_scope"
