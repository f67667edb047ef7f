"""The tools a run could get before any layer, indexed once and shared by many evaluations.

Sets of tools are integers with one bit per offered tool: a whole layer then filters all tools with
one ``&``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress

from tools_app.policy.names import normalise
from tools_app.policy.subjects import OfferedTool, Subject
from tools_app.policy.tables import OWNER_ONLY, TableSet

VOICE_CHANNEL = "voice"

_DIGIT_VALUES = bytes.maketrans(b"01", b"\x00\x01")


class Offer:
    """The offered tools of one kind of sender, after the filters that no document controls.

    * ``tools``, ``names``: all offered tools and their normalised names, in order
    * ``live``: the tools that passed the filters (a bit set, as all sets here)
    * ``core_names``: names of live tools that no plugin registered
    * ``plugins``: plugin id (lower case) to the names of its live tools; ``plugin_tools``: all
    * ``optional``: live tools that need an explicit allow entry; ``confirm``: an approval
    * ``refused``: index to the filter that removed the tool: owner, voice, conflict
    """

    def __init__(
        self, tools: Sequence[OfferedTool], *, owner: bool, excluded: frozenset[str] = frozenset()
    ) -> None:
        self.tools = tuple(tools)
        self.names = tuple(normalise(tool.name) for tool in self.tools)
        self._written = tuple(tool.name for tool in self.tools)
        self.refused = self._refusals(owner=owner, excluded=excluded)
        self.live = 0
        self.optional = 0
        self.confirm = 0
        self.masks: dict[str, int] = {}
        self.plugins: dict[str, tuple[str, ...]] = {}
        self._index: dict[str, int] = {}
        core_names = set()
        for index, (tool, name) in enumerate(zip(self.tools, self.names, strict=True)):
            if index in self.refused:
                continue
            self.live |= 1 << index
            self.masks[name] = self.masks.get(name, 0) | 1 << index
            self._index.setdefault(tool.name, index)
            if tool.optional:
                self.optional |= 1 << index
            if tool.requires_confirmation:
                self.confirm |= 1 << index
            if tool.plugin_id is None:
                core_names.add(name)
            else:
                plugin = tool.plugin_id.strip().lower()
                self.plugins[plugin] = (*self.plugins.get(plugin, ()), name)
        self.core_names = frozenset(core_names)
        self.plugin_tools = tuple(name for names in self.plugins.values() for name in names)
        for spelled in (self._spellings(live=True), self._spellings(live=False)):
            for text, index in spelled:
                self._index.setdefault(text, index)

    def _spellings(self, *, live: bool) -> Iterable[tuple[str, int]]:
        for index, (tool, name) in enumerate(zip(self.tools, self.names, strict=True)):
            if live is (index not in self.refused):
                yield from ((tool.name, index), (name, index))

    def _refusals(self, *, owner: bool, excluded: frozenset[str]) -> dict[int, str]:
        """Find tools removed before the layers; a taken name goes to the core tool, then first."""
        refused: dict[int, str] = {}
        listed = list(enumerate(zip(self.tools, self.names, strict=True)))
        core = {name for _, (tool, name) in listed if tool.plugin_id is None}
        taken = set(core)
        for index, (tool, name) in listed:
            if tool.plugin_id is not None:
                if name in taken or normalise(tool.plugin_id) in core:
                    refused[index] = "conflict"
                taken.add(name)
            if not owner and (tool.owner_only or name in OWNER_ONLY):
                refused[index] = "owner"
            elif name in excluded:
                refused[index] = "voice"
        return refused

    def find(self, tool_name: str) -> int | None:
        """Find an offered tool by its name, exactly spelled or else in normalised form."""
        index = self._index.get(tool_name)
        return self._index.get(normalise(tool_name)) if index is None else index

    def index_of(self, tool_name: str) -> int:
        """Give the position of an offered tool; raises ``KeyError`` when it is not offered."""
        index = self.find(tool_name)
        if index is None:
            raise KeyError(tool_name)
        return index

    def members(self, mask: int) -> tuple[str, ...]:
        """Give the names, as offered and in order, of a set of tools."""
        bits = f"{mask:b}".encode()[::-1].translate(_DIGIT_VALUES)
        return tuple(compress(self._written, bits))

    def mask_of(self, names: Iterable[str]) -> int:
        """Give the set of live tools that bear one of the normalised names."""
        mask = 0
        for name in names:
            mask |= self.masks.get(name, 0)
        return mask


def offer_key(subject: Subject, tables: TableSet) -> tuple[bool, frozenset[str]]:
    """Give what decides which filters apply: sender is owner, names excluded for the channel."""
    channel = (subject.message_provider or "").strip().lower()
    excluded: frozenset[str] = tables.voice_excludes if channel == VOICE_CHANNEL else frozenset()
    return subject.sender_is_owner, excluded
