"""API tokens: the list, making one (its text is shown once), ending one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from tools_app.console.access import ConsoleRequest, page
from tools_app.console.forms import add_service_errors
from tools_app.console.token_forms import TokenForm
from tools_app.selectors.paging import page_of_rows
from tools_app.services.errors import InvalidRequest, UnknownAgent
from tools_app.services.tokens import NewToken, create_token, revoke_token, visible_tokens


@page("tools:read")
def tokens(request: ConsoleRequest) -> HttpResponse:
    """List the tokens that the reader may see, and make new ones."""
    form = TokenForm(request.POST or None, scopes=request.actor.scopes)
    new: NewToken | None = None
    if request.method == "POST" and form.is_valid():
        try:
            new = create_token(actor=request.actor, owner=request.user, **form.token_fields)
        except InvalidRequest as error:
            add_service_errors(form, error)
        except UnknownAgent as error:
            form.add_error("agent", error.message)
        else:
            form = TokenForm(scopes=request.actor.scopes)
    cursor = request.GET.get("cursor")
    rows = visible_tokens(actor=request.actor)
    context: dict[str, Any] = {
        "form": form,
        "new": new,
        "page": page_of_rows(rows, cursor=cursor, limit=None, key=int),
    }
    response = render(request, "console/tokens.html", context, status=422 if form.errors else 200)
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@page("tools:read")
def token_revoke(request: ConsoleRequest, token_id: int) -> HttpResponse:
    """End a token for good."""
    token = revoke_token(actor=request.actor, token_id=token_id)
    messages.success(request, _("The token %(name)s no longer works.") % {"name": token.name})
    return redirect("console:tokens")
