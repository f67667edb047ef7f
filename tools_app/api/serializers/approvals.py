"""Approvals and what of them is remembered."""

from __future__ import annotations

from rest_framework import serializers

from tools_app.api.serializers.base import (
    JSONObject,
    PageQuery,
    StrictSerializer,
    page_of,
)
from tools_app.models import ApprovalGrant, ApprovalStatus, GrantScope
from tools_app.services.approvals import LONGEST_EXTENSION_S


class ApprovalShown(serializers.Serializer):
    """A question about one exact call."""

    id = serializers.UUIDField()
    run = serializers.UUIDField()
    run_status = serializers.CharField()
    status = serializers.ChoiceField(ApprovalStatus.choices)
    tool = serializers.CharField()
    agent = serializers.CharField()
    requester = serializers.CharField()
    reason = serializers.CharField()
    requested_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField()
    decided_via = serializers.CharField()
    comment = serializers.CharField()
    grant_scope = serializers.CharField()
    grant_until = serializers.DateTimeField(allow_null=True)
    replaces = serializers.UUIDField(allow_null=True)


class ApprovalDetail(ApprovalShown):
    """A question with all that its answer is bound to.

    ``binding`` covers everything shown here; an answer that names another is refused.
    """

    binding = serializers.CharField()
    call_text = serializers.CharField(help_text="The exact call.")
    arguments = JSONObject()
    is_redacted = serializers.BooleanField(help_text="Whoever may approve sees true arguments.")
    differs_from_last = serializers.ListField(child=serializers.CharField())
    last_approved = serializers.UUIDField(allow_null=True)
    similar_count = serializers.IntegerField()
    may_decide = serializers.BooleanField()
    why_not = serializers.CharField()
    may_ask_again = serializers.BooleanField()


class ApprovalQuery(PageQuery):
    """Which approvals."""

    status = serializers.ChoiceField(ApprovalStatus.choices, required=False)
    agent = serializers.CharField(required=False, max_length=64)
    tool = serializers.CharField(required=False, max_length=200)


class ApproveBody(StrictSerializer):
    """Yes, to exactly what ``binding`` covers."""

    binding = serializers.CharField(max_length=71)
    scope = serializers.ChoiceField(
        GrantScope.choices,
        required=False,
        default="once",
        help_text="For how long the very same call need not ask again.",
    )
    until = serializers.DateTimeField(required=False, allow_null=True)
    comment = serializers.CharField(required=False, allow_blank=True, max_length=1000, default="")


class DenyBody(StrictSerializer):
    """No."""

    comment = serializers.CharField(required=False, allow_blank=True, max_length=1000, default="")


class ExtendBody(StrictSerializer):
    """More time."""

    seconds = serializers.IntegerField(
        required=False, min_value=1, max_value=LONGEST_EXTENSION_S, default=600
    )


class GrantShown(serializers.ModelSerializer):
    """A remembered approval of one exact call."""

    approval = serializers.UUIDField(source="approval_id")

    class Meta:
        model = ApprovalGrant
        fields = [
            "id",
            "agent",
            "tool_name",
            "definition_hash",
            "arguments_digest",
            "scope",
            "session",
            "expires_at",
            "approval",
            "created_at",
            "revoked_at",
            "revoked_by_label",
        ]
        read_only_fields = fields


ApprovalPage = page_of(ApprovalShown, "ApprovalPage")
GrantPage = page_of(GrantShown, "GrantPage")
