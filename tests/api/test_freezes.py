"""freezes: list, create, show, extend, lift"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.api.callers import Caller, code_of


def in_minutes(minutes: float) -> str:
    return (timezone.now() + timedelta(minutes=minutes)).isoformat()


def freeze(caller: Caller, **fields):
    body = {"scope": "agent", "target": "main", "reason": "strange calls", **fields}
    return caller.post("freezes", {"expires_at": in_minutes(10), **body})


def test_a_frozen_agent_is_refused_with_reason_and_wait(operator):
    made = freeze(operator)
    assert (made.status_code, made.json()["is_active"]) == (201, True)
    response = operator.execute(agent="main")
    assert (response.status_code, code_of(response)) == (423, "frozen")
    assert "strange calls" in response.json()["detail"]
    assert 500 < int(response["Retry-After"]) <= 600
    assert operator.execute(agent="coding").status_code == 200
    assert operator.get(f"freezes/{made.json()['id']}").json()["refused_count"] == 1


def test_everything_can_be_frozen_and_lifted(operator):
    made = freeze(operator, scope="everything", target="").json()
    assert code_of(operator.execute()) == "frozen"
    lifted = operator.delete(f"freezes/{made['id']}")
    assert (lifted.json()["is_active"], lifted.json()["ended_how"]) == (False, "lifted")
    assert operator.execute().status_code == 200
    again = operator.delete(f"freezes/{made['id']}")
    assert (again.status_code, code_of(again)) == (409, "conflict")


def test_a_freeze_cancels_what_is_queued(operator):
    run = operator.execute(headers={"Prefer": "respond-async"}).json()["run"]["id"]
    freeze(operator, scope="tool", target="calculator")
    shown = operator.get(f"runs/{run}").json()
    assert (shown["status"], shown["outcome"]) == ("cancelled", "frozen")


def test_a_freeze_gets_a_later_end_only(operator):
    made = freeze(operator).json()
    later = operator.patch(f"freezes/{made['id']}", {"expires_at": in_minutes(30)})
    assert later.json()["expires_at"] > made["expires_at"]
    sooner = operator.patch(f"freezes/{made['id']}", {"expires_at": in_minutes(1)})
    assert (sooner.status_code, code_of(sooner)) == (422, "invalid_request")


def test_the_list_tells_active_from_ended(operator, viewer):
    ended = freeze(operator).json()["id"]
    operator.delete(f"freezes/{ended}")
    active = freeze(operator, target="coding").json()["id"]
    assert [f["id"] for f in viewer.get("freezes?active=1").json()["items"]] == [active]
    assert [f["id"] for f in viewer.get("freezes?active=0").json()["items"]] == [ended]
    assert [f["id"] for f in viewer.get("freezes").json()["items"]] == [active, ended]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"scope": "moon"}, "$.scope"),
        ({"target": ""}, "$.target"),
        ({"reason": ""}, "$.reason"),
        ({"expires_at": in_minutes(-1)}, "$.expires_at"),
        ({"expires_at": "soon"}, "$.expires_at"),
        ({"until": "soon"}, "$.until"),
    ],
)
def test_a_wrong_field_is_named(operator, fields, path):
    response = freeze(operator, **fields)
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
    assert path in [error["path"] for error in response.json()["errors"]]


def test_who_may_only_look_freezes_nothing(viewer, nobody, operator):
    made = freeze(operator).json()["id"]
    assert code_of(freeze(viewer)) == "token_scope"
    assert code_of(viewer.delete(f"freezes/{made}")) == "token_scope"
    assert code_of(nobody.get("freezes")) == "not_authenticated"
    assert code_of(operator.get("freezes/999999")) == "not_found"
    assert code_of(operator.delete("freezes/999999")) == "not_found"
    assert code_of(operator.put("freezes", {})) == "method_not_allowed"
