"""Revisions of the configuration that processes keep in memory."""

from __future__ import annotations

from django.db import models


class ConfigurationRevision(models.Model):
    """One stamp per kind of configuration; renewed in the transaction that changes it.

    A process reads all stamps with one query per request and reloads what moved, so no
    cache ever answers from before a committed change, in any process. A stamp is random
    and not a counter: a counter that a rolled-back transaction or a restored backup sets
    back would pass through a value that some process has already seen with other content.
    """

    name = models.CharField(primary_key=True, max_length=20)
    value = models.PositiveBigIntegerField()

    def __str__(self) -> str:
        return f"{self.name} {self.value}"
