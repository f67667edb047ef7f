"""One run per idempotency key, whatever the clients do."""

from __future__ import annotations

import pytest

from tests.builders import (
    kinds_of,
    make_token_actor,
    publish_policy,
    request,
    tools_offered,
    work_off,
)
from tests.parallel import a_worker, at_once
from tests.sample_tools import Echo, Fetch, Send
from tools_app.models import RunStatus, ToolRun
from tools_app.services.access import SYSTEM
from tools_app.services.errors import (
    ApprovalDenied,
    DeniedByPolicy,
    IdempotencyConflict,
    IdempotencyInProgress,
    InvalidArguments,
    RateLimited,
)
from tools_app.services.limits import set_limit
from tools_app.services.running import run_tool


@pytest.fixture
def fetch():
    return Fetch()


@pytest.fixture(autouse=True)
def _product(db, fetch):
    publish_policy()
    with tools_offered(Echo(), Send(), fetch):
        yield


@pytest.fixture
def actor(_product):
    return make_token_actor()


def test_a_retry_gets_the_first_answer(actor):
    first = run_tool(request(actor, "echo", {"text": "x"}, idempotency_key="k1"))
    second = run_tool(request(actor, "echo", {"text": "x"}, idempotency_key="k1"))

    assert not first.replayed
    assert second.replayed
    assert (second.run.pk, second.result.content) == (first.run.pk, "x")
    assert second.decision == first.decision
    assert ToolRun.objects.count() == 1
    assert kinds_of(first.run) == ["run.finished"]


def test_a_key_belongs_to_its_caller(actor):
    other = make_token_actor()
    first = run_tool(request(actor, "echo", {"text": "x"}, idempotency_key="k1"))
    second = run_tool(request(other, "echo", {"text": "y"}, idempotency_key="k1"))

    assert first.run.pk != second.run.pk
    assert not second.replayed


@pytest.mark.parametrize(
    "changed",
    [{"arguments": {"text": "y"}}, {"agent": "main"}, {"timeout_seconds": 1.0}],
)
def test_a_key_used_for_another_request_is_a_conflict(actor, changed):
    run_tool(request(actor, "echo", {"text": "x"}, idempotency_key="k1"))
    fields = {"arguments": {"text": "x"}, **changed}
    with pytest.raises(IdempotencyConflict):
        run_tool(request(actor, "echo", idempotency_key="k1", **fields))
    assert ToolRun.objects.count() == 1


def test_a_refusal_is_remembered_with_all_it_said(actor):
    publish_policy({"tools": {"deny": ["echo"]}})
    errors = []
    for _ in range(2):
        with pytest.raises(DeniedByPolicy) as caught:
            run_tool(request(actor, "echo", {"text": "x"}, idempotency_key="k1"))
        errors.append(caught.value)
    publish_policy({})
    with pytest.raises(DeniedByPolicy):  # the first answer, although it would be allowed now
        run_tool(request(actor, "echo", {"text": "x"}, idempotency_key="k1"))

    first, second = errors
    assert second.extra == {**first.extra, "replayed": True}
    assert second.message == first.message
    assert ToolRun.objects.count() == 1


def test_invalid_arguments_are_remembered_with_their_paths(actor):
    for _ in range(2):
        with pytest.raises(InvalidArguments) as caught:
            run_tool(request(actor, "echo", "[1", idempotency_key="k1"))
    assert caught.value.extra["replayed"]
    assert ToolRun.objects.count() == 1


def test_a_refusal_that_passes_does_not_take_the_key(actor):
    limit = set_limit(actor=SYSTEM, scope="tool", target="echo", max_calls=0)
    with pytest.raises(RateLimited):
        run_tool(request(actor, "echo", {"text": "x"}, idempotency_key="k1"))

    from tools_app.services.limits import delete_limit

    delete_limit(actor=SYSTEM, limit_id=limit.pk)
    outcome = run_tool(request(actor, "echo", {"text": "x"}, idempotency_key="k1"))
    assert outcome.result.content == "x"
    assert not outcome.replayed


def test_a_queued_run_is_answered_as_in_progress_until_it_ends(actor):
    asked = request(actor, "fetch", {"text": "x"}, idempotency_key="k1")
    first = run_tool(asked)
    with pytest.raises(IdempotencyInProgress) as caught:
        run_tool(asked)
    assert caught.value.extra["retry_after"] > 0
    work_off()
    second = run_tool(asked)

    assert second.replayed
    assert (second.run.pk, second.result.content) == (first.run.pk, "fetched x")


def test_a_caller_who_does_not_wait_gets_the_queued_run_again(actor):
    asked = request(actor, "fetch", {"text": "x"}, idempotency_key="k1", respond_async=True)
    first, second = run_tool(asked), run_tool(asked)

    assert second.replayed
    assert second.run.pk == first.run.pk
    assert second.run.status == RunStatus.QUEUED


def test_a_retry_of_a_call_that_waits_for_approval_gets_the_same_approval(actor):
    asked = request(actor, "send", {}, idempotency_key="k1")
    first, second = run_tool(asked), run_tool(asked)

    assert second.replayed
    assert second.approval.pk == first.approval.pk


def test_a_retry_after_a_denial_is_refused(actor):
    from tests.builders import make_actor
    from tools_app.services.approvals import deny

    asked = request(actor, "send", {}, idempotency_key="k1")
    first = run_tool(asked)
    deny(actor=make_actor("boss", "operator"), approval_id=first.approval.pk, comment="not today")
    with pytest.raises(ApprovalDenied, match="not today"):
        run_tool(asked)


@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_run_once_inline(actor):
    asked = request(actor, "echo", {"text": "x"}, idempotency_key="k1", wait_s=30.0)
    outcomes = at_once(50, lambda _: run_tool(asked))

    assert {outcome.result.content for outcome in outcomes} == {"x"}
    assert len({outcome.run.pk for outcome in outcomes}) == 1
    assert [outcome.replayed for outcome in outcomes].count(False) == 1
    assert ToolRun.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_run_once_on_a_worker(actor, fetch):
    asked = request(actor, "fetch", {"text": "x"}, idempotency_key="k1", wait_s=30.0)
    with a_worker():
        outcomes = at_once(50, lambda _: run_tool(asked))

    assert {outcome.result.content for outcome in outcomes} == {"fetched x"}
    assert fetch.calls == ["x"]
    assert ToolRun.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_are_refused_once(actor):
    publish_policy({"tools": {"deny": ["echo"]}})
    asked = request(actor, "echo", {"text": "x"}, idempotency_key="k1", wait_s=30.0)
    outcomes = at_once(50, lambda _: run_tool(asked))

    assert {type(error) for error in outcomes} == {DeniedByPolicy}
    assert len({error.extra["run"] for error in outcomes}) == 1
    assert ToolRun.objects.count() == 1
