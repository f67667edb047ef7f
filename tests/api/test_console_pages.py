"""Every page of the console: reached, refused, and within its budget."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.bench.seeding import seed_runs, seed_tools
from tests.builders import make_run, make_user
from tools_app.models import Decision, ToolRun
from tools_app.services.policies import decide

MAX_BYTES = 60 * 1024
MAX_QUERIES = 10
PAGES = (
    "/",
    "/runs/",
    "/tools/",
    "/tools/calculator/",
    "/agents/",
    "/agents/support/",
    "/policy/",
    "/policy/1/",
    "/tokens/",
    "/palette/?q=calc",
    "/freezes/new/",
    "/frame/",
)


def signed_in(*roles: str, name: str = "vera") -> Client:
    """A browser of a new person with these roles."""
    client = Client()
    client.force_login(make_user(name, *roles))
    return client


@pytest.fixture
def vera(installed: None) -> Client:
    return signed_in("viewer")


@pytest.mark.parametrize("path", PAGES)
def test_a_viewer_reads_every_page(vera: Client, path: str):
    assert vera.get(path).status_code == 200


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_is_sent_to_sign_in_and_back(installed: None, path: str):
    answer = Client().get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/?next=/")


@pytest.mark.parametrize("path", PAGES)
def test_a_person_without_a_role_is_told_so(installed: None, path: str):
    answer = signed_in().get(path)
    assert answer.status_code == 403
    assert "Your roles do not include the right" in answer.text


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_not_cached_and_allow_no_foreign_script(vera: Client, path: str):
    answer = vera.get(path)
    policy = answer["Content-Security-Policy"]
    assert "no-store" in answer["Cache-Control"]
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert " onclick=" not in answer.text
    assert "style=" not in answer.text


@pytest.mark.parametrize(
    "path", ["/runs/?cursor=nonsense", "/tools/?cursor=%F0%9F%99%82", "/tokens/?cursor=x"]
)
def test_a_bad_cursor_is_refused_in_words(vera: Client, path: str):
    answer = vera.get(path)
    assert answer.status_code == 422
    assert "no cursor of this list" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/runs/01890000-0000-7000-8000-000000000000/",
        "/decisions/01890000-0000-4000-8000-000000000000/",
        "/tools/nope/",
        "/agents/nope/",
        "/policy/99/",
    ],
)
def test_what_is_not_there_is_not_found(vera: Client, path: str):
    assert vera.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/runs/?hours=x&status=zzz", "/tools/?agent=", "/?window=9y"])
def test_filters_that_make_no_sense_are_ignored(vera: Client, path: str):
    assert vera.get(path).status_code == 200


def test_filters_choose_the_runs(vera: Client):
    make_run(agent="main", tool_name="calculator")
    make_run(agent="coding", tool_name="think", status="failed")
    page = vera.get("/runs/?agent=coding").text
    assert ">think<" in page
    assert ">calculator<" not in page


def test_an_empty_list_teaches_and_an_empty_match_offers_to_clear(vera: Client):
    assert "OPENJARVIS_TOKEN" in vera.get("/runs/").text
    make_run()
    assert "Clear the filters" in vera.get("/runs/?agent=nobody").text


def test_untrusted_text_is_escaped_and_drawn(vera: Client):
    run = make_run(
        arguments={"text": "<script>alert(1)</script>\u202e"},
        message="<b>\u200bx",
        content="\x1b[31m",
    )
    page = vera.get(f"/runs/{run.pk}/").text
    assert "<script>alert(1)" not in page
    assert "⟨U+202E⟩" in page
    assert "⟨U+200B⟩" in page
    assert "⟨U+001B⟩" in page


def test_long_output_comes_in_pieces_and_raw_as_it_is(vera: Client):
    content = "".join(f"line {n}\n" for n in range(1, 5001)) + "\r\nend"
    run = make_run(content=content, content_size=len(content))

    page = vera.get(f"/runs/{run.pk}/")
    more = vera.get(f"/runs/{run.pk}/output/?start=151", headers={"HX-Request": "true"})
    raw = vera.get(f"/runs/{run.pk}/output/")

    assert "line 20\n" in page.text
    assert "line 21\n" not in page.text
    assert len(page.content) <= MAX_BYTES
    assert more.text.count("line ") > 900
    assert raw.content.decode() == content
    assert raw["Content-Type"].startswith("text/plain")


def test_a_run_that_did_not_change_is_left_alone(vera: Client):
    run = make_run(status="running", finished_at=None, success=None)
    headers = {"HX-Request": "true"}
    assert vera.get(f"/runs/{run.pk}/?seen=running", headers=headers).status_code == 204
    ToolRun.objects.filter(pk=run.pk).update(status="succeeded", success=True)
    fresh = vera.get(f"/runs/{run.pk}/?seen=running", headers=headers)
    assert fresh.status_code == 200
    assert "every 2s" not in fresh.text


def test_a_decision_names_the_layer_and_the_shortest_change(vera: Client):
    row = decide(tool_name="calculator", agent="support")
    page = vera.get(f"/decisions/{row.pk}/").text
    assert "decides" in page
    assert "alsoAllow" in page


def test_why_leads_to_the_decision(vera: Client):
    answer = vera.get("/why/?tool=calculator&agent=support")
    row = Decision.objects.get(tool_name="calculator", agent="support")
    assert answer["Location"] == f"/decisions/{row.pk}/"


def test_times_follow_one_choice(vera: Client):
    run = make_run()
    vera.cookies["zone"] = "Asia/Bangkok"
    vera.cookies["times"] = "local"
    local = vera.get(f"/runs/{run.pk}/").text
    utc = vera.get(f"/runs/{run.pk}/?tz=utc").text
    assert "Asia/Bangkok" in local
    assert "Asia/Bangkok" not in utc
    assert " ago<" not in utc
    assert f"{run.requested_at:%Y-%m-%d %H:%M:%S}<" in utc


@pytest.fixture
def busy(installed: None) -> None:
    """5 000 tools and 100 000 runs."""
    seed_runs(100_000, tools=seed_tools(5000))


def test_budgets_hold_with_a_hundred_thousand_runs(busy: None):
    client = signed_in("admin", name="ada")
    paths = [*PAGES, f"/runs/{ToolRun.objects.order_by('-id')[0].pk}/", "/?window=24h"]
    client.get("/")  # what is read once per change of configuration is in memory
    too_much = {}
    for path in paths:
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(path)
        size = len(answer.content)
        if answer.status_code != 200 or len(queries) > MAX_QUERIES or size > MAX_BYTES:
            too_much[path] = (answer.status_code, len(queries), size)
    assert too_much == {}
