"""Scopes are asked for at one place per route: each route with each single scope."""

from __future__ import annotations

import pytest

from tests.api.callers import Caller, code_of, person, token_of
from tests.api.routes import routes
from tools_app.services.access import SCOPES

ROUTES = [(method, path, view) for method, path, view in routes()]
OPEN = {"/healthz", "/readyz"}
# What anybody who is somebody may do: nothing is seen or made but their own.
PERSONAL = {"/api/v1/tokens", "/api/v1/tokens/7"}
NO_SCOPE = {"token_scope", "forbidden"}


def needed(view, method: str) -> set[str]:
    scopes = view.scopes.get(method, ())
    return {scopes} if isinstance(scopes, str) else set(scopes)


def test_every_route_asks_for_a_scope_or_is_known_not_to():
    without = {path for method, path, view in ROUTES if not needed(view, method)}
    assert without == OPEN | PERSONAL


def test_every_scope_that_is_asked_for_exists():
    assert {s for method, _, view in ROUTES for s in needed(view, method)} <= set(SCOPES)


@pytest.mark.parametrize("scope", [scope for scope in SCOPES if scope != "admin"])
def test_a_token_with_one_scope_passes_where_it_is_enough_and_nowhere_else(installed, scope):
    owner = person("ada", "admin")
    client = Caller(token=token_of(owner, [scope]))
    for method, path, view in ROUTES:
        scopes = needed(view, method)
        if not scopes:
            continue
        response = client.call(method, path, {})
        has_passed = response.status_code != 403 or code_of(response) not in NO_SCOPE
        # A missing scope is told before anything else is looked at; the tool's own refusals
        # come from the service, which stores them.
        if scope not in scopes:
            assert not has_passed or path.endswith("/execute"), f"{scope} opens {method} {path}"
        else:
            assert has_passed, f"{scope} is not enough for {method} {path}: {response.content}"


def test_admin_passes_everywhere(admin):
    for method, path, _ in ROUTES:
        response = admin.call(method, path, {})
        assert response.status_code not in (401, 403), (method, path, response.content)


@pytest.mark.parametrize(("method", "path"), [(m, p) for m, p, _ in ROUTES if p not in OPEN])
def test_nobody_passes_nowhere(nobody, method, path):
    response = nobody.call(method, path, {})
    assert (response.status_code, code_of(response)) == (401, "not_authenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")
