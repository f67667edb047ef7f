"""The shortest change that flips a decision."""

from __future__ import annotations

import pytest

from tools_app.policy import OfferedTool, Subject, apply_edits, compile_policy

TOOLS = tuple(
    OfferedTool(name=name)
    for name in (
        "read", "exec", "process", "apply_patch", "message", "session_status", "calculator",
        "browser", "image", "sessions_list", "cron",
    )
)  # fmt: skip
SUPPORT = Subject(agent_id="support")


def support(**tools):
    return {"id": "support", "tools": tools}


def fix_of(document, tool, subject=SUPPORT):
    effective = compile_policy(document, version=1).effective(subject, TOOLS)
    fix = effective.explain(tool).fix
    after = compile_policy(apply_edits(document, fix.edits), version=1).effective(subject, TOOLS)
    assert (after.decide(tool).effect == "deny") is not (effective.decide(tool).effect == "deny")
    return fix


def edits(fix):
    return [(edit.op, edit.path, edit.value) for edit in fix.edits]


@pytest.mark.parametrize(
    ("document", "tool", "expected"),
    [
        (
            {"agents": {"list": [support(profile="messaging")]}},
            "calculator",
            [("add", "agents.list[0].tools.alsoAllow", "calculator")],
        ),
        (
            {"tools": {"deny": ["read", "group:runtime"]}},
            "exec",
            [("remove", "tools.deny", "group:runtime")],
        ),
        (
            {"tools": {"deny": ["bash", "ex*"]}},
            "exec",
            [("remove", "tools.deny", "bash"), ("remove", "tools.deny", "ex*")],
        ),
        ({"tools": {"allow": ["read"]}}, "exec", [("add", "tools.allow", "exec")]),
        (
            {"tools": {"allow": ["read"]}, "agents": {"list": [support(deny=["exec"])]}},
            "exec",
            [
                ("add", "tools.allow", "exec"),
                ("remove", "agents.list[0].tools.deny", "exec"),
            ],
        ),
        ({"agents": {"list": [support()]}}, "read", [("add", "agents.list[0].tools.deny", "read")]),
        ({}, "read", [("add", "tools.deny", "read")]),
    ],
)
def test_the_change_is_the_shortest_and_in_the_narrowest_scope(document, tool, expected):
    assert edits(fix_of(document, tool)) == expected


def test_the_sentence_names_an_agent_by_its_id():
    document = {
        "agents": {"list": [{"id": "a"}, {"id": "Help Desk", "tools": {"profile": "minimal"}}]}
    }
    policy = compile_policy(document, version=1)
    effective = policy.effective(Subject(agent_id="help-desk"), [OfferedTool(name="exec")])
    fix = effective.explain("exec").fix
    assert fix.sentence == "To allow exec: add exec to agents.help-desk.alsoAllow."
    assert [edit.path for edit in fix.edits] == ["agents.list[1].tools.alsoAllow"]


def test_the_sentence_says_what_to_do():
    fix = fix_of({"tools": {"deny": ["group:runtime"]}}, "exec")
    assert fix.sentence == "To allow exec: remove group:runtime from tools.deny."
    assert fix.also_changes == ("process",)
    assert fix.effect == "allow"


def test_an_agent_unknown_to_the_document_is_added_rather_than_everybody_changed():
    fix = fix_of({"tools": {"profile": "messaging"}}, "exec", Subject(agent_id="new"))
    assert edits(fix) == [
        ("add", "agents.list", {"id": "new", "tools": {"alsoAllow": ["exec"]}}),
    ]
    assert fix.also_changes == ("apply_patch",)


def test_an_inherited_also_allow_list_is_carried_along():
    document = {
        "tools": {"profile": "minimal", "alsoAllow": ["read", "browser"]},
        "agents": {"list": [support()]},
    }
    fix = fix_of(document, "calculator")
    assert fix.also_changes == ()
    assert edits(fix) == [
        ("set", "agents.list[0].tools.alsoAllow", ["read", "browser", "calculator"])
    ]


def test_an_agent_with_an_allow_list_never_gets_also_allow_too():
    document = {"agents": {"list": [support(profile="messaging", allow=["message"])]}}
    paths = [edit.path for edit in fix_of(document, "calculator").edits]
    assert "agents.list[0].tools.alsoAllow" not in paths
    assert "agents.list[0].tools.allow" in paths


def test_provider_profiles_are_extended_where_they_stand():
    document = {"tools": {"byProvider": {"openai/gpt-5": {"profile": "minimal"}}}}
    fix = fix_of(document, "read", Subject(provider="openai", model="gpt-5"))
    assert edits(fix) == [("add", 'tools.byProvider["openai/gpt-5"].alsoAllow', "read")]


def test_built_in_sandbox_lists_are_written_down():
    fix = fix_of({}, "browser", Subject(sandboxed=True))
    assert {(edit.op, edit.path) for edit in fix.edits} == {
        ("set", "tools.sandbox.tools.allow"),
        ("set", "tools.sandbox.tools.deny"),
    }
    assert fix.also_changes == ()


def test_sub_agent_defaults_are_lifted_by_exact_name():
    subject = Subject(session_key="agent:main:subagent:u1")
    assert edits(fix_of({}, "cron", subject)) == [
        ("add", "tools.subagents.tools.alsoAllow", "cron")
    ]
    restricted = {"tools": {"subagents": {"tools": {"allow": ["read"]}}}}
    assert edits(fix_of(restricted, "cron", subject)) == [
        ("add", "tools.subagents.tools.allow", "cron")
    ]


def test_group_chat_rules_are_changed_in_place():
    document = {"channels": {"telegram": {"groups": {"7": {"tools": {"deny": ["exec"]}}}}}}
    fix = fix_of(document, "exec", Subject(message_provider="telegram", group_id="7"))
    assert edits(fix) == [("remove", 'channels.telegram.groups["7"].tools.deny', "exec")]


def test_a_tool_that_asks_stays_asking_when_it_is_allowed_again():
    tools = (OfferedTool(name="exec", requires_confirmation=True),)
    policy = compile_policy({"tools": {"deny": ["exec"]}}, version=1)
    fix = policy.effective(Subject(), tools).explain("exec").fix
    assert fix.effect == "ask"
    assert fix.sentence.startswith("To ask about exec")
