"""YAML that people wrote, read strictly: plain data, each part with its line.

Refused with FileError: anchors and aliases (cyclic ones most of all), duplicate keys, keys that
are no text, tags and dates, NaN and infinity, U+0000, and whatever is too large or too deep.
"""

from __future__ import annotations

import math

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode

from tools_app.policy.edits import Path
from tools_app.policy.places import (
    MAX_FILE_DEPTH,
    MAX_FILE_ENTRIES,
    FileError,
    Places,
    text_of,
)

_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("str", "null", "bool", "int", "float")}
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast


def read_yaml(content: bytes | str) -> tuple[object, Places]:
    """Return the value of a YAML text and the lines of its parts; raises FileError."""
    text = text_of(content)
    try:
        _check_events(text)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise FileError(f"not YAML: {error.problem or error.context}", line=line) from None
    except yaml.YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        problem = getattr(error, "reason", "") or "a character that is not allowed"
        raise FileError(f"not YAML: {problem}", line=line) from None
    places = Places()
    return (None if node is None else _Reader(places).value(node, ())), places


def _check_events(text: str) -> None:
    """Refuse what could grow or loop before any of it is built."""
    depth = entries = 0
    lists: list[bool] = []
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise FileError("anchors and aliases are not read: write the value out", line=line)
        if isinstance(event, yaml.NodeEvent) and lists and lists[-1]:
            entries += 1
            if entries > MAX_FILE_ENTRIES:
                problem = f"the lists have more than {MAX_FILE_ENTRIES} entries together"
                raise FileError(problem, line=line)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            lists.append(isinstance(event, yaml.SequenceStartEvent))
            if depth > MAX_FILE_DEPTH:
                raise FileError(f"nested deeper than {MAX_FILE_DEPTH} levels", line=line)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            lists.pop()


class _Reader:
    """Turns nodes into values and notes their lines."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._scalars = SafeConstructor()

    def value(self, node: Node, path: Path) -> object:
        line = node.start_mark.line + 1
        self._places.lines.setdefault(path, line)
        if isinstance(node, ScalarNode):
            return self._scalar(node, path, line)
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            is_text = isinstance(key_node, ScalarNode)
            key = self._scalar(key_node, path, line) if is_text else None
            if not isinstance(key, str):
                raise FileError("a key must be text: put it in quotes", line=line, path=path)
            place = (*path, key)
            if key in found:
                raise FileError(f"the key {key[:80]!r} stands here twice", line=line, path=place)
            self._places.lines[place] = line
            found[key] = self.value(value_node, place)
        return found

    def _scalar(self, node: ScalarNode, path: Path, line: int) -> object:
        if node.tag not in _PLAIN:
            problem = f"no plain value ({node.tag.rpartition(':')[2][:40]}): put it in quotes"
            raise FileError(problem, line=line, path=path)
        try:
            value: object = self._scalars.construct_object(node)
        except (ValueError, yaml.YAMLError):
            raise FileError("not a value that can be read", line=line, path=path) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise FileError(f"{value} is not a number to work with", line=line, path=path)
        if isinstance(value, str) and ("\0" in value or not _is_unicode(value)):
            raise FileError("a text that cannot be stored", line=line, path=path)
        return value


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
