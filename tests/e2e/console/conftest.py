"""A product that has seen some calls, and people who look at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.console.office import Office
from tests.product import Product

CALLS = (
    ("calculator", {"arguments": {"expression": "6*7"}, "agent": "main"}),
    ("calculator", {"arguments": {"expression": "1/0"}, "agent": "coding"}),
    ("calculator", {"arguments": {"expression": "2+2"}, "agent": "support"}),
    ("think", {"arguments": {"thought": "\u202ehidden https://xn--e1afmkfd.example\n" * 40}}),
    ("nope", {"arguments": {}}),
)


@pytest.fixture(scope="session")
def admin_token(live_product: Product) -> str:
    """A token that may do everything."""
    return live_product.token("e2e")


@pytest.fixture(scope="session")
def used_product(live_product: Product, admin_token: str) -> Product:
    """The product after calls that ran, failed and were refused."""
    for tool, body in CALLS:
        live_product.send("POST", f"/api/v1/tools/{tool}/execute", body, token=admin_token)
    return live_product


@pytest.fixture(scope="session")
def admin_cookies() -> list[Any]:
    """The cookies of the signed-in admin, kept from the first test that signs in."""
    return []


@pytest.fixture
def console(browser: Browser, used_product: Product, admin_cookies: list[Any]) -> Iterator[Page]:
    """The admin's overview, once its stream is live; signing in once is enough for all tests."""
    context = browser.new_context(base_url=used_product.url)
    context.set_default_timeout(15_000)  # ms; the machine may be busy
    context.add_cookies(admin_cookies)
    page = context.new_page()
    page.goto("/")
    if not admin_cookies:
        username, password = used_product.admin
        page.get_by_label("User name").fill(username)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(used_product.url + "/")
        admin_cookies.extend(c for c in context.cookies() if c["name"] == "openjarvis_session")
    page.locator("#connection[data-state=live]").wait_for()
    yield page
    context.close()


@pytest.fixture(scope="session")
def whole_office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A product of its own with sample tools and several people."""
    settings = {"OPENJARVIS_TOOL_MODULES": "tests.registered_tools"}
    product = Product(tmp_path_factory.mktemp("office"), settings).start()
    yield Office(product).open()
    product.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show the end of the office's log under a test that failed in it."""
    report = yield
    office = getattr(item, "funcargs", {}).get("office")
    if report.failed and office is not None:
        report.sections.append(("log of the office", office.product.log()[-8000:]))
    return report


@pytest.fixture
def office(whole_office: Office) -> Iterator[Office]:
    """The same, with nothing waiting, running or frozen."""
    whole_office.clear()
    yield whole_office
    whole_office.clear()
