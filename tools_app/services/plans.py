"""From one state of the configuration to another: which changes, in words and as data.

Nothing here looks at the database. A state has sections (agents, tools, limits, policy), a
section has items by name, an item has all its fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal

from django.utils.translation import gettext as _

from tools_app.core import canonical_json

Item = Mapping[str, Any]
State = Mapping[str, Mapping[str, Item]]
Action = Literal["create", "change", "remove"]

SECTIONS = ("agents", "tools", "limits", "policy")  # in the order in which they are applied
DOCUMENT = "document"  # the one item of the section "policy"
DEFAULTS: Mapping[str, Item] = MappingProxyType(
    {
        "agents": {
            "name": "", "description": "", "provider": "", "model": "", "prompt": "",
            "is_active": True,
        },
        "tools": {
            "is_enabled": True, "confirmation_override": None, "timeout_override": None,
            "exposed_on": None, "note": "",
        },
        "limits": {
            "scope": "", "target": "", "window_s": 60, "max_calls": None, "max_cost_usd": None,
            "max_concurrency": None,
        },
    }
)  # fmt: skip
MAX_SHOWN = 60  # characters of one value in a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field of an item, before and after; ``None`` also stands for "not there"."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One item that differs; ``item`` is the wanted one, empty when it is to be removed."""

    section: str
    action: Action
    target: str
    fields: tuple[FieldChange, ...]
    item: Item

    def sentence(self) -> str:
        """Say in words what happens."""
        if self.section == "policy":
            names = ", ".join(field.name for field in self.fields)
            return _("A new version of the policy is published (%(names)s).") % {"names": names}
        words = {"name": self._name(), "fields": ", ".join(map(_field_words, self.fields))}
        if self.action == "create":
            return _("%(name)s is created.") % words
        if self.action == "remove":
            return _("%(name)s is removed.") % words
        return _("%(name)s changes: %(fields)s.") % words

    def to_json(self) -> dict[str, object]:
        """Give the change as plain JSON data."""
        return {
            "section": self.section,
            "action": self.action,
            "target": self.target,
            "fields": [asdict(field) for field in self.fields],
            "sentence": self.sentence(),
        }

    def _name(self) -> str:
        names = {
            "agents": _("Agent %(target)s"),
            "tools": _("Tool %(target)s"),
            "limits": _("Limit %(target)s"),
        }
        return names[self.section] % {"target": self.target}


def compare(before: State, after: State) -> tuple[Change, ...]:
    """Return what leads from one state to another, looking at the sections of ``after`` only."""
    changes: list[Change] = []
    for section in (name for name in SECTIONS if name in after):
        old, new = before[section], after[section]
        for target in sorted({*old, *new}):
            was, will = old.get(target), new.get(target)
            if section == "tools":  # a tool that is not named goes back to its own
                was, will = was or DEFAULTS["tools"], will or DEFAULTS["tools"]
            if was != will:
                changes.append(_change(section, target, was, will))
    return tuple(changes)


def digests(state: State) -> dict[str, str]:
    """Return ``sha256:…`` of each section, independent of the order of keys."""
    return {section: _digest(items) for section, items in state.items()}


def state_digest(state: State) -> str:
    """Return ``sha256:…`` of a whole state."""
    return _digest(state)


def _digest(value: Mapping[str, Any]) -> str:
    plain = json.loads(json.dumps({**value}))
    return f"sha256:{hashlib.sha256(canonical_json(plain)).hexdigest()}"


def _change(section: str, target: str, was: Item | None, will: Item | None) -> Change:
    action: Action = "create" if was is None else "remove" if will is None else "change"
    old, new = was or {}, will or {}
    names = [*old, *(name for name in new if name not in old)]
    return Change(
        section=section,
        action=action,
        target="" if section == "policy" else target,
        fields=tuple(
            FieldChange(name=name, before=old.get(name), after=new.get(name))
            for name in names
            if old.get(name) != new.get(name)
        ),
        item=new,
    )


def _field_words(field: FieldChange) -> str:
    return f"{field.name} {_shown(field.before)} → {_shown(field.after)}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
