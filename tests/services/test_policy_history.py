"""Publishing an old version of the policy anew."""

from __future__ import annotations

import pytest

from tests.builders import agent_policy, make_actor, make_agent, make_tool, publish_policy
from tools_app.models import PolicyVersion
from tools_app.services import policies
from tools_app.services.access import SYSTEM
from tools_app.services.errors import (
    Forbidden,
    NotFound,
    PolicyInvalid,
    PreconditionFailed,
    PreconditionRequired,
)
from tools_app.services.policy_history import check_again, publish_again

pytestmark = pytest.mark.django_db

TOOLS = ("calculator", "exec", "message", "think")
OLD = {
    "tools": {"deny": ["exec"], "byProvider": {"openai": {"profile": "minimal"}}},
    **agent_policy("support", profile="messaging", alsoAllow=["calculator"]),
}


@pytest.fixture(autouse=True)
def tools() -> None:
    for name in TOOLS:
        make_tool(name)
    make_agent("support")


def layers() -> list[object]:
    """What every layer says about every tool, for two kinds of calls."""
    return [
        policies.decide(tool_name=tool, agent="support", provider=provider).explanation["layers"]
        for tool in TOOLS
        for provider in ("", "openai")
    ]


@pytest.mark.parametrize("table_set", ["default", "2026.2.22"])
def test_the_old_decisions_are_back_under_a_new_number(settings, table_set: str) -> None:
    settings.OPENJARVIS_TABLE_SET = table_set
    old, before = publish_policy(OLD), layers()
    settings.OPENJARVIS_TABLE_SET = "default"
    publish_policy({"tools": {"deny": ["*"]}})
    assert layers() != before

    again = publish_again(actor=SYSTEM, number=old.number, base_number=2)
    assert (again.number, again.digest, again.table_set) == (3, old.digest, table_set)
    assert policies.current_version() == again
    assert layers() == before


def test_the_history_is_added_to_and_never_changed() -> None:
    publish_policy(OLD)
    publish_policy({"tools": {"deny": ["*"]}})
    kept = list(PolicyVersion.objects.order_by("number").values())
    publish_again(actor=SYSTEM, number=1, base_number=2, comment="too narrow")
    assert list(PolicyVersion.objects.filter(number__lte=2).order_by("number").values()) == kept
    assert PolicyVersion.objects.get(number=3).comment == "too narrow"


def test_what_would_change_is_known_before() -> None:
    publish_policy(OLD)
    publish_policy({"tools": {"deny": ["*"]}})
    found = check_again(actor=SYSTEM, number=1)
    publish_again(actor=SYSTEM, number=1, base_number=2)
    gained = {change.agent: change.added for change in found.changes}
    assert gained["support"] == policies.effective_tools(agent="support").allowed
    assert gained["support"] == ("calculator", "message")


@pytest.mark.parametrize(
    ("number", "base", "error"),
    [(1, 1, PreconditionFailed), (1, None, PreconditionRequired), (9, 2, NotFound)],
)
def test_it_is_refused_like_any_publishing(number: int, base: int | None, error) -> None:
    publish_policy(OLD)
    publish_policy()
    with pytest.raises(error):
        publish_again(actor=SYSTEM, number=number, base_number=base)
    assert policies.current_version().number == 2


def test_it_needs_the_right_to_publish() -> None:
    publish_policy(OLD)
    publish_policy()
    with pytest.raises(Forbidden):
        publish_again(actor=make_actor("vera", "viewer"), number=1, base_number=2)


def test_a_version_that_would_be_refused_today_stays_in_the_past() -> None:
    old = publish_policy(OLD)
    publish_policy()
    PolicyVersion.objects.filter(pk=old.pk).update(document={"tolls": {}})
    with pytest.raises(PolicyInvalid) as refusal:
        publish_again(actor=SYSTEM, number=old.number, base_number=2)
    assert refusal.value.extra["errors"][0]["path"] == "tolls"
