"""Configuration files of OpenClaw in and out."""

from __future__ import annotations

import json

import pytest

from tests.unit.policy.test_vectors import REFERENCE_TABLES, VECTORS, answer
from tools_app.policy.openclaw import export_openclaw, import_openclaw
from tools_app.policy.places import FileError

FILE = """// who may do what
{
  tools: {
    profile: 'messaging',          // a word
    "alsoAllow": ["slack",],
    /* runtime
       is for nobody */
    deny: [
      "group:runtime",
      'Exec',
    ],
    web: {search: {apiKey: "sk-secret"}},
  },
  gateway: {auth: {token: "s3cret"}},
  agents: {list: [
    {id: "support", name: "Support",
     tools: {byProvider: {"openai/gpt-5": {allow: ["read"]}}}},
  ],},
}
"""


def places(items) -> dict[str, int]:
    return {item.path: item.line for item in items}


@pytest.mark.policy_vectors
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["id"])
def test_a_round_trip_keeps_the_result_of_every_vector(vector):
    imported = import_openclaw(json.dumps(vector["config"], indent=1), tables=REFERENCE_TABLES)
    assert imported.is_valid is vector.get("configValid", True)
    if not imported.is_valid:
        place = vector["configError"].partition(":")[0]
        assert any(item.path.startswith(place) for item in imported.refused)
    again = import_openclaw(export_openclaw(imported.document), tables=REFERENCE_TABLES)
    assert again.document == imported.document
    effective = answer({**vector, "config": again.document}, REFERENCE_TABLES)
    assert list(effective.allowed) == vector["expect"]["allowed"]
    before = answer(vector, REFERENCE_TABLES)
    assert effective.warnings == before.warnings


def test_comments_and_trailing_commas_are_read_and_each_rule_has_its_line():
    imported = import_openclaw(FILE)
    assert imported.is_valid
    assert imported.document == {
        "tools": {
            "profile": "messaging",
            "alsoAllow": ["slack"],
            "deny": ["group:runtime", "Exec"],
        },
        "agents": {
            "list": [
                {
                    "id": "support",
                    "tools": {"byProvider": {"openai/gpt-5": {"allow": ["read"]}}},
                }
            ]
        },
    }
    assert places(imported.understood) == {
        "tools.profile": 4,
        "tools.alsoAllow": 5,
        "tools.deny": 8,
        'agents.list[0].tools.byProvider["openai/gpt-5"].allow': 17,
    }


def test_what_is_no_policy_is_named_and_left_behind_with_its_secrets():
    imported = import_openclaw(FILE)
    assert places(imported.ignored) == {
        "tools.web": 12,
        "gateway": 14,
        "agents.list[0].name": 16,
    }
    assert "cret" not in json.dumps([imported.document, imported.report_json()])


def test_a_warning_has_its_line():
    imported = import_openclaw('{\n tools: {\n  allow: ["read"],\n  deny: ["*"],\n }\n}')
    assert {item.line for item in imported.warnings} <= {3, 4}
    assert imported.warnings


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ('{\n tools: {\n  profile: "nope"}}', "tools.profile", 3),
        ('{tools: {allow: ["a"],\n alsoAllow: ["b"]}}', "tools", 1),
        ('{tools: {deny: [\n"a",\n7]}}', "tools.deny[1]", 3),
        ('{tools: {deny: [\n"a\\u0007b"]}}', "tools.deny[0]", 2),
        ('{\n\n "tolls": {}}', "tolls", 3),
        ('{agents: {list: [\n{id: "a"},\n{tools: {}}]}}', "agents.list[1].id", 3),
        ("{agents: {\n defaults: {\n tools: {}}}}", "agents.defaults.tools", 3),
        ('{tools: {deny: ["a"],\n "deny": []}}', "tools.deny", 2),
        ("{tools: {},\n t\\u006fols: {}}", "tools", 2),
        (f"{{tools: {{deny: [\n{','.join(['0'] * 3)}]}}}}", "tools.deny[0]", 2),
        (f"{{tools:\n{{deny: {json.dumps(['x'] * 1001)}}}}}", "tools.deny", 2),
    ],
)
def test_what_is_wrong_inside_is_refused_at_its_line(text: str, path: str, line: int):
    imported = import_openclaw(text)
    assert not imported.is_valid
    assert (path, line) in [(item.path, item.line) for item in imported.refused]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("{\n a: \n}", 3, "not JSON5"),
        ("{tools: {}}\n\nrest", 3, "not JSON5"),
        ("{tools: {deny: ['x}", 1, "not JSON5"),
        ("", 1, "not JSON5"),
        ("[]", 1, "must hold an object"),
        ("{a:\n" + "[" * 5000, 2, "nested deeper"),
        ('{"a": "' + "x" * (5 * 1024 * 1024) + '"}', 0, "at most 5242880"),
        (b"{\n a: '\xff'}", 2, "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_place(text, line: int, words: str):
    with pytest.raises(FileError) as refusal:
        import_openclaw(text)
    assert refusal.value.line == line, refusal.value.message
    assert words in refusal.value.message


def test_more_rules_than_a_file_may_have_are_refused_where_they_become_too_many():
    agents = ",\n".join(
        json.dumps({"id": f"a{n}", "tools": {"deny": ["exec"] * 1000}}) for n in range(11)
    )
    with pytest.raises(FileError) as refusal:
        import_openclaw(f"{{agents: {{list: [\n{agents}]}}}}")
    assert (refusal.value.line, refusal.value.path) == (12, "agents.list[10].tools.deny")


def test_a_large_file_is_read():
    text = json.dumps(
        {"models": {"x": list(range(400_000))}, "tools": {"deny": ["exec"]}}, indent=0
    )
    imported = import_openclaw(text)
    assert imported.document == {"tools": {"deny": ["exec"]}}
    assert imported.understood[0].line == text[: text.index('"deny"')].count("\n") + 1
