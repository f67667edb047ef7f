"""Whatever the schema allows, and some of what it does not: no 5xx, and the shape it promises."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from openjarvis_web.wsgi import application
from tests.api.callers import caller
from tools_app.services.first_run import prepare

EXAMPLES = 5
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
# What waits or leaves this machine is not for random arguments.
WAITING = ("wait", "Prefer")

schema = schemathesis.openapi.from_wsgi("/api/schema/", application)


@pytest.fixture
def token(transactional_db: None) -> str:
    """A token that may do everything."""
    prepare()
    return caller("ada", "admin", scopes=["admin"]).token


@pytest.mark.slow
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_keeps_its_word(case, token):
    case.headers = {**(case.headers or {}), "Authorization": f"Bearer {token}"}
    for name in WAITING:
        for place in (case.query, case.headers):
            if place and name in place:
                place[name] = "0" if name == "wait" else "respond-async"
    case.call_and_validate(checks=CHECKS)
