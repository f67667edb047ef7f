"""GET events, and events/stream as a server without ASGI answers it"""

from __future__ import annotations

import pytest

from tests.api.callers import caller, code_of
from tools_app.services.events import latest_seq


def test_the_log_is_read_in_order_and_continued(operator):
    start = latest_seq()
    for _ in range(3):
        operator.execute()
    first = operator.get(f"events?since={start}&limit=2").json()
    assert (len(first["items"]), first["has_more"]) == (2, True)
    rest = operator.get(f"events?since={first['next_since']}").json()
    seqs = [event["seq"] for event in first["items"] + rest["items"]]
    assert seqs == sorted(set(seqs))
    assert (len(seqs), rest["has_more"]) == (3, False)
    nothing = operator.get(f"events?since={rest['next_since']}").json()
    assert (nothing["items"], nothing["next_since"]) == ([], rest["next_since"])


def test_an_event_of_a_run_carries_what_a_live_row_shows(operator):
    start = latest_seq()
    operator.execute(agent="support")
    [event] = operator.get(f"events?since={start}").json()["items"]
    assert event["kind"] == "run.refused"
    shown = event["data"]
    assert (shown["tool"], shown["agent"], shown["outcome"]) == (
        "calculator",
        "support",
        "denied_by_policy",
    )
    assert {"effect", "summary", "decision", "policy_version", "preview", "actor"} <= set(shown)


def test_filters_narrow_the_log(operator):
    start = latest_seq()
    operator.execute()
    operator.execute("think", arguments={"thought": "hm"})
    operator.execute(agent="support")
    assert len(operator.get(f"events?since={start}&tool=think").json()["items"]) == 1
    assert len(operator.get(f"events?since={start}&agent=support").json()["items"]) == 1
    assert len(operator.get(f"events?since={start}&type=run.refused").json()["items"]) == 1
    assert len(operator.get(f"events?since={start}&type=run.*").json()["items"]) == 3
    assert len(operator.get(f"events?since={start}&type=agent,token").json()["items"]) == 0


def test_a_token_sees_no_runs_of_others(operator, installed):
    start = latest_seq()
    operator.execute()
    other = caller("olga", "operator", scopes=["tools:read", "tools:execute"])
    kinds = {event["kind"] for event in other.get(f"events?since={start}").json()["items"]}
    assert not {kind for kind in kinds if kind.startswith("run.")}


@pytest.mark.parametrize(
    "query", ["since=-1", "since=x", f"since={2**63}", "limit=0", "limit=1001", "run=x", "a=b"]
)
def test_a_wrong_parameter_is_refused(operator, query):
    response = operator.get(f"events?{query}")
    assert (response.status_code, code_of(response)) == (422, "invalid_request")


def test_without_asgi_the_stream_ends_and_the_browser_comes_back(operator):
    start = latest_seq()
    operator.execute()
    response = operator.get("events/stream", headers={"Last-Event-ID": str(start)})
    assert response["Content-Type"].startswith("text/event-stream")
    head, first, *_ = response.content.decode().split("\n\n")
    assert head == "retry: 1000"
    assert first.startswith(f"id: {start + 1}\ndata: ")


def test_nobody_and_the_wrong_method_are_refused(nobody, operator):
    assert code_of(nobody.get("events")) == "not_authenticated"
    assert code_of(nobody.get("events/stream")) == "not_authenticated"
    assert code_of(operator.post("events")) == "method_not_allowed"
