"""GET configuration, POST configuration/plan and /apply, manage.py policy."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.api.callers import code_of

DENY = {"policy": {"tools": {"deny": ["calculator"]}}}


def test_what_is_read_plans_no_change_and_applies(admin):
    read = admin.get("configuration")
    body = read.json()
    assert read["ETag"] == f'"{body["digest"]}"'
    for given in ({"yaml": body["yaml"]}, {"configuration": body["configuration"]}):
        plan = admin.post("configuration/plan", given).json()
        assert (plan["is_valid"], plan["changes"], plan["base"]) == (True, [], body["digest"])


def test_a_plan_tells_who_loses_what_and_applying_does_it(admin):
    plan = admin.post("configuration/plan", {"configuration": DENY}).json()
    assert [change["section"] for change in plan["changes"]] == ["policy"]
    assert "calculator" in plan["policy"]["changes"][0]["removed"]
    assert admin.execute(agent="main").status_code == 200
    headers = {"If-Match": f'"{plan["base"]}"'}
    body = {"configuration": DENY, "comment": "no sums"}
    applied = admin.post("configuration/apply", body, headers=headers)
    assert applied.status_code == 200
    assert applied.json()["changes"] == plan["changes"]
    assert code_of(admin.execute(agent="main")) == "denied_by_policy"
    assert admin.get("policy").json()["comment"] == "no sums"
    again = admin.post("configuration/apply", body, headers=headers)
    assert (again.status_code, code_of(again)) == (412, "precondition_failed")
    assert admin.get("configuration").json()["drift"]["sections"] == []


def test_an_openclaw_file_comes_with_its_report(admin):
    text = "{ // comment\n tools: {deny: ['exec',]},\n gateway: {port: 1},\n}"
    plan = admin.post("configuration/plan", {"openclaw": text}).json()
    assert plan["is_valid"]
    assert [(i["path"], i["line"]) for i in plan["report"]["understood"]] == [("tools.deny", 2)]
    assert [(i["path"], i["line"]) for i in plan["report"]["ignored"]] == [("gateway", 3)]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, ""),
        ({"yaml": "a: 1", "openclaw": "{}"}, ""),
        ({"yaml": "a: &x [*x]"}, ""),
        ({"openclaw": "{"}, ""),
        ({"configuration": []}, "configuration"),
    ],
)
def test_a_body_that_cannot_be_read_is_a_problem(admin, body, path):
    response = admin.post("configuration/plan", body)
    assert (response.status_code, code_of(response)) == (422, "invalid_request")


def test_errors_of_a_plan_are_an_answer_and_of_applying_a_problem(admin):
    wrong = {"yaml": "policy:\n  tools:\n    deny: 7"}
    plan = admin.post("configuration/plan", wrong).json()
    assert plan["errors"][0]["path"] == "policy.tools.deny"
    assert plan["errors"][0]["message"].startswith("line 3: ")
    response = admin.post("configuration/apply", wrong, headers={"If-Match": f'"{plan["base"]}"'})
    assert (response.status_code, code_of(response)) == (422, "invalid_request")
    assert response.json()["errors"] == plan["errors"]
    assert code_of(admin.post("configuration/apply", {"configuration": DENY})) == (
        "precondition_required"
    )


# --- manage.py policy ------------------------------------------------------------------------


def manage(*arguments: str) -> str:
    out = StringIO()
    call_command("policy", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_exports_plans_and_applies(admin, tmp_path):
    file = tmp_path / "all.yaml"
    file.write_text(manage("export"))
    assert "Nothing changes." in manage("plan", str(file))
    file.write_text("policy: {tools: {deny: [calculator]}}")
    planned = manage("plan", str(file))
    assert "-calculator" in planned
    assert admin.execute(agent="main").status_code == 200
    base = planned.rpartition("base: ")[2].strip()
    assert "Applied: 1 changes." in manage("apply", str(file), "--base", base)
    assert code_of(admin.execute(agent="main")) == "denied_by_policy"
    with pytest.raises(CommandError, match="has changed"):
        manage("apply", str(file), "--base", base)


def test_the_command_reads_and_writes_openclaw_files(admin, tmp_path):
    file = tmp_path / "openclaw.json"
    file.write_text("{tools: {deny: ['calculator',]},\n gateway: {}}")
    assert "ignored: line 2: gateway" in manage("apply", "--openclaw", str(file))
    assert manage("export", "--openclaw").split() == (
        ["{", '"tools":', "{", '"deny":', "[", '"calculator"', "]", "}", "}"]
    )
    file.write_text("{tools: {\nprofile: 'nope'}}")
    with pytest.raises(CommandError, match="line 2"):
        manage("plan", "--openclaw", str(file))


def test_the_command_explains(admin):
    said = manage("explain", "support", "calculator")
    assert said.startswith("deny — ")
    assert "To change it: " in said
    with pytest.raises(CommandError, match="no agent"):
        manage("explain", "nobody", "calculator")
    with pytest.raises(CommandError, match="No such file"):
        manage("plan", "/nowhere/x.yaml")
