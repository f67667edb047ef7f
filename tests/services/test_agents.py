"""Agent profiles."""

from __future__ import annotations

import pytest

from tests.builders import make_actor, make_agent, make_token_actor, make_user
from tools_app.models import AgentProfile, Event
from tools_app.services.access import SYSTEM
from tools_app.services.agents import (
    create_agent,
    delete_agent,
    known_agents,
    resolve_agent,
    update_agent,
)
from tools_app.services.errors import (
    AgentInactive,
    Conflict,
    Forbidden,
    InvalidRequest,
    PreconditionFailed,
    PreconditionRequired,
    TokenScope,
    UnknownAgent,
)

pytestmark = pytest.mark.django_db


def test_a_new_agent_is_known_at_once_and_an_event() -> None:
    assert "support" not in known_agents()
    make_agent("support", name="Support", provider="openai", model="gpt-5")
    assert known_agents()["support"].model == "gpt-5"
    event = Event.objects.latest("seq")
    assert (event.kind, event.agent) == ("agent.created", "support")


def test_a_name_that_is_taken_is_a_conflict() -> None:
    make_agent("support")
    with pytest.raises(Conflict):
        make_agent("support")


@pytest.mark.parametrize("slug", ["", "Support", "a b", "ä", "x" * 65, "-x", "a\n", "a/b", "\0"])
def test_a_slug_that_is_none_is_refused(slug: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        make_agent(slug, name="n")
    assert {error["path"] for error in refusal.value.extra["errors"]} == {"$.slug"}


@pytest.mark.parametrize("slug", ["a", "a-b_c", "0", "_x", "x" * 64])
def test_slugs_at_the_edge_are_fine(slug: str) -> None:
    assert make_agent(slug).slug == slug


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": ""}, "$.name"),
        ({"name": "x" * 121}, "$.name"),
        ({"prompt": "x" * 200_001}, "$.prompt"),
        ({"description": "x" * 5_001}, "$.description"),
        ({"version": 9}, "$.version"),
        ({"colour": "red"}, "$.colour"),
        ({"is_active": "perhaps"}, "$.is_active"),
    ],
)
def test_wrong_fields_are_named(fields, path: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        make_agent("support", **fields)
    assert {error["path"] for error in refusal.value.extra["errors"]} == {path}
    assert not AgentProfile.objects.exists()


def test_a_change_raises_the_version_and_names_the_fields() -> None:
    make_agent("support")
    changes = {"prompt": "Be kind.", "model": "gpt-5", "name": "support"}
    changed = update_agent(actor=SYSTEM, slug="support", changes=changes, version=1)
    assert (changed.version, changed.prompt) == (2, "Be kind.")
    assert Event.objects.latest("seq").data == {"fields": ["model", "prompt"], "version": 2}
    assert known_agents()["support"].model == "gpt-5"


def test_a_change_of_nothing_is_no_event() -> None:
    make_agent("support")
    before = Event.objects.count()
    same = update_agent(actor=SYSTEM, slug="support", changes={"name": "support"}, version=1)
    assert (same.version, Event.objects.count()) == (1, before)


@pytest.mark.parametrize(
    ("version", "error"), [(None, PreconditionRequired), (1, PreconditionFailed)]
)
def test_changes_must_name_the_version_they_saw(version, error) -> None:
    make_agent("support")
    update_agent(actor=SYSTEM, slug="support", changes={"name": "S"}, version=1)
    with pytest.raises(error):
        update_agent(actor=SYSTEM, slug="support", changes={"name": "T"}, version=version)
    with pytest.raises(error):
        delete_agent(actor=SYSTEM, slug="support", version=version)


def test_a_deleted_agent_is_unknown_and_its_name_free() -> None:
    make_agent("support")
    delete_agent(actor=SYSTEM, slug="support", version=1)
    with pytest.raises(UnknownAgent):
        resolve_agent(SYSTEM, "support")
    assert make_agent("support").version == 1


def test_changing_what_is_not_there_is_unknown() -> None:
    with pytest.raises(UnknownAgent):
        update_agent(actor=SYSTEM, slug="nobody", changes={}, version=1)


def test_operators_and_their_tokens_do_not_change_agents() -> None:
    operator = make_user("anna", "operator")
    for actor in (
        make_actor("ben", "operator"),
        make_token_actor(operator, scopes=["agents"]),
    ):
        with pytest.raises(Forbidden):
            create_agent(actor=actor, slug="new")
    with pytest.raises(Forbidden):
        create_agent(actor=make_actor("vera", "viewer"), slug="new")
    with pytest.raises(TokenScope):
        create_agent(actor=make_token_actor(scopes=["tools:read"]), slug="new")


def test_a_token_of_an_admin_with_the_scope_changes_agents() -> None:
    assert create_agent(actor=make_token_actor(scopes=["agents"]), slug="new").slug == "new"


def test_a_caller_acts_for_the_agent_it_names_or_is_bound_to() -> None:
    make_agent("support")
    make_agent("main")
    anna = make_actor("anna", "operator")
    bound = make_token_actor(agent="support")
    assert resolve_agent(anna, "") is None
    assert resolve_agent(anna, "main").slug == "main"
    assert resolve_agent(bound, "").slug == "support"
    assert resolve_agent(bound, "support").slug == "support"
    with pytest.raises(TokenScope):
        resolve_agent(bound, "main")
    with pytest.raises(TokenScope):
        resolve_agent(bound, "nobody")


@pytest.mark.parametrize("slug", ["nobody", "Support", "\0", "x" * 1000])
def test_an_agent_that_is_not_there_is_unknown(slug: str) -> None:
    make_agent("support")
    with pytest.raises(UnknownAgent):
        resolve_agent(SYSTEM, slug)


def test_an_agent_that_was_switched_off_is_refused_at_once() -> None:
    make_agent("support")
    resolve_agent(SYSTEM, "support")
    update_agent(actor=SYSTEM, slug="support", changes={"is_active": False}, version=1)
    with pytest.raises(AgentInactive):
        resolve_agent(SYSTEM, "support")
