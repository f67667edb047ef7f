"""The pictures in ``docs/screenshots``: the real product after some work, as ``make screenshots``
takes them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from openjarvis_web.settings import OPENJARVIS_CHROMIUM_PATH
from tests.conftest import CHROMIUM_ARGUMENTS
from tests.e2e.console.office import ADMIN, Office
from tests.product import ROOT, Product

FOLDER = ROOT / "docs" / "screenshots"
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
PICTURES = {
    "overview": ("/", DESKTOP, "light"),
    "overview-dark": ("/", DESKTOP, "dark"),
    "overview-phone": ("/", PHONE, "light"),
    "live": ("/live/", DESKTOP, "light"),
    "approvals": ("/approvals/", DESKTOP, "light"),
    "approvals-phone": ("/approvals/", PHONE, "dark"),
    "runs": ("/runs/", DESKTOP, "light"),
    "tools": ("/tools/", DESKTOP, "light"),
    "try-a-tool": ("/tools/calculator/", DESKTOP, "light"),
    "agent": ("/agents/support/", DESKTOP, "light"),
    "policy": ("/policy/", DESKTOP, "light"),
    "tokens": ("/tokens/", DESKTOP, "light"),
    "freezes": ("/freezes/", DESKTOP, "dark"),
}
SUMS = ("2 + 2", "1200 * 1.07", "(19.5 + 4.25) / 5", "2 ** 16", "1 / 0", "365 * 24")


def work(office: Office) -> dict[str, str]:
    """Do what a busy morning does; return the addresses of pages that came of it."""
    execute = "/tools/calculator/execute"
    for agent in ("main", "coding") * 6:
        for expression in SUMS:
            office.api("POST", execute, {"agent": agent, "arguments": {"expression": expression}})
    refused = office.api("POST", execute, {"agent": "support", "arguments": {"expression": "1"}})
    blocked = {"agent": "main", "arguments": {"url": "http://127.0.0.1/admin"}}
    office.api("POST", "/tools/http_request/execute", blocked)
    thought = {"agent": "support", "arguments": {"thought": "The customer asks for a refund."}}
    office.api("POST", "/tools/think/execute", thought)
    office.ask({"text": "Your refund of 40 USD is on its way."})
    office.ask({"text": "We close at noon on Friday."})
    return {
        "decision": f"/decisions/{refused['decision']}/",
        "refused-run": f"/runs/{refused['run']}/",
    }


def take(office: Office, browser: Browser) -> None:
    """Write every picture."""
    pages = {name: (path, DESKTOP, "light") for name, path in work(office).items()}
    for name, (path, size, scheme) in {**PICTURES, **pages}.items():
        page = office.page(browser, ADMIN, viewport=size, color_scheme=scheme)
        page.goto(path)
        page.locator("#connection[data-state=live]").wait_for()
        page.screenshot(path=FOLDER / f"{name}.png")
        page.context.close()
        print(f"docs/screenshots/{name}.png")


def main() -> None:
    """Start the product, let it work, and take its pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="openjarvis-pictures-") as folder:
        settings = {"OPENJARVIS_TOOL_MODULES": "tests.registered_tools"}
        product = Product(Path(folder), settings).start()
        try:
            office = Office(product).open()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=OPENJARVIS_CHROMIUM_PATH,
                    chromium_sandbox=False,
                    args=CHROMIUM_ARGUMENTS,
                )
                take(office, browser)
                browser.close()
        finally:
            product.stop()


if __name__ == "__main__":
    main()
