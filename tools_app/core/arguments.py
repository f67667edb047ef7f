"""Checking the arguments of a tool call against the tool's JSON Schema.

A schema is compiled once per tool definition (Draft 2020-12, jsonschema-rs) and may come from a
stranger: references leave neither the document nor this machine, patterns are matched in linear
time, and a schema that cannot be compiled is an ``InvalidSchema``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, NoReturn

import jsonschema_rs

from tools_app.core.errors import InvalidArguments, InvalidSchema
from tools_app.core.json_text import MAX_BYTES, check_json_value, json_path, parse_json

MAX_ERRORS = 20  # a caller cannot use more, and a large array could have a million
MAX_MESSAGE_CHARACTERS = 300
_COMPILED_SCHEMAS = 4096  # of the cache; one compiled schema takes some 10 kB


@dataclass(frozen=True, slots=True)
class CheckedArguments:
    """Arguments that fit the schema; ``coerced`` names the parameters read from JSON text."""

    values: dict[str, Any]
    coerced: tuple[str, ...] = ()


class ArgumentChecker:
    """Parses and checks the arguments of one tool. Safe to share between threads."""

    def __init__(self, validator: jsonschema_rs.Draft202012Validator) -> None:
        self._validator = validator

    def check(self, arguments: object) -> CheckedArguments:
        """Return the checked arguments of a JSON text or an object.

        Empty text and ``None`` stand for ``{}``. Where the schema wants an array or an object
        and finds a text that is the JSON of one, the text is read, once. Raises
        InvalidArguments with every violation as JSON path and message.
        """
        values = parse_arguments(arguments)
        if self._validator.is_valid(values):
            return CheckedArguments(values)
        return self._check_coerced(values)

    def _check_coerced(self, values: dict[str, Any]) -> CheckedArguments:
        violations = list(islice(self._validator.iter_errors(values), MAX_ERRORS))
        coerced = []
        for violation in violations:
            replacement = _parsed_container(violation)
            if replacement is not None:
                values = _with_value_at(values, violation.instance_path, replacement)
                coerced.append(json_path(violation.instance_path).removeprefix("$."))
        if coerced:
            violations = list(islice(self._validator.iter_errors(values), MAX_ERRORS))
        if violations:
            _refuse(_described(violations))
        return CheckedArguments(values, tuple(dict.fromkeys(coerced)))


def compile_arguments(parameters: Mapping[str, Any]) -> ArgumentChecker:
    """Return the checker for a tool's ``parameters``; raises InvalidSchema.

    Equal schemas share one compiled validator, so asking again is cheap.
    """
    try:
        text = json.dumps(parameters, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidSchema(f"the parameters are no JSON Schema: {error}") from None
    if len(text) > MAX_BYTES:
        raise InvalidSchema(f"the parameters are larger than {MAX_BYTES} bytes")
    return _compile(text)


def parse_arguments(arguments: object) -> dict[str, Any]:
    """Return the object that arguments stand for, unchecked by any schema.

    Raises InvalidArguments when the JSON is malformed, too large or no object.
    """
    if isinstance(arguments, str):
        value = parse_json(arguments) if arguments.strip() else {}
    else:
        value = {} if arguments is None else _plain(arguments)
    if not isinstance(value, dict):
        found = type(value).__name__
        raise InvalidArguments(f"invalid arguments: expected a JSON object, got {found}")
    return value


def _plain(arguments: object) -> object:
    value = dict(arguments) if isinstance(arguments, Mapping) else arguments
    check_json_value(value)
    return value


@lru_cache(maxsize=_COMPILED_SCHEMAS)
def _compile(schema_text: str) -> ArgumentChecker:
    schema = json.loads(schema_text)
    if not isinstance(schema, dict):
        raise InvalidSchema("the parameters are no JSON Schema: not an object")
    try:
        validator = jsonschema_rs.Draft202012Validator(
            schema,
            retriever=_refuse_retrieval,
            pattern_options=jsonschema_rs.RegexOptions(),  # linear time, no look-around
            mask="the value",  # errors are stored and shown: they must not quote the arguments
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        reason = getattr(error, "message", str(error))[:MAX_MESSAGE_CHARACTERS]
        raise InvalidSchema(f"the parameters are no usable JSON Schema: {reason}") from None
    return ArgumentChecker(validator)


def _refuse_retrieval(uri: str) -> NoReturn:
    raise ValueError(f"references to other documents are not followed: {uri}")


def _parsed_container(violation: jsonschema_rs.ValidationError) -> object | None:
    """Return the array or object that was sent as text, ``None`` when it is something else."""
    if not violation.instance_path or not isinstance(violation.instance, str):
        return None
    text = violation.instance.strip()
    wanted = set(_wanted_types(violation))
    kind = {"[": "array", "{": "object"}.get(text[:1])
    if kind not in wanted:
        return None
    path = json_path(violation.instance_path)
    try:
        parsed: object = parse_json(text)
    except InvalidArguments as error:
        _refuse([{"path": path, "message": error.message}])
    return parsed


def _wanted_types(violation: jsonschema_rs.ValidationError) -> Iterable[str]:
    """Yield the JSON types that would have been right at the place of a violation."""
    kind = violation.kind
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Type):
        yield from kind.types
    elif isinstance(
        kind,
        jsonschema_rs.ValidationErrorKind.AnyOf | jsonschema_rs.ValidationErrorKind.OneOfNotValid,
    ):
        for branch in kind.context:
            for nested in branch:
                if nested.instance_path == violation.instance_path:
                    yield from _wanted_types(nested)


def _with_value_at(values: dict[str, Any], path: list[str | int], new: object) -> dict[str, Any]:
    """Return a copy that differs at ``path``; the caller's own object stays as it is."""
    root: dict[str, Any] = dict(values)
    place: Any = root
    for step in path[:-1]:
        place[step] = place[step].copy()
        place = place[step]
    place[path[-1]] = new
    return root


def _described(violations: list[jsonschema_rs.ValidationError]) -> list[dict[str, str]]:
    return [
        {"path": json_path(_place(v)), "message": v.message[:MAX_MESSAGE_CHARACTERS]}
        for v in violations
    ]


def _place(violation: jsonschema_rs.ValidationError) -> list[str | int]:
    """Return where to mend: for a missing property that is the property, not its parent."""
    if isinstance(violation.kind, jsonschema_rs.ValidationErrorKind.Required):
        return [*violation.instance_path, violation.kind.property]
    return violation.instance_path


def _refuse(errors: list[dict[str, str]]) -> NoReturn:
    first = f"{errors[0]['path'].removeprefix('$.')}: {errors[0]['message']}"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    raise InvalidArguments(f"invalid arguments: {first}{more}", errors=errors)
