"""For each list that belongs to somebody: the rows of B are invisible to A."""

from __future__ import annotations

import pytest

from tests.api.callers import Caller, person, token_of
from tests.api.routes import routes

SCOPES = ["tools:read", "tools:execute"]
# Lists of what belongs to the installation; their visibility is a matter of scope alone.
SHARED = {"tools", "agents", "freezes", "limits", "grants", "effective-tools", "versions"}
OWNED = {
    "runs": lambda item: item["id"],
    "approvals": lambda item: item["id"],
    "events": lambda item: item["run"],
    "tokens": lambda item: item["id"],
}


def test_every_list_is_known_to_be_owned_or_shared(admin):
    lists = set()
    for method, path, _ in routes():
        if method == "GET":
            body = admin.get(path)
            if body["Content-Type"] == "application/json" and "items" in body.json():
                lists.add(path.rpartition("/")[2])
    assert lists == SHARED | set(OWNED)


@pytest.mark.parametrize("path", sorted(OWNED))
def test_rows_of_another_are_invisible(admin, path):
    admin.patch("tools/http_request", {"confirmation_override": True})
    anna, berta = (person(name, "operator") for name in ("anna", "berta"))
    callers = [Caller(token=token_of(user, SCOPES)) for user in (anna, berta)]
    for client in callers:
        assert client.execute().status_code == 200
        url = {"url": "https://example.org/"}
        assert client.execute("http_request", arguments=url).status_code == 202
    seen = []
    for client in callers:
        items = client.get(path).json()["items"]
        keys = {OWNED[path](item) for item in items} - {None}
        assert keys, f"{path} shows a caller nothing of its own"
        seen.append(keys)
    assert not seen[0] & seen[1]
