"""Addresses and forms with what no database keeps: told so, on every page, and never a crash."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.builders import make_user

pytestmark = pytest.mark.usefixtures("installed")

READS = (
    "/agents/%00/",
    "/agents/?q=%00",
    "/approvals/history.csv?agent=%00",
    "/freezes/new/?scope=agent&target=%00",
    "/freezes/new/blast/?scope=agent&target=%00",
    "/live/?agent=%00",
    "/palette/?q=%00",
    "/runs/?%00=x",
    "/tools/%00/",
    "/why/?tool=think&agent=%00",
    "/why/?tool=x&agent=main&agent=%00",
)


@pytest.fixture
def ada() -> Client:
    client = Client()
    client.force_login(make_user("ada", "admin"))
    return client


@pytest.mark.parametrize("path", READS)
def test_nul_in_an_address_is_refused(ada: Client, path: str):
    answer = ada.get(path)
    assert answer.status_code == 422
    assert "U+0000" in answer.text


def test_nul_in_a_form_is_refused(ada: Client):
    form = {"scope": "agent", "target": "ma\0in", "reason": "drill", "minutes": "5"}
    assert ada.post("/freezes/new/", form).status_code == 422


@pytest.mark.parametrize("address", ["NaN", "9999-12-31T23:59", "console:sign-out", "{", "a\0b"])
def test_what_is_no_address_leads_to_the_first_page(ada: Client, address: str):
    for path, form in (
        ("/preferences/", {"scheme": "dark"}),
        ("/set-language/", {"language": "th"}),
    ):
        assert ada.post(path, {**form, "next": address})["Location"] == "/"
