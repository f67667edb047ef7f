"""The frame: connection, freeze, palette, keys, preferences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.product import Product

pytestmark = pytest.mark.slow

SOON_MS = 3000  # a second on a quiet machine; this one also runs other tests
TWO_HEARTBEATS_MS = 2 * 3000 + 500


@pytest.fixture
def no_freezes(used_product: Product, admin_token: str) -> Iterator[None]:
    yield
    for freeze in used_product.get("/api/v1/freezes", token=admin_token).json["items"]:
        used_product.send("DELETE", f"/api/v1/freezes/{freeze['id']}", token=admin_token)


def freeze(product: Product, token: str, target: str = "support") -> None:
    end = datetime.now(UTC) + timedelta(minutes=20)
    body = {"scope": "agent", "target": target, "reason": "incident 412"}
    answer = product.send(
        "POST", "/api/v1/freezes", {**body, "expires_at": end.isoformat()}, token=token
    )
    assert answer.status == 201, answer.text


@pytest.mark.usefixtures("no_freezes")
def test_a_freeze_shows_in_open_pages_soon_and_is_said_once(
    console: Page, used_product: Product, admin_token: str
):
    console.goto("/tools/")
    console.locator("#connection[data-state=live]").wait_for()
    freeze(used_product, admin_token)
    banner = console.locator("#freeze-banner .freeze-banner")
    banner.wait_for(timeout=SOON_MS)
    expect(banner).to_contain_text("incident 412")
    expect(console.locator("#alert")).to_have_text("A freeze began.")


@pytest.mark.usefixtures("no_freezes")
def test_freezing_from_the_dialog_by_keyboard_alone(console: Page):
    link = console.get_by_role("link", name="Freeze…", exact=True)
    link.focus()
    console.keyboard.press("Enter")
    reason = console.get_by_label("Reason")
    expect(reason).to_be_focused()
    console.keyboard.press("Escape")
    expect(console.locator("#freeze-dialog")).to_be_hidden()
    expect(link).to_be_focused()

    console.keyboard.press("Enter")
    console.get_by_label("Agent or tool").fill("coding")
    reason.press_sequentially("drill")
    console.keyboard.press("Enter")  # no end chosen yet
    expect(console.locator("#freeze-dialog .error-summary")).to_be_focused()
    console.get_by_label("Ends after").select_option("15")
    reason.press("Enter")
    expect(console.locator("#freeze-dialog")).to_be_hidden()
    expect(console.locator("#freeze-banner")).to_contain_text("drill")


def test_the_palette_jumps_to_an_agent_by_keyboard(console: Page):
    console.keyboard.press("Control+k")
    field = console.get_by_role("combobox", name="Jump to")
    expect(field).to_be_focused()
    console.keyboard.type("supp")
    option = console.get_by_role("option", name="support")
    option.wait_for()
    for _ in range(12):
        if option.get_attribute("aria-selected") == "true":
            break
        console.keyboard.press("ArrowDown")
    assert field.get_attribute("aria-activedescendant") == option.get_attribute("id")
    console.keyboard.press("Enter")
    console.wait_for_url("**/agents/support/")


def test_single_keys_stay_out_of_fields_and_can_be_switched_off(console: Page):
    console.goto("/runs/")
    console.keyboard.press("/")
    search = console.get_by_label("Search", exact=True)
    expect(search).to_be_focused()
    console.keyboard.type("?/")
    expect(search).to_have_value("?/")
    expect(console.locator("#keys")).to_be_hidden()

    console.goto("/runs/")
    console.locator("details.menu > summary").last.click()
    console.get_by_role("group", name="Single keys").get_by_role("button", name="Off").click()
    expect(console.locator("body")).to_have_attribute("data-keys", "off")
    console.keyboard.press("?")
    expect(console.locator("#keys")).to_be_hidden()


def test_a_chosen_scheme_and_times_stay(console: Page):
    console.goto("/runs/")
    console.locator("details.menu > summary").last.click()
    console.get_by_role("button", name="Dark").click()
    expect(console.locator("html")).to_have_attribute("data-scheme", "dark")
    console.locator("details.menu > summary").last.click()
    console.get_by_role("button", name="UTC").click()
    expect(console.locator("tbody time").first).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d "))


def test_silence_is_noticed_and_heals_by_itself(console: Page):
    silent = {"on": False}

    def pass_on(stream: WebSocketRoute) -> None:
        server = stream.connect_to_server()
        server.on_message(lambda message: None if silent["on"] else stream.send(message))

    console.route_web_socket("**/ws/events/**", pass_on)
    console.goto("/")
    state = console.locator("#connection")
    expect(state).to_have_attribute("data-state", "live")
    silent["on"] = True
    expect(state).not_to_have_attribute("data-state", "live", timeout=TWO_HEARTBEATS_MS + 1000)
    assert "stream-is-stale" in (console.locator("html").get_attribute("class") or "")
    silent["on"] = False
    expect(state).to_have_attribute("data-state", "live", timeout=10_000)
    expect(console.locator("html")).not_to_have_class("stream-is-stale", timeout=5000)


@pytest.mark.usefixtures("no_freezes")
def test_without_streams_the_page_polls_and_misses_nothing(
    console: Page, used_product: Product, admin_token: str
):
    console.route_web_socket("**/ws/events/**", lambda stream: stream.close())
    console.route("**/api/v1/events/stream**", lambda route: route.abort())
    console.goto("/tools/")
    state = console.locator("#connection")
    expect(state).to_have_attribute("data-state", "polling", timeout=15_000)
    expect(state).to_have_text("polling")
    freeze(used_product, admin_token)
    console.locator("#freeze-banner .freeze-banner").wait_for(timeout=6000)


def test_a_hover_text_goes_away_with_escape(console: Page):
    console.goto("/runs/")
    chip = console.locator(".hint", has=console.locator(".hint-text")).first
    chip.hover()
    expect(chip.locator(".hint-text")).to_be_visible()
    console.keyboard.press("Escape")
    expect(chip.locator(".hint-text")).to_be_hidden()


def test_copying_gives_the_exact_text(console: Page, used_product: Product, admin_token: str):
    console.context.grant_permissions(["clipboard-read", "clipboard-write"])
    runs = used_product.get("/api/v1/runs?tool=think", token=admin_token).json["items"]
    console.goto(f"/runs/{runs[0]['id']}/")
    console.get_by_role("button", name=f"Copy {runs[0]['id']}").click()
    expect(console.locator("#status")).to_have_text("Copied.")
    assert console.evaluate("navigator.clipboard.readText()") == runs[0]["id"]
    console.locator("[data-copy-url]").click()
    console.wait_for_function(
        "async () => (await navigator.clipboard.readText()).includes('\u202ehidden')"
    )


def test_back_from_a_run_puts_the_focus_on_its_row(console: Page):
    console.goto("/runs/?effect=allow")
    link = console.locator("tbody th a").nth(1)
    address = link.get_attribute("href")
    link.click()
    console.wait_for_url(f"**{address}")
    console.go_back()
    console.wait_for_url("**/runs/?effect=allow")
    expect(console.locator(f"tbody th a[href='{address}']")).to_be_focused()
