"""tokens: list, create, revoke; ws-tickets"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.api.callers import Caller, caller, code_of, person
from tools_app.models import ApiToken

READS = {"name": "reader", "scopes": ["tools:read"]}


@pytest.fixture
def anna(installed):
    """An operator in a browser."""
    return Caller(user=person("anna", "operator"))


def test_a_new_token_is_shown_once_and_works(anna):
    made = anna.post("tokens", {**READS, "agent": "coding", "tools": ["think"]})
    assert made.status_code == 201
    secret = made.json()["secret"]
    assert secret.startswith(f"ojw_{made.json()['token']['key_id']}_")
    assert made["Cache-Control"] == "no-store"
    assert Caller(token=secret).get("tools").json()["agent"] == "coding"
    [listed] = anna.get("tokens").json()["items"]
    assert "secret" not in listed
    assert secret.split("_", 2)[2] not in ApiToken.objects.get().digest


def test_a_revoked_token_is_refused_at_once(anna):
    made = anna.post("tokens", READS).json()
    client = Caller(token=made["secret"])
    assert client.get("tools").status_code == 200
    revoked = anna.delete(f"tokens/{made['token']['id']}")
    assert revoked.json()["revoked_at"]
    assert (client.get("tools").status_code, code_of(client.get("tools"))) == (401, "invalid_token")


def test_an_expired_token_is_refused(anna):
    expires_at = (timezone.now() + timedelta(hours=1)).isoformat()
    made = anna.post("tokens", {**READS, "expires_at": expires_at}).json()
    client = Caller(token=made["secret"])
    assert client.get("tools").status_code == 200
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    anna.post("tokens", READS)  # any change of a token: rows are read again
    assert code_of(client.get("tools")) == "invalid_token"


def test_a_deactivated_owner_takes_the_tokens_along(anna, admin):
    made = anna.post("tokens", READS).json()
    client = Caller(token=made["secret"])
    user = ApiToken.objects.get(pk=made["token"]["id"]).owner
    user.is_active = False
    user.save()
    assert code_of(client.get("tools")) == "invalid_token"


def test_a_token_never_has_more_than_its_owner(anna):
    response = anna.post("tokens", {**READS, "scopes": ["admin"]})
    assert (response.status_code, code_of(response)) == (403, "forbidden")


def test_a_token_cannot_make_a_wider_one(viewer):
    response = viewer.post("tokens", {**READS, "scopes": ["tools:execute"]})
    assert (response.status_code, code_of(response)) == (403, "token_scope")


def test_only_an_admin_makes_tokens_for_others(anna, admin):
    assert code_of(anna.post("tokens", {**READS, "owner": "ada"})) == "forbidden"
    made = admin.post("tokens", {**READS, "owner": "anna"})
    assert made.json()["token"]["owner"] == "anna"
    assert code_of(admin.post("tokens", {**READS, "owner": "nobody"})) == "invalid_request"


def test_tokens_of_others_are_invisible_and_cannot_be_revoked(anna, installed):
    made = anna.post("tokens", READS).json()["token"]
    berta = Caller(user=person("berta", "operator"))
    assert berta.get("tokens").json()["items"] == []
    assert code_of(berta.delete(f"tokens/{made['id']}")) == "not_found"


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": ""}, "$.name"),
        ({"scopes": []}, "$.scopes"),
        ({"scopes": ["fly"]}, "$.scopes.0"),
        ({"tools": []}, "$.tools"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "$.expires_at"),
        ({"scope": "x"}, "$.scope"),
    ],
)
def test_a_wrong_field_is_named(anna, fields, path):
    response = anna.post("tokens", {**READS, **fields})
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
    assert path in [error["path"] for error in response.json()["errors"]]


def test_an_unknown_agent_gets_no_token(anna):
    assert code_of(anna.post("tokens", {**READS, "agent": "nope"})) == "unknown_agent"


def test_a_ticket_is_given_to_who_may_read(viewer, installed):
    ticket = viewer.post("ws-tickets")
    assert (ticket.status_code, ticket.json()["expires_in"]) == (201, 30)
    runner = caller("rita", "operator", scopes=["tools:execute"])
    assert code_of(runner.post("ws-tickets")) == "token_scope"


def test_a_credential_in_the_address_is_refused(nobody, viewer):
    for name in ("token", "key", "q"):
        response = nobody.get(f"tools?{name}={viewer.token}")
        assert (response.status_code, code_of(response)) == (400, "secret_in_url")


def test_nobody_and_the_wrong_method_are_refused(nobody, admin):
    for path in ("tokens", "ws-tickets"):
        assert code_of(nobody.post(path, READS)) == "not_authenticated"
    assert code_of(admin.put("tokens", READS)) == "method_not_allowed"
    assert code_of(admin.get("ws-tickets")) == "method_not_allowed"
    assert code_of(admin.delete("tokens/999999")) == "not_found"
