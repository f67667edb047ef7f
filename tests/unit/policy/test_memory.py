"""The bounded memory of answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tools_app.policy.memory import RecentlyUsed


def test_what_was_not_asked_for_longest_is_forgotten():
    memory: RecentlyUsed[str, list] = RecentlyUsed(2)
    first = memory.get("a", lambda: [1])
    memory.get("b", lambda: [2])
    assert memory.get("a", lambda: [3]) is first
    memory.get("c", lambda: [4])
    assert len(memory) == 2
    assert memory.get("a", lambda: [5]) is first
    assert memory.get("b", lambda: [6]) == [6]


def test_threads_get_one_value_per_key():
    memory: RecentlyUsed[int, object] = RecentlyUsed(100)
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda number: memory.get(number % 5, object), range(500)))
    assert len({id(value) for value in values}) == 5
