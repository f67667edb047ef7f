"""The answers of the policy: decisions, the rules behind them, and whole explanations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tools_app.policy.edits import Edit

Effect = Literal["allow", "ask", "deny"]
Code = Literal["allowed", "approval_required", "denied_by_policy", "not_offered"]
Outcome = Literal["kept", "removed", "not_applied"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyWarning:
    """Allow entries of one step that name nothing known.

    ``stripped``: the whole allow list of the step was ignored, so that core tools stay usable.
    """

    step: str
    unknown: tuple[str, ...]
    stripped: bool

    @property
    def message(self) -> str:
        """The warning in words."""
        names = ", ".join(self.unknown)
        effect = (
            "the list is ignored so that core tools stay usable; add plugin tools by alsoAllow"
            if self.stripped
            else "these entries match nothing unless the plugin is enabled"
        )
        return f"{self.step}: unknown entries ({names}); {effect}"

    def to_json(self) -> dict[str, object]:
        """Give the warning as plain JSON data."""
        return {
            "step": self.step,
            "unknown": list(self.unknown),
            "stripped": self.stripped,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The place in the document that decided.

    ``key`` is its address, ``title`` the short form people read, ``entry`` the text written there
    (``None`` when the tool is missing from a list), ``table`` the profile, group or plugin that
    stands between the entry and the tool. A ``built_in`` rule is a default not yet written there.
    """

    scope: str
    key: str
    title: str
    entry: str | None = None
    table: str | None = None
    built_in: bool = False

    def to_json(self) -> dict[str, object]:
        """Give the rule as plain JSON data."""
        return {
            "scope": self.scope,
            "key": self.key,
            "title": self.title,
            "entry": self.entry,
            "table": self.table,
            "built_in": self.built_in,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """May this subject run this tool, and why.

    ``layer`` is the label of the layer that decided; ``rule`` is ``None`` when no rule of the
    document was needed. ``summary`` is one sentence for people.
    """

    effect: Effect
    code: Code
    tool: str
    layer: str
    rule: Rule | None
    policy_version: int
    summary: str

    def to_json(self) -> dict[str, object]:
        """Give the decision as plain JSON data."""
        return {
            "effect": self.effect,
            "code": self.code,
            "tool": self.tool,
            "layer": self.layer,
            "rule": self.rule.to_json() if self.rule else None,
            "policy_version": self.policy_version,
            "summary": self.summary,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResult:
    """What one layer did to the tool, with its lists as they took effect.

    ``decides`` marks the layer that settled the decision. ``reason`` is a stable word:
    no_rules, denied, no_allow_list, allow_list_ignored, allowed, implied, not_in_allow_list, or
    for the filters before the layers offered, owner, voice, conflict, optional, not_offered.
    """

    label: str
    scope: str
    outcome: Outcome
    reason: str
    decides: bool = False
    rule: Rule | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    expanded_by: str | None = None
    warnings: tuple[PolicyWarning, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Give the layer as plain JSON data."""
        return {
            "label": self.label,
            "scope": self.scope,
            "outcome": self.outcome,
            "reason": self.reason,
            "decides": self.decides,
            "rule": self.rule.to_json() if self.rule else None,
            "allow": list(self.allow),
            "deny": list(self.deny),
            "expanded_by": self.expanded_by,
            "warnings": [warning.to_json() for warning in self.warnings],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A verified change of the document that flips the decision.

    No part of it can be left out. ``also_changes`` names the other tools whose decision for the
    same subject changes with it.
    """

    effect: Effect
    edits: tuple[Edit, ...]
    sentence: str
    also_changes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Give the fix as plain JSON data."""
        return {
            "effect": self.effect,
            "edits": [edit.to_json() for edit in self.edits],
            "sentence": self.sentence,
            "also_changes": list(self.also_changes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A decision with every layer behind it, and the shortest change that would flip it.

    ``fix`` is ``None`` when no change of the document can: the tool is not offered, or the sender
    is not the owner.
    """

    decision: Decision
    layers: tuple[LayerResult, ...]
    fix: Fix | None

    def to_json(self) -> dict[str, object]:
        """Give the explanation as plain JSON data."""
        return {
            "decision": self.decision.to_json(),
            "layers": [layer.to_json() for layer in self.layers],
            "fix": self.fix.to_json() if self.fix else None,
        }
