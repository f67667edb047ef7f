"""From registered classes to instances: which tools there are, and what they are made with."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

from tools_app.core.arguments import compile_arguments
from tools_app.core.errors import InvalidSchema, InvalidSetting
from tools_app.core.registry import ToolRegistry
from tools_app.core.tool import BaseTool
from tools_app.guards.network import NetworkGuard
from tools_app.guards.network_policy import NetworkPolicy
from tools_app.guards.paths import PathGuard

logger = logging.getLogger(__name__)

ENTRY_POINT_GROUP = "openjarvis_web.tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsConfig:
    """What the operator decided about the tools.

    ``allowed_dirs`` are the folders that file tools may use (none of them when empty).
    ``allowed_hosts`` opens hosts, host:port, host patterns or networks that are not on the public
    internet. ``number_style`` is how the calculator prints: integers ``exact``, or everything as
    a ``float``. ``options`` holds further constructor arguments by tool name.
    """

    allowed_dirs: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    allow_hard_links: bool = False
    number_style: Literal["exact", "float"] = "exact"
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def build_tools(config: ToolsConfig | None = None) -> list[BaseTool]:
    """Make one instance of every registered tool, in order of registration.

    Raises InvalidSetting for a bad entry of the configuration, InvalidSchema when a tool's
    parameters cannot be compiled. A tool that cannot be made because it lacks a constructor
    argument is logged and left out.
    """
    settings = config or ToolsConfig()
    needs = _needs(settings)
    tools: list[BaseTool] = []
    for name, tool_class in ToolRegistry.items():
        arguments = {**needs.get(name, dict)(), **settings.options.get(name, {})}
        try:
            inspect.signature(tool_class).bind(**arguments)
        except TypeError as error:
            logger.error("tool '%s' is left out: %s", name, error)
            continue
        tool = tool_class(**arguments)
        _check_schema(tool)
        tools.append(tool)
    return tools


def load_tool_modules(names: Iterable[str] = ()) -> None:
    """Import the modules named by a setting, and all that installed packages announce.

    A package announces a module, or a tool class, as an entry point of the group
    ``openjarvis_web.tools``. Raises InvalidSetting naming the module that cannot be imported.
    """
    for name in names:
        try:
            import_module(name)
        except Exception as error:
            raise InvalidSetting(f"cannot import the tool module '{name}': {error!r}") from error
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        try:
            entry_point.load()
        except Exception:  # somebody else's package must not stop the start
            logger.exception("entry point '%s' cannot be loaded", entry_point.name)


def _needs(config: ToolsConfig) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return what each built-in tool is made with."""
    return {
        "calculator": lambda: {"floats_only": config.number_style == "float"},
        "file_read": lambda: {
            "guard": PathGuard(config.allowed_dirs, allow_hard_links=config.allow_hard_links)
        },
        "http_request": lambda: {
            "guard": NetworkGuard(NetworkPolicy.opening(config.allowed_hosts))
        },
    }


def _check_schema(tool: BaseTool) -> None:
    spec = tool.spec
    try:
        compile_arguments(spec.parameters)
    except InvalidSchema as error:
        raise InvalidSchema(f"tool '{spec.name}': {error.message}") from error
