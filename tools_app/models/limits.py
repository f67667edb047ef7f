"""What stops calls that policy allows: freezes, rates and budgets."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class FreezeScope(models.TextChoices):
    """What a freeze stops."""

    AGENT = "agent", _("one agent")
    TOOL = "tool", _("one tool")
    NODE = "node", _("one node")
    EVERYTHING = "everything", _("everything")


class Freeze(models.Model):
    """A stop with a reason and an end. While it lasts new runs are refused."""

    scope = models.CharField(max_length=12, choices=FreezeScope.choices)
    target = models.CharField(max_length=200, blank=True)
    reason = models.CharField(max_length=500)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_by_label = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_how = models.CharField(max_length=8, blank=True)  # lifted | expired
    ended_by_label = models.CharField(max_length=200, blank=True)
    refused_count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["expires_at"], condition=Q(ended_at__isnull=True), name="freeze_active"
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(scope="everything", target="") | ~Q(target=""),
                name="freeze_names_its_target",
            )
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.target}".strip()


class LimitScope(models.TextChoices):
    """Whose calls a limit counts."""

    AGENT = "agent", _("agent")
    TOOL = "tool", _("tool")
    TOKEN = "token", _("token")


class Limit(models.Model):
    """Calls, cost and concurrency that one agent, tool or token may use per window.

    ``target`` is an agent slug, a tool name or a token key id; ``*`` means each of them by itself.
    """

    scope = models.CharField(max_length=8, choices=LimitScope.choices)
    target = models.CharField(max_length=200)
    window_s = models.PositiveIntegerField(default=60)
    max_calls = models.PositiveIntegerField(null=True, blank=True)
    max_cost_usd = models.FloatField(null=True, blank=True)
    max_concurrency = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["scope", "target", "window_s"]
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "target", "window_s"], name="one_limit_per_window"
            ),
            models.CheckConstraint(
                condition=Q(max_calls__isnull=False)
                | Q(max_cost_usd__isnull=False)
                | Q(max_concurrency__isnull=False),
                name="limit_limits_something",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.target} / {self.window_s} s"


class LimitUse(models.Model):
    """What was used of a limit in one window, by one agent, tool or token."""

    limit = models.ForeignKey(Limit, on_delete=models.CASCADE, related_name="uses")
    subject = models.CharField(max_length=200)
    window_start = models.DateTimeField()
    calls = models.PositiveIntegerField(default=0)
    cost_usd = models.FloatField(default=0.0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["limit", "subject", "window_start"], name="one_use_per_window"
            )
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.calls}"
