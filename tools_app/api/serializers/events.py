"""Events of the log."""

from __future__ import annotations

from rest_framework import serializers

from tools_app.api.serializers.base import JSONObject, StrictSerializer

MAX_EVENTS = 1000


class EventShown(serializers.Serializer):
    """One stored fact."""

    seq = serializers.IntegerField()
    at = serializers.DateTimeField()
    kind = serializers.CharField()
    agent = serializers.CharField()
    tool = serializers.CharField()
    run = serializers.UUIDField(allow_null=True)
    actor = serializers.CharField()
    data = JSONObject()  # type: ignore[assignment]


class RunEventQuery(StrictSerializer):
    """Where in the log to look."""

    since = serializers.IntegerField(
        required=False, min_value=0, max_value=2**63 - 1, default=0, help_text="Events after this."
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_EVENTS, default=200)


class EventQuery(RunEventQuery):
    """Which events."""

    type = serializers.CharField(
        required=False,
        max_length=400,
        help_text="Kinds (run.finished) or families (run), separated by commas.",
    )
    agent = serializers.CharField(required=False, max_length=64)
    tool = serializers.CharField(required=False, max_length=200)
    run = serializers.UUIDField(required=False)


class EventList(serializers.Serializer):
    """Events in order. ``next_since`` continues; ``has_more`` says that there are more by now."""

    items = EventShown(many=True)
    next_since = serializers.IntegerField()
    has_more = serializers.BooleanField()
