"""Every refusal and failure a service raises, each with a stable code and an HTTP status.

``extra`` may carry what a caller needs to go on: ``decision`` and ``run`` and ``approval``
(ids), ``fix`` (the shortest change of policy), ``errors`` (list of {"path", "message"}),
``retry_after`` (seconds). ``docs/problems.md`` explains each code; a test compares the two.
"""

from __future__ import annotations

from typing import ClassVar

from tools_app.core.errors import InvalidArguments as CoreInvalidArguments
from tools_app.core.errors import ToolError


class ServiceError(ToolError):
    """Base of what services raise; ``status`` is the answer over HTTP."""

    code = "service_error"
    status: ClassVar[int] = 500


# --- who is asking ---------------------------------------------------------------------------


class InvalidToken(ServiceError):
    """The token or ticket is unknown, revoked, expired or used up; it does not say which."""

    code = "invalid_token"
    status = 401


class TokenScope(ServiceError):
    """The token lacks a scope, or is bound to another agent or to other tools."""

    code = "token_scope"
    status = 403


class Forbidden(ServiceError):
    """The roles of the signed-in user do not include this right."""

    code = "forbidden"
    status = 403


class SelfApproval(ServiceError):
    """Whoever asked for a call may not approve it as well."""

    code = "self_approval"
    status = 403


# --- the tool and the agent ------------------------------------------------------------------


class UnknownTool(ServiceError):
    """No tool has this name, or it was switched off."""

    code = "unknown_tool"
    status = 404


class ToolUnavailable(ServiceError):
    """The tool is known, but what it needs is missing on this machine now."""

    code = "tool_unavailable"
    status = 503
    retryable = True


class NotExposed(ServiceError):
    """The tool is not offered on the surface the call came through."""

    code = "not_exposed"
    status = 403


class UnknownAgent(ServiceError):
    """No agent profile has this name."""

    code = "unknown_agent"
    status = 404


class AgentInactive(ServiceError):
    """The agent profile is switched off."""

    code = "agent_inactive"
    status = 403


class DeniedByPolicy(ServiceError):
    """The published policy denies the call; ``decision`` explains, ``fix`` would change it."""

    code = "denied_by_policy"
    status = 403


class InvalidArguments(ServiceError):
    """The arguments do not fit the tool's schema; ``errors`` says where."""

    code = "invalid_arguments"
    status = 422


class TruncatedArguments(InvalidArguments):
    """The text of the arguments stops before its JSON ends, as when a model ran out of tokens."""

    code = "truncated_arguments"


def arguments_refused(error: CoreInvalidArguments) -> InvalidArguments:
    """Return the core's complaint about arguments as a service error of the same code."""
    kind = TruncatedArguments if error.code == TruncatedArguments.code else InvalidArguments
    return kind(error.message, extra=error.extra)


# --- limits and freezes ----------------------------------------------------------------------


class RateLimited(ServiceError):
    """More calls than a limit allows in its window."""

    code = "rate_limited"
    status = 429
    retryable = True


class BudgetExceeded(ServiceError):
    """The call would cost more than a limit allows in its window."""

    code = "budget_exceeded"
    status = 429
    retryable = True


class ConcurrencyExceeded(ServiceError):
    """As many runs as a limit allows are open at this moment."""

    code = "concurrency_exceeded"
    status = 429
    retryable = True


class Frozen(ServiceError):
    """A freeze covers the agent, the tool or everything; the message gives reason and end."""

    code = "frozen"
    status = 423
    retryable = True


# --- approvals -------------------------------------------------------------------------------


class ApprovalMismatch(ServiceError):
    """What would run now differs from what was shown when the approval was asked for."""

    code = "approval_mismatch"
    status = 409


class ApprovalExpired(ServiceError):
    """Nobody decided in time; ask again for the same call."""

    code = "approval_expired"
    status = 409


class ApprovalClosed(ServiceError):
    """The approval was already decided, superseded or cancelled."""

    code = "approval_closed"
    status = 409


class ApprovalDenied(ServiceError):
    """A person denied the call."""

    code = "approval_denied"
    status = 403


# --- idempotency -----------------------------------------------------------------------------


class IdempotencyConflict(ServiceError):
    """The idempotency key was used before for a different request."""

    code = "idempotency_conflict"
    status = 422


class IdempotencyInProgress(ServiceError):
    """The first request with this idempotency key has not ended yet."""

    code = "idempotency_in_progress"
    status = 409
    retryable = True


# --- configuration ---------------------------------------------------------------------------


class PolicyInvalid(ServiceError):
    """The policy document cannot be published; ``errors`` says where and why."""

    code = "policy_invalid"
    status = 422


class PolicyUnreadable(ServiceError):
    """The published policy could not be read or evaluated: every call is refused."""

    code = "policy_unreadable"
    status = 503


class InvalidRequest(ServiceError):
    """A value is missing or has the wrong form; ``errors`` says where."""

    code = "invalid_request"
    status = 422


class PreconditionRequired(ServiceError):
    """The change must name the version it is based on."""

    code = "precondition_required"
    status = 428


class PreconditionFailed(ServiceError):
    """Somebody else changed it since the version this change is based on."""

    code = "precondition_failed"
    status = 412


class NotFound(ServiceError):
    """There is no such thing, or it is not the caller's to see."""

    code = "not_found"
    status = 404


class Conflict(ServiceError):
    """The change contradicts what is there, such as a name that is taken."""

    code = "conflict"
    status = 409


class InternalError(ServiceError):
    """A bug on our side; the details are in the log, never in the answer."""

    code = "internal_error"
    status = 500
