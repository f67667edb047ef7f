"""Version counters of the configuration that processes keep in memory."""

from __future__ import annotations

from django.db import models


class ConfigurationRevision(models.Model):
    """One counter per kind of configuration; raised in the transaction that changes it.

    A process reads all counters with one query per request and reloads what moved, so no
    cache ever answers from before a committed change, in any process.
    """

    name = models.CharField(primary_key=True, max_length=20)
    value = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name} {self.value}"
