"""The tick: nothing queued is forgotten, nothing dead stays open, nothing old is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from tests.builders import (
    kinds_of,
    make_actor,
    make_agent,
    make_run,
    make_token_actor,
    publish_policy,
    request,
    tools_offered,
)
from tests.sample_tools import Echo, Fetch, Send
from tools_app.models import (
    Approval,
    ApprovalGrant,
    Decision,
    Event,
    EventSeal,
    LimitUse,
    SealedPayload,
    ToolRun,
    WsTicket,
)
from tools_app.services import housekeeping
from tools_app.services.access import SYSTEM
from tools_app.services.approvals import approve
from tools_app.services.freezes import create_freeze
from tools_app.services.housekeeping import end_abandoned, purge, resend_queued, tick
from tools_app.services.limits import set_limit
from tools_app.services.queueing import RESEND_AFTER
from tools_app.services.running import run_tool
from tools_app.services.running.claiming import LEASE, claim_run
from tools_app.services.tokens import create_ws_ticket

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _product(db):
    publish_policy()
    make_agent("support")
    with tools_offered(Echo(), Fetch(), Send()):
        yield


@pytest.fixture
def actor():
    return make_token_actor()


@pytest.fixture
def queued(actor):
    return run_tool(request(actor, "fetch", {"text": "x"})).run


@pytest.fixture
def sent(monkeypatch):
    """The ids of the runs that workers were woken for."""
    woken: list[object] = []
    monkeypatch.setattr(housekeeping, "wake_worker", lambda run_id, timeout_s: woken.append(run_id))
    return woken


def later(moment: timedelta):
    return time_machine.travel(timezone.now() + moment, tick=False)


# --- queued runs -----------------------------------------------------------------------------


def test_a_run_nobody_claimed_is_sent_again_but_not_all_the_time(queued, sent):
    assert resend_queued() == 0
    with later(RESEND_AFTER + timedelta(seconds=1)):
        assert resend_queued() == 1
        assert resend_queued() == 0
    with later(2 * RESEND_AFTER + timedelta(seconds=2)):
        assert resend_queued() == 1
    assert sent == [queued.pk, queued.pk]


def test_a_claimed_run_is_not_sent_again(queued, sent):
    claim_run(queued.pk, owner="me")
    with later(RESEND_AFTER + timedelta(seconds=1)):
        assert resend_queued() == 0


def test_a_broker_that_is_down_fails_no_call(actor, settings, monkeypatch):
    from celery import current_app

    def down(*args: object, **options: object) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(current_app, "send_task", down)
    from tools_app.services.queueing import wake_worker

    run = run_tool(request(actor, "fetch", {"text": "x"})).run
    wake_worker(run.pk, 1.0)
    run.refresh_from_db()
    assert run.status == "queued"


# --- dead workers ----------------------------------------------------------------------------


def test_a_run_whose_worker_died_is_interrupted_and_not_run_again(queued, sent):
    claim_run(queued.pk, owner="me")
    ToolRun.objects.filter(pk=queued.pk).update(deadline_at=timezone.now() + timedelta(hours=1))
    assert end_abandoned() == 0
    with later(LEASE + timedelta(seconds=1)):
        assert end_abandoned() == 1
        assert resend_queued() == 0

    queued.refresh_from_db()
    assert (queued.status, queued.outcome) == ("interrupted", "interrupted")
    assert kinds_of(queued) == ["run.queued", "run.started", "run.interrupted"]


def test_past_its_deadline_it_timed_out(queued):
    claim_run(queued.pk, owner="me")
    with later(timedelta(seconds=queued.timeout_s) + LEASE):
        assert end_abandoned() == 1
    queued.refresh_from_db()
    assert (queued.status, queued.outcome) == ("timed_out", "timed_out")
    assert kinds_of(queued)[-1] == "run.finished"


# --- freezes ---------------------------------------------------------------------------------


def test_what_slipped_past_a_freeze_is_stopped(queued):
    ToolRun.objects.filter(pk=queued.pk).update(status="refused")
    expires_at = timezone.now() + timedelta(hours=1)
    create_freeze(actor=SYSTEM, scope="everything", reason="stop", expires_at=expires_at)
    ToolRun.objects.filter(pk=queued.pk).update(status="queued")

    assert tick()["stopped_by_freeze"] == 1
    queued.refresh_from_db()
    assert (queued.status, queued.outcome) == ("cancelled", "frozen")
    assert tick()["stopped_by_freeze"] == 0


# --- the whole tick --------------------------------------------------------------------------


def test_a_tick_does_all_that_is_due(actor, sent):
    waiting = run_tool(request(actor, "send", {}))
    with later(timedelta(minutes=11)):
        done = tick()

    assert done["approvals_expired"] == 1
    waiting.run.refresh_from_db()
    assert waiting.run.outcome == "approval_expired"
    assert done["log_sealed"] > 0
    assert EventSeal.objects.exists()


def test_a_step_that_fails_keeps_no_other_from_running(actor, monkeypatch):
    def broken() -> int:
        raise RuntimeError("disk on fire")

    waiting = run_tool(request(actor, "send", {}))
    monkeypatch.setitem(housekeeping.STEPS, "resent", broken)
    with later(timedelta(minutes=11)):
        done = tick()
    assert done["resent"] == 0
    assert done["approvals_expired"] == 1
    waiting.run.refresh_from_db()
    assert waiting.run.status == "refused"


# --- purging ---------------------------------------------------------------------------------


def test_sealed_values_tickets_and_counters_go_when_their_time_is_over(actor):
    set_limit(actor=SYSTEM, scope="tool", target="echo", max_calls=10)
    run_tool(request(actor, "echo", {"text": "sk-ant-abcdefghijklmnop1234567890"}))
    create_ws_ticket(actor=actor)
    purge()
    assert SealedPayload.objects.count() == WsTicket.objects.count() == 1
    assert LimitUse.objects.count() == 1
    with later(timedelta(days=8)):
        purge()
    assert not SealedPayload.objects.exists()
    assert not WsTicket.objects.exists()
    assert not LimitUse.objects.exists()


def test_old_runs_go_and_open_or_remembered_ones_stay(actor, settings):
    settings.OPENJARVIS_RUN_RETENTION_DAYS = 30
    boss = make_actor("boss", "operator")
    old = timezone.now() - timedelta(days=31)
    gone = make_run(requested_at=old)
    fresh = make_run()
    waiting = run_tool(request(actor, "send", {"n": 1})).run
    remembered = run_tool(request(actor, "send", {"n": 2}))
    approval = remembered.approval
    approve(actor=boss, approval_id=approval.pk, binding=approval.binding, scope="always")
    ToolRun.objects.filter(pk__in=[waiting.pk, remembered.run.pk]).update(requested_at=old)
    ToolRun.objects.filter(pk=remembered.run.pk).update(status="succeeded")

    purge()
    left = set(ToolRun.objects.values_list("pk", flat=True))
    assert gone.pk not in left
    assert left == {fresh.pk, waiting.pk, remembered.run.pk}
    assert ApprovalGrant.objects.exists()
    assert Approval.objects.count() == 2
    assert Decision.objects.exists()
    assert Event.objects.filter(run_id=waiting.pk).exists()
