"""Group commit: every caller gets its own answer, and nothing is lost or doubled."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from tests.builders import kinds_of
from tests.parallel import at_once
from tools_app.models import Event, ToolRun
from tools_app.models.identifiers import time_ordered_uuid
from tools_app.services import events, recording
from tools_app.services.recording import Record

pytestmark = pytest.mark.django_db


def a_run(**columns: object) -> ToolRun:
    now = timezone.now()
    return ToolRun(
        **{
            "id": time_ordered_uuid(),
            "tool_name": "echo",
            "actor": "user:anna",
            "status": "succeeded",
            "outcome": "succeeded",
            "requested_at": now,
            "finished_at": now,
            **columns,
        }
    )


@pytest.mark.django_db(transaction=True)
def test_every_record_of_many_threads_is_committed_when_its_caller_goes_on():
    def store(n: int) -> bool:
        run = a_run(arguments={"n": n, "big": 2**70, "nothing": None})
        recording.store(Record(run, "run.finished"))
        return ToolRun.objects.get(pk=run.pk).arguments == run.arguments

    assert all(at_once(40, store))
    assert ToolRun.objects.count() == Event.objects.count() == 40


@pytest.mark.django_db(transaction=True)
def test_a_record_that_cannot_be_stored_fails_alone():
    taken = a_run()
    recording.store(Record(taken, "run.finished"))

    def store(n: int) -> None:
        run = a_run(**({"id": taken.pk} if n % 4 == 0 else {}))
        recording.store(Record(run, "run.finished"))

    outcomes = at_once(20, store)
    failed = [outcome for outcome in outcomes if outcome is not None]
    assert len(failed) == 5
    assert {type(error) for error in failed} == {IntegrityError}
    assert ToolRun.objects.count() == Event.objects.count() == 16


@pytest.mark.django_db(transaction=True)
def test_the_doorbell_rings_after_the_commit():
    seen: list[int] = []

    def listener() -> None:
        seen.append(ToolRun.objects.count())

    events.add_listener(listener)
    try:
        recording.store(Record(a_run(), "run.finished"))
    finally:
        events.remove_listener(listener)
    assert seen == [1]


def test_inside_a_transaction_the_record_is_part_of_it():
    run = a_run()
    with transaction.atomic():
        recording.store(Record(run, "run.finished"))
        assert kinds_of(run) == ["run.finished"]
        transaction.set_rollback(True)
    assert not ToolRun.objects.exists()
    assert not Event.objects.exists()


def test_a_stored_row_reads_as_django_would_have_written_it():
    run = a_run(decide_ms=0.5, coerced=["a"], timeout_s=2.5)
    recording.store(Record(run, "run.finished"))
    by_hand = a_run(decide_ms=0.5, coerced=["a"], timeout_s=2.5, requested_at=run.requested_at)
    by_hand.finished_at = run.finished_at
    by_hand.save(force_insert=True)

    def columns(pk: object) -> dict[str, object]:
        return {k: v for k, v in ToolRun.objects.values().get(pk=pk).items() if k != "id"}

    assert columns(run.pk) == columns(by_hand.pk)
