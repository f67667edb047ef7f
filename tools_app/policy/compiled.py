"""A published policy made ready for many questions: the one decision function of the product.

Layers are shared between subjects and compiled once per set of offered tools, so the first question
of a new subject costs nine set intersections, and every further one a dictionary look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Literal

from tools_app.policy.decisions import Decision, Explanation, PolicyWarning
from tools_app.policy.document import schema_errors
from tools_app.policy.explaining import decide, explain
from tools_app.policy.layers import Layer, LayerBuilder
from tools_app.policy.memory import RecentlyUsed
from tools_app.policy.offers import Offer, offer_key
from tools_app.policy.pipeline import LayerFilter, Rulebook, rulebook
from tools_app.policy.scopes import Scope
from tools_app.policy.subjects import OfferedTool, Subject
from tools_app.policy.tables import DEFAULT_TABLES

MAX_SUBJECTS = 4096  # results kept; one takes a few kB
MAX_EXPLANATIONS = 1024  # a refused call repeats; its explanation takes milliseconds to find
MAX_OFFERED_SETS = 32  # sets of offered tools kept: one per state of the registry and token subset
_Tools = tuple[OfferedTool, ...]


class _OfferedSet:
    """One sequence of offered tools, with what has been compiled for it; compared by identity."""

    def __init__(self, tools: _Tools) -> None:
        self.tools = tools
        self._offers: dict[tuple[bool, frozenset[str]], Offer] = {}
        self._filters: dict[tuple[Layer, Offer], LayerFilter] = {}

    def offer(self, subject: Subject, rules: Rulebook) -> Offer:
        key = offer_key(subject, rules.tables)
        offer = self._offers.get(key)
        if offer is None:
            owner, excluded = key
            offer = Offer(self.tools, owner=owner, excluded=excluded)
            offer = self._offers.setdefault(key, offer)
        return offer

    def fitted(self, layer: Layer, offer: Offer, rules: Rulebook) -> LayerFilter:
        fitted = self._filters.get((layer, offer))
        if fitted is None:
            fitted = LayerFilter(layer, offer, rules)
            fitted = self._filters.setdefault((layer, offer), fitted)
        return fitted


class CompiledPolicy:
    """One version of the policy document, evaluated for subjects and their offered tools.

    Safe to share between threads; ``document`` must not be changed afterwards. ``version`` is
    stamped on every decision.
    """

    def __init__(self, document: Mapping[str, object], *, version: int, rules: Rulebook) -> None:
        self.document = document
        self.version = version
        self.rules = rules
        self._builder = LayerBuilder(document, rules.tables)
        self._sets: RecentlyUsed[_Tools, _OfferedSet] = RecentlyUsed(MAX_OFFERED_SETS)
        self._sets_by_id: RecentlyUsed[int, tuple[_Tools, _OfferedSet]] = RecentlyUsed(
            MAX_OFFERED_SETS
        )
        self._effective: RecentlyUsed[tuple[Subject, _OfferedSet], EffectiveTools] = RecentlyUsed(
            MAX_SUBJECTS
        )
        self._explanations: RecentlyUsed[tuple[EffectiveTools, int], Explanation] = RecentlyUsed(
            MAX_EXPLANATIONS
        )

    @property
    def tables(self) -> str:
        """Name of the table set in use."""
        return self.rules.tables.name

    @cached_property
    def schema_error_count(self) -> int:
        """How many schema errors the document has; a fix may not add any."""
        return len(schema_errors(self.document, self.rules.tables))

    def effective(self, subject: Subject, offered: Sequence[OfferedTool]) -> EffectiveTools:
        """Compute which of the offered tools the subject may use, or give the remembered answer.

        Pass the same tuple again to spare comparing its tools one by one.
        """
        known = self._offered_set(offered)

        def evaluate() -> EffectiveTools:
            fit = partial(known.fitted, rules=self.rules)
            return self._evaluate(subject, known.offer(subject, self.rules), fit)

        return self._effective.get((subject, known), evaluate)

    def agent_scope(self, agent_id: str) -> Scope | None:
        """Give the scope of an agent, ``None`` when the document does not list it."""
        return self._builder.agent(agent_id)

    def what_if(self, document: Mapping[str, object], before: EffectiveTools) -> EffectiveTools:
        """Ask the question of ``before`` of another document, under the same tables and switches.

        Nothing is remembered; layers that the other document leaves alone are taken over.
        """
        known = {fitted.layer.scope: fitted for fitted in before.results}

        def fit(layer: Layer, offer: Offer) -> LayerFilter:
            fitted = known.get(layer.scope)
            if fitted is not None and fitted.layer.has_rules_of(layer):
                return fitted.fitted_to(layer)
            return LayerFilter(layer, offer, self.rules)

        other = CompiledPolicy(document, version=self.version, rules=self.rules)
        return other._evaluate(before.subject, before.offer, fit)

    def explain(self, effective: EffectiveTools, tool_name: str) -> Explanation:
        """Explain a decision, or give the remembered explanation."""
        index = effective.offer.find(tool_name)
        if index is None:
            return explain(effective, tool_name)
        key = (effective, index)
        return self._explanations.get(key, lambda: explain(effective, tool_name))

    def _offered_set(self, offered: Sequence[OfferedTool]) -> _OfferedSet:
        tools = tuple(offered)

        def by_value() -> tuple[_Tools, _OfferedSet]:
            return tools, self._sets.get(tools, lambda: _OfferedSet(tools))

        # A tuple cannot change, and the remembered pair keeps it alive, so its id stays its own.
        if tools is offered:
            return self._sets_by_id.get(id(tools), by_value)[1]
        return by_value()[1]

    def _evaluate(
        self, subject: Subject, offer: Offer, fit: Callable[[Layer, Offer], LayerFilter]
    ) -> EffectiveTools:
        layers = self._builder.layers(subject)
        results = tuple(fit(layer, offer) for layer in layers if layer.applies)
        return EffectiveTools(
            policy=self, subject=subject, offer=offer, layers=layers, results=results
        )


class EffectiveTools:
    """Which tools one subject may use, under one policy version.

    ``allowed`` are names in the order offered, including those of ``asks``, whose runs need an
    approval. ``warnings`` come in the order of the layers.
    """

    def __init__(
        self,
        *,
        policy: CompiledPolicy,
        subject: Subject,
        offer: Offer,
        layers: tuple[Layer, ...],
        results: tuple[LayerFilter, ...],
    ) -> None:
        self.policy = policy
        self.subject = subject
        self.offer = offer
        self.layers = layers
        self.results = results
        opted_in, kept = 0, offer.live
        for result in results:
            opted_in |= result.opted_in
            kept &= result.kept
        self.missing_opt_in = offer.optional & ~opted_in
        self.mask = kept & ~self.missing_opt_in
        self.allowed = offer.members(self.mask)
        self._decisions: dict[int, Decision] = {}

    @cached_property
    def asks(self) -> frozenset[str]:
        """The allowed tools that need an approval for each run."""
        return frozenset(self.offer.members(self.mask & self.offer.confirm))

    @cached_property
    def warnings(self) -> tuple[PolicyWarning, ...]:
        """One warning per layer whose allow list has unknown entries."""
        return tuple(warning for result in self.results if (warning := result.warning) is not None)

    def refusal(self, tool_name: str) -> str | None:
        """Say which filter before the layers refuses the tool: not_offered, owner, voice, …"""
        index = self.offer.find(tool_name)
        if index is None:
            return "not_offered"
        needs_opt_in = self.missing_opt_in >> index & 1
        return self.offer.refused.get(index) or ("optional" if needs_opt_in else None)

    def decide(self, tool_name: str) -> Decision:
        """Decide about one tool; a name that is not offered is denied as ``not_offered``."""
        index = self.offer.find(tool_name)
        if index is None:
            return decide(self, tool_name)
        decision = self._decisions.get(index)
        if decision is None:
            decision = self._decisions.setdefault(index, decide(self, tool_name))
        return decision

    def explain(self, tool_name: str) -> Explanation:
        """Explain the decision layer by layer, with a verified fix; computed on demand."""
        return self.policy.explain(self, tool_name)


def compile_policy(
    document: Mapping[str, object],
    *,
    version: int,
    tables: str = DEFAULT_TABLES,
    drop_plugin_only_allow: bool | None = None,
    apply_patch_implied_by: Literal["exec", "write"] = "exec",
) -> CompiledPolicy:
    """Make a document ready for decisions; what has the wrong type in it counts as absent.

    ``drop_plugin_only_allow``: an allow list that names no offered core tool is put out of force,
    as OpenClaw did in February 2026; off, such a list really leaves nothing else. By default the
    table set says: those of OpenClaw drop, ours fails closed.
    ``apply_patch_implied_by``: the tool whose permission brings ``apply_patch`` along. Raises
    ``ValueError`` for an unknown table set. Check documents from people by ``check_document``.
    """
    rules = rulebook(tables, drop_plugin_only_allow, apply_patch_implied_by)
    return CompiledPolicy(document, version=version, rules=rules)
