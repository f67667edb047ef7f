"""The strict check: errors with their place, and what is worth a warning."""

from __future__ import annotations

import time

import pytest

from tools_app.policy import OfferedTool, PolicyError, check_document
from tools_app.policy.document import MAX_AGENTS, MAX_ENTRIES, MAX_ENTRY_LENGTH, MAX_ERRORS

TOOLS = tuple(
    OfferedTool(name=name)
    for name in ("read", "write", "exec", "process", "session_status", "cron", "message")
)


def agent(**tools):
    return {"agents": {"list": [{"id": "a", "tools": tools}]}}


def found(document, *, tools=TOOLS, **options):
    checked = check_document(document, tools=tools, **options)
    assert checked.errors == []
    return [(w.code, w.path, w.entries) for w in checked.warnings]


@pytest.mark.parametrize(
    ("document", "path", "words"),
    [
        ([], "", "object"),
        (None, "", "object"),
        ({"tool": {}}, "tool", "unknown key"),
        ({"tools": []}, "tools", "object"),
        ({"tools": {"profile": "ops"}}, "tools.profile", "one of minimal, coding"),
        ({"tools": {"profile": None}}, "tools.profile", "one of"),
        ({"tools": {"profile": ["coding"]}}, "tools.profile", "one of"),
        ({"tools": {"allow": "read"}}, "tools.allow", "list"),
        ({"tools": {"deny": ["read", 5]}}, "tools.deny[1]", "text"),
        ({"tools": {"deny": ["a\x00b"]}}, "tools.deny[0]", "control"),
        ({"tools": {"deny": ["a\u200bb"]}}, "tools.deny[0]", "invisible"),
        ({"tools": {"alow": []}}, "tools.alow", "unknown key"),
        ({"tools": {"allow": ["a"], "alsoAllow": ["b"]}}, "tools", "cannot both"),
        (
            {"tools": {"byProvider": {"openai/x": {"allow": ["a"], "alsoAllow": ["b"]}}}},
            'tools.byProvider["openai/x"]',
            "cannot both",
        ),
        ({"tools": {"byProvider": {"x": 1}}}, "tools.byProvider.x", "object"),
        (
            {"tools": {"byProvider": {"x": {"sandbox": {}}}}},
            "tools.byProvider.x.sandbox",
            "unknown",
        ),
        ({"tools": {"sandbox": {"tools": {"profile": "full"}}}}, "tools.sandbox.tools.profile", ""),
        (agent(profile="ops"), "agents.list[0].tools.profile", "one of"),
        (agent(subagents={}), "agents.list[0].tools.subagents", "unknown key"),
        ({"agents": {"list": {}}}, "agents.list", "list"),
        ({"agents": {"list": [{"tools": {}}]}}, "agents.list[0].id", "text"),
        ({"agents": {"list": [{"id": "!!"}]}}, "agents.list[0].id", "letter"),
        ({"agents": {"list": [{"id": "a", "tolls": {}}]}}, "agents.list[0].tolls", "unknown key"),
        ({"agents": {"defaults": {"tools": {}}}}, "agents.defaults.tools", "unknown key"),
        (
            {"agents": {"defaults": {"subagents": {"maxSpawnDepth": 0}}}},
            "agents.defaults.subagents.maxSpawnDepth",
            "whole number",
        ),
        (
            {"channels": {"telegram": {"groups": {"7": {"tools": {"deny": [1]}}}}}},
            'channels.telegram.groups["7"].tools.deny[0]',
            "text",
        ),
        ({"tools": {1: "x"}}, "tools", "key 1 must be text"),
        ({"tools": {"byProvider": {"\ud800": {}}}}, "tools.byProvider", "control"),
    ],
)
def test_what_is_refused_is_named_with_its_place(document, path, words):
    checked = check_document(document, tools=TOOLS)
    assert not checked.is_valid
    assert any(e["path"] == path and words in e["message"] for e in checked.errors), checked.errors
    with pytest.raises(PolicyError) as caught:
        checked.raise_for_errors()
    assert caught.value.errors == checked.errors


@pytest.mark.parametrize(
    ("make", "limit", "path"),
    [
        (lambda n: {"tools": {"deny": ["x"] * n}}, MAX_ENTRIES, "tools.deny"),
        (lambda n: {"tools": {"deny": ["x" * n]}}, MAX_ENTRY_LENGTH, "tools.deny[0]"),
        (
            lambda n: {"agents": {"list": [{"id": f"a{i}"} for i in range(n)]}},
            MAX_AGENTS,
            "agents.list",
        ),
    ],
)
def test_limits_hold_on_and_over(make, limit, path):
    assert check_document(make(limit)).errors == []
    assert [e["path"] for e in check_document(make(limit + 1)).errors] == [path]


def test_objects_that_contain_themselves_are_no_trap():
    loop: dict = {}
    loop |= {"accounts": {"a": loop}, "groups": {"g": loop}, "channels": {"c": loop}}
    checked = check_document({"channels": {"discord": loop, "guilds": loop}}, tools=TOOLS)
    assert checked.errors == []


def test_errors_stop_at_a_readable_number():
    checked = check_document({"tools": {"deny": [1] * MAX_ENTRIES}})
    assert len(checked.errors) == MAX_ERRORS


