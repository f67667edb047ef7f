"""The one entrance: steps in order, one row and one event per attempt, refusals first."""

from __future__ import annotations

import pytest

from tests.builders import (
    agent_policy,
    kinds_of,
    make_actor,
    make_agent,
    make_token_actor,
    make_tool,
    publish_policy,
    request,
    tools_offered,
    work_off,
)
from tests.sample_tools import Echo, Fail, Fetch, Send, Spend, Tag
from tools_app.models import Event, RunStatus, SealedPayload, ToolRun
from tools_app.services.access import SYSTEM
from tools_app.services.catalogue import update_tool
from tools_app.services.errors import (
    AgentInactive,
    DeniedByPolicy,
    InvalidArguments,
    InvalidRequest,
    NotExposed,
    PolicyUnreadable,
    ServiceError,
    TokenScope,
    ToolUnavailable,
    TruncatedArguments,
    UnknownAgent,
    UnknownTool,
)
from tools_app.services.run_results import result_of
from tools_app.services.running import MAX_BATCH, run_batch, run_tool
from tools_app.services.sealing import deliverable_arguments, true_arguments

pytestmark = pytest.mark.django_db

SECRET = "sk-ant-abcdefghijklmnop1234567890"


@pytest.fixture(autouse=True)
def _product():
    publish_policy()
    with tools_offered(Echo(), Fetch(), Send(), Spend(), Fail(), Tag()):
        yield


@pytest.fixture
def actor():
    return make_token_actor()


def refused(error: type[ServiceError], asked) -> tuple[ServiceError, ToolRun]:
    """Run what must be refused; return the error and the run that was stored for it."""
    with pytest.raises(error) as caught:
        run_tool(asked)
    return caught.value, ToolRun.objects.get(pk=caught.value.extra["run"])


# --- what is allowed -------------------------------------------------------------------------


def test_a_bounded_tool_answers_and_leaves_one_run_and_one_event(actor):
    outcome = run_tool(request(actor, "echo", {"text": "hello"}))

    assert outcome.result.success
    assert outcome.result.content == "hello"
    run = ToolRun.objects.get()
    assert (run.pk, run.status, run.outcome) == (outcome.run.pk, "succeeded", "succeeded")
    assert run.arguments == {"text": "hello"}
    assert run.content == "hello"
    assert run.decision == outcome.decision
    assert run.policy_version == 1
    assert run.token_id == actor.token_id
    assert kinds_of(run) == ["run.finished"]
    event = Event.objects.get(run_id=run.pk)
    assert event.data["decision"] == str(outcome.decision.pk)
    assert event.data["preview"] == '{"text": "hello"}'
    assert event.data["actor"] == actor.label


def test_arguments_may_come_as_json_text(actor):
    assert run_tool(request(actor, "echo", '{"text": "hi"}')).result.content == "hi"


def test_a_tool_that_fails_is_a_result_and_its_message_is_redacted(actor):
    outcome = run_tool(request(actor, "fail"))

    assert not outcome.result.success
    assert outcome.run.status == RunStatus.FAILED
    assert outcome.run.outcome == "tool_failed"
    stored = ToolRun.objects.get()
    assert "hunter2" not in stored.message + stored.content


def test_an_unbounded_tool_is_queued_and_a_worker_finishes_it(actor):
    outcome = run_tool(request(actor, "fetch", {"text": "x"}))

    assert outcome.result is None
    assert outcome.run.status == RunStatus.QUEUED
    (done,) = work_off()
    assert done.pk == outcome.run.pk
    assert done.status == RunStatus.SUCCEEDED
    assert kinds_of(done) == ["run.queued", "run.started", "run.finished"]
    assert result_of(done, actor).content == "fetched x"


def test_respond_async_queues_a_bounded_tool_as_well(actor):
    outcome = run_tool(request(actor, "echo", {"text": "x"}, respond_async=True))

    assert outcome.run.status == RunStatus.QUEUED
    assert [run.status for run in work_off()] == [RunStatus.SUCCEEDED]


def test_a_timeout_can_be_shortened_but_not_lengthened(actor):
    shorter = run_tool(request(actor, "fetch", {"text": "x"}, timeout_seconds=2))
    longer = run_tool(request(actor, "fetch", {"text": "x"}, timeout_seconds=9999))

    assert shorter.run.timeout_s == 2
    assert longer.run.timeout_s == 30


