"""Tools as a caller sees them."""

from __future__ import annotations

from rest_framework import serializers

from tools_app.api.serializers.base import (
    AnyJSON,
    JSONObject,
    PageQuery,
    QueryFlag,
    StrictBoolean,
    StrictSerializer,
)
from tools_app.services.catalogue import MAX_NOTE, MAX_TIMEOUT_S, SURFACES


class SubjectQuery(StrictSerializer):
    """For whom: the agent, provider, model and session of a call."""

    agent = serializers.CharField(required=False, max_length=64)
    provider = serializers.CharField(required=False, max_length=64)
    model = serializers.CharField(required=False, max_length=200)
    session = serializers.CharField(required=False, max_length=200)


class AgentToolsQuery(PageQuery):
    """Which tools of an agent, for calls with this provider, model and session."""

    provider = serializers.CharField(required=False, max_length=64)
    model = serializers.CharField(required=False, max_length=200)
    session = serializers.CharField(required=False, max_length=200)
    q = serializers.CharField(required=False, max_length=200)
    category = serializers.CharField(required=False, max_length=64)


class ToolQuery(AgentToolsQuery):
    """Which tools, and in what form."""

    agent = serializers.CharField(required=False, max_length=64)
    all = QueryFlag(
        required=False,
        default=False,
        help_text="The others too, with callable false and the reason; needs policy:read.",
    )
    format = serializers.ChoiceField(
        ["spec", "openai", "prompt"],
        required=False,
        default="spec",
        help_text="openai and prompt give all tools that match, without pages.",
    )


class ToolShown(serializers.Serializer):
    """A tool and whether the caller may use it."""

    name = serializers.CharField()
    description = serializers.CharField()
    parameters = JSONObject(help_text="A JSON Schema.")
    category = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]
    plugin_id = serializers.CharField()
    cost_estimate = serializers.FloatField(help_text="US dollars per call.")
    latency_estimate = serializers.FloatField(help_text="Seconds.")
    timeout_seconds = serializers.FloatField()
    requires_confirmation = serializers.BooleanField()
    required_capabilities = serializers.ListField(child=serializers.CharField())
    metadata = JSONObject()
    definition_hash = serializers.CharField()
    is_enabled = serializers.BooleanField()
    is_available = serializers.BooleanField()
    exposed_on = serializers.ListField(child=serializers.CharField(), allow_null=True)
    note = serializers.CharField()
    callable = serializers.BooleanField()
    effect = serializers.ChoiceField(["allow", "ask", "deny"])
    reason = serializers.CharField(help_text="A stable code.")
    summary = serializers.CharField()
    fix = AnyJSON(help_text="The shortest change of policy that would flip a denial, or null.")


class ToolList(serializers.Serializer):
    """Tools by name. ``format=openai`` fills ``functions``, ``format=prompt`` fills ``text``."""

    items = ToolShown(many=True, required=False)
    next_cursor = serializers.CharField(allow_null=True, required=False)
    previous_cursor = serializers.CharField(allow_null=True, required=False)
    functions = serializers.ListField(child=JSONObject(), required=False)
    text = serializers.CharField(required=False)
    agent = serializers.CharField()
    policy_version = serializers.IntegerField()


class ToolChanges(StrictSerializer):
    """What an admin may choose about a tool; null takes a choice back."""

    is_enabled = StrictBoolean(required=False)
    confirmation_override = StrictBoolean(required=False, allow_null=True)
    timeout_override = serializers.FloatField(
        required=False, allow_null=True, min_value=0.001, max_value=MAX_TIMEOUT_S
    )
    exposed_on = serializers.ListField(
        child=serializers.ChoiceField(SURFACES),
        required=False,
        allow_null=True,
        max_length=len(SURFACES),
    )
    note = serializers.CharField(required=False, allow_blank=True, max_length=MAX_NOTE)
