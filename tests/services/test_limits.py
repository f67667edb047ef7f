"""Rates, budgets and concurrency: never more than allowed, whoever comes at once."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import (
    make_actor,
    make_agent,
    make_token_actor,
    publish_policy,
    request,
    tools_offered,
    work_off,
)
from tests.parallel import at_once
from tests.sample_tools import Echo, Fetch, Spend
from tools_app.models import Event, Limit, LimitUse, ToolRun
from tools_app.services.access import SYSTEM
from tools_app.services.errors import (
    BudgetExceeded,
    ConcurrencyExceeded,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    RateLimited,
)
from tools_app.services.limits import Spender, delete_limit, limit_states, set_limit
from tools_app.services.running import RunOutcome, run_tool

pytestmark = pytest.mark.django_db

NOON = "2026-03-01T12:00:00Z"


@pytest.fixture(autouse=True)
def _product(db):
    publish_policy()
    for slug in ("main", "support"):
        make_agent(slug)
    with tools_offered(Echo(), Fetch(), Spend()):
        yield


@pytest.fixture
def actor():
    return make_token_actor()


def limit(scope: str, target: str, **fields: object) -> Limit:
    return set_limit(actor=SYSTEM, scope=scope, target=target, **fields)


def echo(actor, **fields) -> RunOutcome:
    return run_tool(request(actor, "echo", {"text": "x"}, **fields))


def spend(actor, usd: float) -> RunOutcome:
    return run_tool(request(actor, "spend", {"usd": usd}))


# --- calls -----------------------------------------------------------------------------------


def test_a_rate_lets_so_many_calls_pass_and_says_when_to_come_again(actor):
    limit("tool", "echo", max_calls=3, window_s=60)
    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(3):
            echo(actor)
        clock.shift(timedelta(seconds=20))
        with pytest.raises(RateLimited) as caught:
            echo(actor)
        assert caught.value.extra["retry_after"] == pytest.approx(40)
        run = ToolRun.objects.get(pk=caught.value.extra["run"])
        assert (run.status, run.outcome) == ("refused", "rate_limited")
        clock.shift(timedelta(seconds=40))
        assert echo(actor).result.success


def test_a_refused_call_is_not_counted(actor):
    limit("tool", "echo", max_calls=1)
    limit("agent", "main", max_calls=5)
    echo(actor, agent="main")
    for _ in range(7):
        with pytest.raises(RateLimited):
            echo(actor, agent="main")
    uses = LimitUse.objects.get(limit__scope="agent")
    assert uses.calls == 1


@pytest.mark.parametrize("scope", ["agent", "token"])
def test_a_star_counts_each_by_itself(actor, scope):
    limit(scope, "*", max_calls=1)
    other = make_token_actor()
    echo(actor, agent="main")
    echo(other, agent="support")
    with pytest.raises(RateLimited):
        echo(actor, agent="main")


def test_a_token_limit_counts_that_token(actor):
    limit("token", actor.token_key, max_calls=1)
    echo(actor)
    with pytest.raises(RateLimited):
        echo(actor)
    assert echo(make_token_actor()).result.success
    assert echo(make_actor("anna", "operator")).result.success


def test_without_limits_nothing_is_asked_of_their_tables(actor):
    echo(actor)
    with CaptureQueriesContext(connection) as asked:
        echo(actor)
    assert not [q for q in asked if "tools_app_limit" in q["sql"]]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("tool", ["echo", "fetch"])
def test_callers_at_once_never_exceed_a_rate(actor, tool):
    limit("tool", tool, max_calls=7, window_s=3600)
    outcomes = at_once(20, lambda _: run_tool(request(actor, tool, {"text": "x"})))

    assert sum(isinstance(outcome, RunOutcome) for outcome in outcomes) == 7
    assert sum(isinstance(outcome, RateLimited) for outcome in outcomes) == 13
    assert LimitUse.objects.get().calls == 7


# --- cost ------------------------------------------------------------------------------------


def test_a_budget_counts_estimates_first_and_real_costs_after(actor):
    limit("agent", "*", max_cost_usd=1.0)
    limit("tool", "spend", max_cost_usd=1.0, window_s=3600)
    spend(actor, 0.1)

    (use,) = LimitUse.objects.all()
    assert use.cost_usd == pytest.approx(0.1)
    spend(actor, 0.5)  # 0.6 by now, and the next is estimated at 0.4
    spend(actor, 0.4)
    with pytest.raises(BudgetExceeded) as caught:
        spend(actor, 0.0)
    assert caught.value.extra["retry_after"] > 0


def test_a_spent_budget_stops_free_calls_as_well(actor):
    limit("token", actor.token_key, max_cost_usd=0.5)
    spend(actor, 0.9)
    with pytest.raises(BudgetExceeded):
        echo(actor)


def test_a_run_of_a_worker_is_settled_as_well(actor):
    limit("tool", "spend", max_cost_usd=1.0, window_s=3600)
    run_tool(request(actor, "spend", {"usd": 0.05}, respond_async=True))
    assert LimitUse.objects.get().cost_usd == pytest.approx(0.4)
    work_off()
    assert LimitUse.objects.get().cost_usd == pytest.approx(0.05)


# --- concurrency -----------------------------------------------------------------------------


def test_open_runs_are_counted_and_ended_ones_are_not(actor):
    limit("tool", "fetch", max_concurrency=2)
    for text in ("a", "b"):
        run_tool(request(actor, "fetch", {"text": text}))
    with pytest.raises(ConcurrencyExceeded) as caught:
        run_tool(request(actor, "fetch", {"text": "c"}))
    assert caught.value.extra["retry_after"] > 0
    work_off()
    assert run_tool(request(actor, "fetch", {"text": "c"})).run is not None


def test_an_inline_tool_under_a_concurrency_limit_leaves_no_place_taken(actor):
    limit("tool", "echo", max_concurrency=1)
    for _ in range(3):
        assert echo(actor).result.content == "x"


@pytest.mark.django_db(transaction=True)
def test_callers_at_once_never_exceed_a_concurrency(actor):
    limit("agent", "main", max_concurrency=3)
    asked = request(actor, "fetch", {"text": "x"}, agent="main")
    outcomes = at_once(12, lambda _: run_tool(asked))

    assert sum(isinstance(outcome, RunOutcome) for outcome in outcomes) == 3
    assert sum(isinstance(outcome, ConcurrencyExceeded) for outcome in outcomes) == 9


# --- dry runs, states ------------------------------------------------------------------------


def test_a_dry_run_tells_the_limits_and_takes_nothing(actor):
    limit("tool", "echo", max_calls=1)
    dry = echo(actor, dry_run=True).dry
    assert dry.would_be_refused == ""
    assert [(state.calls, state.max_calls) for state in dry.limits] == [(0, 1)]
    echo(actor)
    assert echo(actor, dry_run=True).dry.would_be_refused == "rate_limited"


def test_the_states_show_what_is_used(actor):
    limit("tool", "spend", max_calls=5, max_cost_usd=2.0, max_concurrency=4)
    spend(actor, 0.25)
    (state,) = limit_states(Spender(agent="", tool="spend"))
    assert (state.calls, state.cost_usd, state.running) == (1, pytest.approx(0.25), 0)


# --- managing --------------------------------------------------------------------------------


def test_setting_and_deleting_a_limit_are_events():
    made = limit("agent", "main", max_calls=5, window_s=60)
    delete_limit(actor=SYSTEM, limit_id=made.pk)

    kinds = Event.objects.filter(kind__startswith="limit.").order_by("seq")
    assert [event.kind for event in kinds] == ["limit.created", "limit.deleted"]
    assert {event.data["limit"] for event in kinds} == {made.pk}
    assert {event.agent for event in kinds} == {"main"}
    with pytest.raises(NotFound):
        delete_limit(actor=SYSTEM, limit_id=made.pk)


def test_one_limit_per_window():
    limit("agent", "main", max_calls=5, window_s=60)
    limit("agent", "main", max_calls=50, window_s=3600)
    with pytest.raises(Conflict):
        limit("agent", "main", max_calls=6, window_s=60)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("$.scope", {"scope": "planet"}),
        ("$.target", {"target": ""}),
        ("$.window_s", {"window_s": 0}),
        ("$.max_calls", {"max_calls": None}),
        ("$.max_calls", {"max_calls": -1}),
        ("$.max_cost_usd", {"max_cost_usd": float("nan")}),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(path, fields):
    with pytest.raises(InvalidRequest) as caught:
        set_limit(**{"actor": SYSTEM, "scope": "agent", "target": "main", "max_calls": 1, **fields})
    assert [error["path"] for error in caught.value.extra["errors"]] == [path]


def test_only_an_admin_sets_limits():
    with pytest.raises(Forbidden):
        set_limit(actor=make_actor("op", "operator"), scope="agent", target="*", max_calls=1)
