"""What needs attention, and the traffic charts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.builders import make_actor, make_run
from tools_app.models import Approval, Freeze
from tools_app.selectors.overview import needs_attention, traffic
from tools_app.services.access import SYSTEM
from tools_app.services.configuration import bump
from tools_app.services.errors import Forbidden
from tools_app.services.events import record_event

pytestmark = pytest.mark.django_db

NOW = datetime(2030, 1, 1, 12, 30, 30, tzinfo=UTC)


def test_a_quiet_installation_needs_nobody() -> None:
    found = needs_attention(SYSTEM)
    assert (found.approvals, found.freezes, found.failures) == ([], [], [])
    assert found.log.is_good


def test_the_most_urgent_approvals_and_freezes_come_first_and_all_are_counted() -> None:
    now = timezone.now()
    for minutes in (30, 10, 20, 40, 50, 60, 70):
        ends = now + timedelta(minutes=minutes)
        Approval.objects.create(
            run=make_run(status="waiting_approval"), binding="b", requested_at=now, expires_at=ends
        )
        Freeze.objects.create(scope="tool", target=f"t{minutes}", reason="r", expires_at=ends)
    bump("freezes")
    found = needs_attention(SYSTEM)
    assert (found.approval_count, found.freeze_count) == (7, 7)
    assert [f.target for f in found.freezes] == ["t10", "t20", "t30", "t40", "t50"]
    ends = [approval.expires_at for approval in found.approvals]
    assert ends == sorted(ends)
    assert len(ends) == 5


def test_what_is_over_needs_nobody() -> None:
    past = timezone.now() - timedelta(minutes=1)
    Approval.objects.create(run=make_run(), binding="b", requested_at=past, expires_at=past)
    Freeze.objects.create(scope="tool", target="t", reason="r", expires_at=past)
    Freeze.objects.create(
        scope="tool", target="u", reason="r", ended_at=past,
        expires_at=timezone.now() + timedelta(hours=1),
    )  # fmt: skip
    bump("freezes")
    found = needs_attention(SYSTEM)
    assert (found.approval_count, found.freeze_count) == (0, 0)


def test_failing_tools_of_the_last_hour_are_counted() -> None:
    old = timezone.now() - timedelta(hours=2)
    for status in ("failed", "failed", "timed_out", "succeeded", "refused"):
        make_run(tool_name="fetch", status=status)
    make_run(tool_name="fetch", status="failed", requested_at=old)
    found = needs_attention(SYSTEM).failures
    assert [(f.tool_name, f.status, f.count) for f in found] == [
        ("fetch", "failed", 2),
        ("fetch", "timed_out", 1),
    ]


def test_a_broken_log_needs_somebody() -> None:
    gap = record_event("log.gap", data={"problem": "1 events were removed"})
    assert needs_attention(SYSTEM).log.gap == gap


def test_the_overview_needs_a_right() -> None:
    with pytest.raises(Forbidden):
        needs_attention(make_actor("nobody"))


def test_what_needs_attention_costs_few_queries(django_assert_max_num_queries) -> None:
    for _ in range(10):
        make_run(status="failed")
    with django_assert_max_num_queries(6):
        needs_attention(SYSTEM)


# --- traffic ---------------------------------------------------------------------------------


def test_a_window_has_all_its_points() -> None:
    hour = traffic("1h", now=NOW)
    day = traffic("24h", now=NOW)
    assert (len(hour.points), hour.width_s) == (60, 60)
    assert (len(day.points), day.width_s) == (96, 900)
    assert hour.points[-1].at == NOW.replace(second=0)
    assert hour.points[0].at == NOW.replace(second=0) - timedelta(minutes=59)
    assert hour.calls == 0
    assert {point.p95_ms for point in hour.points} == {None}


def test_runs_are_counted_in_their_interval_by_how_they_ended() -> None:
    minute = NOW.replace(second=0)
    for status in ("succeeded", "failed", "timed_out", "interrupted", "refused", "running"):
        make_run(status=status, requested_at=minute + timedelta(seconds=1))
    make_run(requested_at=minute - timedelta(seconds=1))
    make_run(requested_at=minute - timedelta(minutes=60))  # before the window
    before, last = traffic("1h", now=NOW).points[-2:]
    assert (last.calls, last.errors, last.refused) == (6, 3, 1)
    assert (before.calls, before.errors, before.refused) == (1, 0, 0)
    assert traffic("1h", now=NOW).calls == 7


@pytest.mark.parametrize(
    ("durations", "p95"),
    [
        ([5.0], 5.0),
        ([1.0, 2.0], 2.0),
        ([float(n) for n in range(1, 21)], 19.0),
        ([float(n) for n in range(1, 101)], 95.0),
        ([1.0] * 94 + [50.0] * 6, 50.0),
        ([1.0] * 95 + [50.0] * 5, 1.0),
        ([None, None], None),
        ([None, 3.0, None], 3.0),
    ],
)
def test_the_95th_percentile_is_the_nearest_rank_of_what_ran(durations, p95) -> None:
    for duration in reversed(durations):
        make_run(duration_ms=duration, requested_at=NOW)
    make_run(status="refused", duration_ms=9999.0, requested_at=NOW)
    assert traffic("1h", now=NOW).points[-1].p95_ms == p95


def test_a_chart_costs_one_query(django_assert_num_queries) -> None:
    make_run(requested_at=NOW)
    with django_assert_num_queries(1):
        traffic("24h", now=NOW)
