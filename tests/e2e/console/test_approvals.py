"""Approvals: keys that cannot misfire, cards that tell the truth, what is read is what runs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.console.office import ADMIN, OPERATOR, SECOND_OPERATOR, VIEWER, Office
from tests.e2e.console.test_pages import VIEWS, faults
from tools_app.console.visible import unescape

pytestmark = pytest.mark.slow

ARMED_MS = 600
SEEN_MS = 10_000  # one second on a quiet machine
PHONE = {"viewport": {"width": 360, "height": 640}, "java_script_enabled": False}
CORPUS = [
    *(f"a{chr(code)}b" for code in (0x202E, 0x202A, 0x2066, 0x200B, 0x200D, 0xE0100, 0xFEFF)),
    *(f"a{chr(code)}b" for code in (0x00AD, 0x2060, 0x115F, 0x3164, 0xFFA0, 0x2800, 0x00A0)),
    *(f"a{chr(code)}b" for code in (0x2028, 0x2029, 0xE000, 0x0085, 0x007F, 0x3000, 0xFFFD)),
    *("\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "bell\x07", "back\bspace", "carriage\rreturn"),
    *("<script>alert(1)</script>", "&lt;b&gt;", "⟨U+202E⟩", "⟨␠×400⟩", "'\"`$(id)"),
    *(
        " " * 400,
        "\t\t\t\t",
        "ภาษาไทย",
        "مرحبا",
        "https://xn--80ak6aa92e.com",
        "https://\u0430pple.com",
    ),
    "rm\u00a0-rf\u2003/",
    *("x" * 5000, "\n".join(f"line {n}" for n in range(200))),
]


def approval(page: Page, found: str) -> Locator:
    return page.locator(f"#approval-{found}")


def open_queue(page: Page) -> Page:
    page.goto("/approvals/")
    page.locator("#connection[data-state=live]").wait_for()
    return page


def focus_until_armed(card: Locator) -> None:
    card.focus()
    expect(card).to_have_attribute("data-armed", "")


def state_of(office: Office, found: str) -> str:
    return str(office.api("GET", f"/approvals/{found}")["status"])


@pytest.fixture
def queue(office: Office, browser: Browser) -> Iterator[Page]:
    """The queue of somebody who may answer what the admin's token asks."""
    page = office.page(browser, OPERATOR)
    yield open_queue(page)
    page.context.close()


def test_the_corpus_has_the_forty_strings():
    assert len(CORPUS) == len(set(CORPUS)) == 40


def test_typing_never_answers_whatever_arrives(queue: Page, office: Office):
    first = office.ask({"n": 0})
    approval(queue, first).get_by_role("button", name="Approve").wait_for()
    comment = approval(queue, first).get_by_label("Comment")
    comment.focus()
    asked = []
    for key in "aaadda":
        queue.keyboard.press(key, delay=40)
        if key == "d":
            asked.append(office.ask({"n": len(asked) + 1}))
    expect(comment).to_be_focused()
    expect(comment).to_have_value("aaadda")

    queue.evaluate("document.activeElement.blur()")
    asked.append(office.ask({"n": 3}))
    queue.keyboard.type("aaadda", delay=40)
    assert queue.evaluate("document.activeElement === document.body")

    for found in (first, *asked):
        approval(queue, found).wait_for(timeout=SEEN_MS)
        assert state_of(office, found) == "pending"


def test_a_key_answers_exactly_the_focused_card_and_only_after_a_moment(
    queue: Page, office: Office
):
    first, second = office.ask({"n": 1}), office.ask({"n": 2})
    card = approval(queue, second)
    card.get_by_role("button", name="Approve").wait_for()

    card.focus()
    queue.keyboard.type("aaa", delay=40)  # each swallowed key starts the time anew
    assert state_of(office, second) == "pending"
    focus_until_armed(card)
    queue.keyboard.press("a")

    expect(card).to_have_attribute("data-state", "approved")
    expect(card).to_be_focused()
    assert [state_of(office, found) for found in (first, second)] == ["pending", "approved"]


def test_keys_held_down_modified_or_switched_off_do_nothing(queue: Page, office: Office):
    found = office.ask({"n": 1})
    card = approval(queue, found)
    card.get_by_role("button", name="Approve").wait_for()
    focus_until_armed(card)
    queue.keyboard.press("Control+d")
    press = "new KeyboardEvent('keydown', {key: 'd', bubbles: true, %s: true})"
    for flag in ("repeat", "isComposing", "metaKey", "altKey"):
        card.evaluate(f"(card) => card.dispatchEvent({press % flag})")
    queue.keyboard.press("Enter")

    queue.context.add_cookies([{"name": "keys", "value": "off", "url": queue.url}])
    open_queue(queue)
    card.get_by_role("button", name="Deny").wait_for()
    focus_until_armed(card)
    queue.keyboard.press("d")

    assert state_of(office, found) == "pending"
    queue.context.clear_cookies(name="keys")


