"""Tool names as the policy sees them: normalised, aliased, matched by wildcards.

Source: OpenClaw's tool policy, release 2026.2.22.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ALIASES = {"bash": "exec", "apply-patch": "apply_patch"}
WILDCARD = "*"

_NOT_IN_AGENT_ID = re.compile(r"[^a-z0-9_-]+")


def normalise(name: str) -> str:
    """Give the form in which names are compared: trimmed, lower case, alias resolved."""
    lowered = name.strip().lower()
    return ALIASES.get(lowered, lowered)


def alias_target(name: str) -> str | None:
    """Give the canonical name when ``name`` is spelled as an alias, else ``None``."""
    return ALIASES.get(name.strip().lower())


def normalise_agent_id(agent_id: str) -> str:
    """Give the comparable form of an agent id; may be empty."""
    return _NOT_IN_AGENT_ID.sub("-", agent_id.strip().lower()).strip("-")


def is_pattern(name: str) -> bool:
    """Tell whether a normalised entry is a wildcard pattern; only ``*`` is special."""
    return WILDCARD in name


class NamePattern:
    """A wildcard pattern anchored at both ends; ``*`` stands for any run of characters.

    Pieces between the stars are searched from left to right, so the cost stays linear in the
    name where a regular expression with many stars could be made to run for ever.
    """

    __slots__ = ("head", "middles", "tail", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.head, *pieces = text.split(WILDCARD)
        self.tail = pieces.pop()
        self.middles = tuple(piece for piece in pieces if piece)

    def matches(self, name: str) -> bool:
        """Tell whether the normalised ``name`` fits the whole pattern."""
        end = len(name) - len(self.tail)
        position = len(self.head)
        if end < position or not (name.startswith(self.head) and name.endswith(self.tail)):
            return False
        for piece in self.middles:
            found = name.find(piece, position, end)
            if found < 0:
                return False
            position = found + len(piece)
        return True

    def matching(self, names: Iterable[str]) -> list[str]:
        """Give the names that fit, in the order given."""
        return [name for name in names if self.matches(name)]
