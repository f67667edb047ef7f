"""Configuration in memory is never older than the last committed change."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, connections, transaction

from tools_app.services.configuration import Cached, CachedByKey, bump, revision_values


@contextmanager
def one_request() -> Iterator[None]:
    """What the server signals around a request, but for closing the test's connection."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        request_started.send(sender=None)
        yield
        request_finished.send(sender=None)
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


@pytest.fixture
def loads() -> list[str]:
    return []


@pytest.fixture
def cached(loads: list[str]) -> Cached[int]:
    def load() -> int:
        loads.append("loaded")
        return len(loads)

    return Cached("policy", "tools", load=load)


@pytest.mark.django_db
def test_a_value_is_built_again_only_when_one_of_its_stamps_moved(cached: Cached[int]) -> None:
    assert [cached.get(), cached.get()] == [1, 1]
    bump("limits")
    assert cached.get() == 1
    bump("tools")
    assert cached.get() == 2


@pytest.mark.django_db
def test_a_value_that_cannot_be_built_is_asked_for_again(loads: list[str]) -> None:
    def load() -> str:
        loads.append("tried")
        if len(loads) == 1:
            raise ValueError("not now")
        return "there"

    cached = Cached("policy", load=load)
    with pytest.raises(ValueError, match="not now"):
        cached.get()
    assert cached.get() == "there"


@pytest.mark.django_db
def test_the_stamps_cost_one_query(django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        revision_values()


@pytest.mark.django_db
def test_one_request_reads_the_stamps_once(django_assert_num_queries) -> None:
    with one_request(), django_assert_num_queries(1):
        for _ in range(5):
            revision_values()
    with django_assert_num_queries(2):
        revision_values()
        revision_values()


@pytest.mark.django_db
def test_a_request_sees_its_own_change_at_once(cached: Cached[int]) -> None:
    with one_request():
        before = cached.get()
        bump("policy")
        assert cached.get() == before + 1


@pytest.mark.django_db
def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="polices"):
        bump("polices")


@pytest.mark.django_db(transaction=True)
def test_what_a_rolled_back_change_left_in_memory_is_never_used(cached: Cached[int]) -> None:
    first = cached.get()
    with transaction.atomic():
        bump("policy")
        inside = cached.get()
        transaction.set_rollback(True)
    bump("policy")
    assert cached.get() not in (first, inside)


@pytest.mark.django_db(transaction=True)
def test_another_connections_commit_is_seen_by_the_next_look() -> None:
    cached = Cached("agents", load=lambda: revision_values().get("agents", 0))
    before = cached.get()

    def elsewhere() -> None:
        bump("agents")
        connections.close_all()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert cached.get() != before


@pytest.mark.django_db
def test_values_by_key_go_all_at_once_and_the_least_used_first() -> None:
    built: list[str] = []

    def load(key: str) -> str:
        built.append(key)
        return key.upper()

    cached = CachedByKey("tokens", load=load, limit=2)
    assert [cached.get(key) for key in ("a", "b", "a", "c", "a")] == ["A", "B", "A", "C", "A"]
    assert built == ["a", "b", "c"]
    assert cached.get("b") == "B"
    assert built == ["a", "b", "c", "b"]
    bump("tokens")
    cached.get("b")
    assert built[-1] == "b"
    assert len(built) == 5


@pytest.mark.django_db
def test_stamps_live_in_the_database_this_test_uses() -> None:
    bump("grants")
    with connection.cursor() as cursor:
        cursor.execute("SELECT value FROM tools_app_configurationrevision WHERE name = 'grants'")
        assert cursor.fetchone()[0] == revision_values()["grants"]
