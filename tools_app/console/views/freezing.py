"""Freezes: those in force, those that ended, and the dialog that is reachable from every page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from tools_app.console.access import ConsoleRequest, is_fragment, page
from tools_app.console.forms import ExtendForm, FreezeForm, add_service_errors
from tools_app.models import Freeze, FreezeScope
from tools_app.selectors.freezes import freeze_detail, list_freezes, with_refusals
from tools_app.selectors.palette import agents_named, tools_named
from tools_app.services.errors import Conflict, InvalidRequest, NotFound
from tools_app.services.freezes import (
    active_freezes,
    blast,
    create_freeze,
    extend_freeze,
    lift_freeze,
)

SUGGESTED = 30
ROWS = 40


@page("tools:read")
def freezes(request: ConsoleRequest) -> HttpResponse:
    """Show the freezes in force, the one that ends first leading, and those that ended."""
    present = sorted(with_refusals(active_freezes()), key=lambda freeze: freeze.expires_at)
    cursor = request.GET.get("cursor")
    context = {
        "active": [(freeze, _others_over(freeze, present)) for freeze in present],
        "page": list_freezes(request.actor, active=False, cursor=cursor, limit=ROWS),
        "extend_form": ExtendForm(auto_id=False),
        "may_freeze": request.actor.has_any("approvals", "agents"),
    }
    return render(request, "console/freezes.html", context)


def _others_over(freeze: Freeze, present: Sequence[Freeze]) -> list[Freeze]:
    """Return the other freezes that go on stopping the same when this one is lifted."""
    same = (freeze.scope, freeze.target)
    return [
        other
        for other in present
        if other.pk != freeze.pk
        and (other.scope == FreezeScope.EVERYTHING or (other.scope, other.target) == same)
    ]


@require_POST
@page("tools:read")
def freeze_extend(request: ConsoleRequest, freeze_id: int) -> HttpResponse:
    """Give a freeze a later end."""

    def act() -> str:
        form = ExtendForm(request.POST)
        found = freeze_detail(request.actor, freeze_id)
        if not form.is_valid() or found is None:
            raise NotFound(_("There is no such freeze, or no such time."))
        end = found.expires_at + timedelta(minutes=form.cleaned_data["lasts"])
        return str(extend_freeze(actor=request.actor, freeze_id=freeze_id, expires_at=end))

    return _changed(request, act, _("It lasts longer: %(what)s."))


@require_POST
@page("tools:read")
def freeze_lift(request: ConsoleRequest, freeze_id: int) -> HttpResponse:
    """End a freeze now."""

    def act() -> str:
        return str(lift_freeze(actor=request.actor, freeze_id=freeze_id))

    return _changed(request, act, _("Lifted: %(what)s. New calls are accepted again."))


def _changed(request: ConsoleRequest, act: Callable[[], str], sentence: str) -> HttpResponse:
    try:
        messages.success(request, sentence % {"what": act()})
    except (Conflict, InvalidRequest, NotFound) as error:
        messages.error(request, error.message)
    return redirect("console:freezes")


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
