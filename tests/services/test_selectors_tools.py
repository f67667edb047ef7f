"""Lists of tools, agents and policies as callers see them."""

from __future__ import annotations

import pytest

from tests.builders import (
    agent_policy,
    make_actor,
    make_agent,
    make_token_actor,
    make_tool,
    publish_policy,
)
from tools_app.selectors.agents import agent_detail, agent_prompt, list_agents
from tools_app.selectors.policy import (
    entry_suggestions,
    policy_history,
    policy_in_force,
    policy_version,
)
from tools_app.selectors.tools import (
    categories,
    list_tools,
    openai_functions,
    prompt_text,
    tool_detail,
    visible_names,
)
from tools_app.services.access import SYSTEM
from tools_app.services.errors import Forbidden, NotFound, TokenScope, UnknownAgent, UnknownTool

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def world() -> None:
    """Agent ``support`` may use ``message`` and ``search``; ``search`` needs approval."""
    make_agent("support")
    make_agent("main")
    make_tool("calculator", category="math", description="Adds numbers up.")
    make_tool("message", category="talk", description="Sends a text.")
    make_tool("search", category="talk", requires_confirmation=True)
    make_tool("gone", is_available=False)
    make_tool("off", is_enabled=False)
    publish_policy(agent_policy("support", allow=["message", "search", "off", "gone"]))


def names(actor=SYSTEM, **options) -> list[str]:
    return [view.tool.name for view in list_tools(actor, **options).items]


def reasons(actor=SYSTEM, **options) -> dict[str, tuple[bool, str]]:
    page = list_tools(actor, all=True, **options)
    return {view.tool.name: (view.callable, view.reason) for view in page.items}


def test_a_caller_sees_the_tools_of_its_agent() -> None:
    assert names(agent="support") == ["message", "search"]
    assert names(agent="main") == ["calculator", "message", "search"]
    assert names() == ["calculator", "message", "search"]


def test_all_shows_the_others_with_the_reason() -> None:
    assert reasons(agent="support") == {
        "calculator": (False, "denied_by_policy"),
        "gone": (False, "tool_unavailable"),
        "message": (True, "allowed"),
        "off": (False, "switched_off"),
        "search": (True, "approval_required"),
    }


def test_a_denial_names_the_rule_and_the_shortest_change() -> None:
    denied = next(v for v in list_tools(SYSTEM, agent="support", all=True).items if not v.callable)
    assert "agents.support.allow" in denied.summary
    assert denied.fix["edits"] == [
        {"op": "add", "path": "agents.list[0].tools.allow", "value": "calculator"}
    ]


def test_all_needs_the_right_to_read_the_policy() -> None:
    with pytest.raises(TokenScope):
        list_tools(make_token_actor(scopes=["tools:read"]), all=True)
    with pytest.raises(Forbidden):
        list_tools(make_actor("nobody"))


def test_a_search_finds_only_what_the_caller_may_see() -> None:
    assert names(agent="main", q="numbers adds") == ["calculator"]
    assert names(agent="support", q="numbers") == []
    assert names(agent="main", q="TALK") == ["message", "search"]
    assert names(agent="main", category="math") == ["calculator"]
    assert names(agent="support", category="math") == []
    assert names(agent="main", q="numbers", category="talk") == []


def test_what_the_policy_hides_cannot_be_looked_up_without_the_right() -> None:
    reading = make_token_actor(scopes=["tools:read"])
    assert tool_detail(reading, "message", agent="support").reason == "token_scope"
    for name in ("calculator", "off", "nope"):
        with pytest.raises(UnknownTool):
            tool_detail(reading, name, agent="support")
    assert tool_detail(SYSTEM, "calculator", agent="support").reason == "denied_by_policy"


def test_every_listed_tool_is_callable_or_says_why_not() -> None:
    reading = make_token_actor(scopes=["tools:read"])
    assert {(v.callable, v.reason) for v in list_tools(reading).items} == {(False, "token_scope")}
    viewer = make_actor("vera", "viewer")
    assert {(v.callable, v.reason) for v in list_tools(viewer).items} == {(False, "forbidden")}


def test_a_token_for_some_tools_sees_those() -> None:
    some = make_token_actor(tools=["message", "calculator"])
    assert names(some, agent="support") == ["message"]
    assert reasons(some, agent="support")["search"] == (False, "token_scope")


def test_a_token_for_one_agent_sees_its_tools_and_no_others() -> None:
    bound = make_token_actor(agent="support")
    assert names(bound) == ["message", "search"]
    with pytest.raises(TokenScope):
        names(bound, agent="main")


