"""The live page: every run once, nothing moves under the reader, and the data says its age."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect

from tests.e2e.console.office import OPERATOR, Office
from tests.e2e.console.test_pages import VIEWS, faults
from tools_app.console.visible import escape

pytestmark = pytest.mark.slow

HEARTBEAT_MS = 3000
ALL_SHOWN_MS = 20_000
SOCKETS = re.compile("/ws/events/")
ROWS = "[...document.querySelectorAll('#live-rows tr')].map(row => row.dataset.run)"
TRICKY = (
    "",
    "plain",
    "a\u202eb",
    "\u200b\U000e0100",
    " " * 400,
    "⟨U+202E⟩",
    "\x1b[31m",
    "ก\u0e31\u0e49",
)


@pytest.fixture
def live(office: Office, browser: Browser) -> Iterator[Page]:
    page = office.page(browser, OPERATOR, viewport={"width": 1280, "height": 700})
    yield page
    page.context.close()


def open_live(page: Page, query: str = "") -> Page:
    """Open the page and wait until its own stream has answered."""
    page.goto(f"/live/{query}")
    page.locator("#live-bar").wait_for()
    page.locator("#connection[data-state=live]").wait_for()
    return page


def shown(page: Page, runs: list[str]) -> list[str]:
    """Return which of these runs are in the table, in its order, as often as they are."""
    wanted = set(runs)
    return [run for run in page.evaluate(ROWS) if run in wanted]


def wait_for_row(page: Page, run: str) -> None:
    page.locator(f"#live-rows tr[data-run='{run}']").wait_for(timeout=ALL_SHOWN_MS)


def test_runs_between_page_and_stream_are_shown_once_in_order(live: Page, office: Office):
    meanwhile: list[str] = []

    def hold(route: Route) -> None:
        meanwhile.extend(office.echo(300))
        route.continue_()

    live.route("**/static/console/live.js", hold)
    open_live(live)
    wait_for_row(live, meanwhile[-1])
    later = office.echo(2, "later")
    wait_for_row(live, later[-1])

    assert shown(live, meanwhile + later) == list(reversed(meanwhile + later))


def test_nothing_moves_under_a_reader_who_selects_text(live: Page, office: Office):
    office.echo(30)
    open_live(live)
    live.evaluate("""() => {
        const cell = document.querySelector('#live-rows tr:nth-child(5) [data-cell=preview]');
        getSelection().selectAllChildren(cell);
    }""")
    expect(live.locator("#live-state")).to_contain_text("text is selected · 0 new")
    place = "document.querySelector('#live-rows tr:nth-child(5)').getBoundingClientRect().top"
    before, text = live.evaluate(place), live.evaluate("getSelection().toString()")

    runs = office.echo(200)

    expect(live.locator("#live-state")).to_contain_text("· 200 new", timeout=ALL_SHOWN_MS)
    assert abs(live.evaluate(place) - before) <= 1
    assert live.evaluate("getSelection().toString()") == text != ""
    assert shown(live, runs) == []

    live.keyboard.press("f")
    expect(live.locator("#live-state")).to_contain_text("Following")
    expect(live.locator("#live-rows tr").first).to_have_attribute("data-run", runs[-1])
    expect(live.locator("#live-rows tr").first).to_be_in_viewport()
    assert shown(live, runs) == list(reversed(runs))


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (lambda page: page.mouse.wheel(0, 200), "you scrolled"),
        (lambda page: page.keyboard.press("PageDown"), "you scrolled"),
        (lambda page: page.keyboard.press("p"), "you paused"),
        (lambda page: page.locator("#live-rows a").first.focus(), "a row has the focus"),
        (lambda page: page.locator("#live-rows th a").first.click(), "a run is open"),
    ],
)
def test_following_ends_when_the_reader_reads_and_says_why(
    live: Page, office: Office, act: object, why: str
):
    office.echo(30)
    open_live(live)
    live.mouse.move(600, 500)

    act(live)  # type: ignore[operator]

    expect(live.locator("#live-state")).to_contain_text(f"Paused because {why}")


def test_too_much_to_show_is_counted_and_said(live: Page, office: Office):
    open_live(live)
    live.keyboard.press("p")
    runs = office.echo(700)
    expect(live.locator("#live-state")).to_contain_text("· 700 new", timeout=ALL_SHOWN_MS)

    live.keyboard.press("f")

    expect(live.locator("#live-skipped")).to_contain_text("Showing 500 of 700")
    assert shown(live, runs) == list(reversed(runs[-500:]))
    assert live.locator("#live-rows tr").count() == 500
    counts = live.locator("#live")
    expect(counts).to_have_attribute("data-shown", "500")
    expect(counts).to_have_attribute("data-skipped", "200")


def test_while_following_shown_and_skipped_are_all_there_were(live: Page, office: Office):
    open_live(live)
    live.evaluate("""() => {
        window.longest = 0;
        new PerformanceObserver((list) => {
            for (const task of list.getEntries()) longest = Math.max(longest, task.duration);
        }).observe({ type: "longtask" });
    }""")

    runs = office.echo(1000)
    wait_for_row(live, runs[-1])

    total = "(({shown, skipped}) => Number(shown) + Number(skipped))"
    live.wait_for_function(
        f"{total}(document.getElementById('live').dataset) === 1000", timeout=ALL_SHOWN_MS
    )
    assert live.locator("#live-rows tr").count() <= 500
    assert shown(live, runs) == [run for run in reversed(runs) if run in set(shown(live, runs))]


def test_a_silent_network_makes_the_data_look_old_until_it_is_whole(live: Page, office: Office):
    is_hole = False

    def pass_on(client: WebSocketRoute) -> None:
        server = client.connect_to_server()
        client.on_message(server.send)
        server.on_message(lambda message: None if is_hole else client.send(message))

    live.route_web_socket(SOCKETS, pass_on)
    open_live(live)
    as_of = live.locator("#live-as-of")
    expect(as_of).to_be_hidden()

    is_hole = True
    runs = office.echo(3)

    expect(as_of).to_contain_text("as of", timeout=2 * HEARTBEAT_MS + 2000)
    expect(live.locator("#live-scroll")).to_have_class(re.compile("is-stale"))
    assert shown(live, runs) == []
    is_hole = False
    wait_for_row(live, runs[-1])
    expect(as_of).to_be_hidden()
    assert shown(live, runs) == list(reversed(runs))


@pytest.mark.parametrize(("without", "state"), [((), "live"), (("stream",), "polling")])
def test_where_sockets_do_not_pass_the_page_still_follows(
    live: Page, office: Office, without: tuple[str, ...], state: str
):
    live.route_web_socket(SOCKETS, lambda client: client.close())
    for name in without:
        live.route(f"**/api/v1/events/{name}*", lambda route: route.abort())
    live.goto("/live/")
    live.locator(f"#connection[data-state={state}]").wait_for()

    runs = office.echo(3)

    wait_for_row(live, runs[-1])
    assert shown(live, runs) == list(reversed(runs))


def test_filters_are_in_the_address_and_hold_for_the_stream(live: Page, office: Office):
    open_live(live)
    live.get_by_label("Agent", exact=True).fill("coding")
    live.keyboard.press("Enter")
    live.wait_for_url("**/live/?agent=coding*")
    live.locator("#connection[data-state=live]").wait_for()

    others = office.echo(3, agent="main")
    mine = office.call("calculator", {"expression": "1+1"}, agent="coding")["run"]["id"]

    wait_for_row(live, mine)
    assert shown(live, others) == []


def test_a_row_that_no_longer_matches_stays_and_is_marked(live: Page, office: Office):
    open_live(live, "?status=waiting_approval")
    answer = office.call("send", {"to": "x"})
    run, approval = answer["run"]["id"], answer["approval"]["id"]
    wait_for_row(live, run)

    office.api("POST", f"/approvals/{approval}/deny", {})

    row = live.locator(f"#live-rows tr[data-run='{run}']")
    expect(row).to_have_class(re.compile("is-other"))
    expect(row).to_contain_text("refused")


def test_a_run_opens_beside_the_stream_and_closes_again(live: Page, office: Office):
    run = office.echo(1, "look at me")[0]
    open_live(live)
    link = live.locator(f"#live-rows tr[data-run='{run}'] th a")
    link.click()
    panel = live.get_by_role("complementary", name="Run")
    expect(panel).to_contain_text("look at me")
    assert f"run={run}" in live.url
    more = office.echo(2)
    expect(live.locator("#live-state")).to_contain_text("a run is open · 2 new")

    live.keyboard.press("Escape")

    expect(panel).to_be_hidden()
    expect(link).to_be_focused()
    assert "run=" not in live.url
    live.keyboard.press("f")
    wait_for_row(live, more[-1])


def test_without_script_the_newest_runs_are_there(office: Office, browser: Browser):
    run = office.echo(1)[0]
    page = office.page(browser, OPERATOR, java_script_enabled=False)
    page.goto("/live/")
    expect(page.locator(f"tr[data-run='{run}'] a").first).to_have_attribute("href", f"/runs/{run}/")
    page.context.close()


def test_in_utc_no_time_differs_from_it(office: Office, browser: Browser):
    page = office.page(browser, OPERATOR, timezone_id="Asia/Bangkok")
    open_live(page, "?tz=utc")
    run = office.echo(1)[0]
    wait_for_row(page, run)
    asked = office.api("GET", f"/runs/{run}")["requested_at"]
    time = page.locator(f"tr[data-run='{run}'] time")
    expect(time).to_have_attribute("title", f"{asked[:10]} {asked[11:19]} UTC")
    expect(time).to_have_text(re.compile(rf"^{asked[11:19]}\.\d$"))
    page.context.close()


@pytest.mark.parametrize("text", TRICKY)
def test_hidden_characters_are_written_out_as_the_server_does(live: Page, text: str):
    open_live(live)
    drawn = live.evaluate(
        """async (text) => {
            const { showText } = await import('/static/console/visible.js');
            const place = document.createElement('p');
            showText(place, text);
            return place.textContent;
        }""",
        text,
    )
    assert drawn == escape(text)


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_is_accessible_following_paused_and_with_a_run(
    office: Office, browser: Browser, view: str
):
    office.echo(5)
    page = office.page(browser, OPERATOR, **VIEWS[view])
    open_live(page)
    office.call("send", {"to": "somebody"})
    assert faults(page) == []
    page.keyboard.press("p")
    assert faults(page) == []
    page.locator("#live-rows th a").first.click()
    page.locator("#live-panel-body #run").wait_for()
    assert faults(page) == []
    page.context.close()
