"""Look-ups by a few typed letters."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from tools_app.models import AgentProfile, Tool, ToolRun


def agents_named(text: str, *, limit: int) -> list[str]:
    """Return slugs of agents whose slug or name contains the text."""
    found = AgentProfile.objects.filter(slug__icontains=text) | AgentProfile.objects.filter(
        name__icontains=text
    )
    return list(found.order_by("slug").values_list("slug", flat=True)[:limit])


def tools_named(text: str, *, limit: int) -> list[str]:
    """Return names of tools that contain the text, those that begin with it first."""
    names: QuerySet[Tool, str] = Tool.objects.order_by("name").values_list("name", flat=True)
    first = list(names.filter(name__istartswith=text)[:limit])
    rest = names.filter(name__icontains=text).exclude(name__istartswith=text)
    return first + list(rest[: limit - len(first)])


def run_exists(run_id: UUID) -> bool:
    """Say whether a run has this id."""
    return ToolRun.objects.filter(pk=run_id).exists()
