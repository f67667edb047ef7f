"""The pages that explain the API: the schema, a browser for it, and every error code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from tools_app.services import errors
from tools_app.services.errors import ServiceError


class SwaggerPage(SpectacularSwaggerSplitView):
    """The schema to read and try; its scripts are our own files, as our CSP demands."""

    template_name = "api/swagger.html"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """One error code, for its page."""

    code: str
    status: int
    meaning: str
    retryable: bool


def problem_kinds() -> list[ProblemKind]:
    """Return every code that a service answers with, by code."""
    kinds = {kind.code: _described(kind) for kind in _subclasses(ServiceError)}
    return sorted(kinds.values(), key=lambda kind: kind.code)


def _described(kind: type[ServiceError]) -> ProblemKind:
    return ProblemKind(kind.code, kind.status, (kind.__doc__ or "").strip(), kind.retryable)


def _subclasses(base: type[ServiceError]) -> Iterator[type[ServiceError]]:
    for name in vars(errors).values():
        if isinstance(name, type) and issubclass(name, base) and name is not base:
            yield name


@require_safe
def problems(request: HttpRequest) -> HttpResponse:
    """Explain the error codes; the ``type`` of every problem points here."""
    return render(request, "api/problems.html", {"kinds": problem_kinds()})


urlpatterns = [
    path("schema/", SpectacularJSONAPIView.as_view(), name="schema"),
    path("docs/", SwaggerPage.as_view(url_name="api-docs:schema"), name="swagger"),
    path("docs/problems/", problems, name="problems"),
]
app_name = "api-docs"
