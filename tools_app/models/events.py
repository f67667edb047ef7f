"""The one append-only log that browser, SSE and exports read."""

from __future__ import annotations

from django.db import models


class Event(models.Model):
    """One stored fact. ``seq`` grows with commit order; readers ask for ``seq > N``."""

    seq = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    kind = models.CharField(max_length=40)
    agent = models.CharField(max_length=64, blank=True)
    tool = models.CharField(max_length=200, blank=True)
    run_id = models.UUIDField(null=True, blank=True)
    actor = models.CharField(max_length=200, blank=True)
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ["seq"]
        indexes = [
            models.Index(fields=["run_id", "seq"], name="event_run"),
            models.Index(fields=["kind", "seq"], name="event_kind"),
            models.Index(fields=["at"], name="event_at"),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"


class EventSeal(models.Model):
    """A link of the hash chain over the log: tampering with a sealed event is seen."""

    first_seq = models.BigIntegerField(unique=True)
    last_seq = models.BigIntegerField(unique=True)
    event_count = models.PositiveIntegerField()
    digest = models.CharField(max_length=71)
    previous_digest = models.CharField(max_length=71, blank=True)
    sealed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["first_seq"]

    def __str__(self) -> str:
        return f"{self.first_seq}-{self.last_seq}"
