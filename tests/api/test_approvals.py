"""approvals: list, show, approve, deny, ask-again, extend; grants: list, revoke"""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from tests.api.callers import caller, code_of
from tools_app.models import Approval, ToolRun

EXECUTES = ["tools:read", "tools:execute"]


@pytest.fixture
def agent_token(admin):
    """A token whose owner is not the approver; the calculator asks."""
    admin.patch("tools/calculator", {"confirmation_override": True})
    return caller("rob", "operator", scopes=EXECUTES)


@pytest.fixture
def asked(agent_token):
    """The approval of a call that waits."""
    response = agent_token.execute()
    assert response.status_code == 202
    assert response.json()["run"]["status"] == "waiting_approval"
    return response.json()["approval"]["id"]


def binding_of(operator, approval: str) -> str:
    return operator.get(f"approvals/{approval}").json()["binding"]


def test_the_approver_sees_the_exact_call(operator, asked):
    card = operator.get(f"approvals/{asked}").json()
    assert card["status"] == "pending"
    assert "2+2" in card["call_text"]
    assert (card["may_decide"], card["why_not"]) == (True, "")
    [listed] = operator.get("approvals?status=pending").json()["items"]
    assert listed["id"] == asked


def test_approving_queues_the_run(operator, asked):
    body = {"binding": binding_of(operator, asked), "comment": "fine"}
    response = operator.post(f"approvals/{asked}/approve", body)
    assert (response.status_code, response.json()["status"]) == (200, "approved")
    assert response.json()["run_status"] == "queued"
    assert response.json()["decided_via"] == "rest"


def test_another_binding_approves_nothing(operator, asked):
    response = operator.post(f"approvals/{asked}/approve", {"binding": "sha256:" + "0" * 64})
    assert (response.status_code, code_of(response)) == (409, "approval_mismatch")
    assert operator.get(f"approvals/{asked}").json()["status"] == "pending"


def test_an_approval_is_void_after_the_policy_changed(admin, operator, asked):
    binding = binding_of(operator, asked)
    tag = admin.get("policy")["ETag"]
    admin.put("policy", {"document": {"tools": {"deny": ["think"]}}}, headers={"If-Match": tag})
    response = operator.post(f"approvals/{asked}/approve", {"binding": binding})
    assert (response.status_code, code_of(response)) == (409, "approval_mismatch")
    assert response.json()["may_ask_again"] is True
    again = operator.post(f"approvals/{asked}/ask-again")
    assert again.status_code == 201
    assert again.json()["replaces"] == asked


def test_denying_refuses_the_run_with_the_comment(operator, agent_token, asked):
    response = operator.post(f"approvals/{asked}/deny", {"comment": "too risky"})
    assert response.json()["status"] == "denied"
    run = agent_token.get(f"runs/{response.json()['run']}").json()
    assert (run["status"], run["outcome"]) == ("refused", "approval_denied")
    assert "too risky" in run["message"]


def test_it_is_decided_once(operator, asked):
    operator.post(f"approvals/{asked}/deny")
    binding = Approval.objects.get(pk=asked).binding
    response = operator.post(f"approvals/{asked}/approve", {"binding": binding})
    assert (response.status_code, code_of(response)) == (409, "approval_closed")
    assert response.json()["state"] == "denied"


def test_nobody_approves_their_own_call(admin, operator):
    admin.patch("tools/calculator", {"confirmation_override": True})
    asked = operator.execute().json()["approval"]["id"]
    card = operator.get(f"approvals/{asked}").json()
    assert card["may_decide"] is False
    assert card["why_not"]
    response = operator.post(f"approvals/{asked}/approve", {"binding": card["binding"]})
    assert (response.status_code, code_of(response)) == (403, "self_approval")


