"""What changed between two JSON values, in words: the part of a diff people read first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAX_CHANGES = 50
MAX_SHOWN = 200  # characters of one value in a sentence; the whole values are beside it


@dataclass(frozen=True, slots=True)
class Change:
    """One place that differs; ``before`` and ``after`` are JSON texts, empty when absent."""

    path: str
    kind: str  # "added" | "removed" | "changed"
    before: str = ""
    after: str = ""


def changes(before: object, after: object, *, limit: int = MAX_CHANGES) -> list[Change]:
    """Return the differing places in document order, at most ``limit``."""
    found: list[Change] = []
    for change in _walk(before, after, ""):
        found.append(change)
        if len(found) == limit:
            break
    return found


def _walk(before: object, after: object, path: str) -> Iterator[Change]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _member(before, after, str(key), f"{path}.{key}" if path else str(key))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            yield from _item(before, after, index, f"{path}[{index}]")
    elif not _same(before, after):
        yield Change(path or "value", "changed", _text(before), _text(after))


def _member(
    before: Mapping[str, object], after: Mapping[str, object], key: str, path: str
) -> Iterator[Change]:
    if key not in before:
        yield Change(path, "added", after=_text(after[key]))
    elif key not in after:
        yield Change(path, "removed", before=_text(before[key]))
    else:
        yield from _walk(before[key], after[key], path)


def _item(before: list[object], after: list[object], index: int, path: str) -> Iterator[Change]:
    if index >= len(before):
        yield Change(path, "added", after=_text(after[index]))
    elif index >= len(after):
        yield Change(path, "removed", before=_text(before[index]))
    else:
        yield from _walk(before[index], after[index], path)


def _same(before: object, after: object) -> bool:
    """Compare as JSON does: ``1`` and ``true`` differ, ``1`` and ``1.0`` do not."""
    return before == after and isinstance(before, bool) == isinstance(after, bool)


def _text(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
