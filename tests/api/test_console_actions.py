"""What people do on the pages: try tools, change agents and policy, make tokens, freeze."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from django.test import Client

from tests.builders import make_user
from tools_app.models import AgentProfile, ApiToken, Approval, Freeze, PolicyVersion, Tool, ToolRun
from tools_app.services.policies import current_version, tools_of_agent

HTMX = {"HX-Request": "true"}


def browser_of(name: str, role: str) -> Client:
    client = Client(raise_request_exception=True)
    client.force_login(make_user(name, role))
    return client


@pytest.fixture
def ada(installed: None) -> Client:
    return browser_of("ada", "admin")


@pytest.fixture
def olli(installed: None) -> Client:
    return browser_of("olli", "operator")


@pytest.fixture
def vera(installed: None) -> Client:
    return browser_of("vera", "viewer")


# --- try it ----------------------------------------------------------------------------------


def attempt(client: Client, expression: str = "2+2", **fields: str) -> str:
    form = {"arguments": json.dumps({"expression": expression}), "how": "run", **fields}
    return client.post("/tools/calculator/try/", form, headers=HTMX).text


def test_a_try_is_a_run_of_this_person(olli: Client):
    page = attempt(olli)
    run = ToolRun.objects.get()
    assert (run.content, run.actor, run.surface) == ("4", "user:olli", "console")
    assert str(run.pk) in page


def test_a_dry_run_stores_nothing(olli: Client):
    assert "It would run." in attempt(olli, how="dry")
    assert not ToolRun.objects.exists()


def test_an_unclear_wish_is_a_dry_run(olli: Client):
    attempt(olli, how="")
    assert not ToolRun.objects.exists()


def test_a_denial_shows_the_shortest_change(olli: Client):
    page = attempt(olli, agent="support")
    assert "alsoAllow" in page
    assert ToolRun.objects.get().status == "refused"


def test_broken_arguments_are_explained_at_their_place(olli: Client):
    form = {"arguments": '{"expression": 1, "x"', "how": "run"}
    page = olli.post("/tools/calculator/try/", form, headers=HTMX)
    assert "invalid_arguments" in page.text or "truncated_arguments" in page.text


def test_a_tool_that_asks_waits_for_approval(ada: Client):
    Tool.objects.filter(name="calculator").update(confirmation_override=None)
    change = {"is_enabled": "on", "confirmation_override": "yes"}
    ada.post("/tools/calculator/change/", change)
    assert "It waits for approval." in attempt(ada)
    assert Approval.objects.get().status == "pending"


def test_without_script_the_run_is_shown_on_its_page(olli: Client):
    form = {"arguments": '{"expression": "2+2"}', "how": "run"}
    answer = olli.post("/tools/calculator/try/", form)
    assert answer["Location"] == f"/runs/{ToolRun.objects.get().pk}/"


def test_a_viewer_cannot_run(vera: Client):
    assert "Your roles do not include" in attempt(vera)
    assert not ToolRun.objects.filter(status="succeeded").exists()


def test_the_last_five_inputs_of_this_person_come_back(olli: Client, ada: Client):
    attempt(ada, "100+1")
    for number in (1, 2, 3, 4, 5, 6, 6):
        attempt(olli, f"{number}+0")
    page = olli.get("/tools/calculator/").text
    menu = page[page.index("Last inputs") : page.index('id="try-form"')]
    assert [n for n in range(1, 7) if f"{n}+0" in menu] == [2, 3, 4, 5, 6]
    assert "100+1" not in menu


def test_run_again_fills_the_form_and_says_what_changed(ada: Client):
    attempt(ada, "6*7", agent="main")
    run = ToolRun.objects.get()
    publish(ada, {"tools": {"deny": ["think"]}})
    page = ada.get(f"/tools/calculator/?run={run.pk}").text
    assert "6*7" in page
    assert "v1 → v2" in page


# --- tools and agents ------------------------------------------------------------------------


def test_an_admin_switches_a_tool_off(ada: Client):
    ada.post("/tools/calculator/change/", {"timeout_override": "5", "exposed_on": ["rest", "mcp"]})
    tool = Tool.objects.get(name="calculator")
    assert (tool.is_enabled, tool.timeout_override, tool.exposed_on) == (
        False,
        5.0,
        ["rest", "mcp"],
    )


@pytest.mark.parametrize("form", [{"timeout_override": "-1"}, {"exposed_on": ["moon"]}])
def test_a_bad_change_of_a_tool_changes_nothing(ada: Client, form: Mapping[str, object]):
    answer = ada.post("/tools/calculator/change/", {"is_enabled": "on", **form}, follow=True)
    assert "note-bad" in answer.text
    assert Tool.objects.get(name="calculator").timeout_override is None


def test_an_operator_cannot_change_a_tool(olli: Client):
    assert olli.post("/tools/calculator/change/", {}).status_code == 403


def test_an_agent_is_made_changed_and_deleted(ada: Client):
    made = ada.post("/agents/+new/", {"slug": "sales-bot", "name": "Sales", "is_active": "on"})
    assert made["Location"] == "/agents/sales-bot/"
    ada.post("/agents/sales-bot/change/", {"name": "Sales 2", "is_active": "on", "version": "1"})
    agent = AgentProfile.objects.get(slug="sales-bot")
    assert (agent.name, agent.version) == ("Sales 2", 2)
    ada.post("/agents/sales-bot/delete/", {"version": "2"})
    assert not AgentProfile.objects.filter(slug="sales-bot").exists()


@pytest.mark.parametrize("slug", ["", "UPPER", "a b", "main"])
def test_a_bad_or_taken_id_is_an_error_at_the_form(ada: Client, slug: str):
    answer = ada.post("/agents/+new/", {"slug": slug, "name": "x"})
    assert answer.status_code == 422
    assert "error-summary" in answer.text


def test_a_change_based_on_an_old_version_is_not_lost_silently(ada: Client):
    ada.post("/agents/main/change/", {"name": "One", "is_active": "on", "version": "1"})
    late = ada.post("/agents/main/change/", {"name": "Two", "is_active": "on", "version": "1"})
    assert late.status_code == 422
    assert "Two" in late.text
    assert AgentProfile.objects.get(slug="main").name == "One"


def test_an_agents_rules_are_checked_before_they_are_published(ada: Client):
    rules = {"profile": "messaging", "alsoAllow": "calculator", "base_number": "1"}
    checked = ada.post("/agents/support/rules/", {**rules, "how": "check"}, headers=HTMX)
    assert "gains" in checked.text
    assert current_version().number == 1
    ada.post("/agents/support/rules/", {**rules, "how": "publish"})
    assert tools_of_agent(current_version().document, "support") == {
        "profile": "messaging",
        "alsoAllow": ["calculator"],
    }
    assert "It would run." in attempt(ada, agent="support", how="dry")


def test_an_operator_cannot_publish_rules(olli: Client):
    rules = {"profile": "full", "base_number": "1", "how": "publish"}
    assert olli.post("/agents/support/rules/", rules).status_code == 403
    assert current_version().number == 1


# --- policy ----------------------------------------------------------------------------------


def publish(client: Client, document: object, base: int = 1):
    text = document if isinstance(document, str) else json.dumps(document)
    form = {"document": text, "base_number": str(base), "how": "publish", "comment": "because"}
    return client.post("/policy/", form)


def test_a_published_policy_is_in_force_with_its_comment(ada: Client):
    assert publish(ada, {"tools": {"deny": ["calculator"]}}).status_code == 302
    version = PolicyVersion.objects.get(number=2)
    assert (version.comment, version.author_label) == ("because", "user:ada")
    assert "denied_by_policy" in attempt(ada)


def test_an_edit_of_an_old_version_is_refused_and_kept(ada: Client):
    publish(ada, {"tools": {"deny": ["think"]}})
    late = publish(ada, {"tools": {"deny": ["calculator"]}}, base=1)
    assert late.status_code == 412
    assert "was published while you edited" in late.text
    assert "calculator" in late.text
    assert current_version().number == 2


@pytest.mark.parametrize("document", ["{", "[]", '{"tools": 5}', "[" * 5000])
def test_a_bad_document_is_refused_in_words(ada: Client, document: str):
    answer = publish(ada, document)
    assert answer.status_code == 422
    assert "error-summary" in answer.text
    assert current_version().number == 1


def test_a_check_warns_and_changes_nothing(vera: Client):
    document = json.dumps({"tools": {"allow": ["calculator"], "deny": ["*"]}})
    form = {"document": document, "base_number": "1", "how": "check"}
    answer = vera.post("/policy/", form, headers=HTMX)
    assert "allow_shadowed_by_deny" in answer.text
    assert current_version().number == 1


def test_a_viewer_cannot_publish(vera: Client):
    assert publish(vera, {}).status_code == 403
    assert current_version().number == 1


# --- tokens ----------------------------------------------------------------------------------


def test_a_token_is_shown_once(olli: Client):
    form = {"name": "ci", "scopes": ["tools:execute"], "agent": "main", "days": "7"}
    page = olli.post("/tokens/", form).text
    token = ApiToken.objects.get()
    assert f"ojw_{token.key_id}_" in page
    assert (token.agent, token.scopes) == ("main", ["tools:execute"])
    assert "ojw_" not in olli.get("/tokens/").text


@pytest.mark.parametrize(
    "form",
    [
        {"name": "", "scopes": ["tools:read"]},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["admin"]},
        {"name": "x", "scopes": ["tools:read"], "agent": "nobody"},
    ],
)
def test_a_bad_or_too_wide_token_is_not_made(olli: Client, form: dict[str, object]):
    answer = olli.post("/tokens/", form)
    assert answer.status_code == 422
    assert "error-summary" in answer.text
    assert not ApiToken.objects.exists()


def test_a_revoked_token_no_longer_works(olli: Client):
    page = olli.post("/tokens/", {"name": "ci", "scopes": ["tools:read"], "days": "1"}).text
    text = page[page.index("ojw_") :].split("<")[0]
    bearer = {"Authorization": f"Bearer {text}"}
    assert Client().get("/api/v1/tools", headers=bearer).status_code == 200
    olli.post(f"/tokens/{ApiToken.objects.get().pk}/revoke/")
    assert Client().get("/api/v1/tools", headers=bearer).status_code == 401


def test_nobody_revokes_another_persons_token(olli: Client, vera: Client):
    olli.post("/tokens/", {"name": "ci", "scopes": ["tools:read"], "days": "1"})
    assert vera.post(f"/tokens/{ApiToken.objects.get().pk}/revoke/").status_code == 404
    assert ApiToken.objects.get().revoked_at is None


# --- freezing --------------------------------------------------------------------------------

FREEZE = {"scope": "agent", "target": "main", "reason": "incident 412", "lasts": "15"}


def test_a_freeze_stops_calls_and_is_seen_on_every_page(olli: Client, vera: Client):
    olli.post("/freezes/new/", FREEZE, headers=HTMX)
    assert "frozen" in attempt(olli, agent="main")
    page = vera.get("/tools/").text
    assert "incident 412" in page
    assert "olli" in page
    assert "incident 412" in vera.get("/frame/", headers=HTMX).text


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"lasts": ""}, "lasts"),
        ({"reason": " "}, "reason"),
        ({"target": ""}, "target"),
        ({"scope": "everything", "target": ""}, "confirmation"),
        ({"scope": "moon"}, "scope"),
    ],
)
def test_a_freeze_needs_reason_end_and_target(olli: Client, change: dict[str, str], field: str):
    answer = olli.post("/freezes/new/", {**FREEZE, **change}, headers=HTMX)
    assert answer.status_code == 422
    assert f'id="id_{field}-error"' in answer.text or f"id_{field}" in answer.text
    assert not Freeze.objects.exists()


def test_everything_is_frozen_by_the_typed_word(olli: Client):
    form = {**FREEZE, "scope": "everything", "confirmation": "Everything"}
    olli.post("/freezes/new/", form, headers=HTMX)
    freeze = Freeze.objects.get()
    assert (freeze.scope, freeze.target) == ("everything", "")


def test_a_viewer_cannot_freeze(vera: Client):
    assert vera.post("/freezes/new/", FREEZE).status_code == 403
    assert not Freeze.objects.exists()


def test_the_blast_counts_what_waits(ada: Client):
    ada.post("/tools/think/change/", {"is_enabled": "on", "confirmation_override": "yes"})
    form = {"arguments": '{"thought": "x"}', "how": "run", "agent": "main"}
    ada.post("/tools/think/try/", form, headers=HTMX)
    page = ada.get("/freezes/new/blast/?scope=agent&target=main", headers=HTMX).text
    assert "1 waiting approval" in page
