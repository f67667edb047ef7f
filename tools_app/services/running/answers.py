"""The answer that a stored run stands for."""

from __future__ import annotations

from tools_app.models import Approval, RunStatus, ToolRun
from tools_app.services.access import Actor
from tools_app.services.run_results import result_of
from tools_app.services.running.calls import RunOutcome
from tools_app.services.running.refusals import refusal_of


def answer_of(
    run: ToolRun, actor: Actor, *, approval: Approval | None = None, replayed: bool = False
) -> RunOutcome:
    """Return the answer as the run stands; raises the refusal of one that was refused.

    ``approval`` belongs to the answer only while the run waits for it.
    """
    if run.status == RunStatus.REFUSED:
        error = refusal_of(run)
        if replayed:
            error.extra["replayed"] = True
        raise error
    if run.decision is None:
        raise RuntimeError(f"run {run.pk} was admitted without a decision")
    return RunOutcome(
        run=run,
        decision=run.decision,
        result=result_of(run, actor),
        approval=approval if run.status == RunStatus.WAITING else None,
        replayed=replayed,
    )
