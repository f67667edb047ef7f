"""The printed tables are those of the code, and pickers get them whole."""

from __future__ import annotations

from pathlib import Path

from tools_app.policy import TABLE_SETS, suggested_entries
from tools_app.policy.lint import CODES

PAGE = (Path(__file__).parents[3] / "docs" / "policy-tables.md").read_text()
SETS = ("2026.2.22", "2026.2.26", "default")


def printed_rows() -> dict[str, list[str]]:
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows}


def cell(members) -> str:
    if members is None:
        return "—"
    return ", ".join(members) or "no restriction"


def test_the_page_prints_every_group_and_profile_of_every_set():
    rows = printed_rows()
    expected = {
        name: [cell((TABLE_SETS[key].groups | TABLE_SETS[key].profiles).get(name)) for key in SETS]
        for key in SETS
        for name in (*TABLE_SETS[key].groups, *TABLE_SETS[key].profiles)
    }
    assert set(TABLE_SETS) == set(SETS)
    assert {name: cells for name, cells in rows.items() if name not in CODES} == expected


def test_the_page_explains_every_warning():
    assert {name for name, cells in printed_rows().items() if len(cells) == 1} == set(CODES)


def test_default_set_adds_our_groups_and_their_place_in_the_profiles():
    reference, ours = TABLE_SETS["2026.2.22"], TABLE_SETS["default"]
    assert {name: ours.groups[name] for name in reference.groups} == dict(reference.groups)
    added = {
        name: set(ours.profiles[name]) - set(reference.profiles[name]) for name in ours.profiles
    }
    assert added == {
        "minimal": set(),
        "coding": {"group:code", "group:files", "group:reasoning", "group:math"},
        "messaging": {"group:channels"},
        "full": set(),
    }


def test_suggested_entries_carry_their_tools():
    entries = {entry.entry: entry for entry in suggested_entries()}
    assert entries["group:code"].members == ("code_interpreter", "code_interpreter_docker", "repl")
    assert entries["coding"].kind == "profile"
    assert {"think", "calculator", "exec", "read"} <= set(entries["coding"].members)
    assert not any(member.startswith("group:") for member in entries["coding"].members)
    assert entries["group:plugins"].kind == "group"
