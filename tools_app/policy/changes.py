"""What a new document changes, for whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.policy.compiled import CompiledPolicy
from tools_app.policy.subjects import OfferedTool, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectDiff:
    """Tools a subject gains and loses, in the order offered."""

    subject: Subject
    added: tuple[str, ...]
    removed: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Give the difference as plain JSON data."""
        return {
            "agent": self.subject.resolved_agent_id(),
            "provider": self.subject.provider,
            "model": self.subject.model,
            "added": list(self.added),
            "removed": list(self.removed),
        }


def diff_effective(
    old: CompiledPolicy,
    new: CompiledPolicy,
    subjects: Sequence[Subject],
    offered: Sequence[OfferedTool],
) -> tuple[SubjectDiff, ...]:
    """Compare the effective tools of each subject; subjects without a difference are left out."""
    tools = tuple(offered)
    diffs = []
    for subject in subjects:
        before = old.effective(subject, tools).allowed
        after = new.effective(subject, tools).allowed
        gone, came = set(before) - set(after), set(after) - set(before)
        if gone or came:
            diffs.append(
                SubjectDiff(
                    subject=subject,
                    added=tuple(name for name in after if name in came),
                    removed=tuple(name for name in before if name in gone),
                )
            )
    return tuple(diffs)
