"""One layer against one offer: which tools it keeps, and why.

Every layer filters what the layer before it left, so the result of a run is the intersection of
its layers; order matters only for which layer is named first and for the warnings.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Literal

from tools_app.policy.decisions import PolicyWarning
from tools_app.policy.layers import Layer
from tools_app.policy.matching import Match, Matcher
from tools_app.policy.names import WILDCARD
from tools_app.policy.offers import Offer
from tools_app.policy.tables import PLUGINS_GROUP, TableSet, table_set

APPLY_PATCH = "apply_patch"

Reason = Literal[
    "no_rules",
    "denied",
    "no_allow_list",
    "allow_list_ignored",
    "allowed",
    "implied",
    "not_in_allow_list",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulebook:
    """The fixed part of an evaluation: tables and the two switches that releases disagree on."""

    tables: TableSet
    drop_plugin_only_allow: bool
    apply_patch_implied_by: Literal["exec", "write"] = "exec"


def rulebook(
    tables: str,
    drop_plugin_only_allow: bool | None = None,
    apply_patch_implied_by: Literal["exec", "write"] = "exec",
) -> Rulebook:
    """Find the tables; ``None`` leaves the dropping of lists to them. Raises ``ValueError``."""
    found = table_set(tables)
    return Rulebook(
        tables=found,
        drop_plugin_only_allow=(
            not found.fails_closed if drop_plugin_only_allow is None else drop_plugin_only_allow
        ),
        apply_patch_implied_by=apply_patch_implied_by,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one layer says about one tool."""

    kept: bool
    reason: Reason
    match: Match | None = None


class LayerFilter:
    """A layer compiled for an offer.

    ``kept`` is the set of tools it lets through, ``opted_in`` the set its allow entries name
    outright, ``unknown`` the allow entries that name nothing known, ``ignored`` whether the allow
    list was put out of force because it names no core tool.
    """

    __slots__ = (
        "_allow",
        "_deny",
        "_implied_by",
        "ignored",
        "kept",
        "layer",
        "opted_in",
        "unknown",
    )

    def __init__(self, layer: Layer, offer: Offer, rules: Rulebook) -> None:
        self.layer = layer
        self.unknown, has_core = _classify(layer, offer, rules.tables)
        can_drop = layer.droppable and rules.drop_plugin_only_allow
        self.ignored = can_drop and bool(layer.allow) and not has_core
        self._allow = Matcher(layer.allow, offer, rules.tables)
        self._deny = Matcher(layer.deny, offer, rules.tables)
        self._implied_by = rules.apply_patch_implied_by
        self.opted_in = _opted_in(layer, offer)
        self.kept = offer.live & ~self._deny.mask(offer)
        if self._allow and not self.ignored:
            self.kept &= self._allow.mask(offer) | self._implied_mask(offer)

    def fitted_to(self, layer: Layer) -> LayerFilter:
        """Give the same filter for another layer with the same rules."""
        twin = copy(self)
        twin.layer = layer
        return twin

    def _implied_mask(self, offer: Offer) -> int:
        return offer.mask_of([APPLY_PATCH]) if self._allow.first(self._implied_by) else 0

    def verdict(self, name: str) -> Verdict:
        """Judge a normalised name and say which entry decided."""
        if not self.layer.applies:
            return Verdict(kept=True, reason="no_rules")
        denied = self._deny.first(name)
        if denied:
            return Verdict(kept=False, reason="denied", match=denied)
        if not self._allow:
            return Verdict(kept=True, reason="no_allow_list")
        if self.ignored:
            return Verdict(kept=True, reason="allow_list_ignored")
        allowed = self._allow.first(name)
        if allowed:
            return Verdict(kept=True, reason="allowed", match=allowed)
        implied = self._allow.first(self._implied_by) if name == APPLY_PATCH else None
        if implied:
            return Verdict(kept=True, reason="implied", match=implied)
        return Verdict(kept=False, reason="not_in_allow_list")

    @property
    def warning(self) -> PolicyWarning | None:
        """The warning about unknown entries, if there are any."""
        if not self.unknown:
            return None
        return PolicyWarning(step=self.layer.label, unknown=self.unknown, stripped=self.ignored)

    def denials(self, name: str) -> list[Match]:
        """Give every deny entry that names the tool."""
        return list(self._deny.matches(name))


def _classify(layer: Layer, offer: Offer, tables: TableSet) -> tuple[tuple[str, ...], bool]:
    """Give the unknown allow entries, and whether any entry names an offered core tool.

    A wildcard other than ``*`` never counts as naming a core tool. Layers whose lists are never
    ignored are not classified: they give no warnings.
    """
    unknown: dict[str, None] = {}
    has_core = False
    if not layer.droppable:
        return (), False
    for entry in layer.allow:
        if entry.name == WILDCARD:
            has_core = True
            continue
        is_core = not offer.core_names.isdisjoint(tables.expand(entry.name))
        has_core = has_core or is_core
        is_plugin = entry.name == PLUGINS_GROUP or entry.name in offer.plugins
        if not (is_core or is_plugin or entry.name in offer.masks):
            unknown[entry.name] = None
    return tuple(unknown), has_core


def _opted_in(layer: Layer, offer: Offer) -> int:
    """Give the optional tools that an entry names: by tool, by plugin, or ``group:plugins``."""
    if not offer.optional:
        return 0
    mask = 0
    for entry in layer.allow:
        names: tuple[str, ...] = (entry.name,)
        if entry.name == PLUGINS_GROUP:
            names = offer.plugin_tools
        elif entry.name in offer.plugins:
            names = (*names, *offer.plugins[entry.name])
        mask |= offer.mask_of(names)
    return mask & offer.optional
