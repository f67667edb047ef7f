"""Which tools exist, what an admin changed about them, and the objects that run them.

Rows mirror the code (:func:`sync_tools`) and keep the admin's choices. Requests read a copy in
memory that is loaded again when a row changes; the tool objects themselves are made once per
process.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from tools_app.core import ArgumentChecker, BaseTool, ToolSpec, compile_arguments
from tools_app.models import Tool
from tools_app.policy import OfferedTool
from tools_app.policy.names import normalise
from tools_app.services.access import Actor
from tools_app.services.configuration import Cached, bump
from tools_app.services.errors import InvalidRequest, ToolUnavailable, UnknownTool
from tools_app.services.events import record_event
from tools_app.tools import ToolsConfig, build_tools, load_tool_modules

log = structlog.get_logger(__name__)

SURFACES = ("rest", "console", "mcp", "agent", "schedule", "node")
MAX_TIMEOUT_S = 24 * 3600.0
MAX_NOTE = 10_000

ToolSource = Callable[[], Iterable[BaseTool]]


@dataclass(frozen=True, kw_only=True)
class KnownTool:
    """One tool as the product offers it: its definition together with the admin's choices.

    ``exposed_on`` is the set of surfaces it is offered on, ``None`` for all of them;
    ``timeout_s`` is in seconds, ``cost_estimate`` in US dollars per call.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    category: str
    source: str
    plugin_id: str
    cost_estimate: float
    latency_estimate: float
    timeout_s: float
    asks: bool
    required_capabilities: tuple[str, ...]
    metadata: Mapping[str, Any]
    definition_hash: str
    is_bounded: bool
    is_local: bool
    is_enabled: bool
    is_available: bool
    exposed_on: frozenset[str] | None
    note: str

    @property
    def is_offered(self) -> bool:
        """Whether policy is asked about it at all."""
        return self.is_enabled and self.is_available

    def is_exposed_on(self, surface: str) -> bool:
        """Whether calls may come through this surface; our own processes always may."""
        return self.exposed_on is None or surface in self.exposed_on or surface == "system"

    @cached_property
    def search_text(self) -> str:
        """What a search looks at, in lower case."""
        return f"{self.name}\n{self.category}\n{self.description}".casefold()

    def spec(self) -> ToolSpec:
        """Return the definition in the core's form, with the admin's choices applied."""
        return ToolSpec(
            name=self.name,
            description=self.description,
            parameters=dict(self.parameters),
            category=self.category,
            cost_estimate=self.cost_estimate,
            latency_estimate=self.latency_estimate,
            requires_confirmation=self.asks,
            timeout_seconds=self.timeout_s,
            required_capabilities=list(self.required_capabilities),
            metadata=dict(self.metadata),
        )


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """All known tools by name, in order of their names."""

    tools: Mapping[str, KnownTool]

    @cached_property
    def offered(self) -> tuple[OfferedTool, ...]:
        """The tools that policy decides about; the same object until something changes."""
        return tuple(
            OfferedTool(
                name=tool.name,
                plugin_id=tool.plugin_id or None,
                owner_only=bool(tool.metadata.get("owner_only")),
                optional=bool(tool.metadata.get("optional")),
                requires_confirmation=tool.asks,
            )
            for tool in self.tools.values()
            if tool.is_offered
        )

    @cached_property
    def offered_digest(self) -> str:
        """A fingerprint of what is offered; equal in every process."""
        return hashlib.sha256(repr(self.offered).encode()).hexdigest()

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """Normalised name to name; the exact spelling of another tool is never overruled."""
        found: dict[str, str] = {}
        for name in self.tools:
            found.setdefault(normalise(name), name)
        return found


def catalogue() -> Catalogue:
    """Return the tools as they are at this moment."""
    return _catalogue.get()


def find_tool(name: str) -> KnownTool:
    """Return a tool by its name; other letter case and policy aliases find it as well.

    Raises UnknownTool, also for a tool that an admin switched off, and ToolUnavailable for one
    whose code is not here.
    """
    known = catalogue()
    tool = known.tools.get(name)
    if tool is None:
        tool = known.tools.get(known.spellings.get(normalise(name), ""))
    if tool is None:
        raise UnknownTool(f"There is no tool {name[:200]!r}.")
    if not tool.is_enabled:
        raise UnknownTool(f"The tool {tool.name} is switched off.")
    if not tool.is_available:
        raise ToolUnavailable(f"The tool {tool.name} is not available on this machine now.")
    return tool


def offered_tools() -> tuple[OfferedTool, ...]:
    """Return the tools that policy decides about: enabled and available ones, by name."""
    return catalogue().offered


def tool_instance(name: str) -> BaseTool:
    """Return the object that runs a tool, made once per process; raises ToolUnavailable."""
    try:
        return tool_instances()[name]
    except KeyError:
        raise ToolUnavailable(f"The tool {name} is not available in this process.") from None


