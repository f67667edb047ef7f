"""Plans: what a file would change, and changing it as a whole."""

from __future__ import annotations

import pytest

from tests.builders import agent_policy, make_actor, make_agent, make_tool, publish_policy
from tools_app.models import AgentProfile, Event, Limit, PolicyVersion, Tool
from tools_app.services import policies
from tools_app.services.access import SYSTEM
from tools_app.services.agents import known_agents
from tools_app.services.applying import apply_wanted, configuration, current_state, drift, plan_for
from tools_app.services.catalogue import find_tool, update_tool
from tools_app.services.errors import (
    Forbidden,
    InvalidRequest,
    PreconditionFailed,
    PreconditionRequired,
)
from tools_app.services.limits import set_limit
from tools_app.services.plan_files import read_file, write_yaml
from tools_app.services.plans import state_digest

pytestmark = pytest.mark.django_db

FILE = """
version: 1
agents:
  support: {name: Support, provider: openai}
  fresh:
tools:
  exec: {is_enabled: false, timeout_override: 5}
limits:
- {scope: agent, target: "*", max_calls: 10}
policy:
  tools:
    deny: [exec]
"""


@pytest.fixture(autouse=True)
def before() -> None:
    for name in ("exec", "think"):
        make_tool(name)
    make_agent("support", prompt="Be kind.\nAlways.")
    make_agent("gone")
    update_tool(actor=SYSTEM, name="think", changes={"note": "no"})
    set_limit(actor=SYSTEM, scope="tool", target="exec", max_concurrency=1)
    publish_policy(agent_policy("support", deny=["think"]))


def base() -> str:
    return state_digest(current_state())


def apply(text: str, **options):
    options.setdefault("base", base())
    return apply_wanted(actor=SYSTEM, wanted=read_file("yaml", text), **options)


def test_an_export_applied_changes_nothing() -> None:
    text = write_yaml(configuration(SYSTEM))
    assert plan_for(actor=SYSTEM, wanted=read_file("yaml", text)).changes == ()


def test_an_export_brings_everything_back() -> None:
    state = current_state()
    text = write_yaml(state)
    apply(FILE)
    assert current_state() != state
    apply(text)
    assert current_state() == state


def test_a_plan_names_each_change_and_makes_none() -> None:
    state, events = current_state(), Event.objects.count()
    plan = plan_for(actor=SYSTEM, wanted=read_file("yaml", FILE))
    assert plan.errors == ()
    assert [(c.section, c.action, c.target) for c in plan.changes] == [
        ("agents", "create", "fresh"),
        ("agents", "remove", "gone"),
        ("agents", "change", "support"),
        ("tools", "change", "exec"),
        ("tools", "change", "think"),
        ("limits", "create", "agent * / 60 s"),
        ("limits", "remove", "tool exec / 60 s"),
        ("policy", "change", ""),
    ]
    assert plan.changes[2].sentence() == (
        'Agent support changes: name "support" → "Support", provider "" → "openai", '
        'prompt "Be kind.\\nAlways." → "".'
    )
    assert plan.check is not None
    assert [(c.agent, c.added, c.removed) for c in plan.check.changes if c.agent == "support"] == [
        ("support", ("think",), ("exec",))
    ]
    assert (current_state(), Event.objects.count()) == (state, events)
    assert "fresh" not in known_agents()
    assert find_tool("exec").is_enabled


def test_applying_makes_all_of_it_true_at_once() -> None:
    planned = plan_for(actor=SYSTEM, wanted=read_file("yaml", FILE))
    assert apply(FILE, base=planned.base, comment="from the file") == planned.changes
    assert set(AgentProfile.objects.values_list("slug", flat=True)) == {"support", "fresh"}
    assert Tool.objects.get(name="exec").timeout_override == 5
    assert Tool.objects.get(name="think").note == ""
    assert [limit.max_calls for limit in Limit.objects.all()] == [10]
    assert policies.current_version().comment == "from the file"
    assert plan_for(actor=SYSTEM, wanted=read_file("yaml", FILE)).changes == ()


