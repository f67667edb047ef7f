"""The history of approvals as CSV (RFC 4180), made safe for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from tools_app.models import Approval

FIELDS = (
    "approval",
    "run",
    "run_status",
    "status",
    "tool",
    "agent",
    "requester",
    "reason",
    "requested_at",
    "decided_at",
    "decided_by",
    "decided_via",
    "seconds_to_decide",
    "comment",
    "remembered",
    "remembered_until",
    "binding",
    "policy_version",
)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class _Line:
    """A file for ``csv.writer`` whose ``write`` gives the line back."""

    def write(self, line: str) -> bytes:
        return line.encode("utf-8", "replace")


def csv_lines(approvals: Iterator[Approval]) -> Iterator[bytes]:
    """Yield a header and one line per approval."""
    writer = csv.writer(_Line())
    yield writer.writerow(FIELDS)
    for approval in approvals:
        yield writer.writerow([_cell(value) for value in _values(approval)])


def _values(approval: Approval) -> tuple[object, ...]:
    run, decided = approval.run, approval.decided_at
    return (
        approval.pk,
        run.pk,
        run.status,
        approval.status,
        run.tool_name,
        run.agent,
        run.actor,
        approval.reason,
        approval.requested_at.isoformat(),
        decided.isoformat() if decided else None,
        approval.decided_by_label,
        approval.decided_via,
        f"{(decided - approval.requested_at).total_seconds():.1f}" if decided else None,
        approval.comment,
        approval.grant_scope,
        approval.grant_until.isoformat() if approval.grant_until else None,
        approval.binding,
        run.policy_version,
    )


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    # A cell that begins like a formula is one to a spreadsheet; what agents wrote must not run.
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
