"""Argument checking: what passes, what is refused, and how the refusal reads."""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.core import InvalidArguments, InvalidSchema, compile_arguments
from tools_app.core.json_text import MAX_BYTES, MAX_DEPTH

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "filter": {"type": "object"},
        "maybe": {"anyOf": [{"type": "array"}, {"type": "null"}]},
        "either": {"type": ["string", "array"]},
        "linked": {"$ref": "#/$defs/list"},
        "count": {"type": "integer"},
        "mood": {"enum": ["calm", "brisk"]},
    },
    "$defs": {"list": {"type": "array"}},
    "required": ["name"],
    "additionalProperties": False,
}


def refusal(arguments: object, schema: dict[str, Any] = SCHEMA) -> InvalidArguments:
    with pytest.raises(InvalidArguments) as caught:
        compile_arguments(schema).check(arguments)
    return caught.value


def test_text_and_object_give_the_same_values() -> None:
    checker = compile_arguments(SCHEMA)
    values = {"name": "x", "tags": ["a"], "count": 3}
    assert checker.check(json.dumps(values)) == checker.check(values)
    assert checker.check(values).values == values


@pytest.mark.parametrize("nothing", ["", "  \n", None, {}, "{}"])
def test_nothing_stands_for_an_empty_object(nothing: object) -> None:
    assert compile_arguments({}).check(nothing).values == {}


@pytest.mark.parametrize(
    ("arguments", "path", "part"),
    [
        ({}, "$.name", "required"),
        ({"name": 3}, "$.name", "string"),
        ({"name": "x", "tags": ["a", 2]}, "$.tags[1]", "string"),
        ({"name": "x", "mood": "angry"}, "$.mood", "calm"),
        ({"name": "x", "odd key": 1}, "$", "odd key"),
        ({"name": "x", "count": 1.5}, "$.count", "integer"),
    ],
)
def test_a_violation_names_its_place_and_reason(
    arguments: dict[str, Any], path: str, part: str
) -> None:
    error = refusal(arguments)
    assert [e["path"] for e in error.errors] == [path]
    assert part in error.errors[0]["message"]
    assert error.code == "invalid_arguments"


def test_every_violation_is_listed_up_to_a_limit() -> None:
    assert {e["path"] for e in refusal({"count": "x", "tags": 3}).errors} == {
        "$.name",
        "$.count",
        "$.tags",
    }
    assert len(refusal({"name": "x", "tags": [1] * 500}).errors) == 20


def test_messages_do_not_quote_the_arguments() -> None:
    error = refusal({"name": "x", "count": "hunter2-is-my-password"})
    assert "hunter2" not in error.message + json.dumps(error.errors)


@pytest.mark.parametrize("name", ["tags", "maybe", "linked"])
def test_an_array_sent_as_text_is_read_once_and_marked(name: str) -> None:
    sent = {"name": "x", name: ' ["a"] '}
    checked = compile_arguments(SCHEMA).check(sent)
    assert checked.values == {"name": "x", name: ["a"]}
    assert checked.coerced == (name,)
    assert sent[name] == ' ["a"] ', "the caller's own object is left alone"


def test_a_nested_object_sent_as_text_is_read() -> None:
    schema = {"properties": {"rows": {"items": {"type": "object"}}}}
    checked = compile_arguments(schema).check({"rows": [{}, '{"a": 1}']})
    assert checked.values == {"rows": [{}, {"a": 1}]}
    assert checked.coerced == ("rows[1]",)


def test_what_was_read_from_text_is_checked_like_the_rest() -> None:
    assert refusal({"name": "x", "tags": "[1]"}).errors[0]["path"] == "$.tags[0]"
    assert refusal({"name": "x", "tags": '"[\\"a\\"]"'}).errors[0]["path"] == "$.tags"
    assert refusal({"name": "x", "filter": "[1]"}).errors[0]["path"] == "$.filter"


def test_a_text_stays_a_text_where_a_text_is_allowed() -> None:
    checked = compile_arguments(SCHEMA).check({"name": "[1]", "either": "[2]"})
    assert checked.values == {"name": "[1]", "either": "[2]"}
    assert checked.coerced == ()


def test_malformed_json_within_a_text_names_the_parameter_and_the_position() -> None:
    error = refusal({"name": "x", "tags": '["a", oops]'})
    assert error.errors[0]["path"] == "$.tags"
    assert "column 7" in error.message
    assert "tags" in error.message


