"""BaseTool: what every tool is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import FunctionType
from typing import Any, ClassVar

from tools_app.core.description_overrides import description_of
from tools_app.core.types import ToolResult, ToolSpec


class BaseTool(ABC):
    """Base of every tool. What a tool needs comes by its constructor.

    Class attributes:

    - ``tool_id``: the tool's name in the registry.
    - ``is_local``: ``False`` when arguments leave this machine.
    - ``is_bounded``: ``True`` promises a pure function that ends within milliseconds for any
      arguments. Such a tool runs in the caller's thread, also inside the web process; the
      executor cannot cut it off.
    - ``plugin_id``: the plugin that brought the tool, for policy groups.
    """

    tool_id: ClassVar[str] = ""
    is_local: ClassVar[bool] = True
    is_bounded: ClassVar[bool] = False
    plugin_id: ClassVar[str | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make ``self`` positional-only in ``execute``.

        Any JSON key is a legal parameter name, "self" too, and tool authors write ``def
        execute(self, **params)``, which could not take it.
        """
        super().__init_subclass__(**kwargs)
        execute = cls.__dict__.get("execute")
        if isinstance(execute, FunctionType) and not execute.__code__.co_posonlyargcount:
            takes_self = min(execute.__code__.co_argcount, 1)
            execute.__code__ = execute.__code__.replace(co_posonlyargcount=takes_self)

    @property
    @abstractmethod
    def spec(self) -> ToolSpec:
        """The tool's published description."""

    @abstractmethod
    def execute(self, /, **params: Any) -> ToolResult:
        """Run with checked parameters; a failure is a result with ``success=False``."""

    def to_openai_function(self) -> dict[str, Any]:
        """Return the description in the form of OpenAI's function calling."""
        return openai_function(self.spec)


def openai_function(spec: ToolSpec) -> dict[str, Any]:
    """Return a spec in the form of OpenAI's function calling; ``parameters`` pass untouched."""
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": description_of(spec),
            "parameters": spec.parameters,
        },
    }
