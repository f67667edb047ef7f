"""Errors over HTTP: one shape, stable codes, and nothing said about bugs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as ModelInvalid
from django.db import OperationalError
from django.http import Http404, HttpResponse
from django.test import RequestFactory
from rest_framework import exceptions

from openjarvis_web.error_pages import not_found, server_error
from openjarvis_web.middleware import RestErrors, SecretsInUrl, holds_secret
from openjarvis_web.problems import problem, problem_handler
from tools_app.services.errors import ServiceError


class TooHot(ServiceError):
    """It is too hot."""

    code = "too_hot"
    status = 429


def answer(error: Exception) -> tuple[HttpResponse, dict[str, Any]]:
    response = problem_handler(error, {})
    return response, json.loads(response.content)


def test_a_service_error_keeps_code_status_and_extras():
    response, body = answer(TooHot("Wait.", extra={"retry_after": 2.1, "run": "abc"}))

    assert response["Content-Type"] == "application/problem+json"
    assert response["Retry-After"] == "3"
    assert body == {
        "type": "/api/docs/problems/#too_hot",
        "title": "Too hot",
        "status": 429,
        "detail": "Wait.",
        "code": "too_hot",
        "retry_after": 2.1,
        "run": "abc",
    }


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (exceptions.ParseError(), 400, "malformed_json"),
        (exceptions.NotAuthenticated(), 401, "not_authenticated"),
        (exceptions.AuthenticationFailed(code="invalid_token"), 401, "invalid_token"),
        (exceptions.PermissionDenied(), 403, "permission_denied"),
        (PermissionDenied(), 403, "permission_denied"),
        (Http404(), 404, "not_found"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.NotAcceptable(), 406, "not_acceptable"),
        (exceptions.UnsupportedMediaType("text/plain"), 415, "unsupported_media_type"),
        (exceptions.Throttled(5), 429, "rate_limited"),
        (OperationalError("database is locked"), 503, "database_unavailable"),
        (OperationalError("database or disk is full"), 507, "storage_full"),
    ],
)
def test_what_the_framework_notices_has_a_code_too(error: Exception, status: int, code: str):
    response, body = answer(error)

    assert (response.status_code, body["status"], body["code"]) == (status, status, code)


def test_a_bug_says_nothing_of_itself():
    response, body = answer(LookupError("secret detail"))

    assert (response.status_code, body["code"]) == (500, "internal_error")
    assert b"secret detail" not in response.content


def test_a_challenge_comes_with_401():
    error = exceptions.NotAuthenticated()
    error.auth_header = "Bearer"

    assert answer(error)[0]["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            exceptions.ValidationError({"name": ["Too long."]}),
            [{"path": "$.name", "message": "Too long."}],
        ),
        (
            exceptions.ValidationError({"tools": {"deny": [{}, {"a": ["No."]}]}}),
            [{"path": "$.tools.deny[1].a", "message": "No."}],
        ),
        (
            exceptions.ValidationError({"non_field_errors": ["Neither fits."]}),
            [{"path": "$", "message": "Neither fits."}],
        ),
        (ModelInvalid({"slug": ["Taken."]}), [{"path": "$.slug", "message": "Taken."}]),
        (ModelInvalid("No."), [{"path": "$", "message": "No."}]),
    ],
)
def test_invalid_fields_are_named_by_json_path(error: Exception, expected: list[dict[str, str]]):
    response, body = answer(error)

    assert response.status_code == 422
    assert body["errors"] == expected


def test_an_empty_extra_is_left_out():
    assert "fix" not in json.loads(problem(400, "x", fix=None).content)


@pytest.mark.parametrize(
    "query", ["token=a", "x=1&api_key=b", "ACCESS_TOKEN=c", "password=", "a=1&Client_Secret=d"]
)
def test_credentials_in_a_query_are_refused(query: str):
    request = RequestFactory().get(f"/api/v1/tools?{query}")

    response = SecretsInUrl(lambda request: HttpResponse("reached"))(request)

    assert response.status_code == 400
    assert json.loads(response.content)["code"] == "secret_in_url"


@pytest.mark.parametrize(
    "query", ["", "tool=token", "token_id=3", "q=password", "ticket=a", "mytoken=b", "since=1"]
)
def test_other_parameters_pass(query: str):
    assert not holds_secret(query)


def test_a_plain_view_below_api_gets_the_same_documents():
    middleware = RestErrors(lambda request: HttpResponse())

    rest = middleware.process_exception(RequestFactory().get("/api/v1/x"), TooHot("Wait."))
    page = middleware.process_exception(RequestFactory().get("/runs/"), TooHot("Wait."))

    assert rest is not None
    assert rest.status_code == 429
    assert page is None


def test_error_pages_are_pages_for_people_and_documents_for_programs():
    page = not_found(RequestFactory().get("/nowhere/"), Http404())
    document = not_found(RequestFactory().get("/api/nowhere"), Http404())

    assert (page.status_code, page["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert (document.status_code, document["Content-Type"]) == (404, "application/problem+json")
    assert server_error(RequestFactory().get("/")).status_code == 500
