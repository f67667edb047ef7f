"""Name → entry tables that fill themselves when modules are imported."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from tools_app.core.tool import BaseTool

Entry = TypeVar("Entry")
AnyEntry = TypeVar("AnyEntry")


class Registry(Generic[Entry]):
    """Base of the registries; every subclass has a table of its own.

    Registration is safe from several threads. Importing a module again (autoreload) registers
    the same class once more under its key: that replaces the entry and is no error.
    """

    _entries: ClassVar[dict[str, Any]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._entries = {}
        cls._lock = threading.Lock()

    @classmethod
    def register(cls, key: str) -> Callable[[AnyEntry], AnyEntry]:
        """Return a decorator that stores what it decorates under ``key``.

        Raises ValueError when another entry has the key.
        """

        def store(entry: AnyEntry) -> AnyEntry:
            return cls.register_value(key, entry)

        return store

    @classmethod
    def register_value(cls, key: str, value: AnyEntry) -> AnyEntry:
        """Store ``value`` under ``key`` and return it; raises ValueError as ``register`` does."""
        with cls._lock:
            if key in cls._entries and not _is_same_definition(cls._entries[key], value):
                raise ValueError(f"{cls.__name__} already has an entry for '{key}'")
            # A new table instead of a change: readers need no lock.
            cls._entries = {**cls._entries, key: value}
        return value

    @classmethod
    def get(cls, key: str) -> Entry:
        """Return the entry; raises KeyError naming the registry and the key."""
        try:
            entry: Entry = cls._entries[key]
        except KeyError:
            raise KeyError(f"{cls.__name__} has no entry for '{key}'") from None
        return entry

    @classmethod
    def create(cls, key: str, *args: Any, **kwargs: Any) -> Any:
        """Call the entry; raises KeyError as ``get``, TypeError when it is not callable."""
        entry = cls.get(key)
        if not callable(entry):
            raise TypeError(f"the entry for '{key}' in {cls.__name__} is not callable")
        return entry(*args, **kwargs)

    @classmethod
    def items(cls) -> tuple[tuple[str, Entry], ...]:
        """Return keys with entries in order of registration."""
        return tuple(cls._entries.items())

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return the keys in order of registration."""
        return tuple(cls._entries)

    @classmethod
    def contains(cls, key: str) -> bool:
        """Return whether the key is taken."""
        return key in cls._entries

    @classmethod
    def clear(cls) -> None:
        """Forget every entry."""
        with cls._lock:
            cls._entries = {}


def _is_same_definition(old: object, new: object) -> bool:
    """Tell whether both are one class, perhaps from two imports of its module."""
    if not (isinstance(old, type) and isinstance(new, type)):
        return False
    same_name = (old.__module__, old.__qualname__) == (new.__module__, new.__qualname__)
    return old is new or (same_name and "<locals>" not in old.__qualname__)


class ToolRegistry(Registry[type[BaseTool]]):
    """Tool classes by the name of the tool."""


class AgentRegistry(Registry[Any]):
    """Agent classes by name."""


class EngineRegistry(Registry[Any]):
    """Inference engines by name."""


class MemoryRegistry(Registry[Any]):
    """Memory backends by name."""


class ModelRegistry(Registry[Any]):
    """Model descriptions by name."""


class ChannelRegistry(Registry[Any]):
    """Message channels by name."""
