"""From bit sets back to words: which layer and which rule decided about a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools_app.policy.decisions import Code, Decision, Effect, Explanation, LayerResult, Rule
from tools_app.policy.edits import format_path
from tools_app.policy.fixes import find_fix
from tools_app.policy.layers import Layer
from tools_app.policy.pipeline import LayerFilter, Verdict
from tools_app.policy.scopes import Entry

if TYPE_CHECKING:
    from tools_app.policy.compiled import EffectiveTools

OFFERED = "offered tools"
_FILTERS = {
    "not_offered": (OFFERED, "no tool of this name is offered"),
    "owner": ("owner-only tools", "only for the owner, and the sender is not the owner"),
    "voice": ("voice channel", "not offered to the voice channel"),
    "conflict": ("name conflict", "its plugin or name collides with another tool"),
    "optional": ("optional tools", "optional, and no allow entry names it or its plugin"),
}


def decide(effective: EffectiveTools, tool_name: str) -> Decision:
    """Decide about one tool name, offered or not."""
    index = effective.offer.find(tool_name)
    if index is None:
        layer, words = _FILTERS["not_offered"]
        return _decision(effective, tool_name, "deny", "not_offered", layer, None, words)
    name, tool = effective.offer.names[index], effective.offer.tools[index]
    refusal = effective.refusal(tool_name)
    if refusal is not None:
        layer, words = _FILTERS[refusal]
        return _decision(effective, tool.name, "deny", "denied_by_policy", layer, None, words)
    layer, rule = OFFERED, None
    for result in effective.results:
        verdict = result.verdict(name)
        found = rule_of(result.layer, verdict)
        if not verdict.kept:
            label, words = result.layer.label, _words(found, listed=verdict.match is not None)
            return _decision(effective, tool.name, "deny", "denied_by_policy", label, found, words)
        if found is not None:
            layer, rule = result.layer.label, found
    if tool.requires_confirmation:
        words = "the tool requires confirmation"
        return _decision(effective, tool.name, "ask", "approval_required", layer, rule, words)
    return _decision(effective, tool.name, "allow", "allowed", layer, rule, _words(rule))


def explain(effective: EffectiveTools, tool_name: str) -> Explanation:
    """Report every layer on the tool, in order, and find the shortest change that flips it."""
    decision = effective.decide(tool_name)
    refusal = effective.refusal(tool_name)
    reports = [_filter_report(refusal, decision)]
    if refusal != "not_offered":
        name = effective.offer.names[effective.offer.index_of(tool_name)]
        results = {result.layer: result for result in effective.results}
        reports += [
            _layer_report(layer, results.get(layer), name, decision) for layer in effective.layers
        ]
    return Explanation(decision=decision, layers=tuple(reports), fix=find_fix(effective, tool_name))


def rule_of(layer: Layer, verdict: Verdict) -> Rule | None:
    """Give the rule behind a verdict; a tool missing from a list blames the list."""
    if verdict.match is not None:
        entry = verdict.match.entry
        if entry.implied:
            return None
        tables = [table for table in (entry.table, verdict.match.table) if table]
        return _rule(entry, written=entry.written, table=" > ".join(tables) or None)
    if verdict.reason == "not_in_allow_list":
        written = [entry for entry in layer.allow if not entry.origin.built_in]
        entry = (written or list(layer.allow))[0]
        return _rule(entry, written=entry.written if entry.table else None, table=entry.table)
    return None


def _rule(entry: Entry, *, written: str | None, table: str | None) -> Rule:
    origin = entry.origin
    return Rule(
        scope=origin.scope,
        key=format_path(origin.path),
        title=origin.title,
        entry=written,
        table=table,
        built_in=origin.built_in,
    )


def _words(rule: Rule | None, *, listed: bool = True) -> str:
    if rule is None:
        return "no rule restricts it"
    if listed:
        return f"{rule.title}: {rule.entry}"
    return f"{rule.title}: not in {rule.entry or 'the list'}"


def _decision(
    effective: EffectiveTools,
    tool: str,
    effect: Effect,
    code: Code,
    layer: str,
    rule: Rule | None,
    words: str,
) -> Decision:
    version = effective.policy.version
    return Decision(
        effect=effect,
        code=code,
        tool=tool,
        layer=layer,
        rule=rule,
        policy_version=version,
        summary=f"{effect} — {words} — v{version}",
    )


def _filter_report(refusal: str | None, decision: Decision) -> LayerResult:
    """Report on the filters that come before the layers."""
    label = _FILTERS[refusal][0] if refusal else OFFERED
    return LayerResult(
        label=label,
        scope="runtime",
        outcome="removed" if refusal else "kept",
        reason=refusal or "offered",
        decides=label == decision.layer,
    )


def _layer_report(
    layer: Layer, result: LayerFilter | None, name: str, decision: Decision
) -> LayerResult:
    if result is None:
        return LayerResult(
            label=layer.label,
            scope=layer.scope,
            outcome="not_applied",
            reason="no_rules",
        )
    verdict = result.verdict(name)
    rule = rule_of(layer, verdict)
    return LayerResult(
        label=layer.label,
        scope=layer.scope,
        outcome="kept" if verdict.kept else "removed",
        reason=verdict.reason,
        decides=layer.label == decision.layer,
        rule=rule,
        allow=tuple(entry.name for entry in layer.allow),
        deny=tuple(entry.name for entry in layer.deny),
        expanded_by=rule.table if rule else None,
        warnings=(result.warning,) if result.warning else (),
    )
