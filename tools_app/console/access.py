"""Who may see a page: signed in, with the scope the page needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from itertools import chain

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django_htmx.middleware import HtmxDetails

from tools_app.services.access import Actor, actor_for_user
from tools_app.services.errors import InvalidRequest, ServiceError

PageView = Callable[..., HttpResponseBase]


class ConsoleRequest(HttpRequest):
    """A request of a signed-in person; ``actor`` is who they are to the services."""

    actor: Actor


def page(scope: str) -> Callable[[PageView], PageView]:
    """Let a view be reached only by signed-in people whose roles include ``scope``.

    What a service refuses and the view does not handle becomes a page with the same message.
    """

    def decorate(view: PageView) -> PageView:
        @never_cache
        @login_required
        @wraps(view)
        def guarded(request: ConsoleRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            request.actor = actor_for_user(request.user)
            try:
                request.actor.require(scope)
                _refuse_nul(request, kwargs)
                return view(request, *args, **kwargs)
            except ServiceError as error:
                return refusal_page(request, error)

        return guarded

    return decorate


def _refuse_nul(request: HttpRequest, names: Mapping[str, object]) -> None:
    """Raise InvalidRequest for a text that PostgreSQL cannot keep, nor even search for."""
    given: list[object] = list(names.values())
    for values in (request.GET, request.POST):
        given += chain(values, *(texts for _name, texts in values.lists()))
    if any(isinstance(value, str) and "\0" in value for value in given):
        raise InvalidRequest(_("A text of this request holds the character U+0000."))


def refusal_page(request: HttpRequest, error: ServiceError) -> HttpResponse:
    """Say what was refused, why, and what may help."""
    context = {"heading": _("That is not possible"), "error": error}
    name = "console/parts/refusal.html" if is_fragment(request) else "console/refusal.html"
    return render(request, name, context, status=error.status)


def is_fragment(request: HttpRequest) -> bool:
    """Say whether htmx asked for a part of the page rather than the page."""
    details: HtmxDetails = request.htmx  # type: ignore[attr-defined]  # set by its middleware
    return bool(details) and not details.history_restore_request