def test_coerced_arguments_are_marked(actor):
    outcome = run_tool(request(actor, "tag", {"tags": '["a", "b"]'}))

    assert outcome.result.content == "a+b"
    stored = ToolRun.objects.get()
    assert (stored.coerced, stored.arguments) == (["tags"], {"tags": ["a", "b"]})


# --- what is refused, with one row and one event each ----------------------------------------


def test_an_unknown_tool_is_refused(actor):
    error, run = refused(UnknownTool, request(actor, "nope", {"text": "x"}))

    assert (error.code, error.status) == ("unknown_tool", 404)
    assert (run.status, run.outcome, run.tool_name) == ("refused", "unknown_tool", "nope")
    assert kinds_of(run) == ["run.refused"]


def test_a_tool_without_its_code_is_unavailable(actor):
    make_tool("gone", is_available=False)
    refused(ToolUnavailable, request(actor, "gone"))


def test_a_tool_is_refused_on_a_surface_it_is_not_offered_on(actor):
    update_tool(actor=SYSTEM, name="echo", changes={"exposed_on": ["console"]})

    _, run = refused(NotExposed, request(actor, "echo", {"text": "x"}))
    assert run.outcome == "not_exposed"
    console = run_tool(request(actor, "echo", {"text": "x"}, surface="console"))
    assert console.result.success


def test_a_denied_call_names_the_decision_and_the_fix(actor):
    publish_policy(agent_policy("support", deny=["echo"]))
    make_agent("support")

    error, run = refused(DeniedByPolicy, request(actor, "echo", {"text": "x"}, agent="support"))

    assert error.extra["decision"] == str(run.decision_id)
    assert error.extra["fix"]
    assert run.effect == "deny"
    assert run.decision.explanation
    assert Event.objects.get(run_id=run.pk).data["summary"] == run.decision.summary


def test_without_a_policy_every_call_is_refused(actor):
    from tools_app.models import PolicyVersion
    from tools_app.services.configuration import bump

    PolicyVersion.objects.all().delete()
    bump("policy")
    refused(PolicyUnreadable, request(actor, "echo", {"text": "x"}))


def test_unknown_and_inactive_agents_are_refused(actor):
    make_agent("asleep", is_active=False)

    refused(UnknownAgent, request(actor, "echo", {"text": "x"}, agent="nobody"))
    refused(AgentInactive, request(actor, "echo", {"text": "x"}, agent="asleep"))


def test_a_token_bound_to_an_agent_acts_for_no_other(actor):
    make_agent("support")
    make_agent("coding")
    bound = make_token_actor(agent="support")

    refused(TokenScope, request(bound, "echo", {"text": "x"}, agent="coding"))
    assert run_tool(request(bound, "echo", {"text": "x"})).run.agent == "support"


def test_a_token_runs_only_its_tools_and_needs_the_scope():
    only_fetch = make_token_actor(tools=["fetch"])
    reader = make_token_actor(scopes=["tools:read"])

    _, run = refused(TokenScope, request(only_fetch, "echo", {"text": "x"}))
    assert run.arguments == {"text": "x"}
    refused(TokenScope, request(reader, "echo", {"text": "x"}))


def test_arguments_that_do_not_fit_are_refused_with_their_paths(actor):
    error, run = refused(InvalidArguments, request(actor, "echo", {"text": 5}))

    assert error.extra["errors"][0]["path"] == "$.text"
    assert run.outcome == "invalid_arguments"
    assert run.result_metadata["problem"]["errors"] == error.extra["errors"]


def test_arguments_that_stop_early_have_a_code_of_their_own(actor):
    _, run = refused(TruncatedArguments, request(actor, "echo", "{"))
    assert run.arguments == {"unreadable": "{"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("session", "s" * 201), ("model", "m\n"), ("timeout_seconds", float("nan"))],
)
def test_fields_no_row_could_hold_are_refused(actor, field, value):
    _, run = refused(InvalidRequest, request(actor, "echo", {"text": "x"}, **{field: value}))
    assert run.outcome == "invalid_request"


def test_a_bug_in_a_step_refuses_the_call_without_details(actor, monkeypatch):
    def broken(**_: object) -> None:
        raise ValueError("secret detail")

    monkeypatch.setattr("tools_app.services.policies.decide", broken)
    error, run = refused(ServiceError, request(actor, "echo", {"text": "x"}))

    assert (error.code, error.status) == ("internal_error", 500)
    assert "secret detail" not in run.message + error.message


