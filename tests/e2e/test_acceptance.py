"""What the control room is for, from a first start to a live page, with nothing faked.

A product of its own, REST with real tokens, and Chromium where a person would use a browser.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.wire import Wire
from tests.product import Answer, Product
from tests.servers import wait_until

pytestmark = pytest.mark.slow

PATIENCE_MS = 15_000  # the machine may be busy
CUT_SECONDS, CALLS_MEANWHILE = 10.0, 500


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """A new installation; the tests change its policy and its tools."""
    product = Product(tmp_path_factory.mktemp("acceptance")).start()
    yield product
    product.stop()


@pytest.fixture(scope="module")
def admin_token(product: Product) -> str:
    return product.token("acceptance")


@pytest.fixture
def admin_page(product: Product, browser: Browser) -> Iterator[Page]:
    """The console as the first admin sees it."""
    page = signed_in(browser, product, product.url)
    yield page
    page.context.close()


def signed_in(browser: Browser, product: Product, url: str) -> Page:
    """Sign the first admin in through the form, at one address of the product."""
    context = browser.new_context(base_url=url)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    username, password = product.admin
    page.goto("/sign-in/")
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in/" not in url)
    return page


def execute(product: Product, token: str, tool: str, arguments: object, **more: object) -> Answer:
    body = {"arguments": arguments, **more}
    return product.send("POST", f"/api/v1/tools/{tool}/execute", body, token=token)


def two_plus_two(product: Product, token: str, **more: object) -> Answer:
    return execute(product, token, "calculator", {"expression": "2+2"}, **more)


def test_a_refusal_is_explained_and_its_shortest_fix_lets_the_same_call_pass(
    product: Product, admin_page: Page
):
    token = product.token("support-bot", "tools:execute", agent="support")

    refused = two_plus_two(product, token)

    assert (refused.status, refused.json["code"]) == (403, "denied_by_policy")
    admin_page.goto(f"/decisions/{refused.json['decision']}/")
    deciding = admin_page.get_by_role("row").filter(has_text="decides")
    expect(deciding).to_contain_text("messaging")
    sentence = refused.json["fix"]["sentence"]
    expect(admin_page.locator("main")).to_contain_text(sentence)
    assert [edit["value"] for edit in refused.json["fix"]["edits"]] == ["calculator"]

    admin_page.get_by_role("link", name="Change the agent's tools").click()
    admin_page.get_by_label("Also allow").fill("calculator")
    admin_page.get_by_role("button", name="Publish").click()
    expect(admin_page.get_by_text("Published as policy v")).to_be_visible()

    allowed = two_plus_two(product, token)

    assert allowed.status == 200, allowed.text
    assert allowed.json["result"]["content"] == "4"
    assert allowed.json["decision"]["policy_version"] == refused_version(refused) + 1


def refused_version(refused: Answer) -> int:
    """Return the policy version that a refusal names at the end of its reason."""
    return int(refused.json["detail"].rsplit("v", 1)[1])


def test_a_request_to_this_machine_is_refused_with_the_reason(product: Product, admin_token: str):
    url = f"{product.url}/healthz"  # it would answer

    answer = execute(product, admin_token, "http_request", {"url": url}, agent="main")

    assert answer.status == 200, answer.text
    assert answer.json["run"]["status"] == "failed"
    assert answer.json["result"]["metadata"]["error_code"] == "network_refused"
    assert "loopback" in answer.json["result"]["content"]


def test_a_link_out_of_the_workspace_is_not_followed(product: Product, admin_token: str):
    workspace = Path(product.environment["OPENJARVIS_DATA_DIR"]) / "workspace"
    (workspace / "hello.txt").write_text("hello")
    (workspace / "passwords.txt").symlink_to("/etc/passwd")

    def read(name: str) -> Answer:
        path = str(workspace / name)
        return execute(product, admin_token, "file_read", {"path": path}, agent="main")

    assert read("hello.txt").json["result"]["content"] == "hello"
    stolen = read("passwords.txt")
    assert stolen.json["run"]["status"] == "failed"
    assert stolen.json["result"]["metadata"]["error_code"] == "path_denied"
    assert "root:" not in stolen.text


@pytest.fixture
def asking_calculator(product: Product, admin_token: str) -> Iterator[None]:
    """The calculator, while each of its calls needs a person's approval."""
    address = "/api/v1/tools/calculator"
    product.send("PATCH", address, {"confirmation_override": True}, token=admin_token)
    yield
    product.send("PATCH", address, {"confirmation_override": None}, token=admin_token)


