"""Decisions: the full explanation behind an allow, an ask or a deny."""

from __future__ import annotations

from uuid import UUID

from tools_app.models import Decision
from tools_app.selectors.runs import visible_runs
from tools_app.services.access import Actor
from tools_app.services.errors import NotFound


def decision_detail(decision_id: UUID, actor: Actor) -> Decision:
    """Return a decision to who may read policies or has a run that it decided.

    Raises NotFound for everybody else.
    """
    decision = Decision.objects.filter(pk=decision_id).first()
    if decision is None or not _may_see(actor, decision):
        raise NotFound("There is no such decision.")
    return decision


def _may_see(actor: Actor, decision: Decision) -> bool:
    if actor.has_any("policy:read", "audit"):
        return True
    if not actor.has_any("tools:read", "tools:execute"):
        return False
    return visible_runs(actor).filter(decision=decision).exists()
