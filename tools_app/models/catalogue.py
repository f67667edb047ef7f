"""What can be run, and for whom: tools and agent profiles."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

AGENT_SLUG = RegexValidator(
    r"\A[a-z0-9_][a-z0-9_-]{0,63}\Z",
    _("Use 1 to 64 lower-case letters, digits, dashes or underscores."),
)


class Tool(models.Model):
    """The published specification of one tool, and what an admin changed about it.

    The columns up to ``definition_hash`` mirror the code and are rewritten when the code
    changes; the columns from ``is_enabled`` on belong to the admin and are never touched by it.
    """

    name = models.CharField(max_length=64, unique=True)
    description = models.TextField(blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    category = models.CharField(max_length=64, blank=True, db_index=True)
    source = models.CharField(max_length=64, default="builtin")
    plugin_id = models.CharField(max_length=64, blank=True)
    cost_estimate = models.FloatField(default=0.0)
    latency_estimate = models.FloatField(default=0.0)
    timeout_seconds = models.FloatField(default=30.0)
    requires_confirmation = models.BooleanField(default=False)
    required_capabilities = models.JSONField(default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    is_bounded = models.BooleanField(default=False)
    is_local = models.BooleanField(default=True)
    is_available = models.BooleanField(default=True)
    definition_hash = models.CharField(max_length=71)

    is_enabled = models.BooleanField(default=True)
    confirmation_override = models.BooleanField(null=True, blank=True)
    timeout_override = models.FloatField(null=True, blank=True)
    exposed_on = models.JSONField(null=True, blank=True)
    note = models.TextField(blank=True)
    first_seen_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def asks(self) -> bool:
        """Whether an allowed call still needs a person's approval."""
        if self.confirmation_override is None:
            return self.requires_confirmation
        return self.confirmation_override

    @property
    def effective_timeout_s(self) -> float:
        """Seconds a run may take: the admin's value, else the tool's own."""
        return self.timeout_override or self.timeout_seconds or 30.0


class AgentProfile(models.Model):
    """An agent as the control room knows it; its tool rules live in the policy document."""

    slug = models.CharField(max_length=64, unique=True, validators=[AGENT_SLUG])
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    provider = models.CharField(max_length=64, blank=True)
    model = models.CharField(max_length=120, blank=True)
    prompt = models.TextField(blank=True)
    is_active = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug
