"""The kinds of events, each with what it tells. ``docs/events.md`` is compared by a test."""

from __future__ import annotations

EVENT_KINDS: dict[str, str] = {
    "run.queued": "A run waits for a worker.",
    "run.started": "A worker took a run and its tool started.",
    "run.finished": "A run ended: succeeded, failed, timed out or was cancelled.",
    "run.refused": "A call was refused before its tool ran; the outcome says why.",
    "run.cancel_requested": "Somebody asked for a run to be cancelled.",
    "run.interrupted": "A run ended because its worker died; it is not run again.",
    "run.result_dropped": "A result came after its run had been ended; it was not kept.",
    "approval.requested": "A call waits for a person's approval.",
    "approval.decided": "A person approved or denied a call.",
    "approval.extended": "A waiting approval got more time.",
    "approval.expired": "Nobody decided about a call in time.",
    "approval.superseded": "What an approval was asked for has changed; it can be asked again.",
    "approval.cancelled": "A waiting approval ended because its run was cancelled or frozen.",
    "grant.created": "An approval was remembered for the same call.",
    "grant.revoked": "A remembered approval was taken back.",
    "policy.published": "A new version of the policy is in force.",
    "policy.applied": "A configuration was applied as a whole; its digests tell a later drift.",
    "agent.created": "An agent profile was made.",
    "agent.updated": "An agent profile was changed.",
    "agent.deleted": "An agent profile was removed.",
    "tool.registered": "A tool was seen for the first time.",
    "tool.changed": "A tool's published definition changed, or it came or went.",
    "tool.updated": "An admin changed how a tool is offered.",
    "token.created": "An API token was made.",
    "token.revoked": "An API token was revoked.",
    "freeze.created": "New runs of an agent, a tool, a node or everything are stopped.",
    "freeze.extended": "A freeze got a later end.",
    "freeze.lifted": "A person ended a freeze.",
    "freeze.expired": "A freeze reached its end.",
    "limit.created": "A rate, budget or concurrency limit was set or changed.",
    "limit.deleted": "A limit was removed.",
    "user.signed_in": "A person signed in.",
    "session.ended": "A person signed out.",
    "access.changed": "A person's roles, password or standing changed.",
    "log.sealed": "The hash chain over the log grew by one link.",
    "log.gap": "The log was found changed, or its sealing stopped.",
    "log.purged": "The oldest sealed part of the log was removed by its retention time.",
}


def register_event_kind(name: str, description: str) -> None:
    """Make another app's event kind known; raises ValueError for a name with another meaning."""
    if EVENT_KINDS.setdefault(name, description) != description:
        raise ValueError(f"event kind {name!r} already means: {EVENT_KINDS[name]}")
