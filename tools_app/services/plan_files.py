"""Files that describe a configuration, read into a wanted state and written from one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml
from django.conf import settings

from tools_app.policy import format_path, parse_path
from tools_app.policy.edits import Path
from tools_app.policy.openclaw import Imported, import_openclaw
from tools_app.policy.places import FileError, Places
from tools_app.policy.yaml_text import read_yaml
from tools_app.services.catalogue import offered_tools
from tools_app.services.errors import InvalidRequest
from tools_app.services.plans import DEFAULTS, DOCUMENT, SECTIONS, State

Kind = Literal["yaml", "openclaw"]
VERSION = 1  # of the form of these files

_TYPES: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "description": (str,),
    "provider": (str,),
    "model": (str,),
    "prompt": (str,),
    "scope": (str,),
    "target": (str,),
    "is_active": (bool,),
    "window_s": (int,),
    "max_calls": (int, type(None)),
    "max_concurrency": (int, type(None)),
    "max_cost_usd": (int, float, type(None)),
}  # fmt: skip  (what a tool may have is checked by the catalogue)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a file asks for: only the sections it has; ``imported`` is the report of openclaw.json.

    ``errors`` is a list of {"path", "message"}; the message begins with the line.
    """

    state: State
    errors: tuple[dict[str, str], ...] = ()
    imported: Imported | None = None
    places: Places = field(default_factory=Places)

    def located(self, path: str, message: str) -> dict[str, str]:
        """Return an error, its message led by the line when the file has lines."""
        if not self.places.lines:
            return {"path": path, "message": message}
        try:
            steps = parse_path(path)
        except ValueError:
            steps = ()
        return {"path": path, "message": f"line {self.places.line(steps)}: {message}"}


def read_file(kind: Kind, content: bytes | str) -> Wanted:
    """Read a YAML file of ours or an openclaw.json; raises InvalidRequest with the place."""
    try:
        if kind == "openclaw":
            return _read_openclaw(content)
        value, places = read_yaml(content)
    except FileError as error:
        errors = [{"path": error.path, "message": error.message}]
        raise InvalidRequest("The file cannot be read.", extra={"errors": errors}) from None
    return read_value(value, places)


def read_value(value: object, places: Places | None = None) -> Wanted:
    """Read a configuration that is plain data already."""
    reader = _Reader()
    state = reader.state(value)
    wanted = Wanted(state=state, places=places or Places())
    errors = tuple(wanted.located(format_path(path), text) for path, text in reader.errors)
    return Wanted(state=state, places=wanted.places, errors=errors)


def plain_configuration(state: State) -> dict[str, Any]:
    """Return a state as files have it: what is as by default is left out."""
    found: dict[str, Any] = {"version": VERSION}
    for section in ("agents", "tools"):
        if section in state:
            found[section] = {
                name: _without_defaults(section, item, name)
                for name, item in state[section].items()
            }
    if "limits" in state:
        found["limits"] = [_without_defaults("limits", x, "") for x in state["limits"].values()]
    if "policy" in state:
        found["policy"] = dict(state["policy"][DOCUMENT])
    return found


def write_yaml(state: State) -> str:
    """Return a state as YAML."""
    plain = plain_configuration(state)
    return str(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100))


def limit_name(item: Mapping[str, Any]) -> str:
    """Return what tells a limit from the others."""
    return f"{item['scope']} {item['target']} / {item['window_s']} s"


def _without_defaults(section: str, item: Mapping[str, Any], name: str) -> dict[str, Any]:
    defaults = {**DEFAULTS[section], **({"name": name} if section == "agents" else {})}
    always = ("window_s",)
    return {key: x for key, x in item.items() if x != defaults[key] or key in always}


def _read_openclaw(content: bytes | str) -> Wanted:
    tables = str(settings.OPENJARVIS_TABLE_SET)
    imported = import_openclaw(content, tools=offered_tools(), tables=tables)
    errors = tuple(
        {"path": item.path, "message": f"line {item.line}: {item.message}"}
        for item in imported.refused
    )
    state: State = {"policy": {DOCUMENT: imported.document}}
    return Wanted(state=state, errors=errors, imported=imported)


class _Reader:
    """Walks a configuration, collecting what is wrong with its shape."""

    def __init__(self) -> None:
        self.errors: list[tuple[Path, str]] = []

    def state(self, value: object) -> State:
        root = self._object(value, ())
        for key in root:
            if key not in ("version", *SECTIONS):
                self.errors.append(((key,), "unknown section"))
        if root.get("version", VERSION) != VERSION:
            self.errors.append((("version",), f"must be {VERSION}"))
        read: Mapping[str, Callable[[object], dict[str, dict[str, Any]]]] = {
            "agents": lambda part: dict(self._named("agents", part)),
            "tools": lambda part: dict(self._named("tools", part)),
            "limits": self._limits,
            "policy": lambda part: {DOCUMENT: self._object(part, ("policy",))},
        }
        return {name: read[name](root[name]) for name in SECTIONS if name in root}

    def _object(self, value: object, path: Path) -> dict[str, Any]:
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return dict(value)
        self.errors.append((path, "must be an object with text keys"))
        return {}

    def _named(self, section: str, part: object) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, given in self._object(part, (section,)).items():
            item = self._item(section, {} if given is None else given, (section, name))
            if section == "agents":
                item["name"] = item["name"] or name
            yield name, item

    def _limits(self, part: object) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        if not isinstance(part, list):
            self.errors.append((("limits",), "must be a list"))
            return found
        for index, given in enumerate(part):
            item = self._item("limits", given, ("limits", index))
            if found.setdefault(limit_name(item), item) is not item:
                self.errors.append((("limits", index), "stands here twice"))
        return found

    def _item(self, section: str, given: object, path: Path) -> dict[str, Any]:
        fields, defaults = self._object(given, path), DEFAULTS[section]
        for name, value in fields.items():
            types = _TYPES.get(name)
            if name not in defaults:
                self.errors.append(((*path, name), "unknown field"))
            elif types and type(value) not in types:
                self.errors.append(((*path, name), "has the wrong type"))
        return {**defaults, **{name: x for name, x in fields.items() if name in defaults}}
