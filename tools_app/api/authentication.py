"""Who is calling over REST: an API token or a signed-in user.

``request.auth`` is the :class:`~tools_app.services.access.Actor` every service expects.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.authentication import SessionAuthentication as CookieAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.request import Request

from tools_app.services.access import Actor, actor_for_token, actor_for_user
from tools_app.services.errors import InvalidToken
from tools_app.services.tokens import authenticate_token

SURFACE = "rest"
AuthenticationError = AuthenticationFailed | NotAuthenticated
CHALLENGE = 'Bearer realm="OpenJarvis Web"'


def challenged(error: AuthenticationError) -> AuthenticationError:
    """Return the error with the header that says how to authenticate (RFC 9110 §11.6.1)."""
    error.auth_header = CHALLENGE  # type: ignore[union-attr]
    return error


def bearer_text(request: HttpRequest) -> str | None:
    """Return the token in the Authorization header, ``None`` when there is no such header.

    Raises AuthenticationFailed for another scheme: a caller who meant to present something
    must not be taken for whoever is signed in.
    """
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    kind, _, text = header.partition(" ")
    if kind.lower() != "bearer" or not text.strip():
        raise challenged(AuthenticationFailed("Use the form: Authorization: Bearer ojw_…"))
    return text.strip()


def token_actor(text: str) -> Actor:
    """Return the caller a bearer token stands for; raises AuthenticationFailed."""
    try:
        return actor_for_token(authenticate_token(text), surface=SURFACE)
    except InvalidToken as error:
        raise challenged(AuthenticationFailed(error.message, code=error.code)) from None


def request_actor(request: HttpRequest) -> Actor:
    """Return the caller of a plain view; raises NotAuthenticated or AuthenticationFailed.

    A session counts only with its CSRF token, as everywhere.
    """
    text = bearer_text(request)
    if text is not None:
        return token_actor(text)
    if not request.user.is_authenticated:
        raise challenged(NotAuthenticated())
    CookieAuthentication().enforce_csrf(request)  # type: ignore[arg-type]
    return actor_for_user(request.user, surface=SURFACE)


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer ojw_<key>_<secret>``."""

    def authenticate(self, request: Request) -> tuple[Any, Actor] | None:
        text = bearer_text(request._request)
        if text is None:
            return None
        actor = token_actor(text)
        # The owner is not loaded: rights come from the actor, and nothing here asks for a row.
        return get_user_model()(pk=actor.user_id), actor

    def authenticate_header(self, request: Request) -> str:
        return CHALLENGE


class SessionAuthentication(CookieAuthentication):
    """The cookie of a signed-in user; changes need the CSRF token."""

    def authenticate(self, request: Request) -> tuple[Any, Actor] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        return found[0], actor_for_user(found[0], surface=SURFACE)
