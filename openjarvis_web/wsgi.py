"""The WSGI application: every ordinary page and REST call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openjarvis_web.settings")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.utils import translation  # noqa: E402

PROBES = frozenset(("/healthz", "/readyz", "/metrics"))


class BearerHandler(WSGIHandler):
    """Django with the few middlewares that matter to a call which brings its own token.

    Such a call has no cookie to protect, no session, no language and no page, and the full
    stack would cost it four times its own CPU. Nor has a probe.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        every = settings.MIDDLEWARE
        settings.MIDDLEWARE = settings.BEARER_MIDDLEWARE
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = every


_any_request = WSGIHandler()
_bearer_request = BearerHandler()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer one request (PEP 3333)."""
    path = environ["PATH_INFO"]
    is_bearer = environ.get("HTTP_AUTHORIZATION", "")[:7].lower() == "bearer "
    if path in PROBES or (is_bearer and path.startswith("/api/")):
        translation.deactivate()  # else it speaks the language of this thread's last reader
        return _bearer_request(environ, start_response)
    return _any_request(environ, start_response)
