"""The one way to a tool: every call, whoever makes it, goes through :func:`run_tool`.

The steps, in order: resolve, decide, check, limit, approve, run, record. A call that any of them
refuses is a run too, stored with its reason before the error leaves.
"""

from tools_app.services.cancelling import cancel_run
from tools_app.services.running.batch import MAX_BATCH, run_batch
from tools_app.services.running.calls import DryRun, RunOutcome, RunRequest
from tools_app.services.running.entrance import run_tool
from tools_app.services.running.execution import execute_claimed
from tools_app.services.waiting import wait_for_run

__all__ = [
    "MAX_BATCH",
    "DryRun",
    "RunOutcome",
    "RunRequest",
    "cancel_run",
    "execute_claimed",
    "run_batch",
    "run_tool",
    "wait_for_run",
]
