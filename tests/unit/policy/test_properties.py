"""What must hold for every policy: one answer, always explained, every offered fix true."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.policy.strategies import (
    documents,
    json_values,
    keys,
    offers,
    subjects,
    table_names,
)
from tools_app.policy import Edit, Subject, apply_edits, check_document, compile_policy

LAYERS = 9


def examples(count: int) -> settings:
    """The same examples on every run, and no time limit for one: the machine may be busy."""
    return settings(max_examples=count, deadline=None, derandomize=True)


@examples(60)
@given(documents(), subjects(), offers(), table_names, st.booleans())
def test_list_decision_and_explanation_agree(document, subject, tools, tables, drops):
    policy = compile_policy(document, version=7, tables=tables, drop_plugin_only_allow=drops)
    effective = policy.effective(subject, tools)
    assert list(effective.allowed) == [t.name for t in tools if t.name in effective.allowed]
    for tool in tools:
        explanation = effective.explain(tool.name)
        decision = effective.decide(tool.name)
        assert explanation.decision == decision
        assert (decision.effect == "deny") is (tool.name not in effective.allowed)
        assert (decision.effect == "ask") is (tool.name in effective.asks)
        removed = [layer for layer in explanation.layers if layer.outcome == "removed"]
        assert (decision.effect == "deny") is bool(removed)
        assert len(explanation.layers) == LAYERS + 1
        if removed:
            assert removed[0].decides
            assert removed[0].label == decision.layer
            assert removed[0].rule == decision.rule
        assert decision.policy_version == 7
        assert decision.summary.startswith(f"{decision.effect} — ")


@examples(60)
@given(documents(), subjects(), offers(), table_names, st.booleans())
def test_every_offered_fix_flips_the_decision_and_has_no_needless_part(
    document, subject, tools, tables, drops
):
    def flips(edits: Sequence[Edit], name: str, before: bool) -> bool:
        try:
            changed = apply_edits(document, edits)
        except ValueError:  # an edit of what the missing one would have created
            return False
        policy = compile_policy(changed, version=1, tables=tables, drop_plugin_only_allow=drops)
        return (name in policy.effective(subject, tools).allowed) is not before

    assert check_document(document, tables=tables).errors == []
    policy = compile_policy(document, version=1, tables=tables, drop_plugin_only_allow=drops)
    effective = policy.effective(subject, tools)
    for tool in tools[:4]:
        fix = effective.explain(tool.name).fix
        if fix is None:
            continue
        before = tool.name in effective.allowed
        fixed = apply_edits(document, fix.edits)
        after = compile_policy(fixed, version=1, tables=tables, drop_plugin_only_allow=drops)
        changed = set(effective.allowed) ^ set(after.effective(subject, tools).allowed)
        assert changed == {tool.name, *fix.also_changes}
        assert after.effective(subject, tools).decide(tool.name).effect == fix.effect
        assert check_document(fixed, tables=tables).errors == []
        for edit in fix.edits:
            rest = [other for other in fix.edits if other is not edit]
            assert not flips(rest, tool.name, before)


@examples(60)
@given(documents(), subjects(), offers())
def test_a_tool_removed_by_the_document_always_has_a_fix(document, subject, tools):
    effective = compile_policy(document, version=1).effective(subject, tools)
    for tool in tools[:4]:
        explanation = effective.explain(tool.name)
        if explanation.layers[0].reason in ("offered", "optional"):
            assert explanation.fix is not None, explanation.to_json()


@examples(60)
@given(json_values | st.dictionaries(keys, json_values, max_size=4), offers())
def test_any_json_value_is_checked_without_raising(value, tools):
    checked = check_document(value, tools=tools)
    assert all(set(error) == {"path", "message"} for error in checked.errors)
    assert checked.is_valid is not bool(checked.errors)


@examples(60)
@given(st.dictionaries(keys, json_values, max_size=4), subjects(), offers())
def test_the_tolerant_reading_answers_for_any_object(document, subject, tools):
    effective = compile_policy(document, version=1).effective(subject, tools)
    for tool in tools:
        assert (effective.decide(tool.name).effect == "deny") is (
            tool.name not in effective.allowed
        )


@examples(40)
@given(documents(), offers())
def test_checking_never_changes_the_document(document, tools):
    before = repr(document)
    check_document(document, tools=tools)
    policy = compile_policy(document, version=1)
    for tool in tools[:2]:
        policy.effective(Subject(agent_id="main"), tools).explain(tool.name)
    assert repr(document) == before