@pytest.mark.parametrize("text", ["{", '{"a": ', '{"a": "b', "[1, 2", '{"a": {"b": 1}'])
def test_a_text_that_stops_early_is_truncated(text: str) -> None:
    assert refusal(text, {}).code == "truncated_arguments"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{bad", "line 1 column 2"),
        ('{"a": 1,}', "invalid JSON"),
        ('{"a": 1} x', "invalid JSON"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a": 1e999}', "too large"),
        ('{"a": 1, "b": 2, "a": 3}', '"a" appears twice'),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"\\udfff": 1}', "surrogate"),
        ("[1]", "expected a JSON object, got list"),
        ("null", "expected a JSON object, got NoneType"),
        ('"text"', "expected a JSON object, got str"),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
    ],
)
def test_json_that_is_refused(text: str, part: str) -> None:
    assert part in refusal(text, {}).message


@pytest.mark.parametrize(
    "value",
    [
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": "\ud800"},
        {1: "a"},
        {"a": (1, 2)},
        {"a": {1, 2}},
        {"a": b"bytes"},
        {"a": 10**5000},
        [1],
        3,
        True,
    ],
)
def test_objects_that_are_no_json_are_refused(value: object) -> None:
    refusal(value, {})


def nested(depth: int) -> str:
    return '{"a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def test_depth_is_limited_alike_for_texts_and_objects() -> None:
    checker = compile_arguments({})
    on_the_limit = nested(MAX_DEPTH)
    assert checker.check(on_the_limit).values == checker.check(json.loads(on_the_limit)).values
    assert "nested" in refusal(nested(MAX_DEPTH + 1), {}).message
    assert "nested" in refusal(json.loads(nested(MAX_DEPTH + 1)), {}).message
    assert "nested" in refusal(nested(200_000), {}).message


def test_brackets_within_texts_are_no_nesting() -> None:
    text = "[" * 500 + '\\"' + "{" * 500
    assert compile_arguments({}).check(json.dumps({"a": text})).values == {"a": text}


def test_size_is_limited_in_bytes() -> None:
    frame = len('{"a":""}')
    fits, too_long = "x" * (MAX_BYTES - frame), "x" * (MAX_BYTES - frame + 1)
    checker = compile_arguments({})
    assert checker.check(f'{{"a":"{fits}"}}').values == {"a": fits}
    assert "larger" in refusal(f'{{"a":"{too_long}"}}', {}).message
    assert "larger" in refusal(f'{{"a":"{"é" * (MAX_BYTES // 2)}"}}', {}).message
    assert "larger" in refusal({"a": "x" * MAX_BYTES}, {}).message
    assert "larger" in refusal({"a": [0] * MAX_BYTES}, {}).message


@pytest.mark.parametrize(
    "text",
    [
        '"' * (MAX_BYTES - 1) + "\\",
        "[" * 65 + '\\"' * 500_000,
        "[" * 65 + '\\"' * 500_000 + "\\",
        "[" * 65 + '"' + "\\\\" * 500_000 + "\\",
        '{"' + "k" * 500_000 + '": {' + ", ".join(f'"{n}": "\\ud800"' for n in range(20_000)),
        "{" + ", ".join(f'"{n}": 0' for n in range(80_000)) + ', "1": 1}',
    ],
)
def test_hostile_texts_are_refused_quickly(text: str) -> None:
    started = time.process_time()
    refusal(text, {})
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"properties": 3},
        {"pattern": "("},
        {"pattern": "(?=look)ahead"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"properties": {"a": float("nan")}},
        {"properties": {"a": {1, 2}}},
        [],
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_when_it_is_compiled(schema: Any) -> None:
    with pytest.raises(InvalidSchema):
        compile_arguments(schema)


def test_a_schema_as_deep_as_it_likes_is_refused_not_crashed_on() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"x": schema}}
    with pytest.raises(InvalidSchema):
        compile_arguments(schema)


def test_a_remote_reference_never_touches_the_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        with pytest.raises(InvalidSchema):
            compile_arguments({"$ref": f"http://127.0.0.1:{port}/schema.json"})
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_pattern_that_would_backtrack_for_ever_does_not() -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    started = time.process_time()
    refusal({"a": "a" * 50_000 + "b"}, schema)
    assert time.process_time() - started < 1


def test_equal_schemas_are_compiled_once() -> None:
    assert compile_arguments(dict(SCHEMA)) is compile_arguments(dict(SCHEMA))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), json_values))
def test_any_object_is_checked_or_refused(values: dict[str, Any]) -> None:
    with suppress(InvalidArguments):
        assert set(compile_arguments(SCHEMA).check(values).values) == set(values)


@given(st.text())
def test_any_text_is_checked_or_refused(text: str) -> None:
    with suppress(InvalidArguments):
        assert isinstance(compile_arguments({}).check(text).values, dict)
