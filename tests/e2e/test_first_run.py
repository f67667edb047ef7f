"""The first start and the ones after it, as a person at a terminal sees them."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time

import psutil
import pytest
from playwright.sync_api import Browser

from tests.product import Product
from tests.servers import wait_until

pytestmark = pytest.mark.slow

LINK = re.compile(r"http://\S+/sign-in/once/\S+/")
QUIET_FIRST_PAGE_SECONDS = 3.0
STOP_SECONDS = 5.0


@pytest.fixture
def unattended(fresh_product: Product) -> Product:
    """A product whose first admin nobody preset."""
    fresh_product.settings = {"OPENJARVIS_ADMIN_USERNAME": "", "OPENJARVIS_ADMIN_PASSWORD": ""}
    return fresh_product


def printed(product: Product, label: str) -> str:
    """Return what the terminal shows behind a label."""
    found = re.search(rf"{label}:\s+(\S+)", product.log())
    assert found, product.log()
    return found[1]


def test_the_printed_link_signs_the_first_admin_in_once(unattended: Product, browser: Browser):
    unattended.start()
    link = LINK.search(unattended.log())
    assert link, unattended.log()
    page = browser.new_page()

    page.goto(link[0])
    page.locator("main button.button-primary").click()
    page.wait_for_url(unattended.url + "/")

    other = browser.new_context().new_page()
    other.goto(link[0])
    assert other.locator("main button.button-primary").count() == 0


def test_the_printed_password_works_and_is_shown_once(unattended: Product, browser: Browser):
    unattended.start()
    username, password = printed(unattended, "First admin"), printed(unattended, "Password")
    page = browser.new_page()
    page.goto(unattended.url)
    page.locator("[name=username]").fill(username)
    page.locator("[name=password]").fill(password)
    page.locator("main button.button-primary").click()
    page.wait_for_url(unattended.url + "/")

    unattended.stop()
    unattended.log_file.unlink()
    unattended.start()

    assert "Password" not in unattended.log()
    assert password not in unattended.log()


def test_a_preset_password_is_never_printed(fresh_product: Product):
    fresh_product.start()

    assert fresh_product.admin[1] not in fresh_product.log()


def test_another_link_can_be_printed_while_it_runs(live_product: Product, browser: Browser):
    username, _ = live_product.admin
    page = browser.new_context().new_page()

    page.goto(live_product.manage("sign_in_link", username).strip())
    page.locator("main button.button-primary").click()

    page.wait_for_url(live_product.url + "/")


def test_the_second_start_is_quick_in_cpu(fresh_product: Product):
    """Three seconds on a quiet machine are at most three seconds of CPU until the first page."""
    fresh_product.start()
    fresh_product.stop()
    process = fresh_product.launch()
    wait_until(fresh_product.is_healthy, "the first answer")

    assert fresh_product.get("/sign-in/").status == 200
    spent = sum(sum(p.cpu_times()[:2]) for p in fresh_product.tree())
    assert spent < QUIET_FIRST_PAGE_SECONDS * 2, f"{spent:.1f} s of CPU on two cores"
    assert process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_everything_in_time(fresh_product: Product, number: int):
    fresh_product.start()
    tree = fresh_product.tree()
    assert len(tree) >= 4, "supervisor, web, worker, ticker"
    started = time.monotonic()

    assert fresh_product.stop(number) == 0

    assert time.monotonic() - started < STOP_SECONDS
    assert psutil.wait_procs(tree, timeout=1)[1] == []


def test_a_port_in_use_stops_the_start_with_the_setting(fresh_product: Product):
    with socket.create_server(("127.0.0.1", fresh_product.port)):
        process = fresh_product.launch()
        code = process.wait(60)

    assert code == 1
    assert "OPENJARVIS_PORT" in fresh_product.log()
    assert "Traceback" not in fresh_product.log()


def test_other_processes_are_left_alone(fresh_product: Product):
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        fresh_product.start()
        fresh_product.stop()
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
