"""GET /api/v1/tools, GET and PATCH /api/v1/tools/{name}"""

from __future__ import annotations

import pytest

from tests.api.callers import caller, code_of, set_policy


def names(response) -> list[str]:
    return [tool["name"] for tool in response.json()["items"]]


def test_the_list_holds_what_the_agent_may_use(operator):
    everything = names(operator.get("tools"))
    assert {"calculator", "file_read", "http_request", "think"} <= set(everything)
    assert "calculator" not in names(operator.get("tools?agent=support"))


def test_all_shows_the_others_with_reason_and_fix(operator):
    response = operator.get("tools?agent=support&all=1")
    tool = next(tool for tool in response.json()["items"] if tool["name"] == "calculator")
    assert (tool["callable"], tool["reason"]) == (False, "denied_by_policy")
    assert tool["fix"]
    assert tool["summary"]


def test_what_is_listed_as_callable_can_be_called(operator):
    for agent in ("main", "coding", "support"):
        for tool in operator.get(f"tools?agent={agent}&all=1").json()["items"]:
            if tool["name"] == "calculator":
                status = operator.execute(agent=agent).status_code
                assert (status == 200) == tool["callable"]


def test_a_search_finds_nothing_that_is_denied(operator):
    assert names(operator.get("tools?q=calculator")) == ["calculator"]
    assert names(operator.get("tools?q=calculator&agent=support")) == []


def test_openai_and_prompt_are_the_same_tools(operator):
    listed = names(operator.get("tools?agent=coding"))
    functions = operator.get("tools?agent=coding&format=openai").json()["functions"]
    assert [function["function"]["name"] for function in functions] == listed
    text = operator.get("tools?agent=coding&format=prompt").json()["text"]
    assert all(name in text for name in listed)


def test_pages_follow_each_other(operator):
    listed = names(operator.get("tools"))
    first = operator.get("tools?limit=2").json()
    second = operator.get(f"tools?limit=2&cursor={first['next_cursor']}").json()
    assert [tool["name"] for tool in first["items"] + second["items"]] == listed[:4]
    back = operator.get(f"tools?limit=2&cursor={second['previous_cursor']}").json()
    assert back["items"] == first["items"]


def test_an_unchanged_list_is_not_sent_again(operator):
    first = operator.get("tools?agent=support")
    again = operator.get("tools?agent=support", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    set_policy({"agents": {"list": [{"id": "support", "tools": {"allow": ["think"]}}]}})
    changed = operator.get("tools?agent=support", headers={"If-None-Match": first["ETag"]})
    assert (changed.status_code, names(changed)) == (200, ["think"])


def test_one_tool_is_shown_with_its_schema(operator):
    tool = operator.get("tools/calculator").json()
    assert tool["parameters"]["required"] == ["expression"]
    assert tool["callable"] is True


def test_a_tool_the_caller_may_not_use_is_unknown_to_it(installed):
    narrow = caller("nina", "operator", scopes=["tools:read"], tools=["think"])
    assert narrow.get("tools/think").status_code == 200
    assert code_of(narrow.get("tools/calculator")) == "unknown_tool"


def test_an_admin_switches_a_tool_off_and_on(admin):
    assert admin.patch("tools/calculator", {"is_enabled": False}).json()["callable"] is False
    assert code_of(admin.execute()) == "unknown_tool"
    admin.patch("tools/calculator", {"is_enabled": True})
    assert admin.execute().status_code == 200


def test_a_tool_can_be_made_to_ask(admin):
    shown = admin.patch("tools/calculator", {"confirmation_override": True}).json()
    assert (shown["requires_confirmation"], shown["effect"]) == (True, "ask")
    assert admin.execute().status_code == 202


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"is_enabled": "yes"}, "$.is_enabled"),
        ({"timeout_override": 0}, "$.timeout_override"),
        ({"exposed_on": ["moon"]}, "$.exposed_on"),
        ({"name": "x"}, "$.name"),
    ],
)
def test_a_wrong_change_names_its_field(admin, changes, path):
    response = admin.patch("tools/calculator", changes)
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
    assert response.json()["errors"][0]["path"].startswith(path)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "cursor=zzz", "format=xml", "all=perhaps", "nope=1"]
)
def test_a_wrong_parameter_is_refused(operator, query):
    response = operator.get(f"tools?{query}")
    assert (response.status_code, code_of(response)) == (422, "invalid_request")


def test_an_unknown_agent_has_no_tools(operator):
    assert code_of(operator.get("tools?agent=nobody")) == "unknown_agent"


def test_an_unknown_tool_is_named(operator, admin):
    assert code_of(operator.get("tools/nope")) == "unknown_tool"
    assert code_of(admin.patch("tools/nope", {"note": "x"})) == "unknown_tool"


def test_a_viewer_changes_nothing(viewer):
    response = viewer.patch("tools/calculator", {"note": "x"})
    assert (response.status_code, code_of(response)) == (403, "token_scope")


def test_nobody_sees_nothing(nobody):
    assert code_of(nobody.get("tools")) == "not_authenticated"


def test_other_methods_are_refused(admin):
    assert code_of(admin.post("tools")) == "method_not_allowed"
    assert code_of(admin.delete("tools/calculator")) == "method_not_allowed"
