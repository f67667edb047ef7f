"""``openclaw.json`` in and out.

The file is JSON5. Only what takes part in the policy comes in: everything else in such a file
configures something else, and much of it is secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

import pyjson5

from tools_app.core.errors import InvalidArguments
from tools_app.core.json_text import check_json_value
from tools_app.policy.document import check_document
from tools_app.policy.edits import Path, format_path, parse_path
from tools_app.policy.json5_places import after_blanks, find_places
from tools_app.policy.places import (
    MAX_FILE_DEPTH,
    MAX_FILE_ENTRIES,
    FileError,
    LineIndex,
    Places,
    text_of,
)
from tools_app.policy.subjects import OfferedTool
from tools_app.policy.tables import DEFAULT_TABLES

_LISTS = ("allow", "alsoAllow", "deny")
_RULES = (*_LISTS, "profile", "maxSpawnDepth")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileItem:
    """Something a file says: its address, its line from 1, and what became of it."""

    path: str
    line: int
    message: str

    def to_json(self) -> dict[str, object]:
        """Give the item as plain JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A policy document out of a file, and what became of each part of the file.

    ``refused`` is what makes the document unfit to be published; ``ignored`` is not in it.
    """

    document: dict[str, object]
    understood: tuple[FileItem, ...]
    refused: tuple[FileItem, ...]
    ignored: tuple[FileItem, ...]
    warnings: tuple[FileItem, ...]

    @property
    def is_valid(self) -> bool:
        """Whether nothing was refused."""
        return not self.refused

    def report_json(self) -> dict[str, object]:
        """Give the report as plain JSON data, without the document."""
        names = ("understood", "refused", "ignored", "warnings")
        return {name: [item.to_json() for item in getattr(self, name)] for name in names}


def import_openclaw(
    content: bytes | str, *, tools: Iterable[OfferedTool] = (), tables: str = DEFAULT_TABLES
) -> Imported:
    """Read a configuration file of OpenClaw.

    Raises FileError, with the place, for what is no JSON5 object, is too large or nests too
    deeply, and ValueError for an unknown table set. What is wrong inside is in ``refused``.
    """
    text = text_of(content)
    value = _parse(text)
    if not isinstance(value, dict):
        raise FileError("the file must hold an object", line=1)
    checked = check_document(value, tools=tuple(tools), tables=tables)
    unused = {parse_path(w.path) for w in checked.warnings if w.code == "not_used"}
    document = _without(value, unused)
    rules = list(_rules(document, ()))
    paths = [path for path, _ in rules] + [parse_path(e["path"]) for e in checked.errors]
    paths += [parse_path(warning.path) for warning in checked.warnings]
    places = find_places(text, {path[:end] for path in paths for end in range(len(path) + 1)})
    _check_size(rules, places)
    refused = [_item(parse_path(e["path"]), places, e["message"]) for e in checked.errors]
    refused += [
        FileItem(path=format_path(path), line=line, message="stands here twice")
        for path, line in places.duplicates
    ]
    if not refused:
        _check_storable(document, places)
    return Imported(
        document=document,
        understood=tuple(_item(path, places, _words(rule)) for path, rule in rules),
        refused=tuple(refused),
        ignored=tuple(
            _item(path, places, "has no part in the policy; not taken over")
            for path in sorted(unused, key=lambda path: (places.line(path), format_path(path)))
        ),
        warnings=tuple(
            _item(parse_path(warning.path), places, warning.message)
            for warning in checked.warnings
            if warning.code != "not_used"
        ),
    )


def export_openclaw(document: Mapping[str, object]) -> str:
    """Return a policy document as JSON, which is what ``openclaw.json`` may hold as well."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _parse(text: str) -> object:
    try:
        return pyjson5.decode(text, MAX_FILE_DEPTH)
    except pyjson5.Json5NestingTooDeep as error:
        raise _syntax_error(text, error, f"nested deeper than {MAX_FILE_DEPTH} levels") from None
    except pyjson5.Json5Exception as error:
        raise _syntax_error(text, error, "") from None
    except ValueError:  # the interpreter's limit on the digits of an integer
        raise FileError("a number has too many digits") from None


def _syntax_error(text: str, error: Exception, problem: str) -> FileError:
    said = re.sub(r"b'(\w+)'", r"\1", str(error.args[0] if error.args else error))
    found = re.search(r"(?:starting )?near (\d+)", said)
    problem = problem or f"not JSON5: {re.sub(r' ?(?:starting )?near [0-9]+', '', said)}"
    if found is None:
        return FileError(problem, line=1)
    offset = int(found.group(1)) - 1
    if isinstance(error, pyjson5.Json5ExtraData):
        offset = after_blanks(text, offset + 1)
    offset = max(0, min(offset, len(text) - 1))
    index = LineIndex(text)
    return FileError(problem, line=index.line(offset), column=index.column(offset))


def _without(value: dict[str, object], unused: set[Path]) -> dict[str, object]:
    """Return a copy of the document without the parts at the given addresses."""

    def copy(part: object, path: Path) -> object:
        if isinstance(part, dict):
            kept = {key: (*path, key) for key in part if (*path, key) not in unused}
            return {key: copy(part[key], place) for key, place in kept.items()}
        if isinstance(part, list):
            return [copy(item, (*path, index)) for index, item in enumerate(part)]
        return part

    return {key: copy(part, (key,)) for key, part in value.items() if (key,) not in unused}


def _rules(part: object, path: Path) -> Iterator[tuple[Path, object]]:
    """Give every list, profile and depth of a document with its address."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key in _RULES and not isinstance(value, dict):
                yield (*path, key), value
            else:
                yield from _rules(value, (*path, key))
    elif isinstance(part, list):
        for index, item in enumerate(part):
            yield from _rules(item, (*path, index))


def _words(rule: object) -> str:
    if not isinstance(rule, list):
        return str(rule)[:40]
    return f"{len(rule)} entry" if len(rule) == 1 else f"{len(rule)} entries"


def _check_size(rules: Iterable[tuple[Path, object]], places: Places) -> None:
    count = 0
    for path, rule in rules:
        count += len(rule) if isinstance(rule, list) else 0
        if count > MAX_FILE_ENTRIES:
            problem = f"the rule lists have more than {MAX_FILE_ENTRIES} entries together"
            raise FileError(problem, line=places.line(path), path=path)


def _check_storable(document: dict[str, object], places: Places) -> None:
    try:
        check_json_value(document)
    except InvalidArguments as error:
        raise FileError(error.message) from None
    for index, agent in enumerate(_agents(document)):
        if "\0" in str(agent.get("id")):
            path: Path = ("agents", "list", index, "id")
            raise FileError("an id holds U+0000", line=places.line(path), path=path)


def _agents(document: Mapping[str, object]) -> list[dict[str, object]]:
    agents = document.get("agents")
    listed = agents.get("list") if isinstance(agents, dict) else None
    return [agent for agent in listed if isinstance(agent, dict)] if listed else []


def _item(path: Path, places: Places, message: str) -> FileItem:
    return FileItem(path=format_path(path), line=places.line(path), message=message)
