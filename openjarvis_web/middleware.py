"""Rules about the request itself that hold for every address."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from openjarvis_web.problems import expected_problem, problem, wants_problem

SECRET_IN_URL = (400, "secret_in_url", "A credential must not travel in a URL.")
SECRET_PARAMETERS = (
    "token",
    "api_key",
    "apikey",
    "access_token",
    "auth_token",
    "refresh_token",
    "password",
    "passwd",
    "secret",
    "client_secret",
    "authorization",
)
# A parameter named like a credential, or one of our tokens under whatever name.
_secret = re.compile(
    rf"(?:^|&)(?:{'|'.join(SECRET_PARAMETERS)})=|ojw_[0-9a-f]{{12}}_", re.IGNORECASE | re.ASCII
)


def holds_secret(query: str) -> bool:
    """Say whether a query string carries one of our tokens, or what is named like a credential."""
    return bool(query) and _secret.search(query) is not None


class SecretsInUrl:
    """Refuse credentials in a query string: URLs end up in logs, histories and referrers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if holds_secret(request.META.get("QUERY_STRING", "")):
            return problem(*SECRET_IN_URL, fix="Send the token in the Authorization header.")
        return self.get_response(request)


class RestErrors:
    """Give plain views below ``/api/`` the same problem documents as REST framework's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        return expected_problem(error) if wants_problem(request) else None
