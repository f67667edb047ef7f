"""Files in and out: export, plan, apply."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from tools_app.console.access import ConsoleRequest, page
from tools_app.console.forms import add_service_errors
from tools_app.console.policy_forms import PlanForm
from tools_app.policy.openclaw import export_openclaw
from tools_app.selectors.policy import policy_in_force
from tools_app.services.applying import apply_wanted, configuration, plan_for
from tools_app.services.errors import InvalidRequest, NotFound
from tools_app.services.plan_files import read_file, write_yaml


@require_GET
@page("policy:read")
def export(request: ConsoleRequest, kind: str) -> HttpResponse:
    """Answer the policy as openclaw.json, or everything as YAML, as a download."""
    if kind == "openclaw":
        text = export_openclaw(policy_in_force(request.actor).document)
        name, content_type = "openclaw.json", "application/json"
    elif kind == "yaml":
        text = write_yaml(configuration(request.actor))
        name, content_type = "control-room.yaml", "application/yaml; charset=utf-8"
    else:
        raise NotFound("There is no such export.")
    response = HttpResponse(text, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@page("admin")
def plan(request: ConsoleRequest) -> HttpResponse:
    """Show what applying a file would change; nothing is stored."""
    form = PlanForm(request.POST, request.FILES) if request.method == "POST" else PlanForm()
    context: dict[str, Any] = {"form": form}
    status = 200
    if form.is_bound:
        try:
            if form.is_valid():
                wanted = read_file(form.cleaned_data["kind"], form.content())
                context["plan"] = plan_for(actor=request.actor, wanted=wanted)
                context["report"] = wanted.imported
                if not wanted.errors:
                    context["wanted_text"] = write_yaml(wanted.state)
        except InvalidRequest as error:
            add_service_errors(form, error)
        status = 422 if form.errors else 200
    return render(request, "console/policy_files.html", context, status=status)


@require_POST
@page("admin")
def apply(request: ConsoleRequest) -> HttpResponse:
    """Make every change of a plan, or none."""
    wanted = read_file("yaml", request.POST.get("text", ""))
    apply_wanted(actor=request.actor, wanted=wanted, base=request.POST.get("base"))
    messages.success(request, _("The file was applied."))
    return redirect("console:policy")
