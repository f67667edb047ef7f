"""Claiming, supervising, cancelling: a run is executed once, and cut when it must be."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.utils import timezone

from tests.builders import (
    agent_policy,
    kinds_of,
    make_actor,
    make_agent,
    make_token_actor,
    make_user,
    publish_policy,
    request,
    tools_offered,
    work_off,
)
from tests.parallel import a_worker, at_once, in_background
from tests.sample_tools import Echo, Fetch, Hang, Send
from tools_app.models import RunStatus, Tool, ToolRun
from tools_app.services.access import SYSTEM, actor_for_user
from tools_app.services.agents import delete_agent, update_agent
from tools_app.services.catalogue import update_tool
from tools_app.services.configuration import bump
from tools_app.services.errors import Conflict, Forbidden, NotFound
from tools_app.services.housekeeping import end_abandoned
from tools_app.services.running import cancel_run, execute_claimed, run_tool, wait_for_run
from tools_app.services.running.claiming import claim_run
from tools_app.services.tokens import revoke_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def fetch():
    return Fetch()


@pytest.fixture
def hang():
    tool = Hang()
    yield tool
    tool.may_return.set()


@pytest.fixture(autouse=True)
def _product(db, fetch, hang):
    publish_policy()
    make_agent("support")
    with tools_offered(Echo(), Send(), fetch, hang):
        yield


@pytest.fixture
def actor():
    return make_token_actor()


@pytest.fixture
def queued(actor) -> ToolRun:
    return run_tool(request(actor, "fetch", {"text": "x"}, agent="support")).run


# --- claiming --------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_runs_it(queued, fetch):
    outcomes = at_once(8, lambda _: execute_claimed(queued.pk))

    assert [run for run in outcomes if run is not None] == [queued]
    assert fetch.calls == ["x"]
    assert kinds_of(queued) == ["run.queued", "run.started", "run.finished"]


def test_an_unknown_or_finished_run_is_not_claimed(queued):
    work_off()
    assert execute_claimed(queued.pk) is None


def test_a_policy_that_denies_by_now_is_obeyed(queued, fetch):
    publish_policy(agent_policy("support", deny=["fetch"]))

    assert work_off() == []
    queued.refresh_from_db()
    assert (queued.status, queued.outcome) == ("refused", "denied_by_policy")
    assert kinds_of(queued) == ["run.queued", "run.refused"]
    assert fetch.calls == []


def test_a_policy_that_still_allows_changes_nothing(queued, fetch):
    publish_policy(agent_policy("support", deny=["echo"]))
    work_off()
    assert fetch.calls == ["x"]


def test_a_queued_run_of_a_revoked_token_is_refused(queued, actor, fetch):
    revoke_token(actor=SYSTEM, token_id=actor.token_id)
    assert work_off() == []
    queued.refresh_from_db()
    assert queued.outcome == "token_scope"
    assert fetch.calls == []


def test_a_queued_run_of_a_deactivated_user_is_refused(fetch):
    user = make_user("leaver", "operator")
    run = run_tool(request(actor_for_user(user), "fetch", {"text": "x"})).run
    user.is_active = False
    user.save()
    bump("access")

    assert work_off() == []
    run.refresh_from_db()
    assert run.outcome == "forbidden"


def test_a_queued_run_of_a_changed_tool_is_refused(queued, fetch):
    ToolRun.objects.filter(pk=queued.pk).update(definition_hash="sha256:older")
    assert work_off() == []
    queued.refresh_from_db()
    assert queued.outcome == "tool_unavailable"


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"is_enabled": False}, "unknown_tool"), ({"exposed_on": ["console"]}, "not_exposed")],
)
def test_a_queued_run_of_a_tool_that_was_taken_away_is_refused(queued, fetch, changes, code):
    update_tool(actor=SYSTEM, name="fetch", changes=changes)
    assert work_off() == []
    queued.refresh_from_db()
    assert (queued.status, queued.outcome) == ("refused", code)
    assert fetch.calls == []


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_queued_run_of_an_agent_that_was_switched_off_is_refused(queued, fetch, is_deleted):
    if is_deleted:
        delete_agent(actor=SYSTEM, slug="support", version=1)
    else:
        changes = {"is_active": False}
        update_agent(actor=SYSTEM, slug="support", changes=changes, version=1)
    assert work_off() == []
    queued.refresh_from_db()
    assert queued.outcome == ("unknown_agent" if is_deleted else "agent_inactive")
    assert fetch.calls == []


def test_a_tool_this_process_does_not_have_is_a_refusal(queued):
    Tool.objects.filter(name="fetch").update(name="elsewhere")
    ToolRun.objects.filter(pk=queued.pk).update(tool_name="elsewhere")
    assert work_off() == []
    queued.refresh_from_db()
    assert queued.outcome == "tool_unavailable"


# --- waiting ---------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_the_caller_waits_for_the_worker(actor):
    with a_worker():
        outcome = run_tool(request(actor, "fetch", {"text": "x"}, wait_s=30.0))

    assert outcome.result.content == "fetched x"
    assert outcome.run.status == RunStatus.SUCCEEDED


@pytest.mark.django_db(transaction=True)
def test_without_a_worker_the_caller_gets_the_queued_run(actor):
    outcome = run_tool(request(actor, "fetch", {"text": "x"}, wait_s=0.05))
    assert outcome.run.status == RunStatus.QUEUED
    assert outcome.result is None


def test_waiting_for_no_run_is_not_found(queued):
    from uuid import uuid4

    with pytest.raises(NotFound):
        wait_for_run(uuid4(), 0.0)


# --- deadline and cancel ---------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_hung_tool_is_cut_at_its_deadline(actor, hang):
    run = run_tool(request(actor, "hang", timeout_seconds=0.3)).run
    given_up = []
    began = time.monotonic()
    ended = execute_claimed(run.pk, abandon=given_up.append)
    took_s = time.monotonic() - began

    assert 0.3 <= took_s < 1.3
    assert (ended.status, ended.outcome) == ("timed_out", "timed_out")
    assert "timed out after 0.3 s" in ended.message
    assert given_up == [ended]
    assert kinds_of(run) == ["run.queued", "run.started", "run.finished"]


@pytest.mark.django_db(transaction=True)
def test_a_running_run_is_cancelled_within_a_second(actor, hang):
    run = run_tool(request(actor, "hang")).run
    with in_background(lambda: execute_claimed(run.pk)) as ended:
        assert hang.started.wait(10)
        began = time.monotonic()
        cancel_run(actor=actor, run_id=run.pk, reason="not needed")
    assert time.monotonic() - began < 1.0
    assert [(r.status, r.outcome) for r in ended] == [("cancelled", "cancelled")]
    assert "not needed" in ended[0].message


def test_a_queued_run_is_cancelled_at_once(actor, queued, fetch):
    run = cancel_run(actor=actor, run_id=queued.pk)

    assert (run.status, run.outcome) == ("cancelled", "cancelled")
    assert work_off() == []
    assert fetch.calls == []
    with pytest.raises(Conflict):
        cancel_run(actor=actor, run_id=queued.pk)


def test_a_run_that_waits_for_approval_is_cancelled_with_it(actor):
    outcome = run_tool(request(actor, "send", {}))
    cancel_run(actor=actor, run_id=outcome.run.pk)

    outcome.approval.refresh_from_db()
    assert outcome.approval.status == "cancelled"
    assert kinds_of(outcome.run)[-2:] == ["run.finished", "approval.cancelled"]


def test_a_token_cancels_no_runs_of_others(queued):
    stranger = make_token_actor(scopes=["tools:execute"])
    with pytest.raises(NotFound):
        cancel_run(actor=stranger, run_id=queued.pk)
    with pytest.raises(Forbidden):
        cancel_run(actor=make_actor("viewer", "viewer"), run_id=queued.pk)
    same_agent = make_token_actor(scopes=["tools:execute"], agent="support")
    assert cancel_run(actor=same_agent, run_id=queued.pk).status == RunStatus.CANCELLED


# --- the lease -------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_result_that_comes_after_the_run_was_ended_is_dropped_and_told(actor, hang):
    run = run_tool(request(actor, "hang")).run
    with in_background(lambda: execute_claimed(run.pk)):
        assert hang.started.wait(10)
        ToolRun.objects.filter(pk=run.pk).update(
            lease_expires_at=timezone.now() - timedelta(seconds=1)
        )
        assert end_abandoned() == 1
        hang.may_return.set()

    run.refresh_from_db()
    assert run.status == RunStatus.INTERRUPTED
    assert kinds_of(run)[-1] == "run.result_dropped"


@pytest.mark.django_db(transaction=True)
def test_a_busy_database_does_not_end_a_run(actor, hang, monkeypatch):
    from tools_app.services.running.supervision import SupervisedRunner

    looks = []

    def unlucky(self: SupervisedRunner) -> str:
        looks.append(self)
        hang.may_return.set()
        raise DatabaseError("database is locked")

    monkeypatch.setattr(SupervisedRunner, "_look", unlucky)
    run = run_tool(request(actor, "hang")).run
    assert execute_claimed(run.pk).status == RunStatus.SUCCEEDED
    assert looks


@pytest.mark.django_db(transaction=True)
def test_the_lease_is_renewed_while_the_tool_runs(actor, hang, monkeypatch):
    monkeypatch.setattr("tools_app.services.running.supervision.RENEW_EVERY_S", 0.0)
    run = run_tool(request(actor, "hang")).run
    with in_background(lambda: execute_claimed(run.pk)):
        assert hang.started.wait(10)
        first = ToolRun.objects.get(pk=run.pk).lease_expires_at
        limit = time.monotonic() + 10
        while ToolRun.objects.get(pk=run.pk).lease_expires_at == first:
            assert time.monotonic() < limit, "the lease was not renewed"
            time.sleep(0.02)
        hang.may_return.set()


def test_a_claim_says_who_until_when(queued):
    run = claim_run(queued.pk, owner="me")

    stored = ToolRun.objects.get(pk=run.pk)
    assert stored.lease_owner == "me"
    assert stored.deadline_at - stored.started_at == timedelta(seconds=stored.timeout_s)
    assert stored.lease_expires_at > timezone.now()
