"""Bringing the rows of the tools up to date with the code, at every start."""

from __future__ import annotations

from typing import Any

import structlog
from django.db import transaction

from tools_app.core import BaseTool, compile_arguments, definition_hash
from tools_app.core.errors import InvalidSchema
from tools_app.models import Tool
from tools_app.services.access import SYSTEM
from tools_app.services.catalogue import tool_instances
from tools_app.services.configuration import bump
from tools_app.services.events import record_event

log = structlog.get_logger(__name__)


@transaction.atomic
def sync_tools() -> list[str]:
    """Make the rows mirror the tools of this process; returns the names of those that changed.

    New tools are ``tool.registered``. A changed definition, and a tool that went or came back,
    is ``tool.changed`` with both hashes, so that approvals and grants for the old one are seen
    to be void. The columns that belong to the admin are not touched. A tool whose schema cannot
    be compiled is kept as unavailable.
    """
    rows = {row.name: row for row in Tool.objects.select_for_update()}
    present = {name: _columns(tool) for name, tool in tool_instances().items()}
    gone = [name for name, row in rows.items() if name not in present and row.is_available]
    changed = [
        *(name for name, columns in present.items() if _store(rows.get(name), name, columns)),
        *(name for name in gone if _store(rows[name], name, {"is_available": False})),
    ]
    if changed:
        bump("tools")
    return changed


def _store(row: Tool | None, name: str, columns: dict[str, Any]) -> bool:
    """Write what differs and the event that says so; returns whether anything did."""
    if row is None:
        Tool.objects.create(name=name, **columns)
        data = {"definition_hash": columns["definition_hash"], "source": columns["source"]}
        record_event("tool.registered", tool=name, actor=SYSTEM.label, data=data)
        return True
    changes = {field: value for field, value in columns.items() if getattr(row, field) != value}
    if not changes:
        return False
    old_hash = row.definition_hash
    for field, value in changes.items():
        setattr(row, field, value)
    row.save(update_fields=[*changes, "updated_at"])
    data = {
        "fields": sorted(changes),
        "old_definition_hash": old_hash,
        "definition_hash": row.definition_hash,
        "is_available": row.is_available,
    }
    record_event("tool.changed", tool=name, actor=SYSTEM.label, data=data)
    return True


def _columns(tool: BaseTool) -> dict[str, Any]:
    spec = tool.spec
    module = type(tool).__module__
    return {
        "description": spec.description,
        "parameters": spec.parameters,
        "category": spec.category,
        "source": "builtin" if module.startswith("tools_app.tools.") else module.split(".")[0][:64],
        "plugin_id": tool.plugin_id or "",
        "cost_estimate": spec.cost_estimate,
        "latency_estimate": spec.latency_estimate,
        "timeout_seconds": spec.timeout_seconds,
        "requires_confirmation": spec.requires_confirmation,
        "required_capabilities": list(spec.required_capabilities),
        "metadata": spec.metadata,
        "is_bounded": tool.is_bounded,
        "is_local": tool.is_local,
        "is_available": _is_usable(tool),
        "definition_hash": definition_hash(spec),
    }


def _is_usable(tool: BaseTool) -> bool:
    try:
        compile_arguments(tool.spec.parameters)
    except InvalidSchema as error:
        log.warning("a tool's schema cannot be used", tool=tool.spec.name, reason=error.message)
        return False
    return True
