"""Digests: the same call has one digest, however it was spelled; different calls have two."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.core import (
    InvalidArguments,
    ToolSpec,
    arguments_digest,
    canonical_json,
    definition_hash,
)


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ({"b": 1, "a": [True, None, "x"]}, '{"a":[true,null,"x"],"b":1}'),
        ({}, "{}"),
        ([], "[]"),
        ([[], {}], "[[],{}]"),
        ({"\U0001f600": 1, "\ufb33": 2}, '{"\U0001f600":1,"\ufb33":2}'),  # by UTF-16 units
        ('\u20ac$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'),
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e-7, "1e-7"),
        (1e-6, "0.000001"),
        (-1.5e-5, "-0.000015"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (333333333.33333329, "333333333.3333333"),
        (4.5, "4.5"),
        (2e-3, "0.002"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (2**60 + 1, "1152921504606846977"),
    ],
)
def test_canonical_form(value: Any, canonical: str) -> None:
    assert canonical_json(value).decode() == canonical


def test_spelling_does_not_matter() -> None:
    one, two = '{"a": 1.0, "b": "\\u00e9"}', '{"b":"é","a":1}'
    assert arguments_digest(json.loads(one)) == arguments_digest(json.loads(two))


@pytest.mark.parametrize(
    "other", [{"a": 2}, {"a": "1"}, {"a": True}, {"a": [1]}, {"A": 1}, {"a": 1, "b": None}]
)
def test_different_arguments_differ(other: dict[str, Any]) -> None:
    assert arguments_digest({"a": 1}) != arguments_digest(other)


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": "\ud800"}, {"a": object()}])
def test_what_is_no_json_has_no_digest(value: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        arguments_digest(value)


def test_a_definition_is_its_name_description_and_parameters() -> None:
    spec = ToolSpec("t", "d", {"type": "object", "properties": {"a": {}, "b": {}}})
    same = ToolSpec(
        "t",
        "d",
        {"properties": {"b": {}, "a": {}}, "type": "object"},
        category="x",
        metadata={"y": 1},
    )
    assert definition_hash(spec) == definition_hash(same)
    assert definition_hash(spec).startswith("sha256:")
    assert len(definition_hash(spec)) == len("sha256:") + 64
    others = [
        ToolSpec("u", "d", spec.parameters),
        ToolSpec("t", "e", spec.parameters),
        ToolSpec("t", "d", {"type": "object"}),
    ]
    assert len({definition_hash(s) for s in [spec, *others]}) == 4


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec="utf-8")),
        lambda c: st.lists(c) | st.dictionaries(st.text(st.characters(codec="utf-8")), c),
        max_leaves=15,
    )
)
def test_the_canonical_form_is_json_of_the_same_value(value: Any) -> None:
    canonical = canonical_json(value)
    assert json.loads(canonical) == value
    assert canonical_json(json.loads(canonical)) == canonical
