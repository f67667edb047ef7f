"""Try it: the form and the JSON text are one value, and the copied command sends it."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from playwright.sync_api import Page, expect

from tests.product import Product

pytestmark = pytest.mark.slow


@pytest.fixture
def panel(console: Page) -> Page:
    console.goto("/tools/http_request/")
    console.locator("#try-fields .field").first.wait_for()
    return console


def arguments(page: Page) -> str:
    return page.get_by_label("Arguments as JSON").input_value()


def test_a_field_changes_its_own_member_and_no_other(panel: Page):
    text = '{ "url":"x", "extra": [1.0, 12345678901234567890],  "body": null }'
    panel.get_by_label("Arguments as JSON").fill(text)
    panel.locator("#try-field-url").fill('say "hi"\nไทย')
    assert arguments(panel) == text.replace('"x"', json.dumps('say "hi"\nไทย', ensure_ascii=False))


@pytest.mark.parametrize("raw", ["null", '""', "0", "false", '"x"'])
def test_empty_null_and_absent_stay_apart(panel: Page, raw: str):
    panel.get_by_label("Arguments as JSON").fill(f'{{"url": "u", "body": {raw}}}')
    send = panel.get_by_label("send body")
    expect(send).to_be_checked()
    send.uncheck()
    assert json.loads(arguments(panel)) == {"url": "u"}
    send.check()
    assert json.loads(arguments(panel)) == {"url": "u", "body": json.loads(raw)}


def test_broken_json_stays_at_its_field(panel: Page):
    field = panel.get_by_label("Arguments as JSON")
    field.fill('{"url": ')
    expect(panel.locator("#try-arguments-error")).to_be_visible()
    panel.get_by_role("button", name="Dry run").click()
    expect(field).to_be_focused()
    expect(panel.locator("#try-outcome")).to_be_empty()


def test_a_name_that_comes_twice_is_no_value(panel: Page):
    panel.get_by_label("Arguments as JSON").fill('{"url": "a", "url": "b"}')
    expect(panel.locator("#try-arguments-error")).to_be_visible()


def test_a_dry_run_is_offered_first_where_a_tool_reaches_out(panel: Page):
    expect(panel.locator(".try-buttons .button-primary")).to_have_text("Dry run")


def test_a_run_shows_its_result_and_takes_the_focus(console: Page):
    console.goto("/tools/calculator/?agent=main")
    console.locator("#try-field-expression").fill("6 * 7")
    console.get_by_role("button", name="Run", exact=True).click()
    expect(console.locator("#try-outcome pre")).to_have_text("42")
    assert console.evaluate("document.activeElement !== document.body")


def test_the_copied_curl_runs_the_call_of_the_form(
    console: Page, used_product: Product, admin_token: str
):
    expression = '1 + 1  # it\'s "$HOME" `id` \\ ไทย 🙂'
    console.goto("/tools/calculator/?agent=main")
    console.locator("#try-field-expression").fill(expression)
    console.locator("summary", has_text="The exact request").click()
    command = console.locator("#try-curl").inner_text()
    assert "ojw_" not in console.content()

    done = subprocess.run(
        ["sh", "-c", command],
        env={"PATH": os.environ["PATH"], "OPENJARVIS_TOKEN": admin_token},
        capture_output=True,
        text=True,
        check=True,
    )

    run = json.loads(done.stdout)["run"]
    stored = used_product.get(f"/api/v1/runs/{run['id']}", token=admin_token).json
    assert stored["arguments"] == {"expression": expression}
    assert stored["agent"] == "main"


def test_it_works_without_script(console: Page, used_product: Product):
    browser = console.context.browser
    assert browser is not None
    context = browser.new_context(
        base_url=used_product.url,
        storage_state=console.context.storage_state(),
        java_script_enabled=False,
    )
    page = context.new_page()
    page.goto("/tools/calculator/?agent=main")
    page.get_by_label("Arguments as JSON").fill('{"expression": "40+2"}')
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator(".output-part")).to_have_text("42")
    context.close()
