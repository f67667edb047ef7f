"""Signing in and out, and what a browser keeps: language, colours, times, keys."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseRedirect,
)
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import check_for_language
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from tools_app.console.preferences import ONE_YEAR_S, PREFERENCES, keep_preference
from tools_app.services.sign_in_links import use_link, user_of_link


class SignInForm(AuthenticationForm):
    """Name and password; the message does not say which of them was wrong."""

    error_messages = {
        "invalid_login": _("Name or password is wrong. Capital letters matter in both."),
        "inactive": _("This account is switched off. Ask an admin."),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = _("User name")


class SignIn(LoginView):
    """The sign-in page; afterwards the page that was asked for."""

    template_name = "console/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class SignOut(LogoutView):
    """Signs out by POST only, so that no link or image can."""

    http_method_names = ["post", "options"]


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_once(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Sign in by a one-time link. GET only shows a button: previews must not use the link up."""
    is_use = request.method == "POST"
    user = use_link(uid, token) if is_use else user_of_link(uid, token)
    if user is None:
        return render(request, "console/sign_in_once.html", {"is_spent": True}, status=410)
    if not is_use:
        return render(request, "console/sign_in_once.html", {"person": user})
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect(settings.LOGIN_REDIRECT_URL)


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Keep the chosen language in a cookie and return to the page."""
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES) or not check_for_language(language):
        return HttpResponseBadRequest("unknown language")
    response = HttpResponseRedirect(_return_address(request))
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME, language, max_age=ONE_YEAR_S, samesite="Lax", httponly=True
    )
    return response


@require_POST
def set_preferences(request: HttpRequest) -> HttpResponse:
    """Keep one or more of the reader's choices in cookies and return to the page."""
    response = HttpResponseRedirect(_return_address(request))
    given = [name for name in PREFERENCES if name in request.POST]
    if not given or not all(keep_preference(response, n, request.POST[n]) for n in given):
        return HttpResponseBadRequest("unknown preference")
    return response


def _return_address(request: HttpRequest) -> str:
    """Return the page the form was on; what is no address of this site is not followed."""
    address = request.POST.get("next", "")
    own = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if own and address.startswith("/") else resolve_url(settings.LOGIN_REDIRECT_URL)
