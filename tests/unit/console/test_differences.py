"""Two JSON values compared in words."""

from __future__ import annotations

import pytest

from tools_app.console.differences import MAX_SHOWN, Change, changes


def test_equal_values_have_no_changes():
    assert changes({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}) == []


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"a": 1}, {"a": 2}, Change("a", "changed", "1", "2")),
        ({}, {"a": None}, Change("a", "added", after="null")),
        ({"a": ""}, {}, Change("a", "removed", before='""')),
        ({"a": 1}, {"a": True}, Change("a", "changed", "1", "true")),
        ({"a": 0}, {"a": None}, Change("a", "changed", "0", "null")),
        ({"a": [1]}, {"a": [1, 2]}, Change("a[1]", "added", after="2")),
        ({"a": [1, 2]}, {"a": [1]}, Change("a[1]", "removed", before="2")),
        ({"a": {"b": 1}}, {"a": []}, Change("a", "changed", '{"b": 1}', "[]")),
        ("x", "y", Change("value", "changed", '"x"', '"y"')),
    ],
)
def test_one_difference_is_named(before: object, after: object, change: Change):
    assert changes(before, after) == [change]


def test_changes_come_in_document_order_and_end_at_the_limit():
    before, after = {"a": 1, "b": {"c": 2}}, {"a": 0, "b": {"c": 3, "d": 4}}
    assert [change.path for change in changes(before, after)] == ["a", "b.c", "b.d"]
    assert len(changes(before, after, limit=2)) == 2


def test_long_values_are_cut():
    (change,) = changes("", "x" * 10_000)
    assert len(change.after) == MAX_SHOWN + 1
    assert change.after.endswith("…")
