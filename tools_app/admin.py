"""Django's admin as back office: look anything up, change only what no service guards.

Rules live in services, and the admin would go around them: it renews no stamp, records no event
and checks no right but Django's own. So every table of ours is to read here, and what may be
changed is changed in the console or over REST. People and their groups are changed here.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest

from tools_app import models


class ReadOnly(admin.ModelAdmin):
    """Shows rows and changes none. Secrets and sealed values are not shown either."""

    show_full_result_count = False  # counting 100 000 runs costs more than showing twenty
    list_per_page = 50
    hidden: ClassVar[tuple[str, ...]] = ()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show every column but the hidden ones."""
        columns = self.model._meta.concrete_fields
        return [field.name for field in columns if field.name not in self.hidden]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.Tool)
class ToolAdmin(ReadOnly):
    list_display = ("name", "category", "source", "is_enabled", "is_available", "asks")
    list_filter = ("is_enabled", "is_available", "source")
    search_fields = ("name", "description")


@admin.register(models.AgentProfile)
class AgentProfileAdmin(ReadOnly):
    list_display = ("slug", "name", "provider", "model", "is_active", "version")
    search_fields = ("slug", "name")


@admin.register(models.PolicyVersion)
class PolicyVersionAdmin(ReadOnly):
    list_display = ("number", "author_label", "comment", "table_set", "published_at")


@admin.register(models.Decision)
class DecisionAdmin(ReadOnly):
    list_display = ("id", "effect", "tool_name", "agent", "policy_version", "summary")
    list_filter = ("effect",)
    search_fields = ("=id", "tool_name", "agent")


@admin.register(models.ToolRun)
class ToolRunAdmin(ReadOnly):
    list_display = ("id", "tool_name", "agent", "actor", "status", "outcome", "requested_at")
    list_filter = ("status",)
    search_fields = ("=id", "tool_name", "agent")
    list_select_related = False


@admin.register(models.Approval)
class ApprovalAdmin(ReadOnly):
    list_display = ("id", "status", "requested_at", "expires_at", "decided_by_label")
    list_filter = ("status",)


@admin.register(models.ApprovalGrant)
class ApprovalGrantAdmin(ReadOnly):
    list_display = ("tool_name", "agent", "scope", "expires_at", "revoked_at")
    list_filter = ("scope",)


@admin.register(models.Event)
class EventAdmin(ReadOnly):
    list_display = ("seq", "at", "kind", "agent", "tool", "actor")
    search_fields = ("=seq", "=kind")


@admin.register(models.EventSeal)
class EventSealAdmin(ReadOnly):
    list_display = ("first_seq", "last_seq", "event_count", "sealed_at")


@admin.register(models.ApiToken)
class ApiTokenAdmin(ReadOnly):
    hidden = ("digest",)
    list_display = ("name", "key_id", "owner", "agent", "expires_at", "last_used_at", "revoked_at")
    list_select_related = ("owner",)
    search_fields = ("name", "key_id")


@admin.register(models.WsTicket)
class WsTicketAdmin(ReadOnly):
    hidden = ("digest",)
    list_display = ("id", "user", "expires_at", "used_at")
    list_select_related = ("user",)


@admin.register(models.SealedPayload)
class SealedPayloadAdmin(ReadOnly):
    hidden = ("arguments", "content")
    list_display = ("run_id", "expires_at")


@admin.register(models.Freeze)
class FreezeAdmin(ReadOnly):
    list_display = ("scope", "target", "reason", "expires_at", "ended_at", "refused_count")
    list_filter = ("scope",)


@admin.register(models.Limit)
class LimitAdmin(ReadOnly):
    list_display = (
        "scope", "target", "window_s", "max_calls", "max_cost_usd", "max_concurrency",
    )  # fmt: skip


@admin.register(models.LimitUse)
class LimitUseAdmin(ReadOnly):
    list_display = ("limit", "subject", "window_start", "calls", "cost_usd")
    list_select_related = ("limit",)


@admin.register(models.ConfigurationRevision)
class ConfigurationRevisionAdmin(ReadOnly):
    list_display = ("name", "value")
