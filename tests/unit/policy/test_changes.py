"""What a new document changes, for whom."""

from __future__ import annotations

from tools_app.policy import OfferedTool, Subject, SubjectDiff, compile_policy, diff_effective

TOOLS = tuple(OfferedTool(name=name) for name in ("read", "exec", "process", "message"))


def test_only_subjects_with_a_difference_are_listed():
    agents = {"list": [{"id": "support", "tools": {"allow": ["message"]}}]}
    old = compile_policy({"agents": agents}, version=1)
    new = compile_policy({"agents": agents, "tools": {"deny": ["group:runtime"]}}, version=2)
    support, coding = Subject(agent_id="support"), Subject(agent_id="coding", provider="openai")
    (diff,) = diff_effective(old, new, [support, coding], TOOLS)
    assert diff == SubjectDiff(subject=coding, added=(), removed=("exec", "process"))
    assert diff.to_json()["agent"] == "coding"
    (back,) = diff_effective(new, old, [support, coding], TOOLS)
    assert (back.added, back.removed) == (("exec", "process"), ())
