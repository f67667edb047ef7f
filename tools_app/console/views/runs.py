"""Runs: the list, one run, its output, and the decision behind it."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from tools_app.console.access import ConsoleRequest, is_fragment, page
from tools_app.console.forms import RunFilterForm
from tools_app.console.output import MORE_LINES, output_chunk
from tools_app.console.timelines import timeline_rows
from tools_app.models import ToolRun
from tools_app.selectors.decisions import decision_detail
from tools_app.selectors.runs import RunFilters, list_runs, run_detail, run_timeline
from tools_app.services.errors import Conflict
from tools_app.services.run_results import result_of
from tools_app.services.running import cancel_run
from tools_app.services.sealing import deliverable_arguments

ROWS = 40  # a page of them stays under 60 KB


@page("tools:read")
def runs(request: ConsoleRequest) -> HttpResponse:
    """List runs, newest first; the filters are in the address."""
    form = RunFilterForm(request.GET)
    cursor = request.GET.get("cursor")
    found = list_runs(_filters(form), request.actor, cursor=cursor, limit=ROWS)
    context = {"form": form, "page": found, "is_filtered": form.is_filtering}
    name = "console/parts/runs_table.html" if is_fragment(request) else "console/runs.html"
    return render(request, name, context)


def _filters(form: RunFilterForm) -> RunFilters:
    if not form.is_valid():
        return RunFilters()
    given = dict(form.cleaned_data)
    hours = given.pop("hours")
    since = timezone.now() - timedelta(hours=hours) if hours else None
    return RunFilters(since=since, **given)


@page("tools:read")
def run(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """Show one run: what was asked, decided, approved and done, and what came out."""
    found = run_detail(run_id, request.actor)
    if is_fragment(request) and request.GET.get("seen") == found.status:
        return HttpResponse(status=204)  # nothing new: leave what is being read alone
    context = {
        "run": found,
        "arguments": deliverable_arguments(found, request.actor),
        "steps": timeline_rows(found, run_timeline(found)),
        "chunk": output_chunk(_content(found, request)),
        "may_cancel": not found.is_finished and request.actor.has("tools:execute"),
    }
    name = "console/parts/run_body.html" if is_fragment(request) else "console/run.html"
    return render(request, name, context)


@page("tools:read")
def run_output(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """Answer the whole output as a text file, or the part after ``start`` as a fragment."""
    content = _content(run_detail(run_id, request.actor), request)
    if not is_fragment(request):
        response = HttpResponse(content, content_type="text/plain; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="run-{run_id}.txt"'
        return response
    start = request.GET.get("start", "0")
    start_at = int(start) if start.isascii() and start.isdigit() and len(start) < 12 else 0
    chunk = output_chunk(content, start=start_at, lines=MORE_LINES)
    return render(request, "console/parts/output_chunk.html", {"chunk": chunk, "run_id": run_id})


def _content(found: ToolRun, request: ConsoleRequest) -> str:
    result = result_of(found, request.actor)
    return result.content if result is not None else ""


@require_POST
@page("tools:execute")
def run_cancel(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """Cancel a run that is not over."""
    try:
        cancel_run(actor=request.actor, run_id=run_id, reason=request.POST.get("reason", ""))
    except Conflict as error:
        messages.error(request, error.message)
    else:
        messages.success(request, _("The run is being cancelled."))
    return redirect("console:run", run_id)


@page("tools:read")
def decision(request: ConsoleRequest, decision_id: UUID) -> HttpResponse:
    """Explain a decision: every layer in order, the rule that decided, the shortest change."""
    found = decision_detail(decision_id, request.actor)
    return render(request, "console/decision.html", {"decision": found})
