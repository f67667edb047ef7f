"""Dry runs: what a call would meet, with nothing counted, stored or run."""

from __future__ import annotations

from tools_app.services import limits
from tools_app.services.errors import DeniedByPolicy, ServiceError
from tools_app.services.running.admission import check, decide, limit, remembered, resolve
from tools_app.services.running.calls import Call, DryRun, RunOutcome, RunRequest


def dry_run(request: RunRequest) -> RunOutcome:
    """Decide and check a request as if it were to run.

    Raises what resolving, deciding and checking raise, except that a denial is an answer: its
    effect is ``deny``. What would stop the call at this moment only (a freeze, a limit, a scope)
    is named in ``would_be_refused``.
    """
    call = Call(request=request)
    resolve(call)
    try:
        decide(call)
    except DeniedByPolicy as error:
        return _answer(call, error)
    check(call)
    try:
        limit(call)
    except ServiceError as error:
        return _answer(call, error)
    remembered(call)
    states = limits.limit_states(call.spender, at=call.requested_at)
    refusal = limits.would_exceed(states, cost_usd=call.known_tool.cost_estimate)
    return _answer(call, refusal, states)


def _answer(
    call: Call, refusal: ServiceError | None, states: tuple[limits.LimitState, ...] = ()
) -> RunOutcome:
    decision = call.made_decision
    dry = DryRun(
        effect=decision.effect,
        arguments=call.checked.values if call.checked else {},
        coerced=call.checked.coerced if call.checked else (),
        would_wait_for_approval=decision.effect != "deny" and call.must_be_asked,
        limits=states,
        would_be_refused=refusal.code if refusal else "",
        reason=refusal.message if refusal else decision.summary,
    )
    return RunOutcome(run=None, decision=decision, dry=dry)
