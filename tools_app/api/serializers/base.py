"""Strict input: what a caller sends and we would not use is refused, never ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

MAX_PAGE = 200


class StrictSerializer(serializers.Serializer):
    """A serializer that refuses unknown fields."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                raise serializers.ValidationError(
                    {name: ["There is no such field."] for name in unknown}
                )
        return super().to_internal_value(data)


class StrictBoolean(serializers.BooleanField):
    """A JSON boolean; the text "no" is not one."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class QueryFlag(serializers.BooleanField):
    """A yes or no in a query string: 1, true, 0 or false."""

    TRUE_VALUES = {"1", "true", "True"}
    FALSE_VALUES = {"0", "false", "False"}


@extend_schema_field({"type": "object", "additionalProperties": True})
class JSONObject(serializers.JSONField):
    """A JSON object of any content."""

    default_error_messages = {"not_an_object": "This must be a JSON object."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("not_an_object")
        return dict(data)


@extend_schema_field({})
class AnyJSON(serializers.JSONField):
    """Any JSON value."""


class PageQuery(StrictSerializer):
    """Where in a list to look."""

    cursor = serializers.CharField(
        required=False,
        default="",
        max_length=400,
        help_text="From next_cursor or previous_cursor of a page.",
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_PAGE, default=50)


class EmptyBody(StrictSerializer):
    """No fields."""


class ProblemError(serializers.Serializer):
    """One thing that is wrong with a request."""

    path = serializers.CharField()
    message = serializers.CharField()


class Problem(serializers.Serializer):
    """An error (RFC 9457)."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField(help_text="Stable; see /api/docs/problems/.")
    decision = serializers.UUIDField(required=False)
    run = serializers.UUIDField(required=False)
    approval = serializers.UUIDField(required=False)
    fix = AnyJSON(required=False, help_text="The shortest change of policy that would allow it.")
    errors = ProblemError(many=True, required=False)  # type: ignore[assignment]
    retry_after = serializers.FloatField(required=False, help_text="Seconds.")
    freeze = serializers.IntegerField(required=False, help_text="The freeze that refused it.")
    state = serializers.CharField(required=False, help_text="Where an approval stands.")
    may_ask_again = serializers.BooleanField(required=False)


def page_of(item: type[serializers.Serializer], name: str) -> type[serializers.Serializer]:
    """Return the serializer of one page of ``item``, named ``name`` in the schema."""
    fields = {
        "items": item(many=True),
        "next_cursor": serializers.CharField(allow_null=True),
        "previous_cursor": serializers.CharField(allow_null=True),
    }
    return type(name, (serializers.Serializer,), {**fields, "__doc__": f"A page of {name}."})
