"""The policy document: reading, checking, publishing, and its history."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tools_app.console.access import ConsoleRequest, is_fragment, page
from tools_app.console.forms import add_service_errors
from tools_app.console.policy_forms import PolicyForm
from tools_app.models import PolicyVersion
from tools_app.selectors.policy import policy_history, policy_in_force, policy_version
from tools_app.services.errors import PolicyInvalid, PreconditionFailed
from tools_app.services.policies import PolicyCheck, check, publish

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
        "history": policy_history(request.actor, limit=HISTORY),
        "may_publish": request.actor.has("policy:write"),
    }
    name = "console/parts/policy_form.html" if is_fragment(request) else "console/policy.html"
    return render(request, name, context, status=context["status"])


@page("policy:read")
def version(request: ConsoleRequest, number: int) -> HttpResponse:
    """Show one version of the history and what the next one changed in it."""
    found = policy_version(request.actor, number)
    context = {
        "version": found,
        "previous": policy_version(request.actor, number - 1) if number > 1 else None,
        "text": document_text(found),
    }
    return render(request, "console/policy_version.html", context)


def document_text(found: PolicyVersion) -> str:
    """Return the document as people edit it."""
    return json.dumps(found.document, ensure_ascii=False, indent=2)


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
