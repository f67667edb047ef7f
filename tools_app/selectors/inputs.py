"""What a person gave a tool before, to start the next try from."""

from __future__ import annotations

from tools_app.models import ToolRun
from tools_app.services.access import Actor

LAST = 5
_LOOKED_AT = 50  # the same arguments often come again; further back is not worth a scan


def last_inputs(actor: Actor, tool_name: str) -> list[ToolRun]:
    """Return the newest runs by this person in the console, each set of arguments once."""
    if actor.user_id is None:
        return []
    rows = ToolRun.objects.filter(
        tool_name=tool_name, user_id=actor.user_id, surface="console"
    ).only("id", "arguments", "arguments_digest", "agent", "requested_at")
    found: dict[str, ToolRun] = {}
    for row in rows.order_by("-id")[:_LOOKED_AT]:
        found.setdefault(row.arguments_digest or str(row.pk), row)
        if len(found) == LAST:
            break
    return list(found.values())
