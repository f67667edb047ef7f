"""A published policy made ready for many questions: the one decision function of the product.

Layers are shared between subjects and compiled once per set of offered tools, so the first question
of a new subject costs nine set intersections, and every further one a dictionary look-up.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Generic, Literal, TypeVar

from tools_app.policy.decisions import Decision, Explanation, PolicyWarning
from tools_app.policy.explaining import decide, explain
from tools_app.policy.layers import Layer, LayerBuilder
from tools_app.policy.offers import Offer, offer_key
from tools_app.policy.pipeline import LayerFilter, Rulebook
from tools_app.policy.subjects import OfferedTool, Subject
from tools_app.policy.tables import DEFAULT_TABLES, table_set

MAX_SUBJECTS = 4096  # results kept; one takes a few kB
MAX_OFFERED_SETS = 32  # sets of offered tools kept: one per state of the registry and token subset

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class _RecentlyUsed(Generic[_Key, _Value]):
    """A bounded, thread-safe memory that forgets what was not asked for longest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key, build: Callable[[], _Value]) -> _Value:
        """Give the remembered value or build it; if two threads build at once, one wins."""
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
                return found
        value = build()
        with self._lock:
            kept = self._values.setdefault(key, value)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
        return kept


class _OfferedSet:
    """One sequence of offered tools, with what has been compiled for it; compared by identity."""

    def __init__(self, tools: tuple[OfferedTool, ...]) -> None:
        self.tools = tools
        self._offers: dict[tuple[bool, frozenset[str]], Offer] = {}
        self._results: dict[tuple[Layer, Offer], LayerFilter] = {}

    def offer(self, subject: Subject, rules: Rulebook) -> Offer:
        key = offer_key(subject, rules.tables)
        offer = self._offers.get(key)
        if offer is None:
            owner, excluded = key
            offer = Offer(self.tools, owner=owner, excluded=excluded)
            offer = self._offers.setdefault(key, offer)
        return offer

    def result(self, layer: Layer, offer: Offer, rules: Rulebook) -> LayerFilter:
        result = self._results.get((layer, offer))
        if result is None:
            result = LayerFilter(layer, offer, rules)
            result = self._results.setdefault((layer, offer), result)
        return result


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
        self._sets: _RecentlyUsed[tuple[OfferedTool, ...], _OfferedSet] = _RecentlyUsed(
            MAX_OFFERED_SETS
        )
        self._sets_by_id: _RecentlyUsed[int, tuple[tuple[OfferedTool, ...], _OfferedSet]] = (
            _RecentlyUsed(MAX_OFFERED_SETS)
        )
        self._effective: _RecentlyUsed[tuple[Subject, _OfferedSet], EffectiveTools] = _RecentlyUsed(
            MAX_SUBJECTS
        )

    @property
    def tables(self) -> str:
        """Name of the table set in use."""
        return self.rules.tables.name

    def effective(self, subject: Subject, offered: Sequence[OfferedTool]) -> EffectiveTools:
        """Compute which of the offered tools the subject may use, or give the remembered answer.

        Pass the same tuple again to spare comparing its tools one by one.
        """
        known = self._offered_set(offered)
        return self._effective.get((subject, known), lambda: self._evaluate(subject, known))

    def with_document(self, document: Mapping[str, object]) -> CompiledPolicy:
        """Compile another document under the same version, tables and switches, for what-ifs."""
        return CompiledPolicy(document, version=self.version, rules=self.rules)

    def _offered_set(self, offered: Sequence[OfferedTool]) -> _OfferedSet:
        tools = tuple(offered)

        def by_value() -> tuple[tuple[OfferedTool, ...], _OfferedSet]:
            return tools, self._sets.get(tools, lambda: _OfferedSet(tools))

        # A tuple is immutable, and the entry keeps it alive, so that its id stays its own.
        # A list is copied above: its copy is found by value.
        is_tuple = tools is offered
        return self._sets_by_id.get(id(tools), by_value)[1] if is_tuple else by_value()[1]

    def _evaluate(self, subject: Subject, known: _OfferedSet) -> EffectiveTools:
        offer = known.offer(subject, self.rules)
        layers = self._builder.layers(subject)
        results = tuple(known.result(layer, offer, self.rules) for layer in layers if layer.applies)
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
        self._decisions: dict[str, Decision] = {}

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
        decision = self._decisions.get(tool_name)
        if decision is None:
            decision = decide(self, tool_name)
            if self.offer.find(tool_name) is not None:
                self._decisions[tool_name] = decision
        return decision

    def explain(self, tool_name: str) -> Explanation:
        """Explain the decision layer by layer, with a verified fix; computed on demand."""
        return explain(self, tool_name)


def compile_policy(
    document: Mapping[str, object],
    *,
    version: int,
    tables: str = DEFAULT_TABLES,
    drop_plugin_only_allow: bool = True,
    apply_patch_implied_by: Literal["exec", "write"] = "exec",
) -> CompiledPolicy:
    """Make a document ready for decisions; what has the wrong type in it counts as absent.

    ``drop_plugin_only_allow``: an allow list that names no offered core tool is put out of force,
    as OpenClaw did in February 2026; off, such a list really leaves nothing else (fails closed).
    ``apply_patch_implied_by``: the tool whose permission brings ``apply_patch`` along. Raises
    ``ValueError`` for an unknown table set. Check documents from people by ``check_document``.
    """
    rules = Rulebook(
        tables=table_set(tables),
        drop_plugin_only_allow=drop_plugin_only_allow,
        apply_patch_implied_by=apply_patch_implied_by,
    )
    return CompiledPolicy(document, version=version, rules=rules)
