"""What Django shows when no view answered: a problem document under ``/api/``, else a page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from openjarvis_web.problems import problem, wants_problem


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The request itself makes no sense, such as a host name we do not serve."""
    return _answer(request, 400, "bad_request", _("This request cannot be understood."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Signed in, but not allowed."""
    return _answer(request, 403, "permission_denied", _("You may not see this page."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """No such address, or nothing there."""
    return _answer(request, 404, "not_found", _("There is nothing at this address."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form was sent without its token: it was open for too long, or came from elsewhere."""
    detail = _("This form is out of date. Load the page again and repeat what you did.")
    return _answer(request, 403, "csrf_failed", detail)


def server_error(request: HttpRequest) -> HttpResponse:
    """A bug; the details are in the log alone."""
    return _answer(request, 500, "internal_error", _("Something went wrong; it is logged."))


def _answer(request: HttpRequest, status: int, code: str, detail: str) -> HttpResponse:
    if wants_problem(request):
        return problem(status, code, detail)
    # After a bug the page must not ask for a user or a session: no request then.
    shown_to = None if status == 500 else request
    return render(shown_to, "error.html", {"status": status, "detail": detail}, status=status)
