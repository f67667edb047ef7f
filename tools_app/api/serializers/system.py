"""Probes."""

from __future__ import annotations

from rest_framework import serializers


class Health(serializers.Serializer):
    """The process answers."""

    status = serializers.ChoiceField(["ok"])


class Checks(serializers.Serializer):
    """What was looked at."""

    database = serializers.ChoiceField(["ok", "unreachable"])
    policy = serializers.ChoiceField(["ok", "unreadable"])


class Readiness(serializers.Serializer):
    """Whether it can do its work."""

    status = serializers.ChoiceField(["ready", "not_ready"])
    checks = Checks()
