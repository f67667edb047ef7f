"""Registries keep apart and survive reloads; the bus survives its subscribers."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tools_app.core import EventBus, EventType, Registry, get_event_bus, reset_event_bus
from tools_app.core.events import HISTORY_LIMIT


def fresh_registry() -> type[Registry[Any]]:
    class Fresh(Registry[Any]):
        pass

    return Fresh


def class_named(name: str, module: str = "somewhere") -> type:
    return type(name, (), {"__module__": module, "__qualname__": name})


def test_each_registry_has_a_table_of_its_own() -> None:
    one, two = fresh_registry(), fresh_registry()
    one.register_value("key", 1)
    assert one.contains("key")
    assert not two.contains("key")


def test_register_returns_the_class_unchanged() -> None:
    registry = fresh_registry()

    @registry.register("thing")
    class Thing:
        pass

    assert registry.get("thing") is Thing
    assert isinstance(registry.create("thing"), Thing)
    assert registry.items() == (("thing", Thing),)


def test_errors_name_the_registry_and_the_key() -> None:
    registry = fresh_registry()
    registry.register_value("taken", 1)
    with pytest.raises(ValueError, match=r"Fresh.*'taken'"):
        registry.register_value("taken", 1)
    with pytest.raises(KeyError, match=r"Fresh.*'missing'"):
        registry.get("missing")


def test_a_reloaded_class_replaces_itself_and_no_other() -> None:
    registry = fresh_registry()
    registry.register("a")(class_named("Tool"))
    reloaded = registry.register("a")(class_named("Tool"))
    assert registry.get("a") is reloaded
    with pytest.raises(ValueError, match="'a'"):
        registry.register("a")(class_named("Other"))
    with pytest.raises(ValueError, match="'a'"):
        registry.register("a")(class_named("Tool", "elsewhere"))


def test_registration_is_safe_from_several_threads() -> None:
    registry = fresh_registry()
    barrier = threading.Barrier(8, timeout=10)

    def register_many(worker: int) -> None:
        barrier.wait()
        for n in range(200):
            registry.register_value(f"{worker}-{n}", n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(register_many, range(8)))
    assert len(registry.keys()) == 1600


def test_a_callback_may_unsubscribe_itself() -> None:
    bus = EventBus()
    seen: list[str] = []

    def once(event: Any) -> None:
        seen.append("once")
        bus.unsubscribe(EventType.BATCH_START, once)

    bus.subscribe(EventType.BATCH_START, once)
    bus.subscribe(EventType.BATCH_START, lambda _: seen.append("always"))
    bus.publish(EventType.BATCH_START)
    bus.publish(EventType.BATCH_START)
    assert seen == ["once", "always", "always"]


def test_history_is_a_bounded_copy() -> None:
    bus = EventBus(record_history=True)
    for n in range(HISTORY_LIMIT + 5):
        bus.publish(EventType.BATCH_END, {"n": n})
    assert len(bus.history) == HISTORY_LIMIT
    assert bus.history[0].data == {"n": 5}
    bus.history.clear()
    assert len(bus.history) == HISTORY_LIMIT
    bus.clear_history()
    assert bus.history == []


def test_there_is_one_bus_per_process_until_it_is_reset() -> None:
    reset_event_bus()
    bus = get_event_bus(record_history=True)
    assert get_event_bus() is bus
    reset_event_bus()
    assert get_event_bus() is not bus
    reset_event_bus()
