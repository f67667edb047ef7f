"""The catalogue: code and rows in step, what an admin may change, how a tool is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import make_actor, make_token_actor, make_tool
from tools_app.core import BaseTool, ToolResult, ToolSpec
from tools_app.models import Event, Tool
from tools_app.services import catalogue
from tools_app.services.access import SYSTEM
from tools_app.services.catalogue import find_tool, offered_tools, update_tool
from tools_app.services.errors import (
    Forbidden,
    InvalidRequest,
    TokenScope,
    ToolUnavailable,
    UnknownTool,
)
from tools_app.services.tool_sync import sync_tools

pytestmark = pytest.mark.django_db

Provide = Callable[..., None]


class Lookup(BaseTool):
    """A tool of another app, whose description may change between two starts."""

    tool_id = "lookup"
    plugin_id = "directory"

    def __init__(self, description: str = "Looks people up.", **parameters: Any) -> None:
        self._spec = ToolSpec(
            name=self.tool_id,
            description=description,
            parameters={"type": "object", "properties": parameters},
            category="people",
            requires_confirmation=True,
        )

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    def execute(self, /, **params: Any) -> ToolResult:
        return ToolResult(self.tool_id, "found")


@pytest.fixture
def provide(monkeypatch) -> Provide:
    """Start again, as it were, with these tools besides the built-in ones."""

    def start_with(*tools: BaseTool) -> None:
        monkeypatch.setattr(catalogue, "_sources", [])
        monkeypatch.setattr(catalogue, "_instances", None)
        catalogue.add_tool_source(lambda: tools)

    return start_with


def kinds(tool: str) -> list[str]:
    found = Event.objects.filter(tool=tool).order_by("seq")
    return list(found.values_list("kind", flat=True))


def test_every_tool_of_the_code_gets_a_row() -> None:
    sync_tools()
    names = set(Tool.objects.values_list("name", flat=True))
    assert {"calculator", "file_read", "http_request", "think"} <= names
    calculator = Tool.objects.get(name="calculator")
    assert (calculator.source, calculator.is_bounded) == ("builtin", True)
    assert calculator.definition_hash.startswith("sha256:")


def test_a_second_start_changes_nothing() -> None:
    sync_tools()
    events = Event.objects.count()
    assert sync_tools() == []
    assert Event.objects.count() == events


def test_a_tool_of_another_app_is_registered_with_its_plugin(provide: Provide) -> None:
    provide(Lookup())
    assert "lookup" in sync_tools()
    row = Tool.objects.get(name="lookup")
    assert (row.plugin_id, row.category, row.requires_confirmation) == ("directory", "people", True)
    assert row.source != "builtin"
    assert kinds("lookup") == ["tool.registered"]


def test_a_changed_definition_is_an_event_with_both_hashes(provide: Provide) -> None:
    provide(Lookup())
    sync_tools()
    old = Tool.objects.get(name="lookup").definition_hash
    provide(Lookup(name={"type": "string"}))
    assert sync_tools() == ["lookup"]
    event = Event.objects.filter(kind="tool.changed").get()
    assert event.data["old_definition_hash"] == old
    assert event.data["definition_hash"] == Tool.objects.get(name="lookup").definition_hash != old


def test_what_an_admin_chose_survives_a_changed_definition(provide: Provide) -> None:
    provide(Lookup())
    sync_tools()
    choices = {"is_enabled": False, "confirmation_override": False, "note": "not yet"}
    update_tool(actor=SYSTEM, name="lookup", changes=choices)
    provide(Lookup("Looks people and places up."))
    sync_tools()
    row = Tool.objects.get(name="lookup")
    assert row.description == "Looks people and places up."
    assert (row.is_enabled, row.confirmation_override, row.note) == (False, False, "not yet")


def test_a_tool_that_goes_is_kept_as_unavailable_and_may_come_back(provide: Provide) -> None:
    provide(Lookup())
    sync_tools()
    provide()
    assert sync_tools() == ["lookup"]
    with pytest.raises(ToolUnavailable):
        find_tool("lookup")
    assert "lookup" not in {tool.name for tool in offered_tools()}
    provide(Lookup())
    assert sync_tools() == ["lookup"]
    assert find_tool("lookup").is_available
    assert kinds("lookup") == ["tool.registered", "tool.changed", "tool.changed"]


def test_a_schema_that_cannot_be_compiled_makes_a_tool_unavailable(provide: Provide) -> None:
    provide(Lookup(name={"type": "no such type"}))
    sync_tools()
    with pytest.raises(ToolUnavailable):
        find_tool("lookup")
    assert find_tool("calculator").is_available


def test_of_two_tools_with_one_name_the_first_counts(provide: Provide) -> None:
    provide(Lookup("first"), Lookup("second"))
    sync_tools()
    assert find_tool("lookup").description == "first"


@pytest.mark.parametrize("spelling", ["exec", "EXEC", " exec ", "bash", "Bash"])
def test_a_tool_is_found_by_other_spellings_and_aliases(spelling: str) -> None:
    make_tool("exec")
    assert find_tool(spelling).name == "exec"


def test_an_exact_spelling_is_never_overruled() -> None:
    make_tool("Exec")
    make_tool("exec")
    assert [find_tool(name).name for name in ("Exec", "exec")] == ["Exec", "exec"]


@pytest.mark.parametrize("name", ["", "nope", "\0", "x" * 10_000, "calc*"])
def test_unknown_names_are_refused(name: str) -> None:
    make_tool("calculator")
    with pytest.raises(UnknownTool) as refusal:
        find_tool(name)
    assert len(refusal.value.message) < 1000


def test_a_tool_that_was_switched_off_is_gone_at_once() -> None:
    make_tool("lookup")
    assert find_tool("lookup")
    update_tool(actor=SYSTEM, name="lookup", changes={"is_enabled": False})
    with pytest.raises(UnknownTool, match="switched off"):
        find_tool("lookup")
    assert offered_tools() == ()


def test_an_admins_choices_decide_over_the_tools_own() -> None:
    make_tool("lookup", requires_confirmation=True, timeout_seconds=10)
    changes = {"confirmation_override": False, "timeout_override": 5, "exposed_on": ["console"]}
    update_tool(actor=SYSTEM, name="lookup", changes=changes)
    tool = find_tool("lookup")
    assert (tool.asks, tool.timeout_s) == (False, 5)
    assert tool.is_exposed_on("console")
    assert not tool.is_exposed_on("rest")
    update_tool(
        actor=SYSTEM, name="lookup", changes={"confirmation_override": None, "exposed_on": None}
    )
    assert find_tool("lookup").asks
    assert find_tool("lookup").is_exposed_on("rest")


@pytest.mark.parametrize(
    "changes",
    [
        {"is_enabled": 1},
        {"confirmation_override": "yes"},
        {"timeout_override": 0},
        {"timeout_override": True},
        {"timeout_override": float("nan")},
        {"timeout_override": 86_401},
        {"exposed_on": "rest"},
        {"exposed_on": ["moon"]},
        {"exposed_on": [["rest"]]},
        {"note": 5},
        {"note": "x" * 10_001},
        {"name": "other"},
        {"parameters": {}},
    ],
)
def test_a_change_that_makes_no_sense_is_refused_by_name(changes: dict[str, Any]) -> None:
    make_tool("lookup")
    with pytest.raises(InvalidRequest) as refusal:
        update_tool(actor=SYSTEM, name="lookup", changes=changes)
    assert [e["path"] for e in refusal.value.extra["errors"]] == [f"$.{next(iter(changes))}"]


def test_a_change_is_an_event_and_no_change_is_none() -> None:
    make_tool("lookup")
    update_tool(actor=SYSTEM, name="lookup", changes={"note": "new"})
    update_tool(actor=SYSTEM, name="lookup", changes={"note": "new"})
    assert kinds("lookup") == ["tool.updated"]
    assert Event.objects.get(kind="tool.updated").data == {"changes": {"note": "new"}}


def test_changing_a_tool_needs_the_right() -> None:
    make_tool("lookup")
    with pytest.raises(Forbidden):
        update_tool(actor=make_actor("anna", "operator"), name="lookup", changes={"note": ""})
    reading = make_token_actor(scopes=["tools:read"])
    with pytest.raises(TokenScope):
        update_tool(actor=reading, name="lookup", changes={"note": ""})
    with pytest.raises(UnknownTool):
        update_tool(actor=SYSTEM, name="nope", changes={"note": ""})


def test_tools_are_answered_from_memory(django_assert_num_queries) -> None:
    for number in range(20):
        make_tool(f"tool_{number}")
    find_tool("tool_3")
    with django_assert_num_queries(1):
        find_tool("tool_4")


def test_the_same_offer_is_the_same_object_until_something_changes() -> None:
    make_tool("lookup")
    first = offered_tools()
    assert offered_tools() is first
    make_tool("another")
    assert offered_tools() is not first
