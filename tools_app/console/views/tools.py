"""Tools: the catalogue, one tool, and trying it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from tools_app.console import snippets, trying
from tools_app.console.access import ConsoleRequest, is_fragment, page, refusal_page
from tools_app.console.forms import ToolForm, add_service_errors
from tools_app.models import ToolRun
from tools_app.selectors.inputs import last_inputs
from tools_app.selectors.runs import RunFilters, list_runs, run_detail
from tools_app.selectors.tools import ToolView, categories, list_tools, tool_detail, tool_row
from tools_app.services.agents import known_agents
from tools_app.services.catalogue import update_tool
from tools_app.services.errors import InvalidRequest, ServiceError
from tools_app.services.policies import current_version, decide
from tools_app.services.running import RunRequest, run_tool

RECENT_RUNS = 8
TRY_WAIT_S = 20.0  # a browser waits; what takes longer goes on and is watched on its page


@page("tools:read")
def tools(request: ConsoleRequest) -> HttpResponse:
    """List every tool with what the chosen agent may do with it."""
    chosen = {name: request.GET.get(name, "") for name in ("q", "category", "agent")}
    found = list_tools(
        request.actor,
        q=chosen["q"],
        category=chosen["category"],
        agent=chosen["agent"],
        all=request.actor.has("policy:read"),
        cursor=request.GET.get("cursor"),
    )
    context = {"page": found, "chosen": chosen, "is_filtered": any(chosen.values())}
    if not is_fragment(request):
        context |= {"categories": categories(), "agents": list(known_agents())}
    name = "console/parts/tools_table.html" if is_fragment(request) else "console/tools.html"
    return render(request, name, context)


@page("tools:read")
def tool(request: ConsoleRequest, name: str) -> HttpResponse:
    """Show one tool: its definition, what policy says, how to try it, its recent runs."""
    filled = trying.input_from(request.GET)
    earlier = _earlier_run(request)
    if earlier is not None:
        filled = trying.input_of_run(earlier)
    view = tool_detail(request.actor, name, agent=filled.agent)
    if earlier is None:
        filled = trying.TryInput(
            arguments=trying.example_arguments(view.tool.parameters), agent=filled.agent
        )
    context = _try_context(request, view, filled) | {
        "recent": list_runs(RunFilters(tool=name), request.actor, limit=RECENT_RUNS),
        "earlier": earlier,
        "changes": _changes(earlier, view),
        "form": _tool_form(request, view),
        "inputs": last_inputs(request.actor, name),
        "agents": list(known_agents()),
    }
    return render(request, "console/tool.html", context)


@require_POST
@page("tools:execute")
def tool_try(request: ConsoleRequest, name: str) -> HttpResponse:
    """Run the tool, or say what a run would meet, and answer the outcome."""
    filled = trying.input_from(request.POST)
    is_dry = request.POST.get("how") != "run"
    context: dict[str, Any] = {"is_dry": is_dry, "name": name, "agent": filled.agent}
    try:
        context["outcome"] = run_tool(
            RunRequest(
                actor=request.actor,
                tool_name=name,
                arguments=filled.arguments,
                agent=filled.agent,
                provider=filled.provider,
                model=filled.model,
                session=filled.session,
                surface="console",
                dry_run=is_dry,
                wait_s=TRY_WAIT_S,
            )
        )
    except ServiceError as error:
        context["error"] = error
    if not is_fragment(request):
        return _without_script(request, context)
    # Refusals are answers here: the fragment shows them, whatever their status is over REST.
    return render(request, "console/parts/try_outcome.html", context)


def _without_script(request: ConsoleRequest, context: dict[str, Any]) -> HttpResponse:
    if "error" in context:
        return refusal_page(request, context["error"])
    run = context["outcome"].run
    if run is not None:
        return redirect("console:run", run.pk)
    return render(request, "console/try_outcome.html", context)


@require_POST
@page("policy:write")
def tool_change(request: ConsoleRequest, name: str) -> HttpResponse:
    """Change what an admin may choose about a tool."""
    form = ToolForm(request.POST)
    if form.is_valid():
        try:
            update_tool(actor=request.actor, name=name, changes=form.cleaned_data)
        except InvalidRequest as error:
            add_service_errors(form, error)
    if form.errors:
        for problem in form.errors.values():
            messages.error(request, " ".join(map(str, problem)))
    else:
        messages.success(request, _("The tool was changed."))
    return redirect("console:tool", name)


@require_GET
@page("policy:read")
def why(request: ConsoleRequest) -> HttpResponse:
    """Go to the decision about a tool and an agent; it is made now if it never was."""
    given = {name: request.GET.get(name, "")[:200] for name in ("agent", "provider", "model")}
    row = decide(tool_name=request.GET.get("tool", "")[:200], **given)
    return redirect("console:decision", row.pk)


def _earlier_run(request: ConsoleRequest) -> ToolRun | None:
    try:
        run_id = UUID(request.GET.get("run", ""))
    except ValueError:
        return None
    return run_detail(run_id, request.actor)


def _changes(earlier: ToolRun | None, view: ToolView) -> list[trying.Member]:
    if earlier is None:
        return []
    return trying.changed_since(
        earlier,
        policy_version=current_version().number,
        definition_hash=view.tool.definition_hash,
    )


def _try_context(
    request: ConsoleRequest, view: ToolView, filled: trying.TryInput
) -> dict[str, Any]:
    url = request.build_absolute_uri(f"/api/v1/tools/{view.tool.name}/execute")
    body = filled.request_body()
    return {
        "view": view,
        "tool": view.tool,
        "filled": filled,
        "url": url,
        "body": body,
        "curl": snippets.curl_command(url, body),
        "python": snippets.python_program(url, body),
        "dry_first": view.tool.asks or not view.tool.is_bounded,
        "may_run": request.actor.has("tools:execute"),
    }


def _tool_form(request: ConsoleRequest, view: ToolView) -> ToolForm | None:
    if not request.actor.has("policy:write"):
        return None
    return ToolForm.for_tool(tool_row(view.tool.name))
