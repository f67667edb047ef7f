"""Freezes: nothing new starts, what runs is stopped, and it ends by the clock."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from tests.builders import (
    kinds_of,
    make_actor,
    make_agent,
    make_token_actor,
    publish_policy,
    request,
    tools_offered,
    work_off,
)
from tests.parallel import at_once, in_background
from tests.sample_tools import Echo, Fetch, Hang, Send
from tools_app.models import Approval, ApprovalStatus, Event, Freeze, RunStatus, ToolRun
from tools_app.selectors.freezes import freeze_detail, list_freezes
from tools_app.services.access import SYSTEM
from tools_app.services.approvals import approve
from tools_app.services.errors import ApprovalClosed, Conflict, Forbidden, Frozen, InvalidRequest
from tools_app.services.freezes import (
    active_freezes,
    blast,
    create_freeze,
    expire_due,
    extend_freeze,
    lift_freeze,
)
from tools_app.services.running import execute_claimed, run_tool

pytestmark = pytest.mark.django_db


@pytest.fixture
def hang():
    tool = Hang()
    yield tool
    tool.may_return.set()


@pytest.fixture
def fetch():
    return Fetch()


@pytest.fixture(autouse=True)
def _product(db, hang, fetch):
    publish_policy()
    for slug in ("main", "support"):
        make_agent(slug)
    with tools_offered(Echo(), Send(), fetch, hang):
        yield


@pytest.fixture
def actor():
    return make_token_actor()


@pytest.fixture
def boss():
    return make_actor("boss", "operator")


def freeze(actor=SYSTEM, **fields: object) -> Freeze:
    values = {
        "scope": "agent",
        "target": "support",
        "reason": "incident 412",
        "expires_at": timezone.now() + timedelta(hours=1),
        **fields,
    }
    return create_freeze(actor=actor, **values)


def echo(actor, **fields):
    return run_tool(request(actor, "echo", {"text": "x"}, **fields))


# --- new runs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frozen", "stopped", "free"),
    [
        ({}, {"agent": "support"}, {"agent": "main"}),
        ({"scope": "tool", "target": "echo"}, {"agent": "main"}, None),
        ({"scope": "everything", "target": ""}, {}, None),
    ],
)
def test_new_runs_are_refused_with_reason_and_end(actor, frozen, stopped, free):
    made = freeze(**frozen)
    with pytest.raises(Frozen) as caught:
        echo(actor, **stopped)

    error = caught.value
    assert error.status == 423
    assert "incident 412" in error.message
    assert f"{made.expires_at:%Y-%m-%d %H:%M:%S}" in error.message
    assert 3590 < error.extra["retry_after"] <= 3600
    run = ToolRun.objects.get(pk=error.extra["run"])
    assert (run.status, run.outcome) == ("refused", "frozen")
    if free is not None:
        assert echo(actor, **free).result.success


@pytest.mark.django_db(transaction=True)
def test_refused_calls_are_counted_also_when_they_come_at_once(actor, boss):
    made = freeze()
    refused = at_once(9, lambda _: echo(actor, agent="support"))

    assert {type(error) for error in refused} == {Frozen}
    assert freeze_detail(boss, made.pk).refused_count == 9


# --- what is open ----------------------------------------------------------------------------


def test_what_waits_or_is_queued_is_cancelled_with_the_reason(actor, boss, fetch):
    waiting = run_tool(request(actor, "send", {}, agent="support"))
    queued = run_tool(request(actor, "fetch", {"text": "x"}, agent="support"))
    other = run_tool(request(actor, "fetch", {"text": "y"}, agent="main"))
    freeze(boss)

    runs = {run.pk: run for run in ToolRun.objects.all()}
    for stopped in (waiting.run, queued.run):
        run = runs[stopped.pk]
        assert (run.status, run.outcome) == ("cancelled", "frozen")
        assert "incident 412" in run.message
    assert runs[other.run.pk].status == RunStatus.QUEUED
    approval = Approval.objects.get()
    assert approval.status == ApprovalStatus.CANCELLED
    assert kinds_of(waiting.run) == ["approval.requested", "run.finished", "approval.cancelled"]
    with pytest.raises(ApprovalClosed):
        approve(actor=boss, approval_id=approval.pk, binding=approval.binding)
    work_off()
    assert fetch.calls == ["y"]


@pytest.mark.django_db(transaction=True)
def test_a_running_run_is_stopped_within_a_second(actor, boss, hang):
    run = run_tool(request(actor, "hang", agent="support")).run
    given_up = []
    with in_background(lambda: execute_claimed(run.pk, abandon=given_up.append)) as ended:
        assert hang.started.wait(10)
        began = time.monotonic()
        freeze(boss)
    took_s = time.monotonic() - began

    assert took_s < 1.0
    (run,) = ended
    assert (run.status, run.outcome) == ("cancelled", "frozen")
    assert given_up == [run]
    assert kinds_of(run) == ["run.queued", "run.started", "run.cancel_requested", "run.finished"]


def test_a_freeze_that_came_after_queueing_is_seen_when_a_worker_claims(actor, fetch):
    run = run_tool(request(actor, "fetch", {"text": "x"}, agent="support")).run
    Freeze.objects.bulk_create(
        [
            Freeze(
                scope="agent",
                target="support",
                reason="late",
                expires_at=timezone.now() + timedelta(hours=1),
            )
        ]
    )
    from tools_app.services.configuration import bump

    bump("freezes")
    assert work_off() == []
    run.refresh_from_db()
    assert (run.status, run.outcome) == ("refused", "frozen")
    assert fetch.calls == []


def test_the_blast_counts_what_would_be_hit(actor):
    run_tool(request(actor, "send", {}, agent="support"))
    run_tool(request(actor, "fetch", {"text": "x"}, agent="support"))
    run_tool(request(actor, "fetch", {"text": "x"}, agent="main"))

    hit = blast("agent", "support")
    assert (hit.waiting_approvals, hit.queued, hit.running) == (1, 1, 0)
    assert (hit.agents, hit.tools, hit.cannot_stop) == (1, 2, 0)
    assert blast("everything").queued == 2


# --- its end ---------------------------------------------------------------------------------


def test_the_end_counts_even_if_nobody_notes_it(actor):
    made = freeze()
    with time_machine.travel(made.expires_at + timedelta(seconds=1), tick=False):
        assert active_freezes() == ()
        assert echo(actor, agent="support").result.success


def test_the_end_is_logged_as_expired_and_by_nobody():
    made = freeze()
    assert expire_due() == 0
    with time_machine.travel(made.expires_at + timedelta(minutes=5), tick=False):
        assert expire_due() == 1
        assert expire_due() == 0
    made.refresh_from_db()
    assert (made.ended_how, made.ended_by_label) == ("expired", "")
    assert made.ended_at == made.expires_at
    assert Event.objects.get(kind="freeze.expired").actor == "system"


def test_lifting_lets_calls_through_again(actor, boss):
    made = freeze()
    lift_freeze(actor=boss, freeze_id=made.pk)

    assert echo(actor, agent="support").result.success
    assert Event.objects.get(kind="freeze.lifted").actor == "user:boss"
    with pytest.raises(Conflict):
        lift_freeze(actor=boss, freeze_id=made.pk)


def test_a_freeze_can_be_made_longer_but_not_shorter(boss):
    made = freeze()
    later = made.expires_at + timedelta(hours=1)
    assert extend_freeze(actor=boss, freeze_id=made.pk, expires_at=later).expires_at == later
    assert Event.objects.filter(kind="freeze.extended").exists()
    with pytest.raises(InvalidRequest):
        extend_freeze(actor=boss, freeze_id=made.pk, expires_at=made.expires_at)
    with time_machine.travel(later + timedelta(seconds=1), tick=False), pytest.raises(Conflict):
        extend_freeze(actor=boss, freeze_id=made.pk, expires_at=later + timedelta(days=1))


def test_the_list_shows_those_in_force_or_those_that_ended(boss):
    ended, lasting = freeze(), freeze(target="main")
    lift_freeze(actor=boss, freeze_id=ended.pk)

    assert [f.pk for f in list_freezes(boss, active=True).items] == [lasting.pk]
    assert [f.pk for f in list_freezes(boss, active=False).items] == [ended.pk]
    assert len(list_freezes(boss).items) == 2


# --- making one ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("$.scope", {"scope": "planet"}),
        ("$.target", {"target": ""}),
        ("$.target", {"scope": "everything"}),
        ("$.target", {"target": "suport"}),
        ("$.target", {"scope": "tool", "target": "nope"}),
        ("$.reason", {"reason": "  "}),
        ("$.expires_at", {"expires_at": timezone.now() - timedelta(seconds=1)}),
    ],
)
def test_a_freeze_that_makes_no_sense_is_refused(path, fields):
    with pytest.raises(InvalidRequest) as caught:
        freeze(**fields)
    assert [error["path"] for error in caught.value.extra["errors"]] == [path]
    assert not Freeze.objects.exists()


def test_freezing_needs_the_right():
    with pytest.raises(Forbidden):
        freeze(make_actor("viewer", "viewer"))
