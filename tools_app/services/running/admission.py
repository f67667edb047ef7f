"""Steps 1 to 4 of a run: resolve, decide, check, limit. Each refuses by raising."""

from __future__ import annotations

import hashlib
import math
import time
from functools import lru_cache

from tools_app.core import ArgumentChecker, canonical_json
from tools_app.core.errors import InvalidArguments as CoreInvalidArguments
from tools_app.services import catalogue, freezes, grants, limits, policies
from tools_app.services.agents import resolve_agent
from tools_app.services.catalogue import find_tool
from tools_app.services.errors import (
    DeniedByPolicy,
    InvalidRequest,
    NotExposed,
    TokenScope,
    arguments_refused,
)
from tools_app.services.running.calls import Call

SHORTEST_TIMEOUT_S = 0.001
MAX_NAMES = {"agent": 64, "provider": 64, "model": 200, "session": 200, "idempotency_key": 200}


def resolve(call: Call) -> None:
    """Step 1: which tool, for which agent, with which provider and model.

    Raises InvalidRequest, UnknownTool, ToolUnavailable, NotExposed, UnknownAgent, AgentInactive,
    or TokenScope for a token that is bound to another agent.
    """
    request = call.request
    call.agent = request.agent or request.actor.agent
    call.provider, call.model = request.provider, request.model
    _check_names(call)
    call.tool = find_tool(request.tool_name)
    if not call.tool.is_exposed_on(request.surface):
        raise NotExposed(f"The tool {call.tool.name} is not offered on {request.surface}.")
    profile = resolve_agent(request.actor, request.agent)
    if profile is not None:
        call.provider = call.provider or profile.provider
        call.model = call.model or profile.model
    call.timeout_s = _timeout_s(request.timeout_seconds, call.tool.timeout_s)


def decide(call: Call) -> None:
    """Step 2: what policy says; raises DeniedByPolicy with the shortest fix, PolicyUnreadable."""
    started = time.perf_counter()
    call.decision = policies.decide(
        tool_name=call.known_tool.name,
        agent=call.agent,
        provider=call.provider,
        model=call.model,
        session=call.request.session,
    )
    call.decide_ms = round((time.perf_counter() - started) * 1000, 3)
    if call.decision.effect == "deny":
        fix = call.decision.explanation.get("fix")
        raise DeniedByPolicy(call.decision.summary, extra={"fix": fix} if fix else None)


def check(call: Call) -> None:
    """Step 3: do the arguments fit the tool's schema; raises InvalidArguments."""
    tool = call.known_tool
    try:
        call.checked = _checker(tool.name, tool.definition_hash).check(call.request.arguments)
        call.canonical_arguments = canonical_json(call.checked.values)
    except CoreInvalidArguments as error:
        raise arguments_refused(error) from None


def limit(call: Call) -> None:
    """Step 4, as far as nothing is counted: token scope and freezes; finds the limits.

    Raises TokenScope, Forbidden or Frozen. What the limits have left is taken by
    :func:`tools_app.services.limits.consume`, in the transaction that stores the run.
    """
    actor, tool = call.request.actor, call.known_tool
    actor.require("tools:execute")
    if actor.tools is not None and tool.name not in actor.tools:
        raise TokenScope(f"This token may not use the tool {tool.name}.")
    freeze = freezes.freeze_over(agent=call.agent, tool=tool.name, at=call.requested_at)
    if freeze is not None:
        call.freeze_id = freeze.pk
        raise freezes.frozen_error(freeze, at=call.requested_at)
    call.limits = limits.applicable_limits(call.spender)


def remembered(call: Call) -> None:
    """Step 5, as far as nobody is asked: find the remembered approval that covers the call."""
    if call.made_decision.effect == "ask":
        call.grant = grants.matching_grant(
            agent=call.agent,
            tool_name=call.known_tool.name,
            definition_hash=call.known_tool.definition_hash,
            arguments_digest=digest_of(call.canonical_arguments),
            session=call.request.session,
            at=call.requested_at,
        )


def admit(call: Call) -> None:
    """Take a call through all steps up to the one that stores it."""
    resolve(call)
    decide(call)
    check(call)
    limit(call)
    remembered(call)


def digest_of(canonical: bytes) -> str:
    """Return ``sha256:…`` of canonical JSON."""
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def _timeout_s(asked: float | None, longest: float) -> float:
    if asked is None:
        return longest
    if not SHORTEST_TIMEOUT_S <= asked < math.inf:
        raise _invalid("timeout_seconds", f"must be at least {SHORTEST_TIMEOUT_S}")
    return min(asked, longest)


def _check_names(call: Call) -> None:
    """Refuse names that no row could hold."""
    for name, longest in MAX_NAMES.items():
        value: str = getattr(call.request, name)
        if len(value) > longest:
            raise _invalid(name, f"must have at most {longest} characters")
        if not value.isprintable():
            raise _invalid(name, "must be printable text")


def _invalid(name: str, problem: str) -> InvalidRequest:
    errors = [{"path": f"$.{name}", "message": problem}]
    return InvalidRequest(f"{name} {problem}.", extra={"errors": errors})


@lru_cache(maxsize=4096)
def _checker(name: str, definition_hash: str) -> ArgumentChecker:
    """Return the compiled schema of a tool; a new definition has a new hash."""
    return catalogue.checker(name)