def test_a_tool_that_is_not_offered_on_a_surface_is_not_listed_there() -> None:
    make_tool("console_only", exposed_on=["console"])
    token = make_token_actor()
    assert "console_only" not in names(token)
    assert reasons(token)["console_only"] == (False, "not_exposed")
    assert "console_only" in names(make_actor("anna", "operator"))


def test_an_agent_that_is_not_there_is_said_so() -> None:
    with pytest.raises(UnknownAgent):
        names(agent="nobody")


def test_pages_go_by_name_in_both_directions() -> None:
    for number in range(5):
        make_tool(f"t{number}", category="paged")
    first = list_tools(SYSTEM, category="paged", limit=2)
    second = list_tools(SYSTEM, category="paged", limit=2, cursor=first.next_cursor)
    third = list_tools(SYSTEM, category="paged", limit=2, cursor=second.next_cursor)
    assert [[v.tool.name for v in p.items] for p in (first, second, third)] == [
        ["t0", "t1"], ["t2", "t3"], ["t4"],
    ]  # fmt: skip
    assert (first.previous_cursor, third.next_cursor) == (None, None)
    back = list_tools(SYSTEM, category="paged", limit=2, cursor=third.previous_cursor)
    assert [v.tool.name for v in back.items] == ["t2", "t3"]


def test_the_same_tools_come_as_functions_and_as_a_prompt() -> None:
    functions = openai_functions(SYSTEM, agent="support")
    assert [f["function"]["name"] for f in functions] == ["message", "search"]
    assert functions[0]["type"] == "function"
    text = prompt_text(SYSTEM, agent="support")
    assert "### message" in text
    assert "calculator" not in text
    assert visible_names(SYSTEM, agent="support") == ["message", "search"]


def test_a_list_costs_no_query_per_tool(django_assert_max_num_queries) -> None:
    for number in range(60):
        make_tool(f"t{number:02}")
    names(agent="main")
    with django_assert_max_num_queries(3):  # the stamps, for agents, policy and catalogue
        names(agent="main", limit=60)


def test_categories_are_listed_once() -> None:
    assert categories() == ["math", "talk"]


# --- agents ----------------------------------------------------------------------------------


def test_agents_come_with_what_the_policy_gives_them() -> None:
    views = {view.profile.slug: view for view in list_agents(SYSTEM).items}
    assert list(views) == ["main", "support"]
    assert (views["support"].allowed_count, views["support"].ask_count) == (2, 1)
    assert views["support"].rules == {"allow": ["message", "search", "off", "gone"]}
    assert (views["main"].allowed_count, views["main"].rules) == (3, {})


def test_agents_are_searched_and_paged() -> None:
    for number in range(4):
        make_agent(f"bot{number}", name=f"Helper {number}")
    page = list_agents(SYSTEM, q="helper", limit=3)
    assert [view.profile.slug for view in page.items] == ["bot0", "bot1", "bot2"]
    rest = list_agents(SYSTEM, q="helper", limit=3, cursor=page.next_cursor)
    assert [view.profile.slug for view in rest.items] == ["bot3"]


def test_a_bound_token_sees_its_agent_only() -> None:
    bound = make_token_actor(agent="support", scopes=["tools:read"])
    assert [view.profile.slug for view in list_agents(bound).items] == ["support"]
    with pytest.raises(UnknownAgent):
        agent_detail(bound, "main")
    with pytest.raises(UnknownAgent):
        agent_detail(SYSTEM, "nobody")


def test_the_prompt_is_the_agents_text_and_then_its_tools() -> None:
    make_agent("writer", prompt="You write.")
    text = agent_prompt(SYSTEM, "writer")
    assert text.startswith("You write.\n\n### calculator")
    assert agent_prompt(SYSTEM, "main").startswith("### calculator")


# --- policy ----------------------------------------------------------------------------------


def test_the_policy_and_its_history_are_readable() -> None:
    publish_policy({"tools": {"deny": ["calculator"]}})
    assert policy_in_force(SYSTEM).number == 2
    assert policy_version(SYSTEM, 1).document["agents"]["list"][0]["id"] == "support"
    first = policy_history(SYSTEM, limit=1)
    second = policy_history(SYSTEM, limit=1, cursor=first.next_cursor)
    assert [v.number for v in (*first.items, *second.items)] == [2, 1]
    with pytest.raises(NotFound):
        policy_version(SYSTEM, 3)


def test_pickers_get_groups_and_profiles() -> None:
    entries = {entry.entry: entry.kind for entry in entry_suggestions(SYSTEM)}
    assert entries["group:math"] == "group"
    assert entries["messaging"] == "profile"


def test_reading_the_policy_needs_the_right() -> None:
    reading = make_token_actor(scopes=["tools:read"])
    for read in (policy_in_force, policy_history, entry_suggestions):
        with pytest.raises(TokenScope):
            read(reading)
