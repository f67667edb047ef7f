"""GET and PUT policy, POST policy/check, GET decisions/{id}"""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.api.callers import caller, code_of
from tools_app.models import PolicyVersion
from tools_app.services.configuration import bump
from tools_app.services.policies import current_version

ALLOW = {"agents": {"list": [{"id": "support", "tools": {"allow": ["calculator"]}}]}}
SHADOWED = {"tools": {"allow": ["calculator"], "deny": ["*"]}}


def test_a_damaged_policy_is_told_everywhere_and_mended_by_publishing_it_again(admin):
    document = admin.get("policy").json()["document"]
    number = current_version().number
    PolicyVersion.objects.filter(number=number).update(document=[1, 2])
    bump("policy")
    for path in ("policy", "tools", "agents", "agents/main", "agents/main/effective-tools"):
        answer = admin.get(path)
        assert (answer.status_code, code_of(answer)) == (503, "policy_unreadable"), path
    assert code_of(admin.post("policy/check", {"document": {}})) == "policy_unreadable"
    assert code_of(admin.execute()) == "policy_unreadable"
    assert admin.get("/readyz").status_code == 503
    mended = admin.put("policy", {"document": document}, headers={"If-Match": f'"{number}"'})
    assert (mended.status_code, mended.json()["number"]) == (200, number + 1)
    assert admin.get("/readyz").status_code == 200


def test_the_policy_in_force_has_its_number_as_etag(viewer):
    response = viewer.get("policy")
    assert response["ETag"] == f'"{response.json()["number"]}"'
    again = viewer.get("policy", headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_publishing_changes_what_agents_may_do(admin):
    tag = admin.get("policy")["ETag"]
    assert code_of(admin.execute(agent="support")) == "denied_by_policy"
    body = {"document": ALLOW, "comment": "support counts"}
    published = admin.put("policy", body, headers={"If-Match": tag})
    assert published.status_code == 200
    assert published.json()["comment"] == "support counts"
    assert published["ETag"] != tag
    assert admin.execute(agent="support").json()["result"]["content"] == "4"


def test_publishing_needs_the_version_it_is_based_on(admin):
    response = admin.put("policy", {"document": ALLOW})
    assert (response.status_code, code_of(response)) == (428, "precondition_required")


def test_publishing_over_somebody_else_is_refused(admin):
    tag = admin.get("policy")["ETag"]
    admin.put("policy", {"document": ALLOW}, headers={"If-Match": tag})
    response = admin.put("policy", {"document": {}}, headers={"If-Match": tag})
    assert (response.status_code, code_of(response)) == (412, "precondition_failed")
    assert admin.get("policy").json()["document"] == ALLOW


def test_an_invalid_document_is_refused_with_its_places(admin):
    tag = admin.get("policy")["ETag"]
    body = {"document": {"tools": {"allow": "calculator"}}}
    response = admin.put("policy", body, headers={"If-Match": tag})
    assert (response.status_code, code_of(response)) == (422, "policy_invalid")
    assert response.json()["errors"][0]["path"]


def test_warnings_come_with_the_answer(admin):
    tag = admin.get("policy")["ETag"]
    body = admin.put("policy", {"document": SHADOWED}, headers={"If-Match": tag}).json()
    assert "allow_shadowed_by_deny" in [warning["code"] for warning in body["warnings"]]


def test_a_check_stores_nothing_and_shows_the_difference(viewer):
    before = viewer.get("policy").json()["number"]
    checked = viewer.post("policy/check", {"document": ALLOW}).json()
    assert checked["is_valid"] is True
    [change] = [change for change in checked["changes"] if change["agent"] == "support"]
    assert "calculator" in change["added"]
    assert viewer.get("policy").json()["number"] == before


@pytest.mark.parametrize("document", [None, [], "text", {"tools": 1}])
def test_a_check_of_nonsense_is_an_answer(viewer, document):
    response = viewer.post("policy/check", {"document": document})
    assert response.status_code == 200
    assert response.json()["is_valid"] is False
    assert response.json()["errors"]


@pytest.mark.parametrize("body", [{}, {"document": []}, {"document": {}, "note": "x"}])
def test_a_wrong_body_is_refused(admin, body):
    response = admin.put("policy", body, headers={"If-Match": '"1"'})
    assert (response.status_code, code_of(response)) == (422, "invalid_request")


def test_only_who_may_write_publishes(operator, nobody):
    response = operator.put("policy", {"document": ALLOW}, headers={"If-Match": '"1"'})
    assert (response.status_code, code_of(response)) == (403, "token_scope")
    assert code_of(nobody.get("policy")) == "not_authenticated"
    assert code_of(nobody.post("policy/check", {"document": {}})) == "not_authenticated"
    assert code_of(operator.delete("policy")) == "method_not_allowed"


def test_a_decision_explains_itself_layer_by_layer(operator):
    decision = operator.execute().json()["decision"]["id"]
    shown = operator.get(f"decisions/{decision}").json()
    assert shown["tool"] == "calculator"
    assert shown["explanation"]["decision"]["effect"] == "allow"
    assert isinstance(shown["explanation"]["layers"], list)


def test_a_decision_is_for_its_caller_and_for_readers_of_the_policy(installed, operator):
    runner = caller("rita", "operator", scopes=["tools:execute"])
    other = caller("olga", "operator", scopes=["tools:execute"])
    decision = runner.execute().json()["decision"]["id"]
    assert runner.get(f"decisions/{decision}").status_code == 200
    assert code_of(other.get(f"decisions/{decision}")) == "not_found"
    assert code_of(operator.get(f"decisions/{uuid4()}")) == "not_found"
