"""Every error has a stable code, a status and an entry in ``docs/problems.md``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from openjarvis_web.middleware import SECRET_IN_URL
from openjarvis_web.problems import FRAMEWORK_CODES, problem_handler
from tools_app.core import errors as core_errors
from tools_app.core.errors import ToolError
from tools_app.services import errors as service_errors
from tools_app.services.errors import ServiceError

ROOT = Path(__file__).parents[2]
PRODUCT = ("openjarvis_web", "tools_app", "scheduler_app", "nodes_app")
CODE = re.compile(r"[a-z]+(_[a-z]+)*\Z")


def subclasses(base: type[ToolError]) -> Iterator[type[ToolError]]:
    for kind in base.__subclasses__():
        yield kind
        yield from subclasses(kind)


SERVICE_ERRORS = [
    kind for kind in subclasses(ServiceError) if kind.__module__ == service_errors.__name__
]
CORE_ERRORS = [kind for kind in subclasses(ToolError) if kind.__module__ == core_errors.__name__]


def documented_problems() -> dict[str, tuple[int, bool]]:
    """Code → (status, whether trying again can help)."""
    rows = re.findall(r"^\| `([a-z_]+)` \| (\d{3}) \| (yes|no) \| \S", _text(), re.MULTILINE)
    assert len(rows) == len({row[0] for row in rows})
    return {code: (int(status), again == "yes") for code, status, again in rows}


def documented_outcomes() -> dict[str, bool]:
    rows = re.findall(r"^\| `([a-z_]+)` \| (yes|no) \| \S", _text(), re.MULTILINE)
    return {code: again == "yes" for code, again in rows}


def _text() -> str:
    return (ROOT / "docs" / "problems.md").read_text(encoding="utf-8")


def test_the_classes_were_found() -> None:
    assert len(SERVICE_ERRORS) > 25
    assert len(CORE_ERRORS) > 10


@pytest.mark.parametrize("kind", SERVICE_ERRORS, ids=lambda kind: kind.__name__)
def test_a_service_error_is_documented_as_it_is(kind: type[ServiceError]) -> None:
    assert CODE.match(kind.code)
    assert 400 <= kind.status <= 599
    assert kind.__doc__
    assert documented_problems()[kind.code] == (kind.status, kind.retryable)


@pytest.mark.parametrize("kind", CORE_ERRORS, ids=lambda kind: kind.__name__)
def test_a_failure_of_a_tool_is_documented_as_it_is(kind: type[ToolError]) -> None:
    assert CODE.match(kind.code)
    assert documented_outcomes()[kind.code] is kind.retryable


def test_no_two_service_errors_share_a_code() -> None:
    codes = [kind.code for kind in SERVICE_ERRORS]
    assert len(codes) == len(set(codes))


def test_no_class_answers_without_a_code_of_its_own() -> None:
    """Whatever an app adds must be named, too: a nameless error would be ``service_error``."""
    assert [kind for kind in subclasses(ServiceError) if "code" not in vars(kind)] == []


def test_only_what_can_happen_is_documented() -> None:
    happens = {
        *(kind.code for kind in SERVICE_ERRORS),
        *(code for _, code in FRAMEWORK_CODES.values()),
        *literal_problem_codes(),
        SECRET_IN_URL[1],
    }
    assert set(documented_problems()) == happens
    assert set(documented_outcomes()) == {kind.code for kind in CORE_ERRORS}


@pytest.mark.parametrize(("kind", "expected"), FRAMEWORK_CODES.items(), ids=lambda v: str(v)[:40])
def test_what_the_framework_notices_is_documented(
    kind: type[Exception], expected: tuple[int, str]
) -> None:
    status, code = expected
    assert documented_problems()[code][0] == status


@pytest.mark.parametrize("kind", SERVICE_ERRORS, ids=lambda kind: kind.__name__)
def test_every_service_error_becomes_its_problem(kind: type[ServiceError]) -> None:
    error = kind("What happened.", extra={"run": "r", "retry_after": 1.5})
    response = problem_handler(error, {})
    assert response.status_code == kind.status
    assert response["Content-Type"] == "application/problem+json"
    assert response["Retry-After"] == "2"
    assert f'"code":"{kind.code}"'.encode() in response.content
    assert b'"detail":"What happened."' in response.content


def literal_problem_codes() -> set[str]:
    """The codes that are answered by a literal name, as in ``problem(500, "internal_error")``."""
    found = set()
    for app in PRODUCT:
        for path in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    found |= set(_codes_after_a_status(node.args))
    return found


def _codes_after_a_status(arguments: list[ast.expr]) -> Iterator[str]:
    for status, code in pairwise(arguments):
        values = getattr(status, "value", None), getattr(code, "value", None)
        if isinstance(values[0], int) and 400 <= values[0] <= 599 and isinstance(values[1], str):
            yield values[1]
