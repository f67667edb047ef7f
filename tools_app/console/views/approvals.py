"""Approvals: the queue, one card, the pocket page, the answers, the history, what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from tools_app.console.access import ConsoleRequest, is_fragment, page
from tools_app.console.approval_cards import shown_card
from tools_app.console.approval_export import csv_lines
from tools_app.console.approval_forms import AnswerForm, HistoryFilterForm
from tools_app.selectors.approvals import (
    approval_detail,
    export_history,
    history,
    pending,
    standing_grants,
)
from tools_app.services.approvals import approve, ask_again, deny, extend, revoke_grant
from tools_app.services.errors import Conflict, InvalidRequest, NotFound, ServiceError
from tools_app.services.events import latest_seq

ROWS = 40


@page("tools:read")
def approvals(request: ConsoleRequest) -> HttpResponse:
    """Show what waits, the oldest first. Cards are asked for as they come into view."""
    cursor = latest_seq()
    waiting = pending(request.actor)
    first = shown_card(request.actor, waiting[0]) if waiting else None
    context = {"cursor": cursor, "first": first, "waiting": waiting, "page_words": _words()}
    return render(request, "console/approvals.html", context)


@page("tools:read")
def approval_card(request: ConsoleRequest, approval_id: UUID) -> HttpResponse:
    """Answer one card as it is now; nothing when the page has it already."""
    found = approval_detail(request.actor, approval_id)
    shown = shown_card(request.actor, found, is_full=bool(request.GET.get("full")))
    if request.GET.get("seen") == shown.mark:
        return HttpResponse(status=204)
    return render(request, "console/parts/approval_card.html", {"shown": shown})


@page("tools:read")
def approval(request: ConsoleRequest, approval_id: UUID) -> HttpResponse:
    """Show one approval on a page for a phone, which needs no script; GET decides nothing."""
    return _pocket(request, approval_id)


@require_POST
@page("approvals")
def approval_approve(request: ConsoleRequest, approval_id: UUID) -> HttpResponse:
    """Approve the call whose binding was shown."""

    def act() -> None:
        form = AnswerForm(request.POST)
        if not form.is_valid():
            raise InvalidRequest(_("The answer is not complete: look at the call again."))
        approve(
            actor=request.actor,
            approval_id=approval_id,
            binding=form.cleaned_data["binding"],
            scope=form.cleaned_data["scope"],
            until=form.until,
            comment=form.cleaned_data["comment"],
            via=_channel(request),
        )

    return _answered(request, approval_id, act, _("Approved."))


@require_POST
@page("approvals")
def approval_deny(request: ConsoleRequest, approval_id: UUID) -> HttpResponse:
    """Deny a call; the agent reads the comment."""

    def act() -> None:
        comment = request.POST.get("comment", "")
        deny(actor=request.actor, approval_id=approval_id, comment=comment, via=_channel(request))

    return _answered(request, approval_id, act, _("Denied."))


@require_POST
@page("approvals")
def approval_extend(request: ConsoleRequest, approval_id: UUID) -> HttpResponse:
    """Give a waiting approval ten more minutes."""

    def act() -> None:
        extend(actor=request.actor, approval_id=approval_id)

    return _answered(request, approval_id, act, _("It waits ten minutes longer."))


@require_POST
@page("approvals")
def approval_ask_again(request: ConsoleRequest, approval_id: UUID) -> HttpResponse:
    """Ask for the same call again, after nobody answered in time or something changed."""
    if not is_fragment(request):
        try:
            fresh = ask_again(actor=request.actor, approval_id=approval_id)
        except ServiceError as error:
            return _pocket(request, approval_id, error)
        return redirect("console:approval", fresh.pk)

    def act() -> None:
        ask_again(actor=request.actor, approval_id=approval_id)

    return _answered(request, approval_id, act, _("Asked again: a new approval waits."))


@page("tools:read")
def approvals_history(request: ConsoleRequest) -> HttpResponse:
    """List approvals of any state, newest first; the filters are in the address."""
    form = HistoryFilterForm(request.GET)
    cursor = request.GET.get("cursor")
    found = history(request.actor, form.filters, cursor=cursor, limit=ROWS)
    context = {"form": form, "page": found, "is_filtered": form.is_filtering}
    return render(request, "console/approvals_history.html", context)


@page("tools:read")
def approvals_export(request: ConsoleRequest) -> HttpResponseBase:
    """Answer every approval that matches as CSV."""
    found = export_history(request.actor, HistoryFilterForm(request.GET).filters)
    response = StreamingHttpResponse(csv_lines(found), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="approvals.csv"'
    return response


@page("tools:read")
def approvals_remembered(request: ConsoleRequest) -> HttpResponse:
    """List the remembered approvals in force."""
    found = standing_grants(request.actor, cursor=request.GET.get("cursor"), limit=ROWS)
    context = {"page": found, "may_revoke": request.actor.has("approvals")}
    return render(request, "console/approvals_remembered.html", context)


@require_POST
@page("approvals")
def grant_revoke(request: ConsoleRequest, grant_id: int) -> HttpResponse:
    """Take a remembered approval back."""
    try:
        revoke_grant(actor=request.actor, grant_id=grant_id)
    except (Conflict, NotFound) as error:
        messages.error(request, error.message)
    else:
        messages.success(request, _("The next such call asks again."))
    return redirect("console:approvals-remembered")


def _answered(
    request: ConsoleRequest, approval_id: UUID, act: Callable[[], None], sentence: str
) -> HttpResponse:
    """Act, then show the approval as it is now, with what was refused if it was."""
    error: ServiceError | None = None
    try:
        act()
    except ServiceError as found:
        error, sentence = found, found.message
    if not is_fragment(request):
        if error is not None:
            return _pocket(request, approval_id, error)
        return redirect("console:approval", approval_id)
    shown = shown_card(request.actor, approval_detail(request.actor, approval_id))
    context = {"shown": shown, "error": error, "sentence": sentence}
    status = error.status if error is not None else 200
    return render(request, "console/parts/approval_card.html", context, status=status)


def _pocket(
    request: ConsoleRequest, approval_id: UUID, error: ServiceError | None = None
) -> HttpResponse:
    found = approval_detail(request.actor, approval_id)
    context = {"shown": shown_card(request.actor, found, is_full=True), "error": error}
    status = error.status if error is not None else 200
    return render(request, "console/approval.html", context, status=status)


def _channel(request: ConsoleRequest) -> str:
    return "phone" if request.POST.get("page") == "pocket" else "browser"


def _words() -> Mapping[str, str]:
    """Return what the page's script says."""
    return {
        "expires_soon": _("The approval of {tool} expires in 30 seconds. It can be extended."),
        "over": _("over"),
    }
