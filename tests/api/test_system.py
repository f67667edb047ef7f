"""healthz, readyz, metrics, schema, docs"""

from __future__ import annotations

import pytest

from tests.api.callers import caller, code_of
from tools_app.api.documentation import problem_kinds


def test_the_process_says_it_is_alive(nobody):
    assert nobody.get("/healthz").json() == {"status": "ok"}


def test_it_is_ready_with_a_policy(nobody):
    response = nobody.get("/readyz")
    assert (response.status_code, response.json()["status"]) == (200, "ready")


@pytest.mark.django_db
def test_it_is_not_ready_without_one(client):
    response = client.get("/readyz")
    assert (response.status_code, response.json()["checks"]["policy"]) == (503, "unreadable")


def test_metrics_need_audit_and_count_calls(operator, nobody, installed):
    auditor = caller("audrey", "auditor", scopes=["audit"])
    operator.execute()
    text = auditor.get("/metrics").content.decode()
    assert 'openjarvis_calls_total{code="200"}' in text
    assert "openjarvis_call_seconds_count" in text
    assert "openjarvis_event_seq" in text
    assert code_of(operator.get("/metrics")) == "token_scope"
    assert code_of(nobody.get("/metrics")) == "not_authenticated"


def test_the_schema_is_openapi_3_1(nobody):
    response = nobody.get("/api/schema/")
    assert response.json()["openapi"].startswith("3.1")


def test_the_documentation_page_obeys_our_own_csp(nobody):
    response = nobody.get("/api/docs/")
    page = response.content.decode()
    assert response.status_code == 200
    assert "unsafe" not in response["Content-Security-Policy"]
    assert "<style" not in page
    assert "http" not in page.replace("<!DOCTYPE html>", "")
    assert all("src=" in tag for tag in page.split("<script")[1:])


def test_every_code_has_its_place_on_the_page_of_problems(nobody):
    page = nobody.get("/api/docs/problems/").content.decode()
    assert {f'id="{kind.code}"' in page for kind in problem_kinds()} == {True}


def test_a_wrong_address_below_the_api_is_a_problem(nobody, operator):
    response = operator.get("nowhere")
    assert (response.status_code, code_of(response)) == (404, "not_found")
    assert code_of(operator.get("runs/not-a-uuid")) == "not_found"
