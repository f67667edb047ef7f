"""POST /api/v1/tools/{name}/execute"""

from __future__ import annotations

import pytest

from tests.api.callers import Caller, caller, code_of, person, set_policy
from tools_app.models import Event, RunStatus, ToolRun

URL = "tools/calculator/execute"


def test_a_tool_runs_and_answers_with_run_result_and_decision(operator):
    response = operator.execute()
    assert response.status_code == 200
    body = response.json()
    assert body["result"]["content"] == "4"
    assert body["result"]["success"] is True
    assert body["run"]["status"] == "succeeded"
    assert body["decision"]["effect"] == "allow"
    run = ToolRun.objects.get(pk=body["run"]["id"])
    assert run.status == RunStatus.SUCCEEDED
    assert Event.objects.filter(run_id=run.pk, kind="run.finished").count() == 1


def test_arguments_may_be_json_text(operator):
    response = operator.execute(arguments='{"expression": "6*7"}')
    assert response.json()["result"]["content"] == "42"


def test_a_failing_tool_is_a_result(operator):
    response = operator.execute(arguments={"expression": "1/0"})
    assert response.status_code == 200
    assert response.json()["result"]["success"] is False
    assert response.json()["run"]["status"] == "failed"


def test_policy_denies_with_decision_and_fix_and_the_attempt_is_stored(operator):
    response = operator.execute(agent="support")
    assert (response.status_code, code_of(response)) == (403, "denied_by_policy")
    body = response.json()
    assert body["fix"]
    decision = operator.get(f"decisions/{body['decision']}").json()
    assert (decision["effect"], decision["tool"]) == ("deny", "calculator")
    assert ToolRun.objects.get(pk=body["run"]).outcome == "denied_by_policy"


def test_a_changed_policy_is_in_force_for_the_next_call(operator):
    set_policy({"agents": {"list": [{"id": "support", "tools": {"allow": ["calculator"]}}]}})
    assert operator.execute(agent="support").json()["result"]["content"] == "4"


def test_a_dry_run_runs_and_stores_nothing(operator):
    body = operator.execute(dry_run=True).json()
    assert body["run"] is None
    assert body["result"] is None
    assert body["dry_run"]["effect"] == "allow"
    assert body["dry_run"]["arguments"] == {"expression": "2+2"}
    assert not ToolRun.objects.exists()


def test_a_retry_with_the_same_key_gets_the_first_answer(operator):
    headers = {"Idempotency-Key": "order-17"}
    first = operator.execute(headers=headers)
    second = operator.execute(headers=headers)
    assert "Idempotency-Replayed" not in first
    assert second["Idempotency-Replayed"] == "true"
    assert first.json()["run"]["id"] == second.json()["run"]["id"]
    assert first.json()["result"]["content"] == second.json()["result"]["content"] == "4"
    assert ToolRun.objects.count() == 1


def test_a_refusal_is_repeated_for_the_same_key_too(operator):
    headers = {"Idempotency-Key": "order-18"}
    first = operator.execute(agent="support", headers=headers)
    second = operator.execute(agent="support", headers=headers)
    assert second["Idempotency-Replayed"] == "true"
    assert first.json()["run"] == second.json()["run"]


def test_the_same_key_for_another_request_is_a_conflict(operator):
    operator.execute(headers={"Idempotency-Key": "k"})
    response = operator.execute(arguments={"expression": "1"}, headers={"Idempotency-Key": "k"})
    assert (response.status_code, code_of(response)) == (422, "idempotency_conflict")


def test_respond_async_is_accepted_at_once(operator):
    response = operator.execute(headers={"Prefer": "respond-async"})
    assert response.status_code == 202
    assert response["Preference-Applied"] == "respond-async"
    run = response.json()["run"]
    assert run["status"] == "queued"
    assert response["Location"] == f"/api/v1/runs/{run['id']}"


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_other_methods_are_named(operator, method):
    response = operator.call(method, URL)
    assert (response.status_code, code_of(response)) == (405, "method_not_allowed")


def test_options_names_the_methods(operator):
    response = operator.call("OPTIONS", URL)
    assert (response.status_code, response["Allow"]) == (204, "POST, OPTIONS")


def test_without_credentials_the_answer_says_how(nobody):
    response = nobody.execute()
    assert (response.status_code, code_of(response)) == (401, "not_authenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer ojw_aa_bb", "Basic YTpi", "Bearer "])
def test_a_wrong_credential_is_not_taken_for_nobody(operator, header):
    operator.client.force_login(person("sina", "admin"))
    response = operator.post(URL, headers={"Authorization": header})
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_a_session_needs_its_csrf_token(installed):
    user = person("cora", "operator")
    response = Caller(user=user, csrf=True).execute()
    assert (response.status_code, code_of(response)) == (403, "permission_denied")
    assert Caller(user=user).execute().status_code == 200


def test_a_token_without_the_scope_is_refused_and_recorded(viewer):
    response = viewer.execute()
    assert (response.status_code, code_of(response)) == (403, "token_scope")


def test_a_token_bound_to_an_agent_acts_for_no_other(installed):
    bound = caller("bea", "operator", scopes=["tools:execute"], agent="coding")
    assert bound.execute().json()["run"]["agent"] == "coding"
    assert code_of(bound.execute(agent="main")) == "token_scope"


def test_a_token_for_some_tools_runs_no_other(installed):
    narrow = caller("nina", "operator", scopes=["tools:execute"], tools=["think"])
    assert code_of(narrow.execute()) == "token_scope"
    assert narrow.execute("think", arguments={"thought": "hm"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], "$"),
        ("text", "$"),
        ({"arguments": 1}, "$.arguments"),
        ({"arguments": None}, "$.arguments"),
        ({"argument": {}}, "$.argument"),
        ({"dry_run": "yes"}, "$.dry_run"),
        ({"agent": 1}, "$.agent"),
        ({"timeout_seconds": -1}, "$.timeout_seconds"),
        ({"timeout_seconds": True}, "$.timeout_seconds"),
        ({"session": "x" * 201}, "$.session"),
    ],
)
def test_a_wrong_envelope_names_the_field(operator, body, path):
    response = operator.post(URL, body)
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
    assert path in [error["path"] for error in response.json()["errors"]]


@pytest.mark.parametrize(
    "body",
    [
        b" ",
        b"{",
        b'{"arguments": NaN}',
        b'{"agent": "a", "agent": "b"}',
        b"\xff",
        b"[" * 5000,
        b'{"agent": "\\u0000"}',
        b'{"agent": "\\ud800"}',
    ],
)
def test_malformed_json_is_refused_with_its_place(operator, body):
    response = operator.call("POST", URL, body)
    assert (response.status_code, code_of(response)) == (400, "malformed_json")


def test_only_json_is_read(operator):
    response = operator.call("POST", URL, b"a=1", content_type="text/plain")
    assert (response.status_code, code_of(response)) == (415, "unsupported_media_type")


def test_arguments_that_break_the_schema_are_named(operator):
    response = operator.execute(arguments={})
    assert (response.status_code, code_of(response)) == (422, "invalid_arguments")
    assert response.json()["errors"]


def test_an_unknown_tool_and_an_unknown_agent_differ(operator):
    unknown = operator.execute("nope", arguments={})
    assert (unknown.status_code, code_of(unknown)) == (404, "unknown_tool")
    stranger = operator.execute(agent="nobody")
    assert (stranger.status_code, code_of(stranger)) == (404, "unknown_agent")


def test_an_idempotency_key_must_be_printable(operator):
    response = operator.execute(headers={"Idempotency-Key": "a b"})
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
