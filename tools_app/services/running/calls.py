"""What goes into a run and what comes out of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from tools_app.core import CheckedArguments, ToolResult
from tools_app.models import Approval, ApprovalGrant, Decision, Limit, ToolRun
from tools_app.models.identifiers import time_ordered_uuid
from tools_app.services.access import Actor
from tools_app.services.catalogue import KnownTool
from tools_app.services.limits import LimitState, Spender

DEFAULT_WAIT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A request to run a tool, by an authenticated caller; nothing of it is checked yet.

    ``arguments`` is an object or its JSON text. ``timeout_seconds`` may shorten the tool's limit,
    never lengthen it. ``wait_s`` is how long to wait for a run that a worker executes.
    """

    actor: Actor
    tool_name: str
    arguments: object = None
    agent: str = ""
    provider: str = ""
    model: str = ""
    session: str = ""
    surface: str = "rest"
    dry_run: bool = False
    timeout_seconds: float | None = None
    idempotency_key: str = ""
    respond_async: bool = False
    wait_s: float = DEFAULT_WAIT_S
    ask_again_for: Approval | None = None  # ask for approval even where policy would not


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a run would meet: decided and checked, but nothing is counted, stored or run.

    ``would_be_refused`` is the code of the refusal it would meet now, or empty.
    """

    effect: str
    arguments: Mapping[str, Any]
    coerced: tuple[str, ...]
    would_wait_for_approval: bool
    limits: tuple[LimitState, ...]
    would_be_refused: str = ""
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class RunOutcome:
    """The answer to a request that was not refused.

    ``result`` is there when the tool has run; ``approval`` when a person is asked; with neither,
    the run is queued or running. A dry run has no ``run``, but ``dry``.
    """

    run: ToolRun | None
    decision: Decision
    result: ToolResult | None = None
    approval: Approval | None = None
    replayed: bool = False
    dry: DryRun | None = None


@dataclass(slots=True, kw_only=True)
class Call:
    """A request on its way through the steps; each step adds what it found out.

    Refused or not, what is known at the end goes into the row of the run.
    """

    request: RunRequest
    run_id: UUID = field(default_factory=time_ordered_uuid)
    requested_at: datetime = field(default_factory=timezone.now)
    started: float = field(default_factory=time.perf_counter)
    decide_ms: float | None = None
    agent: str = ""
    provider: str = ""
    model: str = ""
    tool: KnownTool | None = None
    decision: Decision | None = None
    checked: CheckedArguments | None = None
    canonical_arguments: bytes = b""
    limits: tuple[Limit, ...] = ()
    grant: ApprovalGrant | None = None
    timeout_s: float = 0.0
    freeze_id: int | None = None

    @property
    def known_tool(self) -> KnownTool:
        """The tool, once the first step has found it."""
        if self.tool is None:
            raise RuntimeError("the tool of this call was not resolved")
        return self.tool

    @property
    def made_decision(self) -> Decision:
        """The decision, once the second step has made it."""
        if self.decision is None:
            raise RuntimeError("this call was not decided")
        return self.decision

    @property
    def checked_arguments(self) -> CheckedArguments:
        """The arguments, once the third step has checked them."""
        if self.checked is None:
            raise RuntimeError("the arguments of this call were not checked")
        return self.checked

    @property
    def spender(self) -> Spender:
        """Whose call this is, as limits count."""
        return Spender(
            agent=self.agent, tool=self.known_tool.name, token_key=self.request.actor.token_key
        )

    @property
    def must_be_asked(self) -> bool:
        """Whether a person's approval is needed and no remembered one covers the call."""
        if self.request.ask_again_for is not None:
            return True
        return self.made_decision.effect == "ask" and self.grant is None
