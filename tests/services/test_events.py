"""The event log: order, doorbell, who sees what."""

from __future__ import annotations

import threading
from itertools import product
from uuid import uuid4

import pytest
from django.db import connections, transaction
from django.utils import timezone

from tests.builders import make_actor, make_agent, make_token_actor, make_user
from tools_app.models import Event
from tools_app.selectors.events import EventFilters, events_after, visible_rows, visible_to
from tools_app.services.access import ROLES, SCOPES, SYSTEM
from tools_app.services.event_kinds import EVENT_KINDS
from tools_app.services.events import (
    add_listener,
    event_json,
    latest_seq,
    record_event,
    register_event_kind,
    remove_listener,
)

pytestmark = pytest.mark.django_db


def run_event(agent: str = "main", actor: str = "user:anna", **options) -> Event:
    data = {"actor": actor, "agent": agent}
    return record_event("run.finished", agent=agent, actor=actor, data=data, **options)


def test_an_event_is_read_as_it_was_written() -> None:
    run_id = uuid4()
    seq = record_event(
        "run.queued", agent="main", tool="think", run_id=run_id, actor="user:anna", data={"a": [1]}
    ).seq
    shown = event_json(Event.objects.get(seq=seq))
    assert shown.pop("at").endswith("+00:00")
    assert shown == {
        "seq": seq,
        "kind": "run.queued",
        "agent": "main",
        "tool": "think",
        "run": str(run_id),
        "actor": "user:anna",
        "data": {"a": [1]},
    }
    assert latest_seq() == seq


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"run\.fnished"):
        record_event("run.fnished")
    assert latest_seq() == 0


def test_another_app_adds_a_kind_of_one_meaning(monkeypatch) -> None:
    monkeypatch.setattr("tools_app.services.event_kinds.EVENT_KINDS", dict(EVENT_KINDS))
    register_event_kind("node.paired", "A node was paired.")
    register_event_kind("node.paired", "A node was paired.")
    with pytest.raises(ValueError, match="already means"):
        register_event_kind("node.paired", "Something else.")


def test_the_doorbell_rings_after_the_commit(django_capture_on_commit_callbacks) -> None:
    rung: list[int] = []

    def listener() -> None:
        rung.append(latest_seq())

    add_listener(listener)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            event = record_event("log.gap")
            assert rung == []
        assert rung == [event.seq]
    finally:
        remove_listener(listener)
    with django_capture_on_commit_callbacks(execute=True):
        record_event("log.gap")
    assert len(rung) == 1


def test_a_listener_that_fails_keeps_nobody_from_hearing(
    django_capture_on_commit_callbacks,
) -> None:
    heard: list[str] = []

    def broken() -> None:
        raise RuntimeError

    def good() -> None:
        heard.append("rung")

    add_listener(broken)
    add_listener(good)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            record_event("log.gap")
    finally:
        remove_listener(broken)
        remove_listener(good)
    assert heard == ["rung"]


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_event_is_never_seen() -> None:
    with transaction.atomic():
        record_event("log.gap")
        transaction.set_rollback(True)
    assert latest_seq() == 0


@pytest.mark.django_db(transaction=True)
def test_events_become_visible_in_the_order_of_their_numbers() -> None:
    """A reader that has seen N never finds a smaller number later."""
    first_written = threading.Event()
    second_seq: list[int] = []

    def second_writer() -> None:
        first_written.wait()
        second_seq.append(record_event("log.gap", actor="second").seq)
        connections.close_all()

    writer = threading.Thread(target=second_writer)
    writer.start()
    with transaction.atomic():
        first = record_event("log.gap", actor="first")
        first_written.set()
        # The second writer is waiting for this transaction; it cannot be read before it ends.
        writer.join(timeout=0.3)
        assert second_seq == []
    writer.join()
    assert first.seq < second_seq[0]
    assert [e.actor for e in events_after(0, actor=SYSTEM)] == ["first", "second"]


