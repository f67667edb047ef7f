"""Tool runs: every attempt to run a tool, refused ones too."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from tools_app.models.identifiers import time_ordered_uuid


class RunStatus(models.TextChoices):
    """Where a run stands."""

    WAITING = "waiting_approval", _("waiting for approval")
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")
    TIMED_OUT = "timed_out", _("timed out")
    CANCELLED = "cancelled", _("cancelled")
    REFUSED = "refused", _("refused")
    INTERRUPTED = "interrupted", _("interrupted")


OPEN_STATUSES = (RunStatus.WAITING, RunStatus.QUEUED, RunStatus.RUNNING)
FINAL_STATUSES = tuple(status for status in RunStatus if status not in OPEN_STATUSES)


class ToolRun(models.Model):
    """One attempt to run one tool: who, what, what was decided, what came out.

    ``arguments`` and ``content`` are redacted before they are written; the true values, where
    they differ, are in :class:`SealedPayload` for a limited time.
    """

    id = models.UUIDField(primary_key=True, default=time_ordered_uuid, editable=False)
    tool_name = models.CharField(max_length=200)
    definition_hash = models.CharField(max_length=71, blank=True)
    agent = models.CharField(max_length=64, blank=True)
    provider = models.CharField(max_length=64, blank=True)
    model = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    surface = models.CharField(max_length=16, default="rest")

    actor = models.CharField(max_length=200)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    token = models.ForeignKey(
        "ApiToken", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    arguments = models.JSONField(default=dict)
    arguments_digest = models.CharField(max_length=71, blank=True)
    coerced = models.JSONField(default=list, blank=True)
    timeout_s = models.FloatField(default=30.0)

    status = models.CharField(max_length=20, choices=RunStatus.choices)
    outcome = models.CharField(max_length=40, blank=True)
    message = models.TextField(blank=True)
    decision = models.ForeignKey(
        "Decision", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    effect = models.CharField(max_length=8, blank=True)
    policy_version = models.PositiveIntegerField(null=True, blank=True)

    content = models.TextField(blank=True)
    content_size = models.PositiveIntegerField(default=0)
    success = models.BooleanField(null=True, blank=True)
    usage = models.JSONField(default=dict, blank=True)
    result_metadata = models.JSONField(default=dict, blank=True)
    cost_usd = models.FloatField(default=0.0)

    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    decide_ms = models.FloatField(null=True, blank=True)
    duration_ms = models.FloatField(null=True, blank=True)

    idempotency_scope = models.CharField(max_length=64, blank=True)
    idempotency_key = models.CharField(max_length=200, blank=True)
    request_digest = models.CharField(max_length=71, blank=True)

    lease_owner = models.CharField(max_length=100, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    deadline_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    cancel_reason = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["idempotency_scope", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="one_run_per_idempotency_key",
            ),
        ]
        indexes = [
            models.Index(fields=["agent", "-id"], name="run_agent"),
            models.Index(fields=["tool_name", "-id"], name="run_tool"),
            models.Index(fields=["status", "-id"], name="run_status"),
            models.Index(fields=["token", "-id"], name="run_token"),
            models.Index(fields=["outcome", "-id"], name="run_outcome"),
            models.Index(fields=["effect", "-id"], name="run_effect"),
            # Holds all that the traffic charts read, so that they never touch the wide rows.
            models.Index(fields=["requested_at", "status", "duration_ms"], name="run_traffic"),
            models.Index(
                fields=["status", "lease_expires_at"],
                condition=Q(status__in=["waiting_approval", "queued", "running"]),
                name="run_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool_name} {self.id}"

    @property
    def is_finished(self) -> bool:
        """Whether no further change of status can come."""
        return self.status in FINAL_STATUSES


class SealedPayload(models.Model):
    """True arguments and content of a run whose stored ones are redacted; encrypted at rest."""

    run = models.OneToOneField(ToolRun, on_delete=models.CASCADE, related_name="sealed")
    arguments = models.BinaryField(null=True)
    content = models.BinaryField(null=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"sealed {self.run_id}"