# --- secrets ---------------------------------------------------------------------------------


def test_secrets_are_redacted_when_written_and_delivered_to_their_caller_only(actor):
    outcome = run_tool(request(actor, "echo", {"text": SECRET}))

    assert outcome.result.content == SECRET
    run = ToolRun.objects.get()
    assert SECRET not in str(run.arguments) + run.content
    assert SECRET not in str(Event.objects.get(run_id=run.pk).data)
    assert true_arguments(run) == {"text": SECRET}
    assert result_of(run, actor).content == SECRET
    stranger = make_actor("visitor", "operator")
    assert result_of(run, stranger).content != SECRET
    assert SECRET not in str(deliverable_arguments(run, stranger))
    assert deliverable_arguments(run, make_actor("auditor", "auditor")) == {"text": SECRET}


def test_sealed_values_are_not_readable_in_the_database(actor):
    run_tool(request(actor, "echo", {"text": SECRET}))

    sealed = SealedPayload.objects.get()
    assert SECRET.encode() not in bytes(sealed.arguments) + bytes(sealed.content)


def test_nothing_is_sealed_where_nothing_was_redacted(actor):
    run_tool(request(actor, "echo", {"text": "plain"}))
    assert not SealedPayload.objects.exists()


def test_a_worker_gets_the_true_arguments(actor):
    outcome = run_tool(request(actor, "fetch", {"text": SECRET}))
    (done,) = work_off()

    assert SECRET not in done.content
    assert result_of(done, actor).content == f"fetched {SECRET}"
    assert outcome.run.arguments != {"text": SECRET}


@pytest.mark.parametrize("text", ["nul \0 byte", "half \ud83d pair", "ไทย 🎉", "\x1b[31m"])
def test_any_text_can_be_stored_and_comes_back_whole(actor, text):
    update_tool(actor=SYSTEM, name="fetch", changes={"note": "returns what no row can hold"})
    with tools_offered(Odd(text)):
        outcome = run_tool(request(actor, "odd"))

    assert outcome.result.content == text
    assert result_of(ToolRun.objects.get(pk=outcome.run.pk), actor).content == text


class Odd(Echo):
    """Returns a text it was made with."""

    tool_id = "odd"
    parameters = {"type": "object"}

    def __init__(self, text: str) -> None:
        self._text = text

    def answer(self, params):
        return self._text


# --- dry runs --------------------------------------------------------------------------------


def test_a_dry_run_stores_nothing_and_runs_nothing(actor):
    outcome = run_tool(request(actor, "send", {"to": "x"}, dry_run=True))

    assert outcome.run is None
    assert outcome.dry.effect == "ask"
    assert outcome.dry.would_wait_for_approval
    assert outcome.dry.arguments == {"to": "x"}
    assert not ToolRun.objects.exists()


def test_a_dry_run_of_a_denied_tool_is_an_answer(actor):
    publish_policy({"tools": {"deny": ["echo"]}})
    outcome = run_tool(request(actor, "echo", {"text": "x"}, dry_run=True))

    assert outcome.dry.effect == "deny"
    assert outcome.dry.would_be_refused == "denied_by_policy"
    assert not outcome.dry.would_wait_for_approval


# --- batches ---------------------------------------------------------------------------------


def test_each_call_of_a_batch_has_its_own_outcome(actor):
    outcomes = run_batch(
        [
            request(actor, "echo", {"text": "a"}),
            request(actor, "nope"),
            request(actor, "echo", {"text": 1}),
            request(actor, "send", {}),
        ]
    )

    assert outcomes[0].result.content == "a"
    assert [error.code for error in outcomes[1:3]] == ["unknown_tool", "invalid_arguments"]
    assert outcomes[3].approval is not None
    assert ToolRun.objects.count() == 4


@pytest.mark.parametrize("size", [0, MAX_BATCH + 1])
def test_a_batch_has_a_size(actor, size):
    with pytest.raises(InvalidRequest):
        run_batch([request(actor, "echo", {"text": "a"})] * size)


def test_the_hot_path_asks_the_database_little(actor, django_assert_max_num_queries):
    run_tool(request(actor, "echo", {"text": "warm"}))
    with django_assert_max_num_queries(16):  # stamps outside of a request, run, event, savepoints
        run_tool(request(actor, "echo", {"text": "hot"}))
