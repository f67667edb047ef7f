"""Addresses in a document and edits at them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.policy import Edit, apply_edits, format_path, parse_path


def edit(op, path, value):
    return Edit(op=op, path=path, value=value)


@given(st.lists(st.text(min_size=0, max_size=6) | st.integers(0, 99), max_size=5))
def test_addresses_survive_writing_and_reading(path):
    assert parse_path(format_path(path)) == tuple(path)


def test_unusual_keys_are_quoted():
    path = ("tools", "byProvider", "openai/gpt-5.2", "deny", 3)
    assert format_path(path) == 'tools.byProvider["openai/gpt-5.2"].deny[3]'


@pytest.mark.parametrize("text", ["tools..deny", "tools.", "a[", "a[x]", 'a["', "a b", ".", "[-1]"])
def test_malformed_addresses_are_refused(text):
    with pytest.raises(ValueError, match="malformed"):
        parse_path(text)


def test_edits_leave_the_original_alone_and_share_the_rest():
    document = {"tools": {"deny": ["a"]}, "agents": {"list": [{"id": "x"}]}}
    changed = apply_edits(
        document, [edit("add", "tools.deny", "b"), edit("remove", "tools.deny", "a")]
    )
    assert changed == {"tools": {"deny": ["b"]}, "agents": {"list": [{"id": "x"}]}}
    assert document["tools"] == {"deny": ["a"]}
    assert changed["agents"] is document["agents"]


def test_what_is_missing_on_the_way_is_created():
    assert apply_edits({}, [edit("add", "tools.byProvider.x.deny", "a")]) == {
        "tools": {"byProvider": {"x": {"deny": ["a"]}}}
    }
    assert apply_edits({}, [edit("set", "tools.profile", "full")]) == {"tools": {"profile": "full"}}


@pytest.mark.parametrize(
    "change",
    [
        edit("remove", "tools.deny", "z"),
        edit("add", "tools.profile", "z"),
        edit("add", "agents.list[5].tools.deny", "z"),
        edit("set", "tools.profile.x", "z"),
        edit("set", "", "z"),
    ],
)
def test_edits_that_do_not_fit_are_refused(change):
    document = {"tools": {"deny": ["a"], "profile": "full"}, "agents": {"list": []}}
    with pytest.raises(ValueError, match=r"."):
        apply_edits(document, [change])