def test_a_section_that_is_not_in_the_file_stays() -> None:
    state = current_state()
    apply("policy: {tools: {deny: [exec]}}")
    assert {**current_state(), "policy": None} == {**state, "policy": None}


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("policy:\n  tools:\n    deny: [exec,\n      no]", "policy.tools.deny[1]", 4),
        ("policy:\n  tolls: {}", "policy.tolls", 2),
        ("agents:\n  support:\n    nme: x", "agents.support.nme", 3),
        ("agents:\n  support:\n    name: 7", "agents.support.name", 3),
        ("agents:\n  Up Per: {}", 'agents["Up Per"].slug', 2),
        ("tools:\n  nope: {is_enabled: false}", "tools.nope", 2),
        ("tools:\n  exec:\n    timeout_override: -1", "tools.exec.timeout_override", 3),
        ("limits:\n- {scope: agent, target: '*', max_calls: 1}\n- {scope: x, max_calls: 1,"
         " target: y}", "limits[1].scope", 3),
        ("limits:\n- {scope: agent, target: a}", "limits[0].max_calls", 2),
        ("limits: {}", "limits", 1),
        ("agnts: {}", "agnts", 1),
        ("version: 2", "version", 1),
        ("- 1", "", 1),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line_and_nothing_is_applied(text, path, line) -> None:
    state = current_state()
    text += "\nagents: {}" if not text.startswith(("agents", "- 1")) else ""
    plan = plan_for(actor=SYSTEM, wanted=read_file("yaml", text))
    found = [(e["path"], e["message"].partition(":")[0]) for e in plan.errors]
    assert (path, f"line {line}") in found
    with pytest.raises(InvalidRequest) as refusal:
        apply(text)
    assert list(plan.errors) == refusal.value.extra["errors"]
    assert current_state() == state
    assert not Event.objects.filter(kind="policy.applied").exists()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: &a\n  b: *a", 1, "anchors"),
        ("agents:\n  x: *a", 2, "anchors"),
        ("agents:\n  x: {}\n  x: {}", 3, "twice"),
        ("agents:\n  7: {}", 2, "must be text"),
        ("policy:\n  tools: {deny: [2026-01-01]}", 2, "in quotes"),
        ("a: !!python/object:os.system {}\n", 1, "anything"),
        ("a:\n- .nan", 2, "nan"),
        ("a: [1,\n}", 2, "not YAML"),
        ("a:\n  b: 1\n c: 2", 3, "not YAML"),
        ("a: 'x\x07'", 1, "not YAML"),
        ("a: " + "[" * 200, 1, "deeper"),
        ("a:\n" + "- x\n" * 10_001, 10_002, "entries"),
        ("a: " + "x" * 5 * 1024 * 1024, 0, "at most"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(text, line, words) -> None:
    if words == "anything":  # a tag on a mapping is no value of ours and reads as plain data
        wanted = read_file("yaml", text)
        assert wanted.errors
        return
    with pytest.raises(InvalidRequest) as refusal:
        read_file("yaml", text)
    [error] = refusal.value.extra["errors"]
    assert words in error["message"]
    assert error["message"].startswith(f"line {line}") or not line


@pytest.mark.parametrize(
    ("given", "error"), [(None, PreconditionRequired), ("sha256:0", PreconditionFailed)]
)
def test_a_plan_for_another_state_is_not_applied(given, error) -> None:
    with pytest.raises(error):
        apply(FILE, base=given)
    assert PolicyVersion.objects.count() == 1


def test_a_change_since_the_plan_is_not_overwritten() -> None:
    planned = plan_for(actor=SYSTEM, wanted=read_file("yaml", FILE)).base
    make_agent("late")
    with pytest.raises(PreconditionFailed):
        apply(FILE, base=planned)
    assert AgentProfile.objects.filter(slug="late").exists()


def test_only_admins_see_and_change_everything() -> None:
    viewer = make_actor("vera", "viewer")
    wanted = read_file("yaml", FILE)
    with pytest.raises(Forbidden):
        configuration(viewer)
    with pytest.raises(Forbidden):
        plan_for(actor=viewer, wanted=wanted)
    with pytest.raises(Forbidden):
        apply_wanted(actor=viewer, wanted=wanted, base=base())


def test_drift_names_the_applied_sections_that_were_changed_since() -> None:
    assert drift() is None
    apply("policy: {tools: {deny: [exec]}}\nlimits: []")
    make_agent("other")
    found = drift()
    assert found is not None
    assert (found.sections, found.actor) == ((), "system")
    publish_policy({"tools": {"deny": ["think"]}})
    assert drift().sections == ("policy",)
    publish_policy({"tools": {"deny": ["exec"]}})
    assert drift().sections == ()


def test_an_openclaw_file_becomes_the_policy() -> None:
    text = '{tools: {deny: ["exec"],}, /* not ours */ gateway: {port: 1}}'
    wanted = read_file("openclaw", text)
    apply_wanted(actor=SYSTEM, wanted=wanted, base=base())
    assert policies.current_version().document == {"tools": {"deny": ["exec"]}}
    refused = read_file("openclaw", "{tools:\n{profile: 'nope'}}")
    assert refused.errors[0]["path"] == "tools.profile"
    assert refused.errors[0]["message"].startswith("line 2: ")
    with pytest.raises(InvalidRequest):
        apply_wanted(actor=SYSTEM, wanted=refused, base=base())
