"""Rights of people and of tokens."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from tests.builders import make_actor, make_token, make_user
from tools_app.models import Event
from tools_app.services.access import ROLES, SCOPES, SYSTEM, actor_for_token, actor_for_user
from tools_app.services.errors import Forbidden, TokenScope

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", ROLES)
def test_a_role_gives_exactly_its_scopes(role: str) -> None:
    assert make_actor("anna", role).scopes == ROLES[role]


def test_roles_add_up_and_other_groups_count_for_nothing() -> None:
    actor = make_actor("anna", "viewer", "auditor", "football")
    assert actor.roles == {"viewer", "auditor"}
    assert actor.scopes == ROLES["viewer"] | ROLES["auditor"]


def test_nobody_without_a_role_has_a_scope_not_even_the_first_user() -> None:
    assert make_actor("first").scopes == frozenset()


def test_a_superuser_is_an_admin() -> None:
    actor = actor_for_user(make_user("root", is_superuser=True))
    assert actor.roles == {"admin"}
    assert all(actor.has(scope) for scope in SCOPES)


def test_admin_implies_every_scope_and_keeps_its_own_name() -> None:
    actor = make_actor("anna", "admin")
    actor.require("audit")
    assert actor.label == "user:anna"
    assert SYSTEM.has("policy:write")


def test_a_missing_right_is_named_differently_for_people_and_tokens() -> None:
    with pytest.raises(Forbidden, match="policy:write"):
        make_actor("anna", "viewer").require("policy:write")
    token = actor_for_token(make_token(scopes=["tools:read"]).token)
    with pytest.raises(TokenScope, match="tools:execute"):
        token.require("tools:execute")


def test_a_new_role_counts_from_the_next_look_on() -> None:
    anna = make_user("anna", "viewer")
    assert not actor_for_user(anna).has("approvals")
    anna.groups.add(Group.objects.get_or_create(name="operator")[0])
    assert actor_for_user(anna).has("approvals")
    Group.objects.get(name="operator").user_set.clear()
    assert not actor_for_user(anna).has("approvals")


def test_a_token_loses_what_its_owner_loses() -> None:
    owner = make_user("anna", "operator")
    token = make_token(owner, scopes=["tools:execute", "tools:read"]).token
    assert actor_for_token(token).scopes == {"tools:execute", "tools:read"}
    owner.groups.set([Group.objects.get_or_create(name="viewer")[0]])
    assert actor_for_token(token).scopes == {"tools:read"}


def test_a_token_of_a_former_admin_has_what_the_owner_still_has() -> None:
    owner = make_user("anna", "admin")
    token = make_token(owner, scopes=["admin"]).token
    assert actor_for_token(token).has("nodes")
    owner.groups.set([Group.objects.get_or_create(name="viewer")[0]])
    assert actor_for_token(token).scopes == ROLES["viewer"]


def test_a_deactivated_person_and_their_tokens_have_nothing() -> None:
    owner = make_user("anna", "admin")
    token = make_token(owner).token
    owner.is_active = False
    owner.save()
    assert actor_for_user(owner).scopes == frozenset()
    assert actor_for_token(token).scopes == frozenset()


def test_rights_are_answered_from_memory(django_assert_num_queries) -> None:
    anna = make_user("anna", "operator")
    actor_for_user(anna)
    with django_assert_num_queries(1):
        actor_for_user(anna)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda u: setattr(u, "is_active", False), ["active"]),
        (lambda u: setattr(u, "is_superuser", True), ["roles"]),
        (lambda u: u.set_password("another one"), ["password"]),
        (lambda u: setattr(u, "username", "anne"), ["name"]),
    ],
    ids=["active", "superuser", "password", "name"],
)
def test_a_change_of_standing_is_an_event(change, what: list[str]) -> None:
    anna = make_user("anna", "viewer")
    change(anna)
    anna.save()
    event = Event.objects.filter(kind="access.changed").latest("seq")
    assert (event.data["user"], event.data["what"]) == (anna.pk, what)


def test_a_save_that_changes_nothing_of_it_is_no_event() -> None:
    anna = make_user("anna", "viewer")
    before = Event.objects.count()
    anna.email = "anna@example.org"
    anna.save()
    anna.save(update_fields=["last_login"])
    assert Event.objects.count() == before


def test_signing_in_with_an_old_kind_of_hash_is_no_change_of_password(settings) -> None:
    anna = make_user("anna", "viewer")
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
        *settings.PASSWORD_HASHERS,
    ]
    old = anna.password
    assert anna.check_password("correct horse battery staple")
    assert anna.password != old
    assert not Event.objects.filter(kind="access.changed", data__what=["password"]).exists()


def test_signing_in_and_out_are_events_without_the_session_key(client) -> None:
    anna = make_user("anna", "viewer")
    client.force_login(anna)
    key = client.session.session_key
    client.logout()
    kinds = list(Event.objects.values_list("kind", flat=True).order_by("seq"))
    assert kinds[-2:] == ["user.signed_in", "session.ended"]
    ended = Event.objects.latest("seq")
    assert ended.data["user"] == anna.pk
    assert key not in str(ended.data)