def checker(name: str) -> ArgumentChecker:
    """Return the compiled argument check of a tool; raises ToolUnavailable."""
    return compile_arguments(tool_instance(name).spec.parameters)


def update_tool(*, actor: Actor, name: str, changes: Mapping[str, Any]) -> Tool:
    """Change what an admin may choose about a tool; event ``tool.updated``.

    ``changes`` may hold is_enabled, confirmation_override (true, false or null for the tool's
    own), timeout_override (seconds or null), exposed_on (list of surfaces or null for all) and
    note. Raises UnknownTool and InvalidRequest with the fields that are wrong.
    """
    actor.require("policy:write")
    errors = [
        {"path": f"$.{field}", "message": problem}
        for field, value in changes.items()
        if (problem := _problem(field, value))
    ]
    if errors:
        raise InvalidRequest("The tool cannot be changed like this.", extra={"errors": errors})
    with transaction.atomic():
        tool = Tool.objects.select_for_update().filter(name=name).first()
        if tool is None:
            raise UnknownTool(f"There is no tool {name[:200]!r}.")
        changed = {f: value for f, value in changes.items() if getattr(tool, f) != value}
        if changed:
            for field, value in changed.items():
                setattr(tool, field, value)
            tool.save(update_fields=[*changed, "updated_at"])
            bump("tools")
            record_event("tool.updated", tool=name, actor=actor.label, data={"changes": changed})
    return tool


def _problem(field: str, value: Any) -> str:
    """Say what is wrong with a new value, or return an empty text."""
    if field == "is_enabled":
        return "" if isinstance(value, bool) else "Must be true or false."
    if field == "confirmation_override":
        return "" if value is None or isinstance(value, bool) else "Must be true, false or null."
    if field == "timeout_override":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is None or (is_number and 0 < value <= MAX_TIMEOUT_S):
            return ""
        return f"Must be null or seconds above 0, at most {MAX_TIMEOUT_S:g}."
    if field == "exposed_on":
        if value is None or (isinstance(value, list) and set(map(str, value)) <= set(SURFACES)):
            return ""
        return f"Must be null or a list of surfaces: {', '.join(SURFACES)}."
    if field == "note":
        fits = isinstance(value, str) and len(value) <= MAX_NOTE
        return "" if fits else f"Must be a text of at most {MAX_NOTE} characters."
    return "This cannot be changed."


# --- the objects that run --------------------------------------------------------------------

_sources: list[ToolSource] = []
_instances: Mapping[str, BaseTool] | None = None
_building = threading.Lock()


def add_tool_source(source: ToolSource) -> None:
    """Add the tools of another app; call it from ``AppConfig.ready``."""
    global _instances
    with _building:
        _sources.append(source)
        _instances = None


def tool_instances() -> Mapping[str, BaseTool]:
    """Return every tool object of this process by name; the first one of a name counts."""
    global _instances
    if _instances is None:
        with _building:
            if _instances is None:
                _instances = MappingProxyType(_build_instances())
    return _instances


def _build_instances() -> dict[str, BaseTool]:
    load_tool_modules(settings.OPENJARVIS_TOOL_MODULES)
    built = list(build_tools(tools_config()))
    for source in _sources:
        built += source()
    found: dict[str, BaseTool] = {}
    for tool in built:
        if found.setdefault(tool.spec.name, tool) is not tool:
            log.warning("two tools have one name; the first is kept", tool=tool.spec.name)
    return found


def tools_config() -> ToolsConfig:
    """Return what the settings say about the built-in tools."""
    return ToolsConfig(
        allowed_dirs=tuple(map(str, settings.OPENJARVIS_FILE_ROOTS)),
        allowed_hosts=tuple(settings.OPENJARVIS_HTTP_ALLOWED_HOSTS),
        number_style="float" if settings.OPENJARVIS_NUMBERS_AS_FLOATS else "exact",
    )


# --- the copy in memory ----------------------------------------------------------------------


def _load_catalogue() -> Catalogue:
    return Catalogue(tools={row.name: _known(row) for row in Tool.objects.order_by("name")})


def _known(row: Tool) -> KnownTool:
    return KnownTool(
        name=row.name,
        description=row.description,
        parameters=row.parameters,
        category=row.category,
        source=row.source,
        plugin_id=row.plugin_id,
        cost_estimate=row.cost_estimate,
        latency_estimate=row.latency_estimate,
        timeout_s=row.effective_timeout_s,
        asks=row.asks,
        required_capabilities=tuple(row.required_capabilities),
        metadata=row.metadata,
        definition_hash=row.definition_hash,
        is_bounded=row.is_bounded,
        is_local=row.is_local,
        is_enabled=row.is_enabled,
        is_available=row.is_available,
        exposed_on=None if row.exposed_on is None else frozenset(row.exposed_on),
        note=row.note,
    )


_catalogue: Cached[Catalogue] = Cached("tools", load=_load_catalogue)