def test_an_expired_approval_says_so_and_can_be_asked_again(operator, asked):
    binding = binding_of(operator, asked)
    Approval.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    response = operator.post(f"approvals/{asked}/approve", {"binding": binding})
    assert (response.status_code, code_of(response)) == (409, "approval_expired")
    fresh = operator.post(f"approvals/{asked}/ask-again").json()
    assert (fresh["status"], fresh["replaces"]) == ("pending", asked)
    assert fresh["call_text"] == operator.get(f"approvals/{asked}").json()["call_text"]


def test_asking_again_while_it_waits_is_a_conflict(operator, asked):
    response = operator.post(f"approvals/{asked}/ask-again")
    assert (response.status_code, code_of(response)) == (409, "conflict")


def test_more_time_is_a_new_binding(operator, asked):
    before = operator.get(f"approvals/{asked}").json()
    after = operator.post(f"approvals/{asked}/extend", {"seconds": 60}).json()
    assert after["expires_at"] > before["expires_at"]
    assert after["binding"] != before["binding"]
    response = operator.post(f"approvals/{asked}/approve", {"binding": before["binding"]})
    assert code_of(response) == "approval_mismatch"


def test_waiting_ends_at_its_time_without_an_answer(agent_token, asked):
    response = agent_token.get(f"approvals/{asked}?wait=0.2")
    assert (response.status_code, response.json()["status"]) == (200, "pending")


def test_the_requester_sees_its_own_and_a_stranger_none(agent_token, asked):
    assert agent_token.get(f"approvals/{asked}").json()["may_decide"] is False
    stranger = caller("sue", "operator", scopes=EXECUTES)
    assert code_of(stranger.get(f"approvals/{asked}")) == "not_found"
    assert stranger.get("approvals").json()["items"] == []


def test_a_remembered_approval_is_not_asked_again_until_revoked(operator, agent_token, asked):
    body = {"binding": binding_of(operator, asked), "scope": "always"}
    operator.post(f"approvals/{asked}/approve", body)
    [grant] = operator.get("grants").json()["items"]
    assert (grant["scope"], grant["approval"]) == ("always", asked)
    prefer = {"Prefer": "respond-async"}
    assert agent_token.execute(headers=prefer).json()["run"]["status"] == "queued"
    other = agent_token.execute(arguments={"expression": "3+3"})
    assert other.json()["run"]["status"] == "waiting_approval"
    assert operator.delete(f"grants/{grant['id']}").json()["revoked_at"]
    assert agent_token.execute().json()["run"]["status"] == "waiting_approval"
    assert code_of(operator.delete(f"grants/{grant['id']}")) == "conflict"


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("approve", {}),
        ("approve", {"binding": "x", "scope": "forever"}),
        ("approve", {"binding": "x", "scope": "until"}),
        ("approve", {"binding": "x", "agent": "main"}),
        ("extend", {"seconds": 0}),
        ("extend", {"seconds": 10**9}),
        ("deny", {"reason": "no"}),
    ],
)
def test_a_wrong_answer_is_refused(operator, asked, action, body):
    response = operator.post(f"approvals/{asked}/{action}", body)
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
    assert ToolRun.objects.get(approval__pk=asked).status == "waiting_approval"


@pytest.mark.parametrize("action", ["approve", "deny", "ask-again", "extend"])
def test_only_approvers_answer(viewer, nobody, operator, asked, action):
    body = {"binding": "x"} if action == "approve" else {}
    assert code_of(viewer.post(f"approvals/{asked}/{action}", body)) == "token_scope"
    assert code_of(nobody.post(f"approvals/{asked}/{action}", body)) == "not_authenticated"
    assert code_of(operator.post(f"approvals/{uuid4()}/{action}", body)) == "not_found"
    assert code_of(operator.get(f"approvals/{asked}/{action}")) == "method_not_allowed"


@pytest.mark.parametrize("query", ["wait=61", "wait=-1", "wait=x", "wiat=1"])
def test_a_wrong_wait_is_refused(operator, asked, query):
    response = operator.get(f"approvals/{asked}?{query}")
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
