"""Every route of the API with an example request, and whether the route table is complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.urls import URLPattern

from tools_app.api import probes, urls
from tools_app.api.endpoint import Endpoint

EXAMPLES: dict[str, Any] = {
    "name": "calculator",
    "slug": "main",
    "run_id": UUID(int=7),
    "decision_id": UUID(int=7),
    "approval_id": UUID(int=7),
    "grant_id": 7,
    "freeze_id": 7,
    "limit_id": 7,
    "token_id": 7,
    "number": 7,
}


def routes() -> Iterator[tuple[str, str, type[Endpoint]]]:
    """Yield method, path and view of everything the API serves."""
    for pattern in urls.urlpatterns:
        yield from _methods(pattern, "/api/v1/")
    for pattern in probes.urlpatterns:
        yield from _methods(pattern, "/")


def _methods(pattern: URLPattern, base: str) -> Iterator[tuple[str, str, type[Endpoint]]]:
    view = pattern.callback.cls  # type: ignore[attr-defined]
    names = pattern.pattern.converters
    path = base + str(pattern.pattern)
    for name, converter in names.items():
        marks = [f"<{kind}:{name}>" for kind in ("str", "uuid", "int")]
        for mark in marks:
            path = path.replace(mark, converter.to_url(EXAMPLES[name]))
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        if hasattr(view, method.lower()):
            yield method, path, view
