"""API tokens and WebSocket tickets."""

from __future__ import annotations

from rest_framework import serializers

from tools_app.api.serializers.base import PageQuery, StrictSerializer, page_of
from tools_app.models import ApiToken
from tools_app.services.access import SCOPES


class TokenShown(serializers.ModelSerializer):
    """A token without its secret."""

    owner = serializers.CharField(source="owner.username")
    scopes = serializers.ListField(child=serializers.ChoiceField(SCOPES))
    tools = serializers.ListField(child=serializers.CharField(), allow_null=True)

    class Meta:
        model = ApiToken
        fields = [
            "id",
            "key_id",
            "name",
            "owner",
            "scopes",
            "agent",
            "tools",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
        ]
        read_only_fields = fields


class TokenBody(StrictSerializer):
    """A new token; it never has more than you have."""

    name = serializers.CharField(max_length=120)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(SCOPES), min_length=1, max_length=len(SCOPES)
    )
    agent = serializers.CharField(required=False, max_length=64, allow_blank=True, default="")
    tools = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        allow_null=True,
        min_length=1,
        max_length=1000,
        help_text="The only tools it may use; null or left out: no such limit.",
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    owner = serializers.CharField(
        required=False, max_length=150, help_text="A user name; only admins name another's."
    )


class TokenMade(serializers.Serializer):
    """The new token; ``secret`` is shown this once."""

    token = TokenShown()
    secret = serializers.CharField(help_text="ojw_<key id>_<secret>")


class Ticket(serializers.Serializer):
    """Opens one WebSocket once."""

    ticket = serializers.CharField()
    expires_in = serializers.IntegerField(help_text="Seconds.")


class TokenQuery(PageQuery):
    """Where in the list of tokens to look."""


TokenPage = page_of(TokenShown, "TokenPage")
