"""Freezes: what one would stop, who sees it, how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.console.office import OPERATOR, VIEWER, Office
from tests.e2e.console.test_pages import VIEWS, faults
from tests.servers import wait_until

pytestmark = pytest.mark.slow

PASSED_ON_MS = 25_000  # the banner asks every ten seconds


def freeze(office: Office, minutes: float = 60, **what: str) -> int:
    end = datetime.now(UTC) + timedelta(minutes=minutes)
    body = {"scope": "agent", "target": "main", "reason": "incident 412", **what}
    return int(office.api("POST", "/freezes", {**body, "expires_at": end.isoformat()})["id"])


@pytest.fixture
def page(office: Office, browser: Browser) -> Iterator[Page]:
    page = office.page(browser, OPERATOR)
    yield page
    page.context.close()


def test_the_dialog_counts_what_it_would_stop_and_stops_it(page: Page, office: Office):
    office.ask({"n": 1})
    office.ask({"n": 2})
    hanging = office.call("hang", {})["run"]["id"] if not asks(office, "hang") else ""
    page.goto("/freezes/")
    page.get_by_role("link", name="Freeze something…").click()
    dialog = page.locator("#freeze-dialog")
    dialog.get_by_label("Agent or tool").fill("main")
    expect(dialog).to_contain_text("2 waiting approvals")
    expect(dialog).to_contain_text("1 agent")
    dialog.get_by_label("Reason").fill("drill")
    dialog.get_by_label("Ends after").select_option("15")
    dialog.get_by_role("button", name="Freeze", exact=True).click()

    expect(page.locator("#freeze-banner")).to_contain_text("drill")
    expect(dialog).to_be_hidden()
    states = {found["status"] for found in office.api("GET", "/approvals?limit=2")["items"]}
    assert states == {"cancelled"}
    if hanging:
        wait_until(
            lambda: office.api("GET", f"/runs/{hanging}")["status"] == "cancelled",
            "the running call is cancelled",
        )


def asks(office: Office, tool: str) -> bool:
    """Whether another test made this tool ask before it runs."""
    return bool(office.api("GET", f"/tools/{tool}")["requires_confirmation"])


def test_everything_is_frozen_only_after_the_typed_word(page: Page, office: Office):
    page.goto("/freezes/new/")
    page.get_by_label("everything", exact=True).check()
    page.get_by_label("Reason").fill("drill")
    page.get_by_label("Ends after").select_option("15")
    page.get_by_role("button", name="Freeze", exact=True).click()
    expect(page.locator(".error-summary")).to_contain_text("Type the word")
    assert office.api("GET", "/freezes?active=1")["items"] == []

    page.get_by_label("Type “everything”").fill("everything")
    page.get_by_label("Reason").press("Enter")

    expect(page.locator("#freeze-banner")).to_contain_text("Frozen: everything")
    assert office.api("GET", "/freezes?active=1")["items"][0]["scope"] == "everything"


def test_the_banner_counts_refused_calls_and_offers_more_time_before_the_end(
    page: Page, office: Office
):
    number = freeze(office, minutes=5)
    page.goto("/runs/")
    banner = page.locator("#freeze-banner")
    expect(banner).to_contain_text("0 calls refused")
    for _ in range(3):
        office.api("POST", "/tools/echo/execute", {"arguments": {"text": "x"}, "agent": "main"})
    expect(banner).to_contain_text("3 calls refused", timeout=PASSED_ON_MS)

    banner.get_by_role("button", name="Ends soon").click()

    expect(page.get_by_text("It lasts longer")).to_be_visible()
    end = datetime.fromisoformat(office.api("GET", f"/freezes/{number}")["expires_at"])
    assert timedelta(minutes=60) < end - datetime.now(UTC) <= timedelta(minutes=65)
    expect(banner.get_by_role("button", name="Ends soon")).to_have_count(0)


def test_lifting_says_what_resumes_and_stays_on_record(page: Page, office: Office):
    freeze(office)
    page.goto("/freezes/")
    page.get_by_text("Lift it now…").click()
    expect(page.locator("main")).to_contain_text("New calls of agent main are accepted again")
    expect(page.locator("main")).to_contain_text("nothing is run again by itself")

    page.get_by_role("button", name="Lift the freeze").click()

    row = page.get_by_role("row").nth(1)
    expect(row).to_contain_text("incident 412")
    expect(row).to_contain_text(f"lifted by {OPERATOR}")
    assert office.echo(1)


def test_lifting_one_of_two_says_that_nothing_resumes_yet(page: Page, office: Office):
    freeze(office)
    freeze(office, reason="another cause", minutes=90)
    page.goto("/freezes/")
    page.get_by_text("Lift it now…").first.click()
    expect(page.locator("article").first).to_contain_text("stays frozen by: agent main")
    expect(page.locator("article").first).to_contain_text("another cause")


def test_an_end_that_nobody_made_is_listed_as_expired(page: Page, office: Office):
    number = freeze(office, reason="ends by itself")
    office.change(
        "from tools_app.models import Freeze; from django.utils import timezone;"
        "from tools_app.services.configuration import bump;"
        f"Freeze.objects.filter(pk={number}).update(expires_at=timezone.now()); bump('freezes')"
    )
    wait_until(
        lambda: office.api("GET", f"/freezes/{number}")["ended_how"] == "expired", "housekeeping"
    )
    page.goto("/freezes/")
    row = page.get_by_role("row").filter(has_text="ends by itself")
    expect(row).to_contain_text("expired")
    expect(row).not_to_contain_text("lifted by")


def test_who_may_not_freeze_sees_freezes_and_no_way_to_change_them(
    office: Office, browser: Browser
):
    freeze(office, minutes=5)
    page = office.page(browser, VIEWER)
    page.goto("/freezes/")
    expect(page.locator("article")).to_contain_text("incident 412")
    assert page.locator("main button, main form, #freeze-banner button").count() == 0
    page.context.close()


@pytest.mark.parametrize("view", VIEWS)
def test_the_pages_are_accessible(office: Office, browser: Browser, view: str):
    office.api("DELETE", f"/freezes/{freeze(office)}")
    freeze(office, minutes=5)
    freeze(office, scope="tool", target="echo")
    page = office.page(browser, OPERATOR, **VIEWS[view])
    page.goto("/freezes/")
    page.get_by_text("Lift it now…").first.click()
    assert faults(page) == []
    page.context.close()
