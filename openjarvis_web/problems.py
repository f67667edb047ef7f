"""Errors over HTTP: RFC 9457 ``application/problem+json`` under ``/api/``, pages elsewhere.

One function, :func:`problem`, makes every such answer; one, :func:`problem_handler`, maps
everything a REST view may raise to it. Codes are stable and public.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig, ValidationError
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from rest_framework import exceptions

from tools_app.core.json_text import write_json
from tools_app.services.errors import ServiceError

log = structlog.get_logger(__name__)

CONTENT_TYPE = "application/problem+json"
DISK_FULL = "53100"  # PostgreSQL's SQLSTATE; SQLite says it in words

# Codes of failures that the framework, not a service, notices.
FRAMEWORK_CODES: Mapping[type[Exception], tuple[int, str]] = {
    exceptions.ParseError: (400, "malformed_json"),
    exceptions.NotAuthenticated: (401, "not_authenticated"),
    exceptions.AuthenticationFailed: (401, "authentication_failed"),
    exceptions.PermissionDenied: (403, "permission_denied"),
    PermissionDenied: (403, "permission_denied"),
    exceptions.NotFound: (404, "not_found"),
    Http404: (404, "not_found"),
    exceptions.MethodNotAllowed: (405, "method_not_allowed"),
    exceptions.NotAcceptable: (406, "not_acceptable"),
    RequestDataTooBig: (413, "body_too_large"),
    exceptions.UnsupportedMediaType: (415, "unsupported_media_type"),
    exceptions.ValidationError: (422, "invalid_request"),
    ValidationError: (422, "invalid_request"),
    exceptions.Throttled: (429, "rate_limited"),
    UnreadablePostError: (400, "body_not_received"),
}


def problem(status: int, code: str, detail: str = "", **extra: object) -> HttpResponse:
    """Return one problem document.

    ``extra`` may hold decision, fix, errors (list of {"path", "message"}), retry_after
    (seconds; also sent as the ``Retry-After`` header), approval and run; empty ones are left out.
    """
    body: dict[str, object] = {
        "type": f"/api/docs/problems/#{code}",
        "title": code.replace("_", " ").capitalize(),
        "status": status,
        "detail": detail or HTTPStatus(status).description or HTTPStatus(status).phrase,
        "code": code,
    }
    body.update((name, value) for name, value in extra.items() if value is not None)
    response = HttpResponse(write_json(body, default=str), status=status, content_type=CONTENT_TYPE)
    if isinstance(retry_after := extra.get("retry_after"), int | float):
        response["Retry-After"] = str(max(1, math.ceil(retry_after)))
    response["Cache-Control"] = "no-store"
    return response


def problem_handler(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """Turn whatever a REST view raised into a problem; a bug becomes 500 without details."""
    response = expected_problem(error)
    if response is None:
        log.error(
            "unexpected error in a REST view",
            exc_info=error,
            view=type(context.get("view")).__name__,
        )
        return problem(500, "internal_error", "Something went wrong on our side; it is logged.")
    return response


def expected_problem(error: Exception) -> HttpResponse | None:
    """Return the answer to a failure we know, ``None`` for a bug."""
    if isinstance(error, ServiceError):
        return problem(error.status, error.code, error.message, **error.extra)
    for kind, (status, code) in FRAMEWORK_CODES.items():
        if isinstance(error, kind):
            return _framework_problem(error, status, code)
    return _database_problem(error) if isinstance(error, OperationalError) else None


def _database_problem(error: OperationalError) -> HttpResponse:
    if "disk is full" in str(error) or getattr(error.__cause__, "sqlstate", "") == DISK_FULL:
        log.error("the disk of the database is full", exc_info=error)
        return problem(507, "storage_full", "The disk is full, so nothing could be stored.")
    log.error("the database did not answer", exc_info=error)
    return problem(
        503, "database_unavailable", "The database did not answer; try again.", retry_after=1
    )


def _framework_problem(error: Exception, status: int, code: str) -> HttpResponse:
    extra: dict[str, object] = {}
    if isinstance(error, exceptions.AuthenticationFailed):
        code = str(error.get_codes())
    detail = str(error) if isinstance(error, exceptions.APIException) else ""
    if isinstance(error, exceptions.ValidationError | ValidationError):
        extra["errors"], detail = field_errors(error), "Some fields are not valid."
    if isinstance(error, exceptions.Throttled):
        extra["retry_after"] = getattr(error, "wait", None) or 1
    response = problem(status, code, detail, **extra)
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    return response


def field_errors(error: exceptions.ValidationError | ValidationError) -> list[dict[str, str]]:
    """Flatten a validation error to a list of {"path": JSON path, "message": text}."""
    if isinstance(error, ValidationError):
        detail: object = error.message_dict if hasattr(error, "error_dict") else error.messages
    else:
        detail = error.detail
    return list(_flatten(detail, "$"))


def _flatten(detail: object, path: str) -> Any:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            own = name in ("non_field_errors", "__all__")
            yield from _flatten(inner, path if own else f"{path}.{name}")
    elif isinstance(detail, list | tuple):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list | tuple)
            yield from _flatten(inner, f"{path}[{index}]" if nested else path)
    else:
        yield {"path": path, "message": str(detail)}


def wants_problem(request: HttpRequest) -> bool:
    """Say whether this request gets errors as JSON: REST calls do, pages do not."""
    return request.path_info.startswith("/api/")
