"""Freezes and limits."""

from __future__ import annotations

from rest_framework import serializers

from tools_app.api.serializers.base import PageQuery, QueryFlag, StrictSerializer, page_of
from tools_app.models import Freeze, FreezeScope, Limit, LimitScope


class FreezeShown(serializers.ModelSerializer):
    """A stop with a reason and an end."""

    is_active = serializers.SerializerMethodField()

    class Meta:
        model = Freeze
        fields = [
            "id",
            "scope",
            "target",
            "reason",
            "created_by_label",
            "created_at",
            "expires_at",
            "ended_at",
            "ended_how",
            "ended_by_label",
            "refused_count",
            "is_active",
        ]
        read_only_fields = fields

    def get_is_active(self, freeze: Freeze) -> bool:
        return freeze.ended_at is None and freeze.expires_at > self.context["now"]


class FreezeBody(StrictSerializer):
    """What to freeze, why and until when."""

    scope = serializers.ChoiceField(FreezeScope.choices)
    target = serializers.CharField(required=False, max_length=200, allow_blank=True, default="")
    reason = serializers.CharField(max_length=500)
    expires_at = serializers.DateTimeField()


class FreezeEnd(StrictSerializer):
    """A later end."""

    expires_at = serializers.DateTimeField()


class FreezeQuery(PageQuery):
    """Which freezes."""

    active = QueryFlag(required=False, help_text="Only those in force, or only ended ones.")


class LimitShown(serializers.ModelSerializer):
    """What one agent, tool or token may use per window."""

    class Meta:
        model = Limit
        fields = [
            "id",
            "scope",
            "target",
            "window_s",
            "max_calls",
            "max_cost_usd",
            "max_concurrency",
            "created_at",
        ]
        read_only_fields = fields


class LimitBody(StrictSerializer):
    """A limit; at least one maximum must be given. A target of * counts each by itself."""

    scope = serializers.ChoiceField(LimitScope.choices)
    target = serializers.CharField(max_length=200)
    window_s = serializers.IntegerField(required=False, min_value=1, default=60)
    max_calls = serializers.IntegerField(required=False, min_value=0, allow_null=True)
    max_cost_usd = serializers.FloatField(required=False, min_value=0, allow_null=True)
    max_concurrency = serializers.IntegerField(required=False, min_value=0, allow_null=True)


FreezePage = page_of(FreezeShown, "FreezePage")
LimitPage = page_of(LimitShown, "LimitPage")
