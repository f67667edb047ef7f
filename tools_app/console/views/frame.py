"""Parts of the frame that pages ask for by themselves: the palette and what changed under it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from tools_app.console.access import ConsoleRequest, is_fragment, page
from tools_app.console.frame import places
from tools_app.console.palette import palette_entries


@page("tools:read")
def palette(request: ConsoleRequest) -> HttpResponse:
    """Answer the palette's search; without script it is a page of its own."""
    query = request.GET.get("q", "").strip()[:200]
    entries = palette_entries(query, places(request), request.actor)
    context = {"entries": entries, "query": query}
    name = "console/parts/palette_options.html" if is_fragment(request) else "console/palette.html"
    return render(request, name, context)


@page("tools:read")
def frame_update(request: ConsoleRequest) -> HttpResponse:
    """Answer the parts of the frame that events change: freeze banner and approvals badge."""
    return render(request, "console/parts/frame_update.html")
