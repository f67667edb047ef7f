"""Denying by name, by group and by wildcard means the same for every tool there is."""

from __future__ import annotations

import pytest

from tools_app.policy import TABLE_SETS, OfferedTool, Subject, compile_policy

DEFAULT = TABLE_SETS["default"]
NAMES = sorted(DEFAULT.names())
GROUP_OF = {name: group for group, names in DEFAULT.groups.items() for name in names}
TOOLS = tuple(
    [OfferedTool(name=name) for name in NAMES]
    + [OfferedTool(name=name, plugin_id="acme") for name in ("acme_get", "acme_put")]
    + [OfferedTool(name="mcp__files__read", plugin_id="mcp-files", requires_confirmation=True)]
)
SCOPES = {
    "global": lambda deny: {"tools": {"deny": deny}},
    "provider": lambda deny: {"tools": {"byProvider": {"openai": {"deny": deny}}}},
    "agent": lambda deny: {"agents": {"list": [{"id": "a", "tools": {"deny": deny}}]}},
    "group": lambda deny: {"channels": {"slack": {"channels": {"7": {"tools": {"deny": deny}}}}}},
}
SUBJECT = Subject(agent_id="a", provider="openai", message_provider="slack", group_id="7")


def entries_for(tool: OfferedTool) -> list[str]:
    group = tool.plugin_id or GROUP_OF[tool.name]
    return [tool.name, tool.name.upper(), group, f"{tool.name[:-1]}*", f"*{tool.name[1:]}", "*"]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_deny_by_name_group_and_wildcard_are_alike(tool, scope):
    for entry in entries_for(tool):
        policy = compile_policy(SCOPES[scope]([entry]), version=1)
        effective = policy.effective(SUBJECT, TOOLS)
        decision = effective.decide(tool.name)
        assert tool.name not in effective.allowed
        assert (decision.effect, decision.code) == ("deny", "denied_by_policy")
        assert decision.rule.entry == entry


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_star_allows_every_kind_of_tool_but_the_denied_one(tool):
    policy = compile_policy({"tools": {"allow": ["*"], "deny": [tool.name]}}, version=1)
    allowed = policy.effective(SUBJECT, TOOLS).allowed
    assert allowed == tuple(other.name for other in TOOLS if other is not tool)


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("web_*", "web_search", True),
        ("web_*", "web_", True),
        ("*_search", "web_search", True),
        ("a*b*c", "aXbYc", True),
        ("a*b*c", "acb", False),
        ("ab*ba", "aba", False),
        ("**", "anything", True),
        ("rea?", "read", False),
        ("rea.", "read", False),
        ("re[a]d", "read", False),
        ("*x*", "abc", False),
    ],
)
def test_only_the_star_is_special(pattern, name, fits):
    tools = (OfferedTool(name=name), OfferedTool(name="other-tool"))
    effective = compile_policy({"tools": {"deny": [pattern]}}, version=1).effective(
        Subject(), tools
    )
    assert (name not in effective.allowed) is fits


def test_a_pattern_of_many_stars_is_quick():
    pattern, name = "a*" * 90 + "b", "a" * 200
    policy = compile_policy({"tools": {"deny": [pattern]}}, version=1)
    assert policy.effective(Subject(), (OfferedTool(name=name),)).allowed == (name,)
