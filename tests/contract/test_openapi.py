"""The OpenAPI document: made without a warning, complete, and what the routes really answer."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator

from tests.api.routes import EXAMPLES, routes


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The document as it is served."""
    return SchemaGenerator().get_schema(request=None, public=True)


def test_it_is_made_without_warnings(capsys):
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=StringIO())
    assert "Warning" not in capsys.readouterr().err


def test_every_route_and_method_is_described_and_nothing_else(schema):
    described = {
        (method.upper(), path)
        for path, operations in schema["paths"].items()
        for method in operations
        if method in ("get", "post", "put", "patch", "delete")
    }
    served = {(method, template(path)) for method, path, _ in routes()}
    assert described == served


_OWNERS = {"name": "tools", "slug": "agents", "number": "versions"}


def template(path: str) -> str:
    parts = path.split("/")
    for place, part in enumerate(parts):
        before = parts[place - 1] if place else ""
        for name, example in EXAMPLES.items():
            owner = _OWNERS.get(name, name.removesuffix("_id") + "s")
            if part == str(example) and before == owner:
                parts[place] = f"{{{name}}}"
    return "/".join(parts)


def test_every_operation_says_how_it_fails_and_what_it_needs(schema):
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            content = operation["responses"]["default"]["content"]
            assert list(content) == ["application/problem+json"], (method, path)
            assert operation["operationId"]
            assert operation["description"] or operation["summary"], (method, path)


def test_operation_ids_are_unique(schema):
    ids = [op["operationId"] for ops in schema["paths"].values() for op in ops.values()]
    assert len(ids) == len(set(ids))


def test_both_ways_to_sign_in_are_described(schema):
    schemes = schema["components"]["securitySchemes"]
    assert schemes["token"]["scheme"] == "bearer"
    assert schemes["session"]["in"] == "cookie"
