"""Addresses inside a policy document and small changes of it.

An address is written ``agents.list[2].tools.byProvider["openai/gpt-5"].deny``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Path = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TOKEN = re.compile(r'\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


def format_path(path: Iterable[str | int]) -> str:
    """Write an address; keys that are not plain words are quoted in brackets."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part)}]"
    return text


def parse_path(text: str) -> Path:
    """Read an address written by ``format_path``; raises ``ValueError`` when malformed."""
    parts: list[str | int] = []
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueError(f"malformed address at character {position}: {text!r}")
        key, index, quoted = token.groups()
        parts.append(key if key else int(index) if index else str(json.loads(quoted)))
        position = token.end()
    return tuple(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change: ``add`` or ``remove`` a value of the list at ``path``, or ``set`` the value."""

    op: Literal["add", "remove", "set"]
    path: str
    value: object

    def to_json(self) -> dict[str, object]:
        """Give the change as plain JSON data."""
        return {"op": self.op, "path": self.path, "value": self.value}


def apply_edits(document: Mapping[str, object], edits: Iterable[Edit]) -> dict[str, object]:
    """Give a changed copy; parts that no edit touches are shared with the original.

    Missing objects and lists on the way are created. Raises ``ValueError`` when an address does
    not fit the document or a value to remove is not there.
    """
    changed: object = dict(document)
    for edit in edits:
        changed = _edited(changed, parse_path(edit.path), edit)
    if not isinstance(changed, dict):
        raise ValueError("the document itself cannot be replaced by an edit")
    return changed


def _edited(node: object, path: Path, edit: Edit) -> object:
    if not path:
        return _edited_value(node, edit)
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        if not isinstance(node, list) or key >= len(node):
            raise ValueError(f"nothing at {edit.path!r}")
        return [*node[:key], _edited(node[key], rest, edit), *node[key + 1 :]]
    if node is not None and not isinstance(node, Mapping):
        raise ValueError(f"not an object on the way to {edit.path!r}")
    members = dict(node or {})
    members[key] = _edited(members.get(key), rest, edit)
    return members


def _edited_value(current: object, edit: Edit) -> object:
    if edit.op == "set":
        return edit.value
    if current is not None and not isinstance(current, list):
        raise ValueError(f"not a list at {edit.path!r}")
    values = list(current or [])
    if edit.op == "add":
        return [*values, edit.value]
    if edit.value not in values:
        raise ValueError(f"{edit.value!r} is not in {edit.path!r}")
    return [value for value in values if value != edit.value]
