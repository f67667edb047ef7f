"""A person's answer to "ask", and what of it is remembered."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from tools_app.models.identifiers import time_ordered_uuid


class ApprovalStatus(models.TextChoices):
    """Where an approval stands; all but ``pending`` and ``approved`` are terminal."""

    PENDING = "pending", _("pending")
    APPROVED = "approved", _("approved")
    DENIED = "denied", _("denied")
    EXPIRED = "expired", _("expired")
    SUPERSEDED = "superseded", _("superseded")
    CANCELLED = "cancelled", _("cancelled")


class GrantScope(models.TextChoices):
    """How long an approval is remembered for the very same call."""

    ONCE = "once", _("once")
    SESSION = "session", _("this session")
    UNTIL = "until", _("until a time")
    ALWAYS = "always", _("always")


class Approval(models.Model):
    """A question about one exact call. ``binding`` is the digest of all that was shown."""

    id = models.UUIDField(primary_key=True, default=time_ordered_uuid, editable=False)
    run = models.OneToOneField("ToolRun", on_delete=models.CASCADE, related_name="approval")
    status = models.CharField(
        max_length=12, choices=ApprovalStatus.choices, default=ApprovalStatus.PENDING
    )
    binding = models.CharField(max_length=71)
    reason = models.CharField(max_length=500, blank=True)
    requested_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_by_label = models.CharField(max_length=200, blank=True)
    decided_via = models.CharField(max_length=16, blank=True)
    comment = models.CharField(max_length=1000, blank=True)
    grant_scope = models.CharField(max_length=8, choices=GrantScope.choices, blank=True)
    grant_until = models.DateTimeField(null=True, blank=True)
    consumed_at = models.DateTimeField(null=True, blank=True)
    replaces = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="replaced_by"
    )

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["expires_at"], condition=Q(status="pending"), name="approval_pending"
            )
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.id}"


class ApprovalGrant(models.Model):
    """A remembered approval: the same agent, tool, definition and arguments need not ask again."""

    agent = models.CharField(max_length=64, blank=True)
    tool_name = models.CharField(max_length=200)
    definition_hash = models.CharField(max_length=71)
    arguments_digest = models.CharField(max_length=71)
    scope = models.CharField(max_length=8, choices=GrantScope.choices)
    session = models.CharField(max_length=200, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="grants")
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by_label = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["tool_name", "arguments_digest"], name="grant_lookup")]
        constraints = [
            models.CheckConstraint(condition=~Q(scope="once"), name="once_is_never_remembered")
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.tool_name}"
