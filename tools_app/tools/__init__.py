"""The built-in tools. Importing this package registers every one of them.

A tool module that needs a missing optional package is left out and the rest still works.
"""

import logging
from importlib import import_module

from tools_app.tools.loading import ToolsConfig, build_tools, load_tool_modules

__all__ = ["BUILT_IN_MODULES", "ToolsConfig", "build_tools", "load_tool_modules"]

BUILT_IN_MODULES = ("calculator", "file_read", "http_request", "think")

for _name in BUILT_IN_MODULES:
    try:
        import_module(f"{__name__}.{_name}")
    except ModuleNotFoundError as _error:
        if (_error.name or "").startswith("tools_app"):
            raise
        logging.getLogger(__name__).info("tool '%s' is left out: %s", _name, _error)
