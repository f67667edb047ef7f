"""A database as it is after a busy year: thousands of tools, a hundred thousand runs.

``python -m tests.bench.seeding --tools 5000 --runs 100000`` fills the database of the
environment; tests call :func:`seed_tools` and :func:`seed_runs` in theirs. The rows are the ones
the product writes (same columns, same event data), only faster. Everything is seeded: the same
numbers give the same content.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import django

ROWS_AT_ONCE = 5000
SPREAD = timedelta(days=7)  # the runs end now and began this long ago
AGENTS = ("main", "coding", "support")
CATEGORIES = ("math", "files", "http", "knowledge", "code")
OUTCOMES = (  # status, outcome, effect, event kind, weight
    ("succeeded", "succeeded", "allow", "run.finished", 85),
    ("failed", "failed", "allow", "run.finished", 5),
    ("timed_out", "timed_out", "allow", "run.finished", 2),
    ("refused", "denied_by_policy", "deny", "run.refused", 8),
)


def seed_tools(count: int) -> list[str]:
    """Add ``count`` tools and return their names; every process sees them at once."""
    from django.db import transaction

    from tools_app.models import Tool
    from tools_app.services.configuration import bump

    rows = [
        Tool(
            name=f"seeded_tool_{number:05}",
            description=f"Looks up entry {number} of a reference work and returns its text.",
            parameters={
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to look up."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                },
                "required": ["query"],
            },
            category=CATEGORIES[number % len(CATEGORIES)],
            source="seeded",
            definition_hash=f"sha256:{number:064x}",
        )
        for number in range(count)
    ]
    with transaction.atomic():
        Tool.objects.bulk_create(rows, batch_size=500)
        bump("tools")
    return [row.name for row in rows]


def seed_runs(count: int, *, tools: list[str], seed: int = 1) -> None:
    """Add ``count`` finished runs of these tools, oldest first, and the event of each."""
    from django.db import connection, transaction
    from django.utils import timezone

    from tools_app.models import Event, ToolRun
    from tools_app.services.row_writer import RowWriter
    from tools_app.services.run_facts import run_data

    runs, events = RowWriter(ToolRun, connection), RowWriter(Event, connection)
    chance = random.Random(seed)  # noqa: S311  (no secret)
    made = _runs(count, tools, timezone.now() - SPREAD, chance)
    for _ in range(0, count, ROWS_AT_ONCE):
        batch = list(islice(made, ROWS_AT_ONCE))
        log = [
            SimpleNamespace(
                at=run.finished_at,
                kind=kind,
                agent=run.agent,
                tool=run.tool_name,
                run_id=run.pk,
                actor=run.actor,
                data=run_data(run),
            )
            for run, kind in batch
        ]
        with transaction.atomic(), connection.cursor() as cursor:
            runs.insert(cursor, [run for run, _ in batch])
            events.insert(cursor, log)


def _runs(
    count: int, tools: list[str], began: datetime, chance: random.Random
) -> Iterator[tuple[Any, str]]:
    """Yield runs in order of time, each with the kind of its event.

    They are no model instances: making a hundred thousand of those takes longer than the rest.
    """
    from tools_app.models import ToolRun

    blank = {f.attname: f.get_default() for f in ToolRun._meta.concrete_fields}
    blank |= {
        "definition_hash": "sha256:" + "0" * 64,
        "surface": "rest",
        "actor": "token:seeded (seeded)",
        "policy_version": 1,
        "decide_ms": 0.1,
        "decision": None,
    }
    kinds = chance.choices(OUTCOMES, [weight for *_, weight in OUTCOMES], k=count)
    for number, (status, outcome, effect, kind, _) in enumerate(kinds):
        at = began + SPREAD * (number / count)
        took_ms = chance.lognormvariate(3, 1)
        run_id, has_run = _uuid_at(at, chance), effect == "allow"
        values = {
            "id": run_id,
            "pk": run_id,
            "tool_name": chance.choice(tools),
            "agent": chance.choice(AGENTS),
            "arguments": {"query": f"entry {number}", "limit": 10},
            "arguments_digest": f"sha256:{number:064x}",
            "status": status,
            "outcome": outcome,
            "effect": effect,
            "message": "" if status == "succeeded" else f"The call {outcome.replace('_', ' ')}.",
            "content": f"The text of entry {number}. " * 8 if has_run else "",
            "success": status == "succeeded" if has_run else None,
            "cost_usd": round(chance.random() / 100, 6),
            "requested_at": at,
            "started_at": at if has_run else None,
            "finished_at": at + timedelta(milliseconds=took_ms),
            "duration_ms": took_ms,
        }
        yield SimpleNamespace(**(blank | values)), kind


def _uuid_at(moment: datetime, chance: random.Random) -> UUID:
    """Return a version 7 UUID of that time, as the product gives its runs."""
    milliseconds = int(moment.timestamp() * 1000)
    bits = milliseconds << 80 | 0x7 << 76 | chance.getrandbits(12) << 64
    return UUID(int=bits | 0b10 << 62 | chance.getrandbits(62))


def main() -> None:
    """Fill the database of the environment."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.seeding", description=__doc__)
    parser.add_argument("--tools", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=100_000)
    options = parser.parse_args()
    django.setup()
    seed_runs(options.runs, tools=seed_tools(options.tools))


if __name__ == "__main__":
    main()
