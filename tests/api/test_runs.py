"""GET runs, runs/{id}, runs/{id}/events; POST runs/{id}/cancel, runs/batch"""

from __future__ import annotations

import csv
from io import StringIO
from uuid import uuid4

import orjson
import pytest

from tests.api.callers import Caller, caller, code_of, person
from tools_app.models import ToolRun


def test_runs_are_listed_newest_first_in_pages(operator):
    made = [operator.execute().json()["run"]["id"] for _ in range(5)]
    first = operator.get("runs?limit=2").json()
    second = operator.get(f"runs?limit=2&cursor={first['next_cursor']}").json()
    assert [run["id"] for run in first["items"] + second["items"]] == made[::-1][:4]
    assert first["previous_cursor"] is None


def test_a_refused_call_is_a_run_too(operator):
    operator.execute(agent="support")
    [run] = operator.get("runs?outcome=denied_by_policy").json()["items"]
    assert (run["status"], run["effect"], run["agent"]) == ("refused", "deny", "support")


def test_filters_narrow_the_list(operator):
    operator.execute(agent="main")
    operator.execute("think", arguments={"thought": "hm"})
    assert len(operator.get("runs?tool=think").json()["items"]) == 1
    assert len(operator.get("runs?agent=main").json()["items"]) == 1
    assert len(operator.get("runs?status=failed").json()["items"]) == 0
    key = operator.token.split("_")[1]
    assert len(operator.get(f"runs?token_key={key}").json()["items"]) == 2
    assert operator.get("runs?since=2999-01-01T00:00:00Z").json()["items"] == []


def test_a_token_sees_its_own_runs_and_a_user_all(operator, installed):
    run = operator.execute().json()["run"]["id"]
    other = caller("olga", "operator", scopes=["tools:read", "tools:execute"])
    assert other.get("runs").json()["items"] == []
    assert code_of(other.get(f"runs/{run}")) == "not_found"
    assert len(Caller(user=person("vito", "viewer")).get("runs").json()["items"]) == 1


def test_one_run_shows_result_and_decision(operator):
    made = operator.execute().json()["run"]["id"]
    run = operator.get(f"runs/{made}").json()
    assert run["result"]["content"] == "4"
    assert run["decided"]["effect"] == "allow"
    assert run["approval"] is None


def test_the_events_of_a_run_tell_its_story(operator):
    made = operator.execute(headers={"Prefer": "respond-async"}).json()["run"]["id"]
    operator.post(f"runs/{made}/cancel", {"reason": "changed my mind"})
    events = operator.get(f"runs/{made}/events").json()
    kinds = [event["kind"] for event in events["items"]]
    assert (kinds[0], kinds[-1]) == ("run.queued", "run.finished")
    assert events["has_more"] is False


def test_a_queued_run_is_cancelled_once(operator):
    made = operator.execute(headers={"Prefer": "respond-async"}).json()["run"]["id"]
    response = operator.post(f"runs/{made}/cancel")
    assert (response.status_code, response.json()["status"]) == (200, "cancelled")
    again = operator.post(f"runs/{made}/cancel")
    assert (again.status_code, code_of(again)) == (409, "conflict")


def test_a_stranger_cancels_nothing(operator, viewer):
    made = operator.execute(headers={"Prefer": "respond-async"}).json()["run"]["id"]
    assert code_of(viewer.post(f"runs/{made}/cancel")) == "token_scope"
    other = caller("olga", "operator", scopes=["tools:execute"])
    assert code_of(other.post(f"runs/{made}/cancel")) == "not_found"


def test_waiting_for_a_finished_run_answers_at_once(operator):
    made = operator.execute().json()["run"]["id"]
    assert operator.get(f"runs/{made}?wait=60").json()["status"] == "succeeded"


def test_csv_holds_every_run_and_no_formula(operator):
    operator.execute(session="=1+1")
    operator.execute()
    response = operator.get("runs?format=csv")
    assert response["Content-Disposition"] == 'attachment; filename="runs.csv"'
    rows = list(csv.DictReader(StringIO(b"".join(response.streaming_content).decode())))
    assert [row["session"] for row in rows] == ["", "'=1+1"]
    assert {row["tool"] for row in rows} == {"calculator"}


def test_ndjson_holds_one_run_per_line(operator):
    made = [operator.execute().json()["run"]["id"] for _ in range(3)]
    response = operator.get("runs?format=ndjson&limit=1")
    lines = b"".join(response.streaming_content).splitlines()
    assert [orjson.loads(line)["id"] for line in lines] == made[::-1]


def test_an_empty_export_has_only_its_head(operator):
    body = b"".join(operator.get("runs?format=csv").streaming_content).decode()
    assert len(body.splitlines()) == 1


def test_each_call_of_a_batch_has_its_own_outcome(operator):
    calls = [
        {"tool": "calculator", "arguments": {"expression": "6*7"}},
        {"tool": "calculator", "arguments": {}},
        {"tool": "calculator", "agent": "support", "arguments": {"expression": "1"}},
        {"tool": "nope"},
    ]
    outcomes = operator.post("runs/batch", {"calls": calls}).json()["outcomes"]
    assert [outcome["status"] for outcome in outcomes] == [200, 422, 403, 404]
    assert outcomes[0]["body"]["result"]["content"] == "42"
    codes = [outcome["body"]["code"] for outcome in outcomes[1:]]
    assert codes == ["invalid_arguments", "denied_by_policy", "unknown_tool"]
    assert ToolRun.objects.count() == 4


@pytest.mark.parametrize("count", [0, 51])
def test_a_batch_has_limits(operator, count):
    response = operator.post("runs/batch", {"calls": [{"tool": "think"}] * count})
    assert (response.status_code, code_of(response)) == (422, "invalid_request")


def test_a_batch_of_fifty_is_taken(operator):
    call = {"tool": "calculator", "arguments": {"expression": "1+1"}}
    outcomes = operator.post("runs/batch", {"calls": [call] * 50}).json()["outcomes"]
    assert {outcome["status"] for outcome in outcomes} == {200}


@pytest.mark.parametrize(
    "query", ["status=done", "since=yesterday", "limit=201", "cursor=bm9uZQ", "agnet=main"]
)
def test_a_wrong_parameter_is_refused(operator, query):
    response = operator.get(f"runs?{query}")
    assert (response.status_code, code_of(response)) == (422, "invalid_request")


def test_a_missing_run_is_not_found(operator):
    for path in (f"runs/{uuid4()}", f"runs/{uuid4()}/events"):
        assert code_of(operator.get(path)) == "not_found"
    assert code_of(operator.post(f"runs/{uuid4()}/cancel")) == "not_found"
    assert operator.get("runs/not-an-id").status_code == 404


def test_nobody_and_the_wrong_method_are_refused(nobody, operator):
    assert code_of(nobody.get("runs")) == "not_authenticated"
    assert code_of(nobody.post("runs/batch", {"calls": []})) == "not_authenticated"
    assert code_of(operator.post("runs")) == "method_not_allowed"
    assert code_of(operator.get("runs/batch")) == "method_not_allowed"


def test_head_answers_like_get_without_a_body(operator):
    response = operator.call("HEAD", "runs")
    assert (response.status_code, response.content) == (200, b"")
