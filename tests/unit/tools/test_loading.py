"""From registered classes to instances, built in and a user's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools_app.core import InvalidSchema, InvalidSetting, ToolCall, ToolExecutor, ToolRegistry
from tools_app.core.types import ToolResult
from tools_app.tools import BUILT_IN_MODULES, ToolsConfig, build_tools, load_tool_modules

OWN_TOOL = """
from tools_app.core.registry import ToolRegistry
from tools_app.core.types import ToolResult, ToolSpec
from tools_app.tools._stubs import BaseTool


@ToolRegistry.register("{name}")
class OwnTool(BaseTool):
    tool_id = "{name}"
    plugin_id = "own-plugin"

    def __init__(self, {needs}):
        self._greeting = {greeting}

    @property
    def spec(self):
        return ToolSpec(name="{name}", description="Greets.", parameters={schema})

    def execute(self, **params):
        return ToolResult(tool_name="{name}", content=self._greeting)
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path; what it registers is forgotten afterwards."""
    before = dict(ToolRegistry.items())
    loaded = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    ToolRegistry.clear()
    for name, tool_class in before.items():
        ToolRegistry.register_value(name, tool_class)
    for name in set(sys.modules) - loaded:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def write_tool(
    folder: Path, name: str, *, needs: str = "", greeting: str = "'hi'", schema: str = "{}"
) -> None:
    source = OWN_TOOL.format(name=name, needs=needs, greeting=greeting, schema=schema)
    (folder / f"{name}_module.py").write_text(source)


def run(name: str, config: ToolsConfig | None = None, **arguments: object) -> ToolResult:
    return ToolExecutor(build_tools(config)).execute(ToolCall("1", name, arguments))


def test_every_built_in_tool_is_registered_and_made() -> None:
    names = [tool.spec.name for tool in build_tools()]
    assert set(BUILT_IN_MODULES) <= set(names)
    for tool in build_tools():
        assert ToolRegistry.get(tool.tool_id) is type(tool)
        assert tool.spec.name == tool.tool_id
        assert tool.spec.description


def test_the_configuration_reaches_the_tools(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    config = ToolsConfig(allowed_dirs=(str(tmp_path),), number_style="float")
    assert run("calculator", config, expression="2+2").content == "4.0"
    assert run("file_read", config, path="a.txt").content == "a"
    assert run("calculator", expression="2+2").content == "4"


def test_without_configuration_no_file_and_no_local_host_is_reached(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    assert run("file_read", path=str(tmp_path / "a.txt")).error_code == "path_denied"
    assert run("http_request", url="http://127.0.0.1/").error_code == "network_refused"


def test_a_bad_entry_of_the_configuration_is_named() -> None:
    with pytest.raises(InvalidSetting, match="what is this"):
        build_tools(ToolsConfig(allowed_hosts=("what is this",)))


def test_a_tool_of_the_users_own_is_used_like_a_built_in(modules: Path) -> None:
    write_tool(modules, "own_tool")
    load_tool_modules(["own_tool_module"])
    load_tool_modules(["own_tool_module"])
    assert run("own_tool").content == "hi"
    assert ToolRegistry.get("own_tool").plugin_id == "own-plugin"


def test_an_installed_package_announces_its_tools(modules: Path) -> None:
    write_tool(modules, "packaged_tool")
    info = modules / "packaged-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: packaged\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[openjarvis_web.tools]\nmine = packaged_tool_module\nbroken = no_such_module\n"
    )
    load_tool_modules()
    assert run("packaged_tool").content == "hi"


@pytest.mark.parametrize("name", ["no_such_module", "broken_module", "not a module"])
def test_a_module_that_cannot_be_imported_is_named(modules: Path, name: str) -> None:
    (modules / "broken_module.py").write_text("1/0")
    with pytest.raises(InvalidSetting, match=name):
        load_tool_modules([name])


def test_a_tool_that_lacks_what_it_needs_is_left_out_and_said(
    modules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_tool(modules, "needy_tool", needs="greeting", greeting="greeting")
    load_tool_modules(["needy_tool_module"])
    assert run("needy_tool").error_code == "unknown_tool"
    assert "needy_tool" in caplog.text
    config = ToolsConfig(options={"needy_tool": {"greeting": "hello"}})
    assert run("needy_tool", config).content == "hello"


def test_a_tool_with_an_unusable_schema_stops_the_building(modules: Path) -> None:
    write_tool(modules, "odd_tool", schema='{"type": "nonsense"}')
    load_tool_modules(["odd_tool_module"])
    with pytest.raises(InvalidSchema, match="odd_tool"):
        build_tools()