def test_cards_are_reached_and_left_by_the_keys_of_a_feed(queue: Page, office: Office):
    asked = [office.ask({"n": n}) for n in range(3)]
    cards = [approval(queue, found) for found in asked]
    cards[2].wait_for()
    assert [card.get_attribute("aria-posinset") for card in cards] == ["1", "2", "3"]
    expect(cards[0]).to_have_attribute("aria-setsize", "3")

    cards[0].focus()
    queue.keyboard.press("PageDown")
    expect(cards[1]).to_be_focused()
    queue.keyboard.press("j")
    expect(cards[2]).to_be_focused()
    queue.keyboard.press("PageUp")
    expect(cards[1]).to_be_focused()
    queue.keyboard.press("Control+End")
    expect(queue.locator("#approvals-end")).to_be_focused()


def test_what_is_read_is_what_would_run(queue: Page, office: Office):
    arguments = {"texts": CORPUS, "long enough to be folded": "y" * 2000}
    found = office.ask(arguments)
    card = approval(queue, found)
    card.get_by_role("button", name="Show all first").click()
    expect(card.get_by_role("button", name="Approve")).to_be_enabled()

    text = card.locator(".call-text").text_content() or ""

    assert "\u202e" not in text
    assert "⟨U+202E⟩" in text
    assert json.loads(unescape(text).removeprefix("send ")) == arguments
    expect(card).to_contain_text("Encoded host name: xn--80ak6aa92e.com")
    expect(card).to_contain_text("Host name mixes alphabets: \u0430pple.com")


def test_an_answer_to_what_is_no_longer_shown_is_refused_and_the_card_drawn_anew(
    queue: Page, office: Office
):
    found = office.ask({"n": 1})
    card = approval(queue, found)
    binding = card.locator("[name=binding]")
    binding.wait_for(state="attached")
    present = binding.get_attribute("value")
    binding.evaluate("(field) => { field.value = field.value.replace(/.{4}$/, '0000') }")

    card.get_by_role("button", name="Approve").click()

    expect(card.get_by_role("alert")).to_contain_text("not the call that was shown")
    expect(card.locator("[name=binding]")).to_have_attribute("value", str(present))
    assert state_of(office, found) == "pending"


def test_an_answer_shows_in_every_open_queue(queue: Page, office: Office, browser: Browser):
    found = office.ask({"n": 1})
    other = open_queue(office.page(browser, SECOND_OPERATOR))
    approval(other, found).get_by_role("button", name="Approve").wait_for()
    approval(queue, found).get_by_label("Comment").fill("not today")

    approval(queue, found).get_by_role("button", name="Deny").click()

    expect(approval(queue, found)).to_contain_text("by you (browser)")
    card = approval(other, found)
    expect(card).to_have_attribute("data-state", "denied", timeout=SEEN_MS)
    expect(card).to_contain_text(f"by {OPERATOR} (browser)")
    expect(card).to_contain_text("not today")
    expect(card.get_by_role("button", name="Approve")).to_have_count(0)
    other.context.close()


def test_a_long_run_holds_up_no_other_card(queue: Page, office: Office):
    office.api("PATCH", "/tools/hang", {"confirmation_override": True})
    hanging, quick = office.ask({}, "hang"), office.ask({"n": 2})
    approval(queue, hanging).get_by_role("button", name="Approve").click()
    expect(approval(queue, hanging)).to_contain_text("approved")
    expect(approval(queue, hanging)).to_contain_text("running", timeout=SEEN_MS)

    approval(queue, quick).get_by_role("button", name="Approve").click()

    expect(approval(queue, quick)).to_contain_text("succeeded", timeout=SEEN_MS)
    expect(approval(queue, hanging)).to_contain_text("running")


def test_too_late_is_said_and_asking_again_makes_a_new_card(queue: Page, office: Office):
    found = office.ask({"n": 1})
    card = approval(queue, found)
    button = card.get_by_role("button", name="Approve")
    button.wait_for()
    office.change(
        "from tools_app.models import Approval; from django.utils import timezone;"
        f"Approval.objects.filter(pk='{found}').update(expires_at=timezone.now())"
    )
    if button.is_visible():  # housekeeping may have been first
        button.click()

    expect(card).to_have_attribute("data-state", "expired")
    assert office.api("GET", f"/approvals/{found}")["decided_via"] == ""
    card.get_by_role("button", name="Ask again").click()
    fresh = queue.locator(f".approval:not(#approval-{found})[data-state=pending]")
    expect(fresh.get_by_role("button", name="Approve")).to_be_visible()
    expect(card.get_by_role("button", name="Approve")).to_have_count(0)


