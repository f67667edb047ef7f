"""The hash chain: no sealed event can be changed, removed or put in unseen."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tools_app.models import Event, EventSeal
from tools_app.selectors.log_health import log_health
from tools_app.services import sealing_log
from tools_app.services.events import record_event
from tools_app.services.sealing_log import purge_events_before, seal_log, verify_log

pytestmark = pytest.mark.django_db

AT_ONCE = timedelta(0)


@pytest.fixture
def sealed(monkeypatch) -> list[Event]:
    """Twelve events under three seals, and the events that tell of the seals."""
    monkeypatch.setattr(sealing_log, "EVENTS_PER_SEAL", 4)
    events = [
        record_event("run.finished", agent="main", tool="think", data={"n": n, "cost": 0.1 * n})
        for n in range(12)
    ]
    assert seal_log(after=AT_ONCE) >= 12
    return events


def problems() -> list[str]:
    return [fault.problem for fault in verify_log().faults]


def test_an_untouched_log_is_intact(sealed: list[Event]) -> None:
    report = verify_log()
    assert report.is_intact
    assert report.sealed_events >= 12
    call_command("verify_log")


def test_sealing_again_adds_only_what_is_new(sealed: list[Event]) -> None:
    seals = EventSeal.objects.count()
    assert seal_log(after=AT_ONCE) == 0
    assert EventSeal.objects.count() == seals
    record_event("run.finished")
    assert seal_log(after=AT_ONCE) >= 1
    assert verify_log().is_intact


def test_a_few_young_events_wait_for_more() -> None:
    record_event("run.finished")
    assert seal_log() == 0
    assert seal_log(after=AT_ONCE) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"n": 3, "cost": 0.0}},
        {"actor": "user:mallory"},
        {"kind": "run.refused"},
        {"agent": ""},
        {"tool": "calculator"},
        {"at": timezone.now() - timedelta(days=1)},
    ],
)
def test_a_changed_event_is_found(sealed: list[Event], change) -> None:
    Event.objects.filter(seq=sealed[3].seq).update(**change)
    assert problems() == ["events or their seal were changed"]


def test_a_removed_event_is_found(sealed: list[Event]) -> None:
    Event.objects.filter(seq=sealed[5].seq).delete()
    assert problems() == ["1 events were removed"]


def test_an_event_put_in_where_one_was_removed_is_found(sealed: list[Event]) -> None:
    Event.objects.filter(seq=sealed[5].seq).delete()
    Event.objects.create(seq=sealed[5].seq, at=timezone.now(), kind="run.finished")
    assert problems() == ["events or their seal were changed"]


def test_a_removed_seal_is_found(sealed: list[Event]) -> None:
    EventSeal.objects.order_by("first_seq")[1].delete()
    assert "a part of the log is missing" in problems()


def test_a_beginning_cut_off_is_found(sealed: list[Event]) -> None:
    first = EventSeal.objects.earliest("first_seq")
    Event.objects.filter(seq__lte=first.last_seq).delete()
    first.delete()
    assert problems() == ["a part of the log is missing"]


def test_a_chain_made_without_the_key_does_not_fit(sealed: list[Event], settings) -> None:
    real_key = settings.SECRET_KEY
    EventSeal.objects.all().delete()
    settings.SECRET_KEY = "guessed" * 10
    seal_log(after=AT_ONCE)
    settings.SECRET_KEY = real_key
    assert not verify_log().is_intact


def test_a_rotated_key_still_verifies(sealed: list[Event], settings) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "n" * 50
    assert verify_log().is_intact


def test_a_fault_is_an_event_once_and_shows_on_the_overview(sealed: list[Event]) -> None:
    assert log_health().is_good
    Event.objects.filter(seq=sealed[0].seq).update(actor="user:mallory")
    verify_log()
    verify_log()
    gap = Event.objects.get(kind="log.gap")
    assert gap.data["first_seq"] <= sealed[0].seq <= gap.data["last_seq"]
    assert log_health().gap == gap


def test_sealing_notices_a_change_in_the_newest_link(sealed: list[Event]) -> None:
    newest = EventSeal.objects.latest("first_seq")
    Event.objects.filter(seq=newest.last_seq).update(actor="user:mallory")
    record_event("run.finished")
    seal_log(after=AT_ONCE)
    assert Event.objects.filter(kind="log.gap").count() == 1


def test_the_command_names_the_place_and_fails(sealed: list[Event], capsys) -> None:
    Event.objects.filter(seq=sealed[5].seq).delete()
    with pytest.raises(CommandError):
        call_command("verify_log")
    assert "1 events were removed" in capsys.readouterr().err


def test_a_log_that_nobody_seals_is_noticed() -> None:
    record_event("run.finished")
    assert log_health().is_good
    late = log_health(now=timezone.now() + timedelta(minutes=16))
    assert late.unsealed_since is not None
    seal_log(after=AT_ONCE)
    assert log_health(now=timezone.now() + timedelta(minutes=16)).is_good


def test_the_oldest_part_goes_by_whole_seals_and_the_rest_still_fits(sealed: list[Event]) -> None:
    old = timezone.now() - timedelta(days=100)
    EventSeal.objects.all().delete()
    Event.objects.filter(seq__lte=sealed[9].seq).update(at=old)
    seal_log(after=AT_ONCE)
    removed = purge_events_before(timezone.now() - timedelta(days=90))
    assert removed == 8  # two whole links of four; the third reaches into the present
    assert Event.objects.get(kind="log.purged").data["events"] == 8
    assert verify_log().is_intact
    assert purge_events_before(timezone.now() - timedelta(days=90)) == 0
