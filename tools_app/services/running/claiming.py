"""Claiming a queued run: one worker gets it, and only if it may still run.

Between the call and its start the world may have changed: a freeze, another policy, a revoked
token, another version of the tool, an approval that no longer fits. All of it is looked at again
here, and the row is taken by one UPDATE that names the status it must have.
"""

from __future__ import annotations

import os
import secrets
import socket
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from tools_app.core import arguments_digest, definition_hash
from tools_app.models import Approval, RunStatus, ToolRun
from tools_app.services import catalogue, freezes, policies
from tools_app.services.access import ADMIN, SYSTEM, actor_for_token, rights_of
from tools_app.services.agents import active_agent
from tools_app.services.approval_states import consume_approval, void_approval
from tools_app.services.errors import (
    ApprovalMismatch,
    DeniedByPolicy,
    Forbidden,
    NotExposed,
    ServiceError,
    TokenScope,
    ToolUnavailable,
)
from tools_app.services.run_states import end_run, move_run
from tools_app.services.sealing import true_arguments

LEASE = timedelta(seconds=30)  # renewed every few seconds; then the worker counts as dead


def lease_owner() -> str:
    """Return a name for this claim, unlike any other's."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(6)}"


def claim_run(run_id: UUID, *, owner: str) -> ToolRun | None:
    """Return the run if it is now ours to execute, else ``None``.

    A run that may not start any more ends here, refused, with ``run.refused``. On success its
    approval is used up, and ``run.started`` is recorded.
    """
    run = _queued(run_id)
    if run is None:
        return None
    now = timezone.now()
    try:
        require_still_allowed(run, now)
    except ServiceError as error:
        end_run(
            run,
            expected=RunStatus.QUEUED,
            to=RunStatus.REFUSED,
            outcome=error.code,
            message=error.message,
        )
        return None
    approval = Approval.objects.select_related("run").filter(run=run).first()
    return run if _take(run, approval, owner, now) else None


def require_still_allowed(run: ToolRun, now: datetime) -> None:
    """Raise the refusal that this stored call would meet now."""
    freeze = freezes.freeze_over(agent=run.agent, tool=run.tool_name, at=now)
    if freeze is not None:
        raise freezes.frozen_error(freeze, at=now)
    require_caller(run, now)
    active_agent(run.agent)
    tool = catalogue.tool_instance(run.tool_name)
    if definition_hash(tool.spec) != run.definition_hash:
        raise ToolUnavailable(f"The tool {run.tool_name} changed after this call was made.")
    if not catalogue.find_tool(run.tool_name).is_exposed_on(run.surface):
        raise NotExposed(f"The tool {run.tool_name} is not offered on {run.surface} any more.")
    if policies.current_version().number != run.policy_version:
        _require_policy(run)


def require_caller(run: ToolRun, now: datetime) -> None:
    """Raise TokenScope or Forbidden when whoever made the call may not run tools any more."""
    if run.actor == SYSTEM.label:
        return
    token = run.token
    if token is not None:
        expired = token.expires_at is not None and token.expires_at <= now
        if token.revoked_at or expired or not actor_for_token(token).has("tools:execute"):
            raise TokenScope("The token of this call may not run tools any more.")
    elif run.user_id is None or not {"tools:execute", ADMIN} & rights_of(run.user_id).scopes:
        raise Forbidden("Whoever made this call may not run tools any more.")


def checked_arguments(run: ToolRun) -> dict[str, Any]:
    """Return the arguments the run was admitted with.

    Raises ApprovalMismatch when the stored ones are not those: the sealed values are gone, or
    the row was changed.
    """
    values = true_arguments(run)
    if arguments_digest(values) != run.arguments_digest:
        raise ApprovalMismatch("The stored arguments are not the ones that were checked.")
    return values


def _require_policy(run: ToolRun) -> None:
    decision = policies.decide(
        tool_name=run.tool_name,
        agent=run.agent,
        provider=run.provider,
        model=run.model,
        session=run.session,
    )
    if decision.effect == "deny":
        raise DeniedByPolicy(decision.summary)
    if decision.effect == "ask" and run.effect != "ask":
        raise ApprovalMismatch("The policy asks for approval now; make the call again.")


def _queued(run_id: UUID) -> ToolRun | None:
    runs = ToolRun.objects.select_related("decision", "token")
    return runs.filter(pk=run_id, status=RunStatus.QUEUED).first()


class _Lost(Exception):
    """Somebody else took or ended the run; what this transaction did is undone."""


def _take(run: ToolRun, approval: Approval | None, owner: str, now: datetime) -> bool:
    try:
        with transaction.atomic():
            if approval is not None and not consume_approval(approval, now=now):
                void_approval(approval)
                return False
            if not _start(run, approval, owner, now):
                raise _Lost
    except _Lost:
        return False
    return True


def _start(run: ToolRun, approval: Approval | None, owner: str, now: datetime) -> bool:
    return move_run(
        run,
        expected=RunStatus.QUEUED,
        to=RunStatus.RUNNING,
        kind="run.started",
        more={"approval": str(approval.pk)} if approval is not None else None,
        started_at=now,
        deadline_at=now + timedelta(seconds=run.timeout_s),
        lease_owner=owner,
        lease_expires_at=now + LEASE,
    )
