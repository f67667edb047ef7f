"""GET policy/versions, POST policy/versions/{n}/publish-again, GET agents/{slug}/explain."""

from __future__ import annotations

import pytest

from tests.api.callers import caller, code_of, set_policy
from tools_app.services.policies import current_version


@pytest.fixture
def history(installed) -> list[int]:
    """The numbers of four versions, the newest last."""
    first = current_version().number
    for name in ("exec", "think", "calculator"):
        set_policy({"tools": {"deny": [name]}})
    return list(range(first, first + 4))


def test_versions_are_listed_newest_first_by_cursor(viewer, history):
    page = viewer.get("policy/versions?limit=3").json()
    rest = viewer.get(f"policy/versions?limit=3&cursor={page['next_cursor']}").json()
    listed = [version["number"] for version in page["items"] + rest["items"]]
    assert listed == history[::-1]
    assert "document" not in page["items"][0]
    assert rest["next_cursor"] is None


def test_one_version_has_its_document(viewer, history):
    shown = viewer.get(f"policy/versions/{history[1]}").json()
    assert shown["document"] == {"tools": {"deny": ["exec"]}}
    assert code_of(viewer.get("policy/versions/999")) == "not_found"


def test_an_old_version_is_published_again(admin, history):
    old = admin.get(f"policy/versions/{history[1]}").json()
    tag = admin.get("policy")["ETag"]
    assert code_of(admin.execute(agent="main")) == "denied_by_policy"
    path = f"policy/versions/{history[1]}/publish-again"
    published = admin.post(path, {"comment": "back"}, headers={"If-Match": tag})
    assert published.status_code == 200
    body = published.json()
    assert (body["number"], body["digest"]) == (history[-1] + 1, old["digest"])
    assert published["ETag"] == f'"{body["number"]}"'
    assert admin.execute(agent="main").status_code == 200
    stale = admin.post(path, {}, headers={"If-Match": tag})
    assert (stale.status_code, code_of(stale)) == (412, "precondition_failed")


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        ({}, {}, "precondition_required"),
        ({"document": {}}, {"If-Match": '"1"'}, "invalid_request"),
        ({"comment": "x" * 501}, {"If-Match": '"1"'}, "invalid_request"),
    ],
)
def test_a_wrong_request_publishes_nothing(admin, history, body, headers, code):
    path = f"policy/versions/{history[0]}/publish-again"
    assert code_of(admin.post(path, body, headers=headers)) == code
    assert current_version().number == history[-1]


def test_a_token_that_may_only_write_is_answered(history):
    writer = caller("wanda", "admin", scopes=["policy:write"])
    headers = {"If-Match": f'"{history[-1]}"'}
    response = writer.post(f"policy/versions/{history[0]}/publish-again", {}, headers=headers)
    assert response.status_code == 200
    tag = response["ETag"]
    assert writer.put("policy", {"document": {}}, headers={"If-Match": tag}).status_code == 200


def test_an_explanation_is_the_decision_of_such_a_call(admin, viewer, history):
    refused = admin.execute(agent="support").json()["decision"]
    explained = viewer.get("agents/support/explain?tool=calculator").json()
    assert explained == admin.get(f"decisions/{refused}").json()
    assert explained["explanation"]["layers"]
    other = viewer.get("agents/support/explain?tool=calculator&provider=openai&model=gpt-5").json()
    assert other["subject"]["provider"] == "openai"
    assert other["id"] != explained["id"]


def test_any_spelling_of_a_tool_is_explained_and_unknown_ones_are_answers(viewer, history):
    exact = viewer.get("agents/main/explain?tool=calculator").json()
    assert viewer.get("agents/main/explain?tool=%20Calculator").json() == exact
    assert viewer.get("agents/main/explain?tool=nope").json()["code"] == "not_offered"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("agents/nobody/explain?tool=think", "unknown_agent"),
        ("agents/main/explain", "invalid_request"),
        ("agents/main/explain?tool=think&tol=x", "invalid_request"),
        ("agents/main/explain?tool=%00", "invalid_request"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(viewer, history, path, code):
    assert code_of(viewer.get(path)) == code