@pytest.mark.django_db(transaction=True)
def test_many_writers_at_once_lose_nothing() -> None:
    def write(name: str) -> None:
        for _ in range(10):
            record_event("log.gap", actor=name)
        connections.close_all()

    threads = [threading.Thread(target=write, args=(f"w{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seqs = [event.seq for event in events_after(0, actor=SYSTEM)]
    assert len(seqs) == len(set(seqs)) == 60
    assert seqs == sorted(seqs)


# --- reading ---------------------------------------------------------------------------------


def test_reading_goes_on_after_a_number() -> None:
    seqs = [run_event().seq for _ in range(5)]
    assert [e.seq for e in events_after(seqs[1], actor=SYSTEM)] == seqs[2:]
    assert [e.seq for e in events_after(0, limit=2, actor=SYSTEM)] == seqs[:2]
    assert events_after(seqs[-1], actor=SYSTEM) == []


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (EventFilters(), {"r1", "r2", "a1", "p1"}),
        (EventFilters(kinds=frozenset({"run.finished"})), {"r1"}),
        (EventFilters(kinds=frozenset({"run"})), {"r1", "r2"}),
        (EventFilters(kinds=frozenset({"run", "policy.published"})), {"r1", "r2", "p1"}),
        (EventFilters(agent="main"), {"r1", "a1"}),
        (EventFilters(tool="think"), {"r2"}),
        (EventFilters(agent="main", kinds=frozenset({"run"})), {"r1"}),
        (EventFilters(agent="nobody"), set()),
    ],
)
def test_filters_mean_the_same_in_memory_and_in_the_database(filters, wanted) -> None:
    record_event("run.finished", agent="main", tool="calculator", actor="r1")
    record_event("run.refused", agent="support", tool="think", actor="r2")
    record_event("agent.created", agent="main", actor="a1")
    record_event("policy.published", actor="p1")
    assert {e.actor for e in events_after(0, filters=filters, actor=SYSTEM)} == wanted
    assert {e.actor for e in Event.objects.all() if filters.match(e)} == wanted


def test_the_events_of_one_run_are_found() -> None:
    run_id = uuid4()
    run_event(run_id=run_id)
    run_event(run_id=uuid4())
    found = events_after(0, filters=EventFilters(run_id=run_id), actor=SYSTEM)
    assert [event.run_id for event in found] == [run_id]


def test_a_page_is_full_although_most_events_are_hidden(django_assert_num_queries) -> None:
    mine = make_token_actor(scopes=["tools:read"])
    for number in range(40):
        run_event(actor=mine.label if number % 8 == 7 else "user:ben")
    with django_assert_num_queries(1):
        assert len(events_after(0, limit=5, actor=mine)) == 5


# --- who sees what ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "seen_by"),
    [
        ("run.finished", {"viewer", "operator", "admin", "auditor"}),
        ("approval.requested", {"viewer", "operator", "admin", "auditor"}),
        ("grant.created", {"operator", "admin", "auditor"}),
        ("policy.published", {"viewer", "operator", "admin", "auditor"}),
        ("token.created", {"admin", "auditor"}),
        ("access.changed", {"admin", "auditor"}),
        ("user.signed_in", {"admin", "auditor"}),
        ("log.gap", {"admin", "auditor"}),
    ],
)
def test_roles_see_what_is_theirs(kind: str, seen_by: set[str]) -> None:
    event = record_event(kind, actor="user:somebody")
    roles = ("viewer", "operator", "admin", "auditor")
    seeing = {role for role in roles if visible_to(make_actor(role, role), event)}
    assert seeing == seen_by


def test_nobody_without_a_right_sees_anything() -> None:
    nobody = make_actor("nobody")
    for kind in EVENT_KINDS:
        assert not visible_to(nobody, record_event(kind, actor="system"))


def test_people_see_what_happened_to_their_own_tokens() -> None:
    anna = make_actor("anna", "viewer")
    assert visible_to(anna, record_event("token.created", actor="user:anna"))
    assert not visible_to(anna, record_event("token.created", actor="user:ben"))


def test_a_token_sees_its_own_runs_only() -> None:
    owner = make_user("anna", "operator")
    mine = make_token_actor(owner, scopes=["tools:read"])
    sibling = make_token_actor(owner, scopes=["tools:read"])
    assert visible_to(mine, run_event(actor=mine.label))
    assert not visible_to(mine, run_event(actor=sibling.label))
    assert not visible_to(mine, run_event(actor="user:anna"))


def test_an_approval_of_a_tokens_run_is_visible_to_it_whoever_decides() -> None:
    mine = make_token_actor(scopes=["tools:execute"])
    decided = record_event("approval.decided", actor="user:ben", data={"actor": mine.label})
    other = record_event("approval.decided", actor="user:ben", data={"actor": "user:anna"})
    assert visible_to(mine, decided)
    assert not visible_to(mine, other)


def test_a_bound_token_sees_the_runs_of_its_agent() -> None:
    make_agent("support")
    bound = make_token_actor(agent="support", scopes=["tools:read"])
    assert visible_to(bound, run_event(agent="support", actor="user:ben"))
    assert not visible_to(bound, run_event(agent="main", actor="user:ben"))
    assert not visible_to(bound, record_event("freeze.created", agent="main", actor="user:ben"))
    assert visible_to(bound, record_event("freeze.created", agent="support", actor="user:ben"))


def test_a_token_with_audit_sees_all() -> None:
    auditing = make_token_actor(scopes=["audit"])
    assert visible_to(auditing, run_event(actor="user:ben"))
    assert visible_to(auditing, record_event("token.revoked", actor="user:ben"))


def test_the_database_hides_what_the_stream_hides() -> None:
    """One rule in two forms: for an event at hand, and for rows of the table."""
    make_agent("support")
    owner = make_user("olga", "admin")
    actors = [
        *(make_actor(role, role) for role in ROLES),
        make_actor("nobody"),
        make_token_actor(owner),
        make_token_actor(owner, scopes=["audit"]),
        *(make_token_actor(owner, scopes=[scope]) for scope in SCOPES),
        *(make_token_actor(owner, scopes=[scope], agent="support") for scope in SCOPES),
    ]
    labels = ("", *(actor.label for actor in actors))
    Event.objects.bulk_create(
        Event(at=timezone.now(), kind=kind, agent=agent, **who)
        for kind, agent in product(EVENT_KINDS, ("", "main", "support"))
        for label in labels
        for who in ({"actor": label}, {"actor": "user:x", "data": {"actor": label}})
    )
    events = list(Event.objects.all())
    for actor in actors:
        by_stream = {event.seq for event in events if visible_to(actor, event)}
        rows = Event.objects.filter(visible_rows(actor))
        assert set(rows.values_list("seq", flat=True)) == by_stream
