"""Rules about the request itself that hold for every address."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from openjarvis_web.problems import problem

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
_secret_in_query = re.compile(
    rf"(?:^|&)(?:{'|'.join(SECRET_PARAMETERS)})=", re.IGNORECASE | re.ASCII
)


class SecretsInUrl:
    """Refuse credentials in a query string: URLs end up in logs, histories and referrers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        query = request.META.get("QUERY_STRING", "")
        if query and _secret_in_query.search(query):
            return problem(
                400,
                "secret_in_url",
                "A credential must not travel in a URL.",
                fix="Send the token in the Authorization header.",
            )
        return self.get_response(request)
