"""The freeze dialog, reachable from every page; without script it is a page of its own."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tools_app.console.access import ConsoleRequest, is_fragment, page
from tools_app.console.forms import FreezeForm, add_service_errors
from tools_app.models import FreezeScope
from tools_app.selectors.palette import agents_named, tools_named
from tools_app.services.errors import InvalidRequest
from tools_app.services.freezes import blast, create_freeze

SUGGESTED = 30


@page("tools:read")
def freeze_new(request: ConsoleRequest) -> HttpResponse:
    """Show the freeze form, and freeze what it says."""
    form = FreezeForm(request.POST or None, initial=_wanted(request))
    if request.method == "POST" and form.is_valid():
        try:
            freeze = create_freeze(
                actor=request.actor,
                scope=form.cleaned_data["scope"],
                target=form.cleaned_data["target"],
                reason=form.cleaned_data["reason"],
                expires_at=form.expires_at,
            )
        except InvalidRequest as error:
            add_service_errors(form, error)
        else:
            return _done(request, _("Frozen: %(what)s.") % {"what": freeze})
    name = "console/parts/freeze_form.html" if is_fragment(request) else "console/freeze_new.html"
    return render(request, name, _context(form), status=422 if form.errors else 200)


@page("tools:read")
def freeze_blast(request: ConsoleRequest) -> HttpResponse:
    """Count what the freeze being written would hit now."""
    wanted = _wanted(request)
    context = {"blast": blast(wanted["scope"], wanted["target"])}
    return render(request, "console/parts/freeze_blast.html", context)


def _wanted(request: ConsoleRequest) -> dict[str, str]:
    scope = request.GET.get("scope", "")
    scope = scope if scope in FreezeScope.values else FreezeScope.AGENT
    target = "" if scope == FreezeScope.EVERYTHING else request.GET.get("target", "")[:200]
    return {"scope": scope, "target": target}


def _context(form: FreezeForm) -> dict[str, Any]:
    scope, target = str(form["scope"].value()), str(form["target"].value() or "")
    return {
        "form": form,
        "blast": blast(scope, target),
        "targets": agents_named("", limit=SUGGESTED) + tools_named("", limit=SUGGESTED),
    }


def _done(request: ConsoleRequest, sentence: str) -> HttpResponse:
    if not is_fragment(request):
        messages.success(request, sentence)
        return redirect("console:freezes")
    response = render(request, "console/parts/frame_update.html")
    response["HX-Reswap"] = "none"
    response["HX-Trigger"] = "dialog-done"
    return response