def test_a_full_document_of_the_original_is_accepted():
    document = {
        "tools": {
            "profile": "coding",
            "alsoAllow": ["message"],
            "deny": ["cron"],
            "byProvider": {"openai/gpt-5": {"profile": "minimal"}},
            "sandbox": {"tools": {"allow": ["read"], "deny": []}},
            "subagents": {"tools": {"allow": ["read"], "alsoAllow": ["cron"]}},
            "exec": {"timeoutSec": 5},
        },
        "agents": {
            "defaults": {"subagents": {"maxSpawnDepth": 2}, "model": "x"},
            "list": [{"id": "main", "name": "Main", "tools": {"deny": ["exec"]}}],
        },
        "channels": {"telegram": {"groups": {"*": {"tools": {"deny": ["exec"]}}}}},
        "gateway": {"port": 1},
    }
    codes = found(document)
    unused = {path for code, path, _ in codes if code == "not_used"}
    assert unused == {"tools.exec", "agents.defaults.model", "agents.list[0].name", "gateway"}


def test_allow_shadowed_by_deny_lists_the_entries_and_nothing_else_is_reported():
    tools = (OfferedTool(name="read"), OfferedTool(name="web_fetch"))
    expected = [("allow_shadowed_by_deny", "tools.allow", ("web_fetch",))]
    document = {"tools": {"allow": ["web_fetch"], "deny": ["*"]}}
    assert found(document, tools=tools) == expected
    assert found(document, tools=()) == expected


@pytest.mark.parametrize(
    ("allow", "deny", "dead"),
    [
        (["group:runtime"], ["exec", "process"], ("group:runtime",)),
        (["group:runtime"], ["exec"], None),
        (["read", "exec"], ["group:runtime"], ("exec",)),
        (["sess*", "read"], ["session_status"], ("sess*",)),
        (["*"], ["read"], None),
        (["*"], ["*"], ("*",)),
    ],
)
def test_only_entries_without_any_effect_are_shadowed(allow, deny, dead):
    shadowed = [w for w in found({"tools": {"allow": allow, "deny": deny}}) if "shadowed" in w[0]]
    assert [entries for _, _, entries in shadowed] == ([dead] if dead else [])


def test_unknown_entries_come_with_the_nearest_known_name():
    checked = check_document({"tools": {"deny": ["exce", "group:runtim", "zzzz*"]}}, tools=TOOLS)
    (warning,) = checked.warnings
    assert warning.code == "unknown_entry"
    assert warning.entries == ("exce", "group:runtim", "zzzz*")
    assert "exec" in warning.message
    assert "group:runtime" in warning.message


def test_known_names_without_an_offered_tool_match_nothing():
    assert found({"tools": {"deny": ["browser", "group:ui", "exec"]}}) == [
        ("matches_nothing", "tools.deny", ("browser", "group:ui"))
    ]
    assert found({"tools": {"deny": ["browser"]}}, tools=()) == []


def test_aliases_and_repeated_entries_are_told():
    assert found({"tools": {"deny": ["bash", "exec", "read"]}}) == [
        ("alias", "tools.deny", ("bash",)),
        ("duplicate_entry", "tools.deny", ("bash", "exec")),
    ]


def test_an_ignored_allow_list_is_told():
    assert ("allow_list_ignored", "tools.allow", ("ghost",)) in found(
        {"tools": {"allow": ["ghost"]}}, tables="2026.2.22"
    )
    closed = found({"tools": {"allow": ["ghost"]}})
    assert [code for code, _, _ in closed] == ["unknown_entry"]


def test_a_list_ignored_only_for_strangers_is_told():
    checked = check_document(agent(allow=["cron"]), tools=TOOLS, tables="2026.2.22")
    (warning,) = checked.warnings
    assert (warning.code, warning.path) == ("allow_list_ignored", "agents.list[0].tools.allow")
    assert "not owners" in warning.message


def test_a_profile_without_offered_tools_is_told():
    tools = (OfferedTool(name="read"),)
    path = "agents.list[0].tools.profile"
    assert found(agent(profile="messaging"), tools=tools) == [
        ("matches_nothing", path, ("messaging",))
    ]
    reference = found(agent(profile="messaging"), tools=tools, tables="2026.2.22")
    assert ("allow_list_ignored", path, ("messaging",)) in reference


def test_agents_and_providers_that_become_equal_are_told():
    document = {
        "tools": {"byProvider": {"OpenAI": {"deny": ["read"]}, "openai ": {"deny": ["exec"]}}},
        "agents": {"list": [{"id": "Ops Bot"}, {"id": "ops-bot"}]},
    }
    codes = found(document)
    assert ("duplicate_agent", "agents.list[1]", ("ops-bot",)) in codes
    assert ("duplicate_provider", "tools.byProvider.OpenAI", ("OpenAI", "openai ")) in codes


def test_warnings_reach_into_every_scope():
    bad = {"deny": ["ghost"]}
    document = {
        "tools": {"byProvider": {"x": bad}, "sandbox": {"tools": bad}, "subagents": {"tools": bad}},
        "agents": {"list": [{"id": "a", "tools": {**bad, "byProvider": {"y": bad}}}]},
        "channels": {
            "discord": {"guilds": {"g": {"channels": {"c": {"toolsBySender": {"*": bad}}}}}},
            "telegram": {"accounts": {"k": {"groups": {"1": {"tools": bad}}}}},
        },
    }
    assert {path for code, path, _ in found(document) if code == "unknown_entry"} == {
        "tools.byProvider.x.deny",
        "tools.sandbox.tools.deny",
        "tools.subagents.tools.deny",
        "agents.list[0].tools.deny",
        "agents.list[0].tools.byProvider.y.deny",
        'channels.discord.guilds.g.channels.c.toolsBySender["*"].deny',
        'channels.telegram.accounts.k.groups["1"].tools.deny',
    }


def test_a_list_full_of_unknown_entries_is_checked_in_time():
    entries = [f"ghost_{number}" for number in range(MAX_ENTRIES)]
    start = time.thread_time()
    checked = check_document({"tools": {"deny": entries}}, tools=TOOLS)
    assert time.thread_time() - start < 2
    assert checked.warnings[0].entries == tuple(entries)
    assert len(checked.warnings[0].message) < 600
