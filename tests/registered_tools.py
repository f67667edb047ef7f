"""The sample tools, registered: for processes that import modules by setting."""

from tests.sample_tools import SAMPLE_TOOLS
from tools_app.core import ToolRegistry

for tool_class in SAMPLE_TOOLS:
    if not ToolRegistry.contains(tool_class.tool_id):
        ToolRegistry.register_value(tool_class.tool_id, tool_class)
