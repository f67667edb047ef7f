"""The whole configuration, and plans that change it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from tools_app.api.serializers.base import JSONObject, ProblemError, StrictSerializer
from tools_app.api.serializers.policy import PolicyChecked

WAYS = ("configuration", "yaml", "openclaw")


class DriftShown(serializers.Serializer):
    """What was applied last, and the sections that differ from it by now."""

    applied_at = serializers.DateTimeField()
    actor = serializers.CharField()
    sections = serializers.ListField(child=serializers.CharField())


class ConfigurationShown(serializers.Serializer):
    """Agents, tools, limits and policy; what is as by default is left out."""

    digest = serializers.CharField(help_text="Also the ETag.")
    configuration = JSONObject()
    yaml = serializers.CharField(help_text="The same as a file.")
    drift = DriftShown(allow_null=True, help_text="Null when nothing was applied yet.")


class PlanBody(StrictSerializer):
    """A configuration as data, as YAML, or the text of an openclaw.json; one of them."""

    configuration = JSONObject(required=False)
    yaml = serializers.CharField(required=False, trim_whitespace=False)
    openclaw = serializers.CharField(required=False, trim_whitespace=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if sum(way in attrs for way in WAYS) != 1:
            raise serializers.ValidationError(f"Give exactly one of {', '.join(WAYS)}.")
        return attrs


class ApplyBody(PlanBody):
    """The same, to be made true."""

    comment = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class PlannedChange(serializers.Serializer):
    """One agent, tool, limit or the policy, and what becomes of it."""

    section = serializers.ChoiceField(["agents", "tools", "limits", "policy"])
    action = serializers.ChoiceField(["create", "change", "remove"])
    target = serializers.CharField(help_text="Empty for the policy.")
    fields = serializers.ListField(child=JSONObject())  # type: ignore[assignment]
    sentence = serializers.CharField()


class PlanShown(serializers.Serializer):
    """What applying would change. ``base`` goes into If-Match."""

    base = serializers.CharField()
    is_valid = serializers.BooleanField()  # type: ignore[assignment]
    errors = ProblemError(many=True)  # type: ignore[assignment]
    changes = PlannedChange(many=True)
    policy = PolicyChecked(allow_null=True, help_text="For whom decisions change.")
    report = JSONObject(
        allow_null=True, help_text="Of an openclaw.json: understood, refused, ignored, warnings."
    )


class AppliedShown(serializers.Serializer):
    """What was changed, and the digest of the configuration now."""

    digest = serializers.CharField()
    changes = PlannedChange(many=True)
