"""Reading the recorded vectors, and comparing what was observed with what they expect.

The rules of comparison are those in the header of the vector files.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[2] / "vectors" / "openjarvis-vectors.json"
EXTRA_FILES = "OPENJARVIS_TOOL_VECTORS"  # colon-separated paths

# The one place that says which vectors run here. A kind comes in when what it tests is built.
KINDS = {
    "capability",
    "conversation",
    "defaults",
    "descriptions",
    "event_bus",
    "executor",
    "file_policy",
    "openai_function",
    "registry",
    "scan",
    "spec",
    "ssrf",
    "taint_detect",
    "taint_sink",
    "tool",
}
TOOLS = {"calculator", "file_read", "http_request", "think"}  # for the kinds "tool" and "spec"

Vector = dict[str, Any]


def selected_vectors() -> list[Vector]:
    """Return every vector whose subject is built, from the recorded and the extra files."""
    paths = [RECORDED, *(Path(p) for p in os.environ.get(EXTRA_FILES, "").split(":") if p)]
    return [vector for path in paths for vector in _read(path) if _is_selected(vector)]


def _read(path: Path) -> list[Vector]:
    document = json.loads(path.read_text(encoding="utf-8"))
    return document["vectors"] if isinstance(document, dict) else document


def _is_selected(vector: Vector) -> bool:
    if vector["kind"] in ("tool", "spec"):
        return vector["tool"] in TOOLS
    return vector["kind"] in KINDS


def with_folder(value: Any, folder: Path) -> Any:
    """Put a folder in the place of ``{tmp}`` in every text."""
    if isinstance(value, str):
        return value.replace("{tmp}", str(folder))
    if isinstance(value, dict):
        return {key: with_folder(item, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [with_folder(item, folder) for item in value]
    return value


def put_files(files: list[dict[str, Any]], folder: Path) -> None:
    """Make the files a vector asks for."""
    for entry in files:
        path = folder / entry["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.get("dir"):
            path.mkdir(exist_ok=True)
        elif "symlink" in entry:
            path.symlink_to(folder / entry["symlink"])
        elif "repeat" in entry:
            text, count = entry["repeat"]
            path.write_text(text * count, encoding="utf-8")
        elif "bytes_hex" in entry:
            path.write_bytes(bytes.fromhex(entry["bytes_hex"]))
        else:
            path.write_text(entry["text"], encoding="utf-8")


def mismatches(vector: Vector, observed: Mapping[str, Any]) -> list[str]:
    """Return why an observation fits neither ``expect`` nor an alternative; none if it does."""
    alternatives = [vector["expect"], *vector.get("accept", [])]
    reasons = [list(_differences(expected, observed, "")) for expected in alternatives]
    return [] if any(not found for found in reasons) else reasons[0]


def _differences(expected: Any, observed: Any, place: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(observed, Mapping):
        for key, wanted in expected.items():
            where = f"{place}.{key}"
            if key in _TEXT_CHECKS:
                content = observed.get("content")
                if not isinstance(content, str) or not _TEXT_CHECKS[key](wanted, content):
                    yield f"{where}: wanted {wanted!r}, content is {content!r:.300}"
            elif key == "max_seconds":
                if observed[key] > wanted:
                    yield f"{where}: took {observed[key]} s"
            elif key not in observed:
                yield f"{where}: missing"
            else:
                yield from _differences(wanted, observed[key], where)
    elif isinstance(expected, list) and isinstance(observed, list):
        if len(expected) != len(observed):
            yield f"{place}: {len(expected)} wanted, {len(observed)} found: {observed!r:.300}"
        else:
            for index, (wanted, found) in enumerate(zip(expected, observed, strict=True)):
                yield from _differences(wanted, found, f"{place}[{index}]")
    elif isinstance(expected, float) and isinstance(observed, int | float):
        if not math.isclose(expected, observed, rel_tol=1e-6):
            yield f"{place}: wanted {expected}, found {observed}"
    elif expected != observed or isinstance(expected, bool) is not isinstance(observed, bool):
        yield f"{place}: wanted {expected!r}, found {observed!r:.300}"


def _contains(wanted: str | list[str], content: str) -> bool:
    parts = [wanted] if isinstance(wanted, str) else wanted
    return all(part.lower() in content.lower() for part in parts)


def _is_number(wanted: str, content: str) -> bool:
    try:
        return math.isclose(float(wanted), float(content), rel_tol=1e-6)
    except ValueError:
        return False


_TEXT_CHECKS = {
    "content_contains": _contains,
    "content_any": lambda wanted, content: content in wanted,
    "content_number": _is_number,
    "content_regex": lambda wanted, content: re.search(wanted, content, re.DOTALL) is not None,
}
