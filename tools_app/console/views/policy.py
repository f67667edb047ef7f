"""The policy document: reading, checking, publishing, and its history."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from tools_app.console.access import ConsoleRequest, is_fragment, page
from tools_app.console.forms import add_service_errors
from tools_app.console.policy_forms import PolicyForm
from tools_app.selectors.policy import policy_history, policy_in_force, policy_version
from tools_app.services.applying import drift
from tools_app.services.errors import PolicyInvalid, PreconditionFailed
from tools_app.services.policies import PolicyCheck, check, publish
from tools_app.services.policy_history import check_again, publish_again

HISTORY = 10


@page("policy:read")
def policy(request: ConsoleRequest) -> HttpResponse:
    """Show the version in force; check or publish another document."""
    current = policy_in_force(request.actor)
    form = PolicyForm.of(current)
    context: dict[str, Any] = {"status": 200}
    if request.method == "POST":
        form = PolicyForm(request.POST)
        context = _act(request, form)
        if "published" in context:
            number = context["published"].number
            messages.success(request, _("Version %(n)d is in force.") % {"n": number})
            return redirect("console:policy")
    if is_fragment(request) and not form.errors:
        return render(request, "console/parts/policy_check.html", context)
    context |= {
        "form": form,
        "current": current,
        "history": policy_history(request.actor, limit=HISTORY, cursor=request.GET.get("versions")),
        "drift": drift(),
        "may_apply": request.actor.has("admin"),
        "may_publish": request.actor.has("policy:write"),
    }
    name = "console/parts/policy_form.html" if is_fragment(request) else "console/policy.html"
    return render(request, name, context, status=context["status"])


@page("policy:read")
def version(request: ConsoleRequest, number: int) -> HttpResponse:
    """Show one version of the history and what the next one changed in it."""
    found, current = policy_version(request.actor, number), policy_in_force(request.actor)
    context: dict[str, Any] = {
        "version": found,
        "previous": policy_version(request.actor, number - 1) if number > 1 else None,
        "current": current,
    }
    if found.number != current.number and request.actor.has("policy:write"):
        context["check"] = check_again(actor=request.actor, number=number)
    return render(request, "console/policy_version.html", context)


@require_POST
@page("policy:write")
def again(request: ConsoleRequest, number: int) -> HttpResponse:
    """Publish an old version anew."""
    base = request.POST.get("base_number", "")
    base_number = int(base) if base.isascii() and base.isdigit() and len(base) < 10 else None
    published = publish_again(actor=request.actor, number=number, base_number=base_number)
    messages.success(request, _("Version %(n)d is in force.") % {"n": published.number})
    return redirect("console:policy")


def _act(request: ConsoleRequest, form: PolicyForm) -> dict[str, Any]:
    """Check or publish what the form holds; complaints go into the form."""
    if not form.is_valid():
        return {"status": 422}
    document = form.cleaned_data["document"]
    try:
        if request.POST.get("how") == "publish":
            published = publish(
                actor=request.actor,
                document=document,
                base_number=form.cleaned_data["base_number"],
                comment=form.cleaned_data["comment"],
            )
            return {"status": 200, "published": published}
        checked: PolicyCheck = check(actor=request.actor, document=document)
    except (PolicyInvalid, PreconditionFailed) as error:
        add_service_errors(form, error)
        return {"status": error.status, "conflict": isinstance(error, PreconditionFailed)}
    return {"status": 200, "check": checked}
