"""Identifiers that sort by time."""

from __future__ import annotations

import os
import time
from datetime import datetime
from uuid import UUID


def time_ordered_uuid() -> UUID:
    """A version 7 UUID (RFC 9562 §5.7): 48 bits of Unix milliseconds, then randomness.

    Lists ordered by such a key are ordered by time, so one index serves both the look-up
    by id and the cursor of a list. Python's own ``uuid.uuid7`` begins with 3.14.
    """
    random = int.from_bytes(os.urandom(10), "big")
    value = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80
    value |= 0x7 << 76 | (random >> 68 & 0xFFF) << 64
    value |= 0b10 << 62 | random & (1 << 62) - 1
    return UUID(int=value)


def first_uuid_at(moment: datetime) -> UUID:
    """Return the bound below which lie all keys made before ``moment`` (an aware datetime).

    ``id >= first_uuid_at(t)`` selects rows by time through the index of the primary key.
    """
    milliseconds = max(int(moment.timestamp() * 1000), 0)
    return UUID(int=(milliseconds & (1 << 48) - 1) << 80)
