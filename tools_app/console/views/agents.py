"""Agents: the list, one agent with its rules in the policy, and what comes out of them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from tools_app.console.access import ConsoleRequest, is_fragment, page
from tools_app.console.agent_forms import AgentForm, AgentToolsForm, NewAgentForm
from tools_app.console.forms import add_service_errors
from tools_app.selectors.agents import AgentView, agent_detail, list_agents
from tools_app.selectors.policy import entry_suggestions
from tools_app.selectors.tools import list_tools
from tools_app.services.agents import create_agent, delete_agent, update_agent
from tools_app.services.errors import Conflict, InvalidRequest, PolicyInvalid, PreconditionFailed
from tools_app.services.policies import (
    PolicyCheck,
    check,
    current_version,
    set_agent_tools,
    with_agent_tools,
)


@page("tools:read")
def agents(request: ConsoleRequest) -> HttpResponse:
    """List the agents with what policy gives each."""
    query = request.GET.get("q", "")
    found = list_agents(request.actor, q=query, cursor=request.GET.get("cursor"))
    context = {"page": found, "query": query, "may_change": _may_change(request)}
    return render(request, "console/agents.html", context)


@page("agents")
def agent_new(request: ConsoleRequest) -> HttpResponse:
    """Create an agent profile."""
    form = NewAgentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            profile = create_agent(actor=request.actor, **form.cleaned_data)
        except (InvalidRequest, Conflict) as error:
            add_service_errors(form, error)
        else:
            messages.success(request, _("Agent %(slug)s was created.") % {"slug": profile.slug})
            return redirect("console:agent", profile.slug)
    status = 422 if form.errors else 200
    return render(request, "console/agent_new.html", {"form": form}, status=status)


@page("tools:read")
def agent(request: ConsoleRequest, slug: str) -> HttpResponse:
    """Show one agent: its effective tools with reasons, its rules, its profile."""
    view = agent_detail(request.actor, slug)
    if is_fragment(request):
        return render(request, "console/parts/agent_tools.html", _tools_context(request, view))
    return _agent_page(request, view, AgentForm.of(view.profile), _tools_form(view))


@require_POST
@page("agents")
def agent_change(request: ConsoleRequest, slug: str) -> HttpResponse:
    """Change an agent's profile, based on the version the form was opened with."""
    view = agent_detail(request.actor, slug)
    form = AgentForm(request.POST)
    if form.is_valid():
        changes = dict(form.cleaned_data)
        version = changes.pop("version")
        try:
            update_agent(actor=request.actor, slug=slug, changes=changes, version=version)
        except (InvalidRequest, PreconditionFailed) as error:
            add_service_errors(form, error)
        else:
            messages.success(request, _("The profile was saved."))
            return redirect("console:agent", slug)
    return _agent_page(request, view, form, _tools_form(view), status=422)


@require_POST
@page("policy:read")
def agent_rules(request: ConsoleRequest, slug: str) -> HttpResponse:
    """Check or publish other tool lists for an agent."""
    view = agent_detail(request.actor, slug)
    form = AgentToolsForm(request.POST, suggestions=entry_suggestions(request.actor))
    checked: PolicyCheck | None = None
    if form.is_valid():
        try:
            if request.POST.get("how") == "publish":
                return _publish_rules(request, slug, form)
            document = with_agent_tools(current_version().document, slug, form.rules)
            checked = check(actor=request.actor, document=document)
        except (PolicyInvalid, PreconditionFailed) as error:
            add_service_errors(form, error)
    if is_fragment(request) and not form.errors:
        return render(request, "console/parts/policy_check.html", {"check": checked})
    status = 422 if form.errors else 200
    return _agent_page(
        request, view, AgentForm.of(view.profile), form, status=status, check=checked
    )


def _publish_rules(request: ConsoleRequest, slug: str, form: AgentToolsForm) -> HttpResponse:
    version = set_agent_tools(
        actor=request.actor,
        agent=slug,
        tools=form.rules,
        base_number=form.cleaned_data["base_number"],
        comment=form.cleaned_data["comment"],
    )
    messages.success(request, _("Published as policy v%(n)d.") % {"n": version.number})
    if is_fragment(request):
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return redirect("console:agent", slug)


@require_POST
@page("agents")
def agent_delete(request: ConsoleRequest, slug: str) -> HttpResponse:
    """Remove an agent profile; its runs stay."""
    text = request.POST.get("version", "")
    version = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    try:
        delete_agent(actor=request.actor, slug=slug, version=version)
    except PreconditionFailed as error:
        messages.error(request, error.message)
        return redirect("console:agent", slug)
    messages.success(request, _("Agent %(slug)s was deleted.") % {"slug": slug})
    return redirect("console:agents")


def _agent_page(
    request: ConsoleRequest,
    view: AgentView,
    form: AgentForm,
    tools_form: AgentToolsForm,
    *,
    status: int = 200,
    check: PolicyCheck | None = None,
) -> HttpResponse:
    context = _tools_context(request, view) | {
        "form": form,
        "tools_form": tools_form,
        "check": check,
        "may_change": _may_change(request),
        "may_publish": request.actor.has("policy:write"),
        "suggestions": entry_suggestions(request.actor),
        "policy_number": current_version().number,
    }
    return render(request, "console/agent.html", context, status=status)


def _tools_context(request: ConsoleRequest, view: AgentView) -> dict[str, Any]:
    query = request.GET.get("q", "")
    only = request.GET.get("only", "")
    found = None
    if view.profile.is_active:
        found = list_tools(
            request.actor,
            agent=view.profile.slug,
            q=query,
            all=only != "callable" and request.actor.has("policy:read"),
            cursor=request.GET.get("cursor"),
        )
    return {"view": view, "agent": view.profile, "page": found, "query": query, "only": only}


def _tools_form(view: AgentView) -> AgentToolsForm:
    return AgentToolsForm.of(view.rules, current_version())


def _may_change(request: ConsoleRequest) -> bool:
    return "admin" in request.actor.roles
