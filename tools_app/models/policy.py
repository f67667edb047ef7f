"""Published policy versions and the decisions made under them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class PolicyVersion(models.Model):
    """One published policy document. Rows are never changed after they are written."""

    number = models.PositiveIntegerField(unique=True)
    document = models.JSONField()
    digest = models.CharField(max_length=71)
    table_set = models.CharField(max_length=32, default="default")
    comment = models.CharField(max_length=500, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    author_label = models.CharField(max_length=200, blank=True)
    published_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"v{self.number}"


class Decision(models.Model):
    """Why a tool was allowed, asked about or denied, as it was explained at the time.

    The id is derived from policy version, catalogue, subject and tool, so that all runs
    decided alike share one row.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    effect = models.CharField(max_length=8)
    code = models.CharField(max_length=40)
    tool_name = models.CharField(max_length=200)
    agent = models.CharField(max_length=64, blank=True)
    policy_version = models.PositiveIntegerField()
    subject = models.JSONField(default=dict)
    summary = models.TextField()
    explanation = models.JSONField(default=dict)
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-decided_at"]

    def __str__(self) -> str:
        return self.summary
