"""Agent profiles and what they may use."""

from __future__ import annotations

from rest_framework import serializers

from tools_app.api.serializers.base import (
    JSONObject,
    PageQuery,
    StrictBoolean,
    StrictSerializer,
    page_of,
)

SLUG = r"^[a-z0-9_][a-z0-9_-]{0,63}$"


class AgentShown(serializers.Serializer):
    """An agent: its profile, its rules in the policy, and what comes out of them."""

    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    provider = serializers.CharField()
    model = serializers.CharField()
    prompt = serializers.CharField()
    is_active = serializers.BooleanField()
    version = serializers.IntegerField(help_text="Also the ETag.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    rules = JSONObject(help_text="agents.list[].tools of the policy document.")
    allowed_count = serializers.IntegerField()
    ask_count = serializers.IntegerField()
    warnings = serializers.ListField(child=JSONObject())


class AgentChanges(StrictSerializer):
    """What to change of an agent."""

    name = serializers.CharField(required=False, max_length=120)
    description = serializers.CharField(required=False, allow_blank=True, max_length=5_000)
    provider = serializers.CharField(required=False, allow_blank=True, max_length=64)
    model = serializers.CharField(required=False, allow_blank=True, max_length=120)
    prompt = serializers.CharField(
        required=False, allow_blank=True, max_length=200_000, trim_whitespace=False
    )
    is_active = StrictBoolean(required=False)


class AgentBody(AgentChanges):
    """A new agent."""

    slug = serializers.RegexField(SLUG, max_length=64)


class AgentQuery(PageQuery):
    """Which agents."""

    q = serializers.CharField(required=False, max_length=120)


class ExplainQuery(StrictSerializer):
    """Which call to explain."""

    tool = serializers.CharField(max_length=200)
    provider = serializers.CharField(required=False, max_length=64)
    model = serializers.CharField(required=False, max_length=200)
    session = serializers.CharField(required=False, max_length=200)


class AgentPrompt(serializers.Serializer):
    """The agent's prompt with the descriptions of the tools it may use."""

    agent = serializers.CharField()
    prompt = serializers.CharField()


AgentPage = page_of(AgentShown, "AgentPage")