@pytest.mark.usefixtures("asking_calculator")
def test_a_waiting_client_gets_its_result_when_a_person_approves(
    product: Product, admin_page: Page
):
    token = product.token("careful", "tools:execute", agent="main")
    asked = two_plus_two(product, token)
    assert asked.status == 202, asked.text
    approval, run = asked.json["approval"]["id"], asked.json["run"]["id"]

    with ThreadPoolExecutor(1) as client:
        waiting = client.submit(product.get, f"/api/v1/runs/{run}?wait=60", token=token)
        admin_page.goto(f"/approve/{approval}/")
        expect(admin_page.locator("main")).to_contain_text('"expression": "2+2"')
        assert not waiting.done()
        admin_page.get_by_role("button", name="Approve").click()
        answer = waiting.result()

    assert answer.json["status"] == "succeeded"
    assert answer.json["result"]["content"] == "4"


@pytest.mark.usefixtures("asking_calculator")
def test_an_approval_holds_for_no_other_call(product: Product, admin_token: str):
    token = product.token("swapper", "tools:execute", agent="main")
    shown, other = (
        execute(product, token, "calculator", {"expression": text}).json["approval"]["id"]
        for text in ("2+2", "2+3")
    )
    binding = product.get(f"/api/v1/approvals/{shown}", token=admin_token).json["binding"]

    answer = product.send(
        "POST", f"/api/v1/approvals/{other}/approve", {"binding": binding}, token=admin_token
    )

    assert (answer.status, answer.json["code"]) == (409, "approval_mismatch")
    still = product.get(f"/api/v1/approvals/{other}", token=admin_token).json
    assert (still["status"], still["run_status"]) == ("pending", "waiting_approval")


def test_fifty_parallel_calls_with_one_key_are_one_run(product: Product):
    token = product.token("hasty", "tools:execute", "tools:read", agent="main")
    address = "/api/v1/tools/calculator/execute"
    body = {"arguments": {"expression": "2+2"}}

    def call(_: int) -> Answer:
        headers = {"Idempotency-Key": "one-of-fifty"}
        return product.send("POST", address, body, token=token, headers=headers)

    with ThreadPoolExecutor(50) as clients:
        answers = list(clients.map(call, range(50)))

    assert {answer.status for answer in answers} == {200}
    assert {answer.json["result"]["content"] for answer in answers} == {"4"}
    replayed = [answer.headers.get("idempotency-replayed") for answer in answers]
    assert replayed.count("true") == 49
    first = answers[0].json["run"]
    runs = product.get("/api/v1/runs?limit=100", token=token).json["items"]
    assert [run["id"] for run in runs if run["actor"] == first["actor"]] == [first["id"]]


def test_a_live_page_that_lost_its_network_shows_every_call_once(
    product: Product, browser: Browser
):
    token = product.token("busy", "tools:execute", agent="main")
    with Wire(product.port) as wire:
        page = signed_in(browser, product, wire.url)
        page.goto("/live/")
        first = two_plus_two(product, token).json["run"]["id"]
        expect(page.locator(f"[data-run='{first}']")).to_be_visible(timeout=PATIENCE_MS)

        wire.cut()
        cut_at = time.monotonic()
        with ThreadPoolExecutor(8) as clients:
            calls = clients.map(lambda _: two_plus_two(product, token), range(CALLS_MEANWHILE))
            made = {answer.json["run"]["id"] for answer in calls}
        wait_until(lambda: time.monotonic() - cut_at >= CUT_SECONDS, "the cut")
        assert page.locator("[data-run]").count() < CALLS_MEANWHILE
        wire.mend()

        page.wait_for_function(
            "ids => ids.every(id => document.querySelector(`tr[data-run='${id}']`))",
            arg=sorted(made),
            timeout=4 * PATIENCE_MS,
        )
        shown = page.locator("tr[data-run]").evaluate_all("rows => rows.map(r => r.dataset.run)")
        page.context.close()

    assert len(made) == CALLS_MEANWHILE
    assert made <= set(shown)
    assert len(shown) == len(set(shown))
