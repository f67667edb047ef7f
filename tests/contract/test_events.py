"""``docs/events.md`` tells of every kind of event, and of no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tools_app.services.event_kinds import EVENT_KINDS

ROOT = Path(__file__).parents[2]
APPS = ("tools_app", "scheduler_app", "nodes_app")


def documented() -> dict[str, str]:
    text = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \| (.+) \|$", text, re.MULTILINE))


def recorded_kinds() -> dict[str, str]:
    """The kinds that the code records by a literal name, with the place."""
    found = {}
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and (kind := _literal_kind(node)):
                    found[kind] = f"{path.relative_to(ROOT)}:{node.lineno}"
    return found


def _literal_kind(call: ast.Call) -> str | None:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name != "record_event" or not call.args or not isinstance(call.args[0], ast.Constant):
        return None
    return str(call.args[0].value)


def test_every_kind_is_documented_in_the_same_words() -> None:
    assert documented() == EVENT_KINDS


def test_the_code_records_only_known_kinds() -> None:
    recorded = recorded_kinds()
    assert len(recorded) > 10
    assert {kind: place for kind, place in recorded.items() if kind not in EVENT_KINDS} == {}


def test_every_family_says_who_sees_it() -> None:
    text = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    families = {kind.partition(".")[0] for kind in EVENT_KINDS}
    told = set(re.findall(r"`([a-z]+)\.\*`", text.partition("## Kinds")[0]))
    assert told == families
