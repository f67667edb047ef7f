"""Entries compiled for one offer: which tools do they name, and which entry names a tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tools_app.policy.names import NamePattern, is_pattern
from tools_app.policy.offers import Offer
from tools_app.policy.scopes import Entry
from tools_app.policy.tables import PLUGINS_GROUP, TableSet


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that names a tool, and the group or plugin that stood between the two."""

    entry: Entry
    table: str | None


def expand(name: str, offer: Offer, tables: TableSet) -> tuple[tuple[str, ...], str | None]:
    """Give the names an entry stands for, and the table that says so.

    Plugin groups come first, then core groups. ``group:plugins`` without plugins stays as it is.
    """
    if name == PLUGINS_GROUP and offer.plugin_tools:
        return offer.plugin_tools, PLUGINS_GROUP
    if name in offer.plugins:
        return offer.plugins[name], f"plugin {name}"
    members = tables.groups.get(name)
    return (members, name) if members is not None else ((name,), None)


class Matcher:
    """The entries of one list: exact names in a dictionary, wildcards as patterns."""

    __slots__ = ("_exact", "_patterns")

    def __init__(self, entries: Iterable[Entry], offer: Offer, tables: TableSet) -> None:
        self._exact: dict[str, list[Match]] = {}
        self._patterns: list[tuple[NamePattern, Match]] = []
        for entry in entries:
            names, table = expand(entry.name, offer, tables)
            match = Match(entry, table)
            for name in names:
                if is_pattern(name):
                    self._patterns.append((NamePattern(name), match))
                else:
                    self._exact.setdefault(name, []).append(match)

    def __bool__(self) -> bool:
        return bool(self._exact or self._patterns)

    def matches(self, name: str) -> Iterator[Match]:
        """Yield the matches of a normalised name, the most specific first."""
        yield from self._exact.get(name, ())
        for pattern, match in self._patterns:
            if pattern.matches(name):
                yield match

    def first(self, name: str) -> Match | None:
        """Give the most specific match, or ``None``."""
        return next(self.matches(name), None)

    def mask(self, offer: Offer) -> int:
        """Give the set of live tools that some entry names."""
        mask = offer.mask_of(self._exact)
        for pattern, _ in self._patterns:
            mask |= offer.mask_of(pattern.matching(offer.masks))
        return mask
