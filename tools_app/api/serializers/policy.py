"""The policy document, its versions and its decisions."""

from __future__ import annotations

from rest_framework import serializers

from tools_app.api.serializers.base import (
    AnyJSON,
    JSONObject,
    ProblemError,
    StrictSerializer,
    page_of,
)


class VersionShown(serializers.Serializer):
    """A published version, without its document."""

    number = serializers.IntegerField()
    digest = serializers.CharField()
    table_set = serializers.CharField()
    comment = serializers.CharField()
    author = serializers.CharField()
    published_at = serializers.DateTimeField()


class PolicyShown(VersionShown):
    """A version with its document; the ETag of the policy in force is its number."""

    document = JSONObject()


class PolicyPublished(PolicyShown):
    """The version now in force, with what its author should know."""

    warnings = serializers.ListField(child=JSONObject())


class PolicyBody(StrictSerializer):
    """A whole new document, in the shape of OpenClaw's configuration."""

    document = JSONObject()
    comment = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class AgainBody(StrictSerializer):
    """Why an old version is published again."""

    comment = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class CheckBody(StrictSerializer):
    """A document to check; nothing is stored."""

    document = AnyJSON(allow_null=True)


class AgentDiff(serializers.Serializer):
    """Tools an agent would gain and lose; those in ``asks`` need approval."""

    agent = serializers.CharField(help_text="Empty: calls that name no agent.")
    added = serializers.ListField(child=serializers.CharField())
    removed = serializers.ListField(child=serializers.CharField())
    asks = serializers.ListField(child=serializers.CharField())


class PolicyChecked(serializers.Serializer):
    """What publishing the document would mean."""

    is_valid = serializers.BooleanField()  # type: ignore[assignment]
    errors = ProblemError(many=True)  # type: ignore[assignment]
    warnings = serializers.ListField(child=JSONObject())
    changes = AgentDiff(many=True)


class DecisionShown(serializers.Serializer):
    """Why a tool was allowed, asked about or denied, as it was explained at the time."""

    id = serializers.UUIDField()
    effect = serializers.ChoiceField(["allow", "ask", "deny"])
    code = serializers.CharField()
    tool = serializers.CharField()
    agent = serializers.CharField()
    subject = JSONObject()
    policy_version = serializers.IntegerField()
    summary = serializers.CharField()
    explanation = JSONObject(help_text="layers in order, the rule that decided, and the fix")
    decided_at = serializers.DateTimeField()


VersionPage = page_of(VersionShown, "VersionPage")
