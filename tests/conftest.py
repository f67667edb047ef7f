"""Fixtures that several kinds of tests share: the running product, its servers, a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from openjarvis_web.settings import OPENJARVIS_CHROMIUM_PATH
from tests import servers
from tests.product import Product

CHROMIUM_ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show the end of the product's log under a test that failed with it."""
    report = yield
    product = getattr(item, "funcargs", {}).get("live_product")
    if report.failed and product is not None:
        report.sections.append(("log of the product", product.log()[-8000:]))
    return report


@pytest.fixture(scope="session")
def live_product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product with its defaults, started once; has ``url``, ``admin``, ``token()``, ``send()``.

    Tests that share it must not depend on what another left behind.
    """
    product = Product(tmp_path_factory.mktemp("product")).start()
    yield product
    product.stop()


@pytest.fixture
def fresh_product(tmp_path: Path) -> Iterator[Product]:
    """A product of one test's own, not started yet."""
    product = Product(tmp_path)
    yield product
    if product.process is not None:
        product.kill()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The ``DATABASE_URL`` of a PostgreSQL server of our own."""
    with servers.postgres_server() as url:
        yield url


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """The ``REDIS_URL`` of a Redis server of our own."""
    with servers.redis_server() as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium without windows.

    Not for the session: while Playwright is open, its event loop counts as running in this
    thread, and the database tests that come next would be refused.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=OPENJARVIS_CHROMIUM_PATH,
            chromium_sandbox=False,
            args=CHROMIUM_ARGUMENTS,
        )
        yield browser
        browser.close()


@pytest.fixture
def browser_context(browser: Browser, live_product: Product) -> Iterator[BrowserContext]:
    """A browser without cookies; addresses are relative to the running product."""
    context = browser.new_context(base_url=live_product.url)
    context.set_default_timeout(15_000)  # ms; the machine may be busy
    yield context
    context.close()


@pytest.fixture
def page(browser_context: BrowserContext) -> Page:
    """A page of a person who is not signed in."""
    return browser_context.new_page()


@pytest.fixture
def admin_page(page: Page, live_product: Product) -> Page:
    """A page of the first admin, signed in through the form."""
    username, password = live_product.admin
    page.goto("/sign-in/")
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in/" not in url)
    return page
