"""Decisions and explanations through the public door."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tools_app.policy import OfferedTool, Subject, compile_policy

TOOLS = tuple(
    OfferedTool(name=name)
    for name in ("read", "exec", "process", "message", "session_status", "think", "calculator")
)
SUPPORT = Subject(agent_id="support")


def policy_of(tools=None, agents=(), **options):
    document = {"tools": tools or {}, "agents": {"list": list(agents)}}
    return compile_policy(document, version=12, **options)


def support(**tools):
    return {"id": "support", "tools": tools}


def test_a_denial_names_rule_and_version():
    policy = policy_of(agents=[support(deny=["group:runtime"])])
    decision = policy.effective(SUPPORT, TOOLS).decide("exec")
    assert decision.effect == "deny"
    assert decision.code == "denied_by_policy"
    assert decision.layer == "agents.support.tools.allow"
    assert decision.rule.scope == "agent"
    assert decision.rule.key == "agents.list[0].tools.deny"
    assert decision.rule.entry == "group:runtime"
    assert decision.rule.table == "group:runtime"
    assert decision.summary == "deny — agents.support.deny: group:runtime — v12"


def test_a_tool_missing_from_a_list_blames_the_list():
    policy = policy_of({"allow": ["read", "exec"]})
    decision = policy.effective(SUPPORT, TOOLS).decide("think")
    assert decision.rule.key == "tools.allow"
    assert decision.rule.entry is None
    assert decision.summary == "deny — tools.allow: not in the list — v12"


def test_a_tool_missing_from_a_profile_blames_the_profile():
    decision = policy_of({"profile": "messaging"}).effective(SUPPORT, TOOLS).decide("calculator")
    assert decision.layer == "tools.profile (messaging)"
    assert decision.rule.entry == "messaging"
    assert decision.rule.table == "profile messaging"


def test_an_allowed_tool_names_the_entry_that_let_it_through():
    effective = policy_of({"profile": "coding"}).effective(SUPPORT, TOOLS)
    decision = effective.decide("exec")
    assert (decision.effect, decision.code) == ("allow", "allowed")
    assert decision.rule.table == "profile coding > group:runtime"
    unrestricted = policy_of().effective(SUPPORT, TOOLS).decide("exec")
    assert unrestricted.rule is None
    assert unrestricted.summary == "allow — no rule restricts it — v12"


def test_an_unknown_name_is_not_offered_and_has_no_fix():
    effective = policy_of().effective(SUPPORT, TOOLS)
    assert effective.decide("nope").code == "not_offered"
    explanation = effective.explain("nope")
    assert explanation.fix is None
    assert [layer.reason for layer in explanation.layers] == ["not_offered"]


def test_a_tool_that_requires_confirmation_is_asked_about():
    tools = (OfferedTool(name="exec", requires_confirmation=True), OfferedTool(name="read"))
    effective = policy_of().effective(SUPPORT, tools)
    decision = effective.decide("exec")
    assert (decision.effect, decision.code) == ("ask", "approval_required")
    assert effective.allowed == ("exec", "read")
    assert effective.asks == {"exec"}


def test_confirmation_does_not_soften_a_denial():
    tools = (OfferedTool(name="exec", requires_confirmation=True),)
    effective = policy_of({"deny": ["exec"]}).effective(SUPPORT, tools)
    assert effective.decide("exec").effect == "deny"
    assert effective.asks == frozenset()


@pytest.mark.parametrize("spelled", ["exec", "EXEC", " exec ", "bash"])
def test_a_tool_is_found_however_it_is_spelled(spelled):
    assert policy_of({"deny": ["exec"]}).effective(SUPPORT, TOOLS).decide(spelled).code == (
        "denied_by_policy"
    )


def test_owner_only_tools_are_refused_to_strangers_and_no_document_can_help():
    tools = (OfferedTool(name="cron"), OfferedTool(name="reset", owner_only=True), *TOOLS)
    stranger = Subject(agent_id="support", sender_is_owner=False)
    effective = policy_of({"allow": ["cron", "reset", "read"]}).effective(stranger, tools)
    assert effective.allowed == ("read",)
    for name in ("cron", "reset"):
        explanation = effective.explain(name)
        assert explanation.decision.layer == "owner-only tools"
        assert explanation.layers[0].reason == "owner"
        assert explanation.fix is None


def test_an_optional_tool_needs_an_entry_that_names_it():
    tools = (*TOOLS, OfferedTool(name="lobster", plugin_id="acme", optional=True))
    for entry in ("*", "lob*"):
        assert "lobster" not in policy_of({"allow": ["*", entry]}).effective(SUPPORT, tools).allowed
    for entry in ("lobster", "ACME", "group:plugins"):
        also = policy_of({"alsoAllow": [entry]})
        assert "lobster" in also.effective(SUPPORT, tools).allowed
    explanation = policy_of().effective(SUPPORT, tools).explain("lobster")
    assert explanation.decision.layer == "optional tools"
    assert [edit.path for edit in explanation.fix.edits] == ["tools.alsoAllow"]


def test_a_plugin_never_takes_the_name_of_a_core_tool():
    tools = (
        OfferedTool(name="exec"),
        OfferedTool(name="Exec", plugin_id="impostor"),
        OfferedTool(name="other", plugin_id="exec"),
        OfferedTool(name="dig", plugin_id="one"),
        OfferedTool(name="dig", plugin_id="two"),
    )
    effective = policy_of().effective(SUPPORT, tools)
    assert effective.allowed == ("exec", "dig")
    assert effective.decide("other").layer == "name conflict"


def test_tts_is_not_offered_to_the_voice_channel_by_the_later_tables():
    tools, voice = (*TOOLS, OfferedTool(name="tts")), Subject(message_provider="Voice")
    later = policy_of(tables="2026.2.26").effective(voice, tools)
    assert later.decide("tts").layer == "voice channel"
    assert "tts" in policy_of(tables="2026.2.22").effective(voice, tools).allowed


def test_explanation_lists_all_layers_in_order_and_marks_the_deciding_one():
    policy = policy_of({"deny": ["exec"]}, [support(profile="messaging", deny=["ex*"])])
    layers = policy.effective(SUPPORT, TOOLS).explain("exec").layers
    assert [layer.scope for layer in layers] == [
        "runtime", "profile", "provider_profile", "global", "provider", "agent",
        "agent_provider", "group", "sandbox", "subagent",
    ]  # fmt: skip
    outcomes = {layer.scope: layer.outcome for layer in layers}
    assert [scope for scope, outcome in outcomes.items() if outcome == "removed"] == [
        "profile",
        "global",
        "agent",
    ]
    assert outcomes["sandbox"] == "not_applied"
    assert [layer.scope for layer in layers if layer.decides] == ["profile"]


def test_explanation_is_plain_json():
    explanation = policy_of({"profile": "minimal"}).effective(SUPPORT, TOOLS).explain("exec")
    data = json.loads(json.dumps(explanation.to_json()))
    assert data["decision"]["effect"] == "deny"
    assert data["fix"]["edits"][0]["op"] in ("add", "remove", "set")
    assert {"label", "scope", "outcome", "rule", "allow", "deny"} <= data["layers"][1].keys()


def test_a_profile_without_offered_tools_stays_in_force_in_the_default_tables():
    tools = (OfferedTool(name="think"), OfferedTool(name="calculator"))
    assert policy_of({"profile": "messaging"}).effective(SUPPORT, tools).allowed == ()
    reference = policy_of({"profile": "messaging"}, tables="2026.2.22")
    assert reference.effective(SUPPORT, tools).allowed == ("think", "calculator")


def test_a_list_of_unknown_names_stays_in_force_in_the_default_tables():
    closed = policy_of({"allow": ["ghost"]})
    effective = closed.effective(SUPPORT, TOOLS)
    assert effective.allowed == ()
    (warning,) = effective.warnings
    assert (warning.step, warning.unknown, warning.stripped) == ("tools.allow", ("ghost",), False)
    reference = policy_of({"allow": ["ghost"]}, tables="2026.2.22")
    assert reference.effective(SUPPORT, TOOLS).allowed == tuple(tool.name for tool in TOOLS)


@pytest.mark.parametrize(("implied_by", "kept"), [("exec", "exec"), ("write", "write")])
def test_what_brings_apply_patch_along_can_be_chosen(implied_by, kept):
    tools = tuple(OfferedTool(name=name) for name in ("exec", "write", "apply_patch"))
    for allowed in ("exec", "write"):
        policy = policy_of({"allow": [allowed]}, apply_patch_implied_by=implied_by)
        assert ("apply_patch" in policy.effective(SUPPORT, tools).allowed) is (allowed == kept)


def test_an_unknown_table_set_is_named():
    with pytest.raises(ValueError, match=r"unknown table set '1\.0'"):
        compile_policy({}, version=1, tables="1.0")


def test_equal_questions_get_the_remembered_answer():
    policy = policy_of({"deny": ["exec"]})
    first = policy.effective(Subject(agent_id="support"), TOOLS)
    assert policy.effective(Subject(agent_id="support"), TOOLS) is first
    assert policy.effective(Subject(agent_id="support"), list(TOOLS)) is first
    other = policy.effective(Subject(agent_id="support"), TOOLS[:2])
    assert other.allowed == ("read",)


def test_short_lived_tuples_never_get_the_answer_of_another():
    policy = policy_of({"deny": ["exec"]})
    for number in range(500):
        name = f"tool_{number}"
        assert policy.effective(SUPPORT, (OfferedTool(name=name),)).allowed == (name,)


def test_threads_share_one_policy():
    policy = policy_of({"deny": ["exec"]}, [support(allow=["read", "think"])])

    def ask(number: int) -> tuple[str, ...]:
        agent = "support" if number % 2 else f"agent-{number % 7}"
        return policy.effective(Subject(agent_id=agent), TOOLS).allowed

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(400)))
    assert set(answers[1::2]) == {("read", "think")}
    assert len(set(answers[0::2])) == 1


def test_subject_keys_tell_subjects_apart():
    assert Subject(agent_id="a").key() == Subject(agent_id="a").key()
    keys = {
        Subject().key(),
        Subject(agent_id="a").key(),
        Subject(provider="a").key(),
        Subject(agent_id="a", provider="b").key(),
        Subject(agent_id='a","b').key(),
        Subject(sandboxed=True).key(),
    }
    assert len(keys) == 6


def test_an_empty_layer_carries_the_label_of_the_agent_that_asks():
    agents = {"agents": {"list": [{"id": "main"}, {"id": "support"}]}}
    policy = compile_policy(agents, version=1)
    for agent in ("main", "support"):
        explanation = policy.effective(Subject(agent_id=agent), TOOLS).explain("exec")
        labels = [layer.label for layer in explanation.layers if layer.label.startswith("agents.")]
        assert labels == [f"agents.{agent}.tools.allow", f"agents.{agent}.tools.byProvider.allow"]
