"""JSON as a folded tree that is drawn on the server and bounded in size."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MAX_NODES = 300
MAX_LINES = 20  # of one string before the rest is folded
MAX_CHARACTERS = 2000
OPEN_DEPTH = 2  # levels that start unfolded


@dataclass(slots=True)
class Node:
    """One value: a scalar with its text, or a container with its children."""

    kind: str  # "object" | "array" | "string" | "number" | "word" | "cut"
    key: str | None = None
    text: str = ""
    rest: str = ""
    count: int = 0
    is_open: bool = False
    children: list[Node] = field(default_factory=list)


def json_tree(value: object, *, max_nodes: int = MAX_NODES) -> Node:
    """Return the tree of a JSON value; containers beyond ``max_nodes`` end in a "cut" node."""
    return _Builder(max_nodes).node(value, None, 0)


class _Builder:
    def __init__(self, max_nodes: int) -> None:
        self._left = max_nodes

    def node(self, value: object, key: str | None, depth: int) -> Node:
        self._left -= 1
        if isinstance(value, Mapping):
            items = [(str(name), inner) for name, inner in value.items()]
            return self._container("object", items, key, depth)
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return self._container("array", [(None, inner) for inner in value], key, depth)
        return _scalar(value, key)

    def _container(
        self, kind: str, items: Sequence[tuple[str | None, object]], key: str | None, depth: int
    ) -> Node:
        node = Node(kind, key, count=len(items), is_open=depth < OPEN_DEPTH)
        for index, (name, inner) in enumerate(items):
            if self._left <= 0:
                node.children.append(Node("cut", count=len(items) - index))
                break
            node.children.append(self.node(inner, name, depth + 1))
        return node


def _scalar(value: object, key: str | None) -> Node:
    if isinstance(value, str):
        cut = _cut_at(value)
        return Node("string", key, value[:cut], value[cut:])
    if value is None or isinstance(value, bool):
        return Node("word", key, json.dumps(value))
    return Node("number", key, json.dumps(value))


def _cut_at(text: str) -> int:
    end = 0
    for _line in range(MAX_LINES):
        newline = text.find("\n", end)
        if newline < 0:
            return min(len(text), MAX_CHARACTERS)
        end = newline + 1
    return min(end, MAX_CHARACTERS)
