"""Publishing policies and deciding by them."""

from __future__ import annotations

import threading

import pytest
from django.db import connections, transaction

from tests.builders import (
    agent_policy,
    make_actor,
    make_agent,
    make_token_actor,
    make_tool,
    publish_policy,
)
from tools_app.models import Decision, Event, PolicyVersion
from tools_app.services import policies
from tools_app.services.access import SYSTEM
from tools_app.services.configuration import bump
from tools_app.services.errors import (
    Forbidden,
    PolicyInvalid,
    PolicyUnreadable,
    PreconditionFailed,
    PreconditionRequired,
    TokenScope,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def tools() -> None:
    for name in ("calculator", "exec", "message", "think"):
        make_tool(name, requires_confirmation=name == "exec")


def allowed(agent: str = "", **subject: str) -> tuple[str, ...]:
    return policies.effective_tools(agent=agent, **subject).allowed


# --- publishing ------------------------------------------------------------------------------


def test_a_published_policy_is_in_force_at_once_and_numbered() -> None:
    publish_policy()
    assert "calculator" in allowed("support")
    version = publish_policy(agent_policy("support", profile="messaging"))
    assert version.number == 2
    assert policies.current_version() == version
    assert allowed("support") == ("message",)
    event = Event.objects.latest("seq")
    assert (event.kind, event.data["version"]) == ("policy.published", 2)


def test_published_versions_stay_as_they_were() -> None:
    first = publish_policy(agent_policy("support", deny=["exec"]))
    publish_policy(agent_policy("support", deny=["think"]))
    kept = PolicyVersion.objects.get(number=first.number)
    assert kept.document == agent_policy("support", deny=["exec"])


def test_publishing_what_is_in_force_changes_nothing() -> None:
    first = publish_policy({"tools": {"deny": ["exec"]}, "agents": {"list": []}})
    again = publish_policy({"agents": {"list": []}, "tools": {"deny": ["exec"]}})
    assert again == first
    assert PolicyVersion.objects.count() == 1


@pytest.mark.parametrize(
    ("base", "error"),
    [(None, PreconditionRequired), (0, PreconditionFailed), (7, PreconditionFailed)],
)
def test_a_change_must_be_based_on_the_version_in_force(base, error) -> None:
    publish_policy()
    with pytest.raises(error):
        policies.publish(actor=SYSTEM, document={"tools": {"deny": ["exec"]}}, base_number=base)
    assert policies.current_version().number == 1


def test_a_stale_change_learns_the_current_number() -> None:
    publish_policy()
    publish_policy(agent_policy("main", deny=["exec"]))
    with pytest.raises(PreconditionFailed, match="Version 2"):
        policies.publish(actor=SYSTEM, document={}, base_number=1)


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ([], ""),
        ("text", ""),
        (None, ""),
        ({"tolls": {}}, "tolls"),
        ({"tools": {"deny": "exec"}}, "tools.deny"),
        ({"agents": {"list": [{"id": "main", "tools": {"profile": "nope"}}]}},
         "agents.list[0].tools.profile"),
    ],
)  # fmt: skip
def test_an_invalid_document_is_refused_with_the_place(document, path: str) -> None:
    publish_policy()
    with pytest.raises(PolicyInvalid) as refusal:
        policies.publish(actor=SYSTEM, document=document, base_number=1)
    assert [error["path"] for error in refusal.value.extra["errors"]] == [path]
    assert policies.current_version().number == 1


def test_publishing_needs_the_right() -> None:
    publish_policy()
    with pytest.raises(Forbidden):
        policies.publish(actor=make_actor("anna", "operator"), document={}, base_number=1)
    reading = make_token_actor(scopes=["policy:read"])
    with pytest.raises(TokenScope):
        policies.publish(actor=reading, document={}, base_number=1)
    token = make_token_actor(scopes=["policy:write"])
    document = {"tools": {"deny": ["exec"]}}
    assert policies.publish(actor=token, document=document, base_number=1).author_label == (
        token.label
    )


