"""The first page: what needs a person now, then how much traffic there is."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from tools_app.console.access import ConsoleRequest, is_fragment, page
from tools_app.selectors.overview import WINDOWS, needs_attention, traffic


@page("tools:read")
def overview(request: ConsoleRequest) -> HttpResponse:
    """Show what waits, what fails, and the traffic of one hour or one day."""
    window = request.GET.get("window", "1h")
    window = window if window in WINDOWS else "1h"
    seen = traffic(window)
    latencies = [point.p95_ms for point in seen.points if point.p95_ms is not None]
    context = {
        "window": window,
        "traffic": seen,
        "width_min": seen.width_s // 60,
        "highest_p95_ms": max(latencies, default=None),
    }
    if is_fragment(request):
        return render(request, "console/parts/traffic.html", context)
    context["needs"] = needs_attention(request.actor)
    return render(request, "console/overview.html", context)
