"""limits: list, create, show, delete"""

from __future__ import annotations

import pytest

from tests.api.callers import code_of

TWO_CALLS = {"scope": "agent", "target": "main", "window_s": 3600, "max_calls": 2}


def test_a_rate_is_enforced_and_says_when_to_come_back(admin):
    assert admin.post("limits", TWO_CALLS).status_code == 201
    assert [admin.execute(agent="main").status_code for _ in range(3)] == [200, 200, 429]
    refused = admin.execute(agent="main")
    assert code_of(refused) == "rate_limited"
    assert 0 < int(refused["Retry-After"]) <= 3600
    assert admin.execute(agent="coding").status_code == 200


def test_a_limit_that_is_deleted_counts_no_more(admin):
    limit = admin.post("limits", {**TWO_CALLS, "max_calls": 0}).json()
    assert code_of(admin.execute(agent="main")) == "rate_limited"
    assert admin.delete(f"limits/{limit['id']}").status_code == 204
    assert admin.execute(agent="main").status_code == 200
    assert code_of(admin.get(f"limits/{limit['id']}")) == "not_found"


def test_a_window_has_one_limit(admin, viewer):
    limit = admin.post("limits", TWO_CALLS).json()
    again = admin.post("limits", TWO_CALLS)
    assert (again.status_code, code_of(again)) == (409, "conflict")
    assert viewer.get("limits").json()["items"] == [limit]
    assert viewer.get(f"limits/{limit['id']}").json() == limit


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"scope": "moon"}, "$.scope"),
        ({"window_s": 0}, "$.window_s"),
        ({"max_calls": None}, "$.max_calls"),
        ({"max_calls": 2**40}, "$.max_calls"),
        ({"max_cost_usd": -1}, "$.max_cost_usd"),
        ({"per": "day"}, "$.per"),
    ],
)
def test_a_wrong_field_is_named(admin, fields, path):
    response = admin.post("limits", {**TWO_CALLS, **fields})
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
    assert path in [error["path"] for error in response.json()["errors"]]


def test_only_admins_set_limits(operator, nobody, admin):
    assert code_of(operator.post("limits", TWO_CALLS)) == "token_scope"
    assert code_of(operator.delete("limits/1")) == "token_scope"
    assert code_of(nobody.get("limits")) == "not_authenticated"
    assert code_of(admin.delete("limits/999999")) == "not_found"
    assert code_of(admin.put("limits", {})) == "method_not_allowed"