def test_more_time_keeps_what_was_typed_and_binds_anew(queue: Page, office: Office):
    card = approval(queue, office.ask({"n": 1}))
    card.get_by_label("Comment").fill("half a sen")
    before = card.locator("[name=binding]").get_attribute("value")

    card.get_by_role("button", name="10 more minutes").click()

    expect(card.locator("[name=binding]")).not_to_have_attribute("value", str(before))
    expect(card.get_by_label("Comment")).to_have_value("half a sen")
    card.get_by_role("button", name="Approve").click()
    expect(card).to_have_attribute("data-state", "approved")


@pytest.mark.parametrize(
    ("name", "why"), [(ADMIN, "somebody else must approve"), (VIEWER, "needs the right")]
)
def test_who_may_not_answer_sees_why_and_no_buttons(
    office: Office, browser: Browser, name: str, why: str
):
    found = office.ask({"n": 1})
    page = office.page(browser, name)
    for path in ("/approvals/", f"/approve/{found}/"):
        page.goto(path)
        expect(page.locator("main")).to_contain_text(why)
        expect(page.get_by_role("button", name="Approve")).to_have_count(0)
        expect(page.get_by_role("button", name="Deny")).to_have_count(0)
    page.context.close()


def test_the_page_for_a_phone_needs_no_script_and_tells_who_decided_everywhere(
    office: Office, browser: Browser
):
    found = office.ask({"to": "somebody"})
    page = office.page(browser, OPERATOR, **PHONE)
    address = f"/approve/{found}/"
    answer = page.goto(address)
    assert answer is not None
    assert len(answer.body()) <= 30_000
    sizes = page.locator("main .button").evaluate_all("all => all.map(b => b.offsetHeight)")
    assert min(sizes) >= 44
    assert state_of(office, found) == "pending"
    page.get_by_label("Comment").fill("ok for today")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("main")).to_contain_text("by you (phone page)")

    facts = office.api("GET", f"/approvals/{found}")
    assert (facts["decided_by"], facts["decided_via"]) == (f"user:{OPERATOR}", "phone")
    page.goto(f"/runs/{facts['run']}/")
    run_page = page.locator("main").inner_text()
    page.goto("/approvals/history/?via=phone")
    export = page.request.get("/approvals/history.csv?via=phone").text()
    row = next(row for row in csv.DictReader(io.StringIO(export)) if row["approval"] == found)
    assert row["decided_by"] == f"user:{OPERATOR}"
    assert (row["decided_via"], row["comment"]) == ("phone", "ok for today")
    assert (row["binding"], row["status"]) == (facts["binding"], "approved")
    for text in (run_page, page.locator("tbody tr").first.inner_text()):
        assert all(fact in text for fact in (OPERATOR, "phone", "ok for today"))
    page.context.close()


def test_signing_in_returns_to_the_page_for_a_phone(office: Office, browser: Browser):
    found = office.ask({"n": 1})
    context = browser.new_context(base_url=office.product.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/approve/{found}/")
    office.sign_in(page, OPERATOR)
    assert page.url.endswith(f"/approve/{found}/")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    context.close()


def test_what_is_remembered_is_listed_and_can_be_taken_back(queue: Page, office: Office):
    call = {"to": "the same", "n": 7}
    card = approval(queue, office.ask(call))
    card.get_by_label("this exact call, always").check()
    card.get_by_role("button", name="Approve").click()
    expect(card).to_have_attribute("data-state", "approved")
    assert office.call("send", call)["approval"] is None

    queue.goto("/approvals/remembered/")
    queue.get_by_role("button", name=re.compile("Ask again from now on")).first.click()

    expect(queue.get_by_text("The next such call asks again.")).to_be_visible()
    assert office.ask(call)


@pytest.mark.parametrize("view", VIEWS)
def test_the_pages_are_accessible(office: Office, browser: Browser, view: str):
    closed, found = office.ask({"n": 1}), office.ask({"url": "https://x\u202e.example", "n": 2})
    office.api("POST", f"/approvals/{closed}/deny", {"comment": "no"})
    page = office.page(browser, OPERATOR, **VIEWS[view])
    broken = {}
    for path in (
        "/approvals/",
        f"/approve/{found}/",
        f"/approve/{closed}/",
        "/approvals/history/",
        "/approvals/history/?agent=nobody",
        "/approvals/remembered/",
    ):
        page.goto(path)
        if here := faults(page):
            broken[path] = here
    page.context.close()
    assert broken == {}
