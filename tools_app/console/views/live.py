"""Live: the runs of this second. The page is a snapshot; its script goes on from ``cursor``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from tools_app.console.access import ConsoleRequest, page
from tools_app.console.forms import RunFilterForm
from tools_app.console.preferences import times_of
from tools_app.models import RunStatus, ToolRun
from tools_app.selectors.runs import RunFilters, list_runs
from tools_app.services.events import latest_seq

ROWS = 30  # the page stays under 60 KB; the script keeps up to 500
FILTERS = ("agent", "tool", "effect", "status")


@page("tools:read")
def live(request: ConsoleRequest) -> HttpResponse:
    """Show the newest runs, and where in the log the stream has to go on."""
    form = RunFilterForm(request.GET)
    given = form.cleaned_data if form.is_valid() else {}
    chosen: dict[str, Any] = {name: given.get(name) or "" for name in FILTERS}
    # The number first: what happens between the two is in both and drawn once, never in neither.
    cursor = latest_seq()
    found = list_runs(RunFilters(**chosen), request.actor, limit=ROWS)
    context = {
        "form": form,
        "chosen": chosen,
        "is_filtered": any(chosen.values()),
        "cursor": cursor,
        "runs": found.items,
        "blank": ToolRun(id=UUID(int=0)),
        "effects": ("allow", "ask", "deny"),
        "statuses": RunStatus.values,
        "zone": times_of(request).zone_name,
        "page_words": _words(),
    }
    return render(request, "console/live.html", context)


def _words() -> Mapping[str, str]:
    """Return what the page's script says."""
    return {
        "following": _("Following: new runs appear on top."),
        "paused": _("Paused because {why} · {n} new"),
        "why_scroll": _("you scrolled"),
        "why_key": _("you paused"),
        "why_select": _("text is selected"),
        "why_focus": _("a row has the focus"),
        "why_panel": _("a run is open"),
        "rate": _("{n} calls/s"),
        "skipped": _("Showing {shown} of {all} in the last 10 s."),
        "summary": _("{n} new runs, {denied} denied"),
        "as_of": _("as of {time}"),
        "no_match": _("no longer matches the filter"),
    }
