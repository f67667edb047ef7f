"""Live, approvals and freezes: their budgets, and who may do what by a form."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import make_actor, make_run, make_user, request, tools_offered
from tests.sample_tools import Send
from tools_app.models import Approval, ApprovalStatus, Freeze
from tools_app.services.running import run_tool

MAX_BYTES = 60 * 1024
MAX_QUERIES = 10
PAGES = (
    "/live/",
    "/live/?agent=coding&effect=deny",
    "/approvals/",
    "/approvals/history/",
    "/approvals/remembered/",
    "/freezes/",
)


def signed_in(name: str, role: str) -> Client:
    client = Client()
    client.force_login(make_user(name, role))
    return client


def ask(count: int = 1) -> Approval:
    """Make calls that wait for a person, asked by an admin; return the last approval."""
    asker = make_actor("ada", "admin")
    with tools_offered(Send()):
        for number in range(count):
            run_tool(request(asker, "send", {"number": number}))
    return Approval.objects.latest("id")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_stays_within_its_budget(installed: None, path: str):
    for number in range(60):
        make_run(arguments={"text": "x" * 200, "number": number})
    ask(60)
    client = signed_in("olga", "operator")
    client.get(path)  # fills what is cached by revision

    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = client.get(path)

    assert answer.status_code == 200
    assert len(answer.content) <= MAX_BYTES
    assert len(queries) <= MAX_QUERIES, [query["sql"][:80] for query in queries]


@pytest.mark.parametrize("action", ["approve", "deny", "extend", "ask-again"])
def test_getting_an_address_never_decides(installed: None, action: str):
    approval = ask()
    client = signed_in("olga", "operator")

    assert client.get(f"/approvals/{approval.pk}/{action}/").status_code == 405
    assert client.get(f"/approve/{approval.pk}/").status_code == 200

    approval.refresh_from_db()
    assert approval.status == ApprovalStatus.PENDING


@pytest.mark.parametrize("action", ["approve", "deny", "extend", "ask-again"])
def test_a_viewer_cannot_answer_by_a_form_either(installed: None, action: str):
    approval = ask()
    form = {"binding": approval.binding, "scope": "once"}

    answer = signed_in("vera", "viewer").post(f"/approvals/{approval.pk}/{action}/", form)

    assert answer.status_code == 403
    approval.refresh_from_db()
    assert approval.status == ApprovalStatus.PENDING


def test_an_answer_without_the_binding_that_was_shown_is_refused(installed: None):
    approval = ask()

    answer = signed_in("olga", "operator").post(f"/approvals/{approval.pk}/approve/", {})

    assert answer.status_code == 422
    approval.refresh_from_db()
    assert approval.status == ApprovalStatus.PENDING


def test_a_card_that_did_not_change_is_not_sent_again(installed: None):
    approval = ask()
    client = signed_in("olga", "operator")
    address = f"/approvals/{approval.pk}/card/"
    mark = client.get(address).context["shown"].mark

    assert client.get(f"{address}?seen={mark}").status_code == 204
    client.post(f"/approvals/{approval.pk}/extend/")
    assert client.get(f"{address}?seen={mark}").status_code == 200


def test_the_export_is_safe_for_spreadsheets(installed: None):
    approval = ask()
    client = signed_in("olga", "operator")
    client.post(f"/approvals/{approval.pk}/deny/", {"comment": '=cmd|"/c calc"!A1'})

    lines = client.get("/approvals/history.csv").getvalue().decode()

    assert "'=cmd|" in lines
    assert ",=cmd|" not in lines


@pytest.mark.parametrize("action", ["extend", "lift"])
def test_a_viewer_changes_no_freeze(installed: None, action: str):
    end = timezone.now() + timedelta(hours=1)
    freeze = Freeze.objects.create(scope="agent", target="main", reason="x", expires_at=end)

    answer = signed_in("vera", "viewer").post(f"/freezes/{freeze.pk}/{action}/", {"lasts": "60"})

    assert answer.status_code == 403
    freeze.refresh_from_db()
    assert (freeze.ended_at, freeze.expires_at) == (None, end)


def test_a_freeze_that_ended_meanwhile_is_said(installed: None):
    end = timezone.now() - timedelta(seconds=1)
    freeze = Freeze.objects.create(scope="agent", target="main", reason="x", expires_at=end)

    answer = signed_in("olga", "operator").post(f"/freezes/{freeze.pk}/lift/", follow=True)

    assert "This freeze has ended." in answer.text
