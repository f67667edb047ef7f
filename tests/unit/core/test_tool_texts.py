"""Descriptions: operators' overrides, odd schemas, and the import path of OpenJarvis."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools_app.core import use_description_overrides
from tools_app.tools._stubs import BaseTool, ToolResult, ToolSpec, build_tool_descriptions


class PlainTool(BaseTool):
    tool_id = "plain"

    def __init__(self, parameters: dict[str, Any] | None = None) -> None:
        self._parameters = parameters or {}

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec("plain", "its own words", self._parameters)

    def execute(self, **params: Any) -> ToolResult:
        return ToolResult("plain", "")


@pytest.fixture
def overrides(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "descriptions.toml"
    use_description_overrides(path)
    yield path
    use_description_overrides(None)


def described() -> str:
    text: str = PlainTool().to_openai_function()["function"]["description"]
    return text


def test_an_override_replaces_the_description_everywhere(overrides: Path) -> None:
    overrides.write_text('[plain]\ndescription = "say \\"hi\\" # twice"\n')
    assert described() == 'say "hi" # twice'
    assert build_tool_descriptions([PlainTool()]) == '### plain\nsay "hi" # twice'


def test_a_changed_file_is_read_again(overrides: Path) -> None:
    assert described() == "its own words"
    overrides.write_text('[plain]\ndescription = "one"\n')
    assert described() == "one"
    overrides.write_text('[plain]\ndescription = "another"\n')
    assert described() == "another"
    overrides.unlink()
    assert described() == "its own words"


@pytest.mark.parametrize("text", ["[plain", "plain = 3", "[plain]\ndescription = 3", "\udc80"])
def test_a_broken_file_changes_nothing(overrides: Path, text: str) -> None:
    overrides.write_text('[plain]\ndescription = "good"\n')
    assert described() == "good"
    overrides.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert described() == "good"


@pytest.mark.parametrize(
    ("parameters", "lines"),
    [
        ({"properties": {"a": True}}, ["Parameters:", "  - a (any)"]),
        ({"properties": []}, []),
        (
            {"properties": {"a": {"type": "string"}}, "required": None},
            ["Parameters:", "  - a (string)"],
        ),
    ],
)
def test_odd_schemas_are_described(parameters: dict[str, Any], lines: list[str]) -> None:
    text = build_tool_descriptions([PlainTool(parameters)])
    assert text.split("\n")[2:] == lines
