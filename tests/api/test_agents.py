"""agents: list, create, show, change, delete, effective-tools, prompt"""

from __future__ import annotations

import pytest

from tests.api.callers import caller, code_of

NEW = {"slug": "billing", "name": "Billing", "provider": "openai", "prompt": "Be exact."}


def test_the_sample_agents_are_listed_by_slug(operator):
    page = operator.get("agents").json()
    assert [agent["slug"] for agent in page["items"]] == ["coding", "main", "support"]


def test_an_admin_creates_changes_and_deletes_an_agent(admin):
    made = admin.post("agents", NEW)
    assert (made.status_code, made["ETag"]) == (201, '"1"')
    match = {"If-Match": made["ETag"]}
    changed = admin.patch("agents/billing", {"model": "gpt-5"}, headers=match)
    assert (changed.json()["model"], changed["ETag"]) == ("gpt-5", '"2"')
    assert changed.json()["prompt"] == "Be exact."
    assert admin.delete("agents/billing", headers={"If-Match": '"2"'}).status_code == 204
    assert code_of(admin.get("agents/billing")) == "unknown_agent"


def test_a_change_must_name_its_version(admin):
    response = admin.patch("agents/main", {"name": "x"})
    assert (response.status_code, code_of(response)) == (428, "precondition_required")
    response = admin.delete("agents/main")
    assert (response.status_code, code_of(response)) == (428, "precondition_required")


@pytest.mark.parametrize("tag", ['"7"', "*", 'W/"1"', "nonsense"])
def test_a_change_of_another_version_is_refused(admin, tag):
    response = admin.patch("agents/main", {"name": "x"}, headers={"If-Match": tag})
    assert (response.status_code, code_of(response)) == (412, "precondition_failed")


def test_a_taken_slug_is_a_conflict(admin):
    response = admin.post("agents", {"slug": "main"})
    assert (response.status_code, code_of(response)) == (409, "conflict")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "$.slug"),
        ({"slug": "Not A Slug"}, "$.slug"),
        ({"slug": "ok", "name": ""}, "$.name"),
        ({"slug": "ok", "tools": []}, "$.tools"),
        ({"slug": "ok", "is_active": 1}, "$.is_active"),
    ],
)
def test_a_wrong_field_is_named(admin, body, path):
    response = admin.post("agents", body)
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
    assert path in [error["path"] for error in response.json()["errors"]]


def test_operators_look_and_do_not_change(operator):
    assert operator.get("agents/main").status_code == 200
    response = operator.post("agents", NEW)
    assert (response.status_code, code_of(response)) == (403, "forbidden")


def test_viewers_do_not_change(viewer):
    response = viewer.post("agents", NEW)
    assert (response.status_code, code_of(response)) == (403, "token_scope")


def test_a_token_bound_to_an_agent_sees_no_other(installed):
    bound = caller("bea", "operator", scopes=["tools:read"], agent="coding")
    assert [agent["slug"] for agent in bound.get("agents").json()["items"]] == ["coding"]
    assert code_of(bound.get("agents/main")) == "unknown_agent"


def test_effective_tools_say_why(operator):
    body = operator.get("agents/support/effective-tools").json()
    effects = {tool["name"]: tool["effect"] for tool in body["items"]}
    assert effects["calculator"] == "deny"
    assert all(tool["summary"] for tool in body["items"])
    assert body["policy_version"] >= 1


def test_the_prompt_describes_the_tools_the_agent_may_use(admin):
    admin.post("agents", NEW)
    prompt = admin.get("agents/billing/prompt").json()["prompt"]
    assert prompt.startswith("Be exact.")
    assert "calculator" in prompt
    assert "calculator" not in admin.get("agents/support/prompt").json()["prompt"]


def test_a_missing_agent_is_named(operator):
    for path in ("agents/nope", "agents/nope/effective-tools", "agents/nope/prompt"):
        response = operator.get(path)
        assert (response.status_code, code_of(response)) == (404, "unknown_agent")


def test_nobody_and_the_wrong_method_are_refused(nobody, admin):
    assert code_of(nobody.get("agents")) == "not_authenticated"
    assert code_of(admin.put("agents/main", {})) == "method_not_allowed"
