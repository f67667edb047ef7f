"""Pages stay small when the installation grows: 5,000 tools, 100,000 runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, reverse

from tests.bench.seeding import seed_runs, seed_tools
from tests.builders import make_user
from tools_app.console.urls import urlpatterns
from tools_app.services.first_run import prepare

pytestmark = pytest.mark.slow

MAX_HTML_BYTES, MAX_QUERIES = 60_000, 10
TOOLS, RUNS = 5_000, 100_000
# For strangers, redirecting to another page, or a file that grows with its rows.
NO_PAGES = ("sign-in", "sign-out", "why", "approvals-export")
LISTS = ("tools", "tools?all=1", "tools?format=openai", "runs", "runs?agent=main", "events?since=0")


def pages() -> list[str]:
    """The addresses of the console that need no argument: all of its first pages."""
    plain = [p for p in urlpatterns if isinstance(p, URLPattern) and not p.pattern.converters]
    return [f"console:{p.name}" for p in plain if p.name not in NO_PAGES]


@pytest.fixture(scope="module")
def busy_installation(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Everything in one transaction, so that the next module finds the database as it was."""
    with django_db_blocker.unblock(), transaction.atomic():
        prepare()
        seed_runs(RUNS, tools=seed_tools(TOOLS))
        yield
        transaction.set_rollback(True)


@pytest.fixture
def admin(busy_installation: None, db: None) -> Client:
    client = Client()
    client.force_login(make_user("ada", "admin"))
    return client


@pytest.mark.parametrize("page", pages())
def test_a_first_page_is_small_and_asks_little(page: str, admin: Client):
    address = reverse(page)
    admin.get(address)  # what a process keeps in memory is read once, not with each page

    with CaptureQueriesContext(connection) as queries:
        response = admin.get(address)

    assert response.status_code in (200, 405)
    assert len(response.content) <= MAX_HTML_BYTES
    assert len(queries) <= MAX_QUERIES, [query["sql"][:200] for query in queries]


@pytest.mark.parametrize("address", LISTS)
def test_a_list_of_the_api_asks_little(address: str, admin: Client):
    admin.get(f"/api/v1/{address}")

    with CaptureQueriesContext(connection) as queries:
        response = admin.get(f"/api/v1/{address}")

    assert response.status_code == 200
    assert len(queries) <= MAX_QUERIES, [query["sql"][:200] for query in queries]
