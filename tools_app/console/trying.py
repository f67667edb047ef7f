"""The "try it" panel: what was typed, the exact request it means, and its outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.models import ToolRun

Member = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TryInput:
    """What the panel holds. ``arguments`` is JSON text, kept as it was typed."""

    arguments: str = "{}"
    agent: str = ""
    provider: str = ""
    model: str = ""
    session: str = ""

    def request_body(self) -> str:
        """Return the body of the REST call; the text of the arguments goes in untouched."""
        members = [f'"arguments": {self.arguments.strip() or "{}"}']
        for name in ("agent", "provider", "model", "session"):
            if value := getattr(self, name):
                members.append(f'"{name}": {json.dumps(value, ensure_ascii=False)}')
        return "{" + ", ".join(members) + "}"


def input_from(posted: Mapping[str, str]) -> TryInput:
    """Read the panel's fields."""
    names = ("agent", "provider", "model", "session")
    choices = {name: posted.get(name, "").strip() for name in names}
    return TryInput(arguments=posted.get("arguments", "{}"), **choices)


def input_of_run(run: ToolRun) -> TryInput:
    """Return the panel filled with an earlier run; redacted values stay redacted."""
    return TryInput(
        arguments=json.dumps(run.arguments, ensure_ascii=False, indent=2),
        agent=run.agent,
        provider=run.provider,
        model=run.model,
        session=run.session,
    )


def example_arguments(schema: Mapping[str, object]) -> str:
    """Return a first text for the arguments: the required members, empty or by default."""
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return "{}"
    values = {
        name: _first_value(properties[name])
        for name in required
        if isinstance(properties.get(name), Mapping)
    }
    return json.dumps(values, ensure_ascii=False, indent=2) if values else "{}"


def _first_value(schema: Mapping[str, object]) -> object:
    if "default" in schema:
        return schema["default"]
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    empty: dict[object, object] = {
        "string": "",
        "integer": 0,
        "number": 0,
        "boolean": False,
        "array": [],
        "object": {},
    }
    kind = schema.get("type")
    return empty.get(kind[0] if isinstance(kind, list) and kind else kind, "")


def changed_since(run: ToolRun, *, policy_version: int, definition_hash: str) -> list[Member]:
    """Return what is different now from when the run was made: (what, "before → now")."""
    found = []
    if run.policy_version is not None and run.policy_version != policy_version:
        found.append(("policy", f"v{run.policy_version} → v{policy_version}"))
    if run.definition_hash and run.definition_hash != definition_hash:
        found.append(("definition", f"{run.definition_hash[:15]}… → {definition_hash[:15]}…"))
    return found