@pytest.mark.django_db(transaction=True)
def test_of_two_publishers_at_once_one_is_told() -> None:
    publish_policy()
    together = threading.Barrier(4)
    outcomes: list[str] = []

    def publish(name: str) -> None:
        together.wait()
        try:
            document = {"tools": {"deny": [name]}}
            policies.publish(actor=SYSTEM, document=document, base_number=1)
            outcomes.append("published")
        except PreconditionFailed:
            outcomes.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=publish, args=(f"t{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["published", "refused", "refused", "refused"]


def test_the_lists_of_one_agent_are_set_and_all_else_is_kept() -> None:
    before = {
        "tools": {"deny": ["think"]},
        "agents": {
            "list": [
                {"id": "main"},
                {"id": "support", "name": "S", "tools": {
                    "profile": "messaging", "deny": ["exec"], "byProvider": {"x": {"deny": ["*"]}},
                }},
            ]
        },
    }  # fmt: skip
    publish_policy(before)
    tools = {"profile": "", "alsoAllow": ["calculator"], "deny": []}
    version = policies.set_agent_tools(actor=SYSTEM, agent="support", tools=tools, base_number=1)
    assert version.document["tools"] == before["tools"]
    assert version.document["agents"]["list"] == [
        {"id": "main"},
        {"id": "support", "name": "S", "tools": {
            "alsoAllow": ["calculator"], "byProvider": {"x": {"deny": ["*"]}},
        }},
    ]  # fmt: skip


def test_an_agent_without_rules_gets_an_entry() -> None:
    publish_policy()
    policies.set_agent_tools(
        actor=SYSTEM, agent="new", tools={"profile": "messaging"}, base_number=1
    )
    assert allowed("new") == ("message",)
    assert "calculator" in allowed("other")


# --- checking --------------------------------------------------------------------------------


def test_a_check_says_who_gains_and_loses_what() -> None:
    make_agent("main")
    make_agent("support")
    publish_policy(agent_policy("support", profile="messaging"))
    document = agent_policy("support", profile="messaging", alsoAllow=["exec"], deny=["message"])
    found = policies.check(actor=SYSTEM, document=document)
    assert found.errors == []
    assert [(c.agent, c.added, c.removed, c.asks) for c in found.changes] == [
        ("support", ("exec",), ("message",), ("exec",))
    ]
    assert policies.current_version().number == 1


def test_a_check_warns_of_an_allow_list_behind_a_deny() -> None:
    publish_policy()
    document = {"tools": {"allow": ["calculator"], "deny": ["*"]}}
    found = policies.check(actor=SYSTEM, document=document)
    assert "allow_shadowed_by_deny" in {warning.code for warning in found.warnings}


def test_a_check_lists_every_error() -> None:
    publish_policy()
    found = policies.check(actor=SYSTEM, document={"tools": {"deny": 1, "allow": 2}, "x": 0})
    assert {error["path"] for error in found.errors} == {"tools.deny", "tools.allow", "x"}
    assert found.changes == []


# --- deciding --------------------------------------------------------------------------------


def test_a_decision_says_what_which_rule_and_how_to_change_it() -> None:
    publish_policy(agent_policy("support", profile="messaging"))
    decision = policies.decide(tool_name="calculator", agent="support")
    assert (decision.effect, decision.code) == ("deny", "denied_by_policy")
    assert decision.policy_version == 1
    assert "agents.support.profile" in decision.summary
    stored = Decision.objects.get(pk=decision.pk).explanation
    assert any(layer["decides"] for layer in stored["layers"])
    assert stored["fix"]["edits"]


@pytest.mark.parametrize(("tool", "effect"), [("think", "allow"), ("exec", "ask")])
def test_a_tool_that_needs_confirmation_is_asked_about(tool: str, effect: str) -> None:
    publish_policy()
    assert policies.decide(tool_name=tool, agent="main").effect == effect


def test_calls_that_are_decided_alike_share_one_row() -> None:
    publish_policy()
    first = policies.decide(tool_name="think", agent="main", session="s1")
    again = policies.decide(tool_name="think", agent="main", session="s2")
    assert first.pk == again.pk
    assert Decision.objects.count() == 1


@pytest.mark.parametrize(
    "difference",
    [
        {"tool_name": "calculator"},
        {"agent": "support"},
        {"provider": "openai"},
        {"model": "gpt-5"},
        {"session": "agent:main:subagent:x"},
    ],
)
def test_whatever_could_decide_differently_has_a_row_of_its_own(difference) -> None:
    publish_policy()
    question = {"tool_name": "think", "agent": "main"}
    first = policies.decide(**question)
    assert policies.decide(**{**question, **difference}).pk != first.pk


def test_a_new_policy_and_a_new_tool_make_new_decisions() -> None:
    publish_policy()
    first = policies.decide(tool_name="think", agent="main").pk
    make_tool("later")
    second = policies.decide(tool_name="think", agent="main").pk
    publish_policy({"tools": {"deny": ["exec"]}})
    third = policies.decide(tool_name="think", agent="main").pk
    assert len({first, second, third}) == 3


def test_a_disabled_tool_is_not_offered() -> None:
    make_tool("off", is_enabled=False)
    publish_policy()
    assert policies.decide(tool_name="off", agent="main").code == "not_offered"


def test_a_sub_agents_session_narrows_what_it_may_use() -> None:
    make_tool("gateway")
    publish_policy()
    assert "gateway" in allowed("main")
    assert "gateway" not in allowed("main", session="agent:main:subagent:1")


@pytest.mark.django_db(transaction=True)
def test_a_warm_decision_costs_one_query(django_assert_num_queries) -> None:
    publish_policy()
    policies.decide(tool_name="think", agent="main")
    with django_assert_num_queries(2):  # the stamps: of the decisions, nothing else is looked up
        first = policies.decide(tool_name="think", agent="main")
        second = policies.decide(tool_name="think", agent="main")
    assert first.pk == second.pk


@pytest.mark.django_db(transaction=True)
def test_a_decision_whose_transaction_failed_is_written_again() -> None:
    publish_policy()
    with transaction.atomic():
        lost = policies.decide(tool_name="think", agent="main")
        transaction.set_rollback(True)
    assert not Decision.objects.filter(pk=lost.pk).exists()
    again = policies.decide(tool_name="think", agent="main")
    assert Decision.objects.filter(pk=again.pk).exists()


# --- closed when in doubt --------------------------------------------------------------------


def test_without_a_policy_every_question_is_refused() -> None:
    with pytest.raises(PolicyUnreadable):
        policies.decide(tool_name="think", agent="main")
    with pytest.raises(PolicyUnreadable):
        policies.effective_tools(agent="main")


@pytest.mark.parametrize("damage", [{"document": [1]}, {"table_set": "2031.1.1"}])
def test_an_unreadable_policy_refuses_and_recovers(damage) -> None:
    publish_policy()
    PolicyVersion.objects.update(**damage)
    bump("policy")
    with pytest.raises(PolicyUnreadable):
        policies.decide(tool_name="think", agent="main")
    PolicyVersion.objects.update(document={}, table_set="default")
    bump("policy")
    assert policies.decide(tool_name="think", agent="main").effect == "allow"


def test_a_failing_evaluator_refuses(monkeypatch) -> None:
    publish_policy()

    def broken(*_args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(type(policies.current_policy()), "effective", broken)
    with pytest.raises(PolicyUnreadable) as refusal:
        policies.decide(tool_name="think", agent="main")
    assert "ZeroDivision" not in refusal.value.message
