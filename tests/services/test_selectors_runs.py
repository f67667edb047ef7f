"""Lists of runs, one run, its timeline, exports, decisions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.builders import (
    make_actor,
    make_agent,
    make_run,
    make_token,
    make_token_actor,
    make_tool,
    make_user,
    publish_policy,
)
from tools_app.models import Event, ToolRun
from tools_app.selectors.decisions import decision_detail
from tools_app.selectors.runs import (
    RunFilters,
    export_runs,
    list_runs,
    run_detail,
    run_timeline,
)
from tools_app.services import policies
from tools_app.services.access import SYSTEM, actor_for_token
from tools_app.services.errors import Forbidden, InvalidRequest, NotFound, TokenScope
from tools_app.services.events import record_event

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def listed(filters: RunFilters | None = None, actor=SYSTEM) -> set[str]:
    return {run.actor for run in list_runs(filters or RunFilters(), actor, limit=200).items}


def test_runs_come_newest_first_and_page_by_page_in_both_directions() -> None:
    runs = [make_run(requested_at=NOON + timedelta(minutes=n)) for n in range(7)]
    newest_first = [run.pk for run in reversed(runs)]
    first = list_runs(RunFilters(), SYSTEM, limit=3)
    second = list_runs(RunFilters(), SYSTEM, limit=3, cursor=first.next_cursor)
    third = list_runs(RunFilters(), SYSTEM, limit=3, cursor=second.next_cursor)
    pages = [[run.pk for run in page.items] for page in (first, second, third)]
    assert pages == [newest_first[:3], newest_first[3:6], newest_first[6:]]
    assert (first.previous_cursor, third.next_cursor) == (None, None)
    back = list_runs(RunFilters(), SYSTEM, limit=3, cursor=third.previous_cursor)
    assert [run.pk for run in back.items] == newest_first[3:6]
    start = list_runs(RunFilters(), SYSTEM, limit=3, cursor=back.previous_cursor)
    assert [run.pk for run in start.items] == newest_first[:3]
    assert start.previous_cursor is None


def test_runs_that_come_in_meanwhile_shift_no_page() -> None:
    runs = [make_run(requested_at=NOON + timedelta(minutes=n)) for n in range(4)]
    first = list_runs(RunFilters(), SYSTEM, limit=2)
    make_run(requested_at=NOON + timedelta(hours=1))
    second = list_runs(RunFilters(), SYSTEM, limit=2, cursor=first.next_cursor)
    assert [run.pk for run in second.items] == [runs[1].pk, runs[0].pk]


@pytest.mark.parametrize("cursor", ["x", "", "!!!", "bm5vcGU", "n", "ü", "cA", "a" * 400])
def test_a_cursor_that_is_none_is_refused(cursor: str) -> None:
    make_run()
    if not cursor:
        assert len(list_runs(RunFilters(), SYSTEM, cursor=cursor).items) == 1
        return
    with pytest.raises(InvalidRequest):
        list_runs(RunFilters(), SYSTEM, cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_page_has_its_limits(limit: int) -> None:
    with pytest.raises(InvalidRequest):
        list_runs(RunFilters(), SYSTEM, limit=limit)


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (RunFilters(), {"a", "b", "c"}),
        (RunFilters(agent="support"), {"b"}),
        (RunFilters(tool="think"), {"a"}),
        (RunFilters(status="refused"), {"c"}),
        (RunFilters(outcome="denied_by_policy"), {"c"}),
        (RunFilters(effect="ask"), {"b"}),
        (RunFilters(q="THIN"), {"a"}),
        (RunFilters(q="session-9"), {"b"}),
        (RunFilters(q="100%"), set()),
        (RunFilters(since=NOON + timedelta(minutes=1)), {"b", "c"}),
        (RunFilters(until=NOON + timedelta(minutes=1)), {"a"}),
        (RunFilters(since=NOON, until=NOON + timedelta(minutes=2)), {"a", "b"}),
        (RunFilters(agent="main", status="refused"), {"c"}),
        (RunFilters(agent="nobody"), set()),
    ],
)
def test_filters_narrow_the_list(filters: RunFilters, wanted: set[str]) -> None:
    make_run(actor="a", tool_name="think", requested_at=NOON)
    make_run(
        actor="b", agent="support", effect="ask", session="session-9",
        requested_at=NOON + timedelta(minutes=1),
    )  # fmt: skip
    make_run(
        actor="c", status="refused", outcome="denied_by_policy", effect="deny",
        requested_at=NOON + timedelta(minutes=2),
    )  # fmt: skip
    assert listed(filters) == wanted


def test_a_run_is_found_by_its_id_and_by_its_token() -> None:
    token = make_token().token
    run = make_run(actor="a", token=token)
    make_run(actor="b")
    assert listed(RunFilters(q=str(run.pk))) == {"a"}
    assert listed(RunFilters(q=run.pk.hex)) == {"a"}
    assert listed(RunFilters(token=token.key_id)) == {"a"}


def test_who_sees_which_runs() -> None:
    make_agent("support")
    owner = make_user("anna", "operator")
    mine, sibling = (make_token(owner, scopes=["tools:read"]).token for _ in range(2))
    bound = make_token(owner, scopes=["tools:read"], agent="support").token
    make_run(actor="mine", token=mine)
    make_run(actor="sibling", token=sibling)
    make_run(actor="support", agent="support")
    everything = {"mine", "sibling", "support"}
    assert listed(actor=make_actor("vera", "viewer")) == everything
    assert listed(actor=make_actor("arno", "auditor")) == everything
    assert listed(actor=actor_for_token(mine)) == {"mine"}
    assert listed(actor=actor_for_token(bound)) == {"support"}
    assert listed(actor=make_token_actor(scopes=["audit"])) == everything
    with pytest.raises(Forbidden):
        listed(actor=make_actor("nobody"))
    with pytest.raises(TokenScope):
        listed(actor=make_token_actor(scopes=["nodes"]))


def test_a_run_of_somebody_else_does_not_exist_for_a_token() -> None:
    run = make_run()
    assert run_detail(run.pk, SYSTEM) == run
    with pytest.raises(NotFound):
        run_detail(run.pk, make_token_actor(scopes=["tools:read"]))
    with pytest.raises(NotFound):
        run_detail(uuid4(), SYSTEM)


def test_a_page_costs_one_query_however_many_runs_there_are(django_assert_num_queries) -> None:
    make_tool("think")
    publish_policy()
    decision = policies.decide(tool_name="think", agent="main")
    for _ in range(30):
        make_run(decision=decision, token=make_token().token)
    with django_assert_num_queries(1):
        page = list_runs(RunFilters(), SYSTEM, limit=25)
        assert all(run.decision.summary and run.token.key_id for run in page.items)


def test_an_export_has_every_run_once(monkeypatch, django_assert_num_queries) -> None:
    monkeypatch.setattr("tools_app.selectors.runs.EXPORT_CHUNK", 4)
    runs = [make_run(requested_at=NOON + timedelta(minutes=n)) for n in range(10)]
    make_run(agent="support")
    with django_assert_num_queries(3):
        exported = list(export_runs(RunFilters(agent="main"), SYSTEM))
    assert exported == runs[::-1]


def test_an_export_asks_for_rights_before_its_first_row() -> None:
    with pytest.raises(Forbidden):
        export_runs(RunFilters(), make_actor("nobody"))


def test_the_timeline_tells_what_happened_in_order() -> None:
    make_tool("think")
    publish_policy()
    run = make_run(
        decision=policies.decide(tool_name="think", agent="main"),
        decide_ms=2.0,
        requested_at=NOON,
        started_at=NOON + timedelta(milliseconds=5),
    )
    finished = record_event("run.finished", run_id=run.pk, actor="user:anna")
    Event.objects.filter(pk=finished.pk).update(at=NOON + timedelta(milliseconds=9))
    steps = run_timeline(run)
    assert [step.kind for step in steps] == [
        "run.requested", "run.decided", "run.started", "run.finished",
    ]  # fmt: skip
    assert steps[1].detail["effect"] == "allow"
    assert steps[1].at - steps[0].at == timedelta(milliseconds=2)


def test_the_timeline_does_not_tell_the_start_twice() -> None:
    run = make_run()
    record_event("run.started", run_id=run.pk)
    assert [s.kind for s in run_timeline(run)].count("run.started") == 1


def test_a_decision_is_shown_to_readers_of_policies_and_to_whom_it_concerns() -> None:
    make_tool("think")
    publish_policy()
    decision = policies.decide(tool_name="think", agent="main")
    token = make_token(scopes=["tools:execute"]).token
    make_run(token=token, decision=decision)
    assert decision_detail(decision.pk, make_actor("vera", "viewer")) == decision
    assert decision_detail(decision.pk, actor_for_token(token)) == decision
    for stranger in (make_token_actor(scopes=["tools:execute"]), make_actor("nobody")):
        with pytest.raises(NotFound):
            decision_detail(decision.pk, stranger)
    with pytest.raises(NotFound):
        decision_detail(uuid4(), SYSTEM)


def test_contents_are_not_loaded_for_a_list() -> None:
    make_run(content="x" * 1000)
    run = list_runs(RunFilters(), SYSTEM).items[0]
    assert "content" in run.get_deferred_fields()
    assert ToolRun.objects.get(pk=run.pk).content == "x" * 1000
