"""A bounded memory of answers, shared by threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class RecentlyUsed(Generic[_Key, _Value]):
    """Remembers up to ``limit`` values and forgets what was not asked for longest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: _Key, build: Callable[[], _Value]) -> _Value:
        """Give the remembered value or build it; if two threads build at once, one wins."""
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
                return found
        value = build()
        with self._lock:
            kept = self._values.setdefault(key, value)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
        return kept
