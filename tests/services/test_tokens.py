"""API tokens and WebSocket tickets."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connections
from django.utils import timezone

from tests.builders import make_actor, make_agent, make_token, make_token_actor, make_user
from tools_app.models import ApiToken, Event, WsTicket
from tools_app.services.access import SYSTEM, actor_for_user
from tools_app.services.errors import (
    Forbidden,
    InvalidRequest,
    InvalidToken,
    NotFound,
    TokenScope,
    UnknownAgent,
)
from tools_app.services.tokens import (
    authenticate_token,
    create_token,
    create_ws_ticket,
    list_tokens,
    redeem_ws_ticket,
    revoke_token,
)

pytestmark = pytest.mark.django_db


def test_the_text_opens_and_is_stored_nowhere() -> None:
    new = make_token()
    assert authenticate_token(new.secret_text) == new.token
    secret = new.secret_text.split("_", 2)[2]
    stored = [*ApiToken.objects.values_list(), *Event.objects.values_list()]
    assert secret not in str(stored)
    assert secret not in repr(new)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[:-1],
        lambda text: f"{text}x",
        lambda text: text.upper(),
        lambda text: text.replace("ojw_", "abc_"),
        lambda text: f"ojw_{'0' * 12}_{text.split('_', 2)[2]}",
        lambda text: f"ojw_{text.split('_', 2)[1]}_\ud800",
        lambda text: "ojw_\0_secret",
    ],
)
def test_any_other_text_is_refused(damage) -> None:
    text = damage(make_token().secret_text)
    with pytest.raises(InvalidToken):
        authenticate_token(text)


def test_a_revoked_token_is_refused_at_once() -> None:
    new = make_token()
    authenticate_token(new.secret_text)
    revoke_token(actor=SYSTEM, token_id=new.token.pk)
    with pytest.raises(InvalidToken):
        authenticate_token(new.secret_text)
    assert Event.objects.latest("seq").kind == "token.revoked"


def test_an_expired_token_is_refused_to_the_second() -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    with time_machine.travel(start, tick=False) as clock:
        new = make_token(expires_at=start + timedelta(hours=1))
        clock.move_to(start + timedelta(minutes=59, seconds=59))
        authenticate_token(new.secret_text)
        clock.move_to(start + timedelta(hours=1))
        with pytest.raises(InvalidToken):
            authenticate_token(new.secret_text)


def test_a_token_of_a_deactivated_owner_is_refused() -> None:
    owner = make_user("anna", "operator")
    new = make_token(owner, scopes=["tools:read"])
    owner.is_active = False
    owner.save()
    with pytest.raises(InvalidToken):
        authenticate_token(new.secret_text)


def test_a_token_made_under_a_rotated_key_still_opens(settings) -> None:
    new = make_token()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "n" * 50
    assert authenticate_token(new.secret_text) == new.token
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(InvalidToken):
        authenticate_token(new.secret_text)


def test_a_known_token_costs_one_query(django_assert_num_queries) -> None:
    new = make_token()
    authenticate_token(new.secret_text)
    with django_assert_num_queries(2):  # the stamps, for the token and for its owner
        authenticate_token(new.secret_text)


def test_the_last_use_is_stored_once_a_minute() -> None:
    new = make_token()
    authenticate_token(new.secret_text)
    first = ApiToken.objects.get(pk=new.token.pk).last_used_at
    assert first is not None
    authenticate_token(new.secret_text)
    assert ApiToken.objects.get(pk=new.token.pk).last_used_at == first


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": "  "}, "$.name"),
        ({"name": "x" * 121}, "$.name"),
        ({"scopes": []}, "$.scopes"),
        ({"scopes": ["tools:read", "everything"]}, "$.scopes"),
        ({"tools": []}, "$.tools"),
        ({"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}, "$.expires_at"),
        ({"expires_at": datetime(2099, 1, 1)}, "$.expires_at"),
    ],
)
def test_fields_that_are_wrong_are_named(fields, path: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        make_token(**{"name": "bot", "scopes": ["tools:read"], **fields})
    assert [error["path"] for error in refusal.value.extra["errors"]] == [path]
    assert ApiToken.objects.count() == 0


def test_nobody_gives_more_than_they_have() -> None:
    anna = make_user("anna", "operator")
    actor = actor_for_user(anna)
    with pytest.raises(Forbidden, match="policy:write"):
        create_token(actor=actor, owner=anna, name="bot", scopes=["policy:write"])
    with pytest.raises(Forbidden, match="admin"):
        create_token(actor=actor, owner=anna, name="bot", scopes=["admin"])
    with pytest.raises(Forbidden, match="somebody else"):
        create_token(actor=actor, owner=make_user("ben"), name="bot", scopes=["tools:read"])


def test_an_admin_gives_no_more_than_the_owner_has() -> None:
    with pytest.raises(Forbidden, match="owner"):
        make_token(make_user("anna", "viewer"), scopes=["tools:execute"])


def test_a_bound_token_makes_tokens_bound_alike() -> None:
    make_agent("support")
    owner = make_user("anna", "admin")
    ends = timezone.now() + timedelta(days=1)
    actor = make_token_actor(owner, agent="support", tools=["think"], expires_at=ends)

    def child(**options):
        return create_token(
            actor=actor, owner=owner, name="child", scopes=["tools:read"], **options
        )

    with pytest.raises(TokenScope, match="support"):
        child(tools=["think"], expires_at=ends)
    with pytest.raises(TokenScope, match="tools"):
        child(agent="support", expires_at=ends)
    with pytest.raises(TokenScope, match="tools"):
        child(agent="support", tools=["think", "calculator"], expires_at=ends)
    with pytest.raises(TokenScope, match="outlives"):
        child(agent="support", tools=["think"])
    assert child(agent="support", tools=["think"], expires_at=ends).token.agent == "support"


def test_a_token_for_an_agent_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnknownAgent):
        make_token(agent="nobody")


def test_people_see_and_revoke_their_own_and_admins_all() -> None:
    anna, ben = make_user("anna", "operator"), make_user("ben", "operator")
    of_anna = make_token(anna, scopes=["tools:read"]).token
    of_ben = make_token(ben, scopes=["tools:read"]).token
    assert list_tokens(actor=actor_for_user(anna)) == [of_anna]
    assert list_tokens(actor=make_actor("root", "admin")) == [of_ben, of_anna]
    with pytest.raises(NotFound):
        revoke_token(actor=actor_for_user(anna), token_id=of_ben.pk)
    assert revoke_token(actor=actor_for_user(anna), token_id=of_anna.pk).revoked_at


def test_a_token_sees_itself_only() -> None:
    anna = make_user("anna", "operator")
    make_token(anna, scopes=["tools:read"])
    actor = make_token_actor(anna, scopes=["tools:read"])
    assert [token.pk for token in list_tokens(actor=actor)] == [actor.token_id]


def test_revoking_twice_is_one_event() -> None:
    token = make_token().token
    revoke_token(actor=SYSTEM, token_id=token.pk)
    revoke_token(actor=SYSTEM, token_id=token.pk)
    assert Event.objects.filter(kind="token.revoked").count() == 1


def test_a_ticket_opens_once_as_whoever_asked() -> None:
    anna = make_user("anna", "operator")
    text = create_ws_ticket(actor=actor_for_user(anna))
    actor = redeem_ws_ticket(text)
    assert (actor.user_id, actor.scopes) == (anna.pk, actor_for_user(anna).scopes)
    with pytest.raises(InvalidToken):
        redeem_ws_ticket(text)
    assert text not in str(list(WsTicket.objects.values_list()))


def test_a_ticket_of_a_token_has_the_tokens_limits() -> None:
    make_agent("support")
    bound = make_token_actor(agent="support", tools=["think"])
    assert redeem_ws_ticket(create_ws_ticket(actor=bound)) == bound


def test_a_ticket_ends_after_thirty_seconds() -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    with time_machine.travel(start, tick=False) as clock:
        actor = make_actor("anna", "viewer")
        in_time, late = create_ws_ticket(actor=actor), create_ws_ticket(actor=actor)
        clock.move_to(start + timedelta(seconds=29))
        redeem_ws_ticket(in_time)
        clock.move_to(start + timedelta(seconds=30))
        with pytest.raises(InvalidToken):
            redeem_ws_ticket(late)


def test_a_ticket_ends_with_its_token() -> None:
    actor = make_token_actor()
    text = create_ws_ticket(actor=actor)
    revoke_token(actor=SYSTEM, token_id=actor.token_id)
    with pytest.raises(InvalidToken):
        redeem_ws_ticket(text)


def test_no_ticket_for_nobody() -> None:
    with pytest.raises(Forbidden):
        create_ws_ticket(actor=SYSTEM)


@pytest.mark.django_db(transaction=True)
def test_of_many_sockets_with_one_ticket_one_opens() -> None:
    text = create_ws_ticket(actor=make_actor("anna", "viewer"))
    opened: list[str] = []
    together = threading.Barrier(8)

    def connect() -> None:
        together.wait()
        try:
            opened.append(redeem_ws_ticket(text).label)
        except InvalidToken:
            pass
        finally:
            connections.close_all()

    threads = [threading.Thread(target=connect) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == ["user:anna"]


def test_the_command_prints_a_token_that_opens(capsys) -> None:
    make_user("root", "admin")
    make_agent("support")
    call_command("create_token", "ci", "--scope", "tools:execute", "--agent", "support")
    token = authenticate_token(capsys.readouterr().out.strip())
    assert (token.owner.username, token.scopes, token.agent) == (
        "root",
        ["tools:execute"],
        "support",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scope", "nonsense"], "Unknown scope"),
        (["--scope", "tools:read", "--agent", "nobody"], "no agent"),
        (["--scope", "tools:read", "--owner", "nobody"], "no active user"),
    ],
)
def test_the_command_says_what_is_wrong(arguments: list[str], words: str) -> None:
    make_user("root", "admin")
    with pytest.raises(CommandError, match=words):
        call_command("create_token", "ci", *arguments)
