"""Every page in a real browser: axe finds nothing, nothing sticks out, nothing is logged."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page

from tests.product import Product

pytestmark = pytest.mark.slow

PATHS = (
    "/",
    "/?window=24h",
    "/runs/",
    "/runs/?agent=nobody",
    "/tools/",
    "/tools/?agent=support",
    "/tools/calculator/?agent=main",
    "/tools/http_request/",
    "/agents/",
    "/agents/support/",
    "/agents/+new/",
    "/policy/",
    "/policy/1/",
    "/policy/files/",
    "/tokens/",
    "/palette/?q=a",
    "/freezes/new/",
    "/tools/nope/",
)
VIEWS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "tablet": {"viewport": {"width": 900, "height": 700}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"},
}


def deeper_paths(product: Product, token: str) -> list[str]:
    """Pages whose addresses are known only afterwards: one run of each state, decisions."""
    runs = product.get("/api/v1/runs", token=token).json["items"]
    by_state = {run["status"]: run for run in runs}
    decisions = {run["decision"] for run in runs if run["decision"]}
    return [f"/runs/{run['id']}/" for run in by_state.values()] + [
        f"/decisions/{decision}/" for decision in decisions
    ]


def faults(page: Page) -> list[str]:
    """Return what axe finds, and whether the page is wider than the window."""
    found = [
        f"{fault['id']} at {fault['nodes'][0]['target']}"
        for fault in Axe().run(page).response["violations"]
    ]
    beyond = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return [*found, f"{beyond} px too wide"] if beyond > 0 else found


@pytest.mark.parametrize("view", VIEWS)
def test_pages_are_accessible_and_fit(
    console: Page, used_product: Product, admin_token: str, view: str
):
    browser = console.context.browser
    assert browser is not None
    context = browser.new_context(
        base_url=used_product.url, storage_state=console.context.storage_state(), **VIEWS[view]
    )
    page = context.new_page()
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and "404" not in message.text:
            complaints.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    broken = {}
    for path in (*PATHS, *deeper_paths(used_product, admin_token)):
        page.goto(path)
        page.locator("#connection[data-state=live]").wait_for()
        if found := faults(page):
            broken[path] = found
    context.close()
    assert broken == {}
    assert complaints == []


def test_the_sign_in_page_is_accessible_also_after_an_error(page: Page):
    page.goto("/sign-in/")
    assert faults(page) == []
    page.get_by_label("User name").fill("nobody")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Name or password is wrong").first.wait_for()
    assert faults(page) == []
    assert page.evaluate("document.activeElement.className") == "error-summary"


@pytest.mark.parametrize("opener", ["palette", "freeze-dialog", "keys", "menu"])
def test_what_opens_over_a_page_is_accessible(console: Page, opener: str):
    if opener == "palette":
        console.keyboard.press("Control+k")
        console.locator("#palette [role=option]").first.wait_for()
    elif opener == "keys":
        console.keyboard.press("?")
    elif opener == "menu":
        console.locator("details.menu > summary").last.click()
    else:
        console.get_by_role("link", name="Freeze…", exact=True).click()
        console.get_by_label("Reason").wait_for()
    assert faults(console) == []


def test_pages_work_at_twice_the_text_size_in_thai(console: Page):
    console.set_viewport_size({"width": 640, "height": 640})
    console.locator("details.menu > summary").last.click()
    console.get_by_role("button", name="ไทย").click()
    for path in ("/", "/runs/", "/tools/calculator/", "/agents/support/", "/tokens/"):
        console.goto(path)
        console.evaluate("document.documentElement.style.fontSize = '200%'")
        assert console.evaluate("document.documentElement.lang") == "th"
        assert [fault for fault in faults(console) if "too wide" in fault] == [], path
