"""Approvals and remembered approvals over REST."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.endpoint import Endpoint
from tools_app.api.long_polls import LONG_POLLS
from tools_app.api.serializers.approvals import (
    ApprovalDetail,
    ApprovalPage,
    ApprovalQuery,
    ApproveBody,
    DenyBody,
    ExtendBody,
    GrantPage,
    GrantShown,
)
from tools_app.api.serializers.base import EmptyBody, PageQuery
from tools_app.api.serializers.runs import WaitQuery
from tools_app.models import Approval, ApprovalGrant, ApprovalStatus
from tools_app.selectors.approvals import (
    ApprovalFilters,
    approval_detail,
    card,
    history,
    standing_grants,
)
from tools_app.services.access import Actor
from tools_app.services.approvals import (
    approve,
    ask_again,
    deny,
    extend,
    revoke_grant,
    wait_for_approval,
)

SEES_APPROVALS = ("tools:read", "tools:execute", "approvals", "audit")
VIA = "rest"


def approval_json(approval: Approval) -> dict[str, Any]:
    """Return an approval as lists show it."""
    run = approval.run
    return {
        "id": approval.pk,
        "run": run.pk,
        "run_status": run.status,
        "status": approval.status,
        "tool": run.tool_name,
        "agent": run.agent,
        "requester": run.actor,
        "reason": approval.reason,
        "requested_at": approval.requested_at,
        "expires_at": approval.expires_at,
        "decided_at": approval.decided_at,
        "decided_by": approval.decided_by_label,
        "decided_via": approval.decided_via,
        "comment": approval.comment,
        "grant_scope": approval.grant_scope,
        "grant_until": approval.grant_until,
        "replaces": approval.replaces_id,
    }


def approval_detail_json(actor: Actor, approval: Approval) -> dict[str, Any]:
    """Return an approval with all that its answer is bound to."""
    shown = card(actor, approval)
    return {
        **approval_json(approval),
        "requester": shown.requester,
        "binding": shown.binding,
        "call_text": shown.call_text,
        "arguments": shown.arguments,
        "is_redacted": shown.is_redacted,
        "differs_from_last": shown.differs_from_last,
        "last_approved": shown.last_approved.pk if shown.last_approved else None,
        "similar_count": shown.similar_count,
        "may_decide": shown.may_decide,
        "why_not": shown.why_not,
        "may_ask_again": shown.may_ask_again,
    }


def grant_json(grant: ApprovalGrant) -> dict[str, Any]:
    """Return a remembered approval."""
    return dict(GrantShown(grant).data)


class Approvals(Endpoint):
    """Questions about exact calls, and their answers."""

    scopes = {"GET": SEES_APPROVALS}

    @extend_schema(
        operation_id="list_approvals", parameters=[ApprovalQuery], responses=ApprovalPage
    )
    def get(self, request: Request) -> Response:
        """List approvals, newest first; ``status=pending`` are those that wait."""
        query = self.query(ApprovalQuery)
        where = {"cursor": query.pop("cursor", None), "limit": query.pop("limit")}
        return self.page(history(self.actor, ApprovalFilters(**query), **where), approval_json)


class ApprovalEndpoint(Endpoint):
    """What views of one approval share."""

    def shown(self, approval_id: UUID, *, status: int = 200) -> Response:
        """Answer with an approval as it is now."""
        approval = approval_detail(self.actor, approval_id)
        return Response(approval_detail_json(self.actor, approval), status=status)


class ApprovalItem(ApprovalEndpoint):
    """One approval."""

    scopes = {"GET": SEES_APPROVALS}

    @extend_schema(operation_id="get_approval", parameters=[WaitQuery], responses=ApprovalDetail)
    def get(self, request: Request, approval_id: UUID) -> Response:
        """Show an approval; with ``wait`` not before it is decided or that time is over."""
        asked_s = self.query(WaitQuery)["wait"]
        approval = approval_detail(self.actor, approval_id)
        if approval.status == ApprovalStatus.PENDING:
            with LONG_POLLS.place(asked_s) as wait_s:
                if wait_s:
                    wait_for_approval(approval_id, wait_s)
        return self.shown(approval_id)


class Approve(ApprovalEndpoint):
    """Yes."""

    scopes = {"POST": "approvals"}

    @extend_schema(operation_id="approve", request=ApproveBody, responses=ApprovalDetail)
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Approve exactly the call that ``binding`` covers; its run is queued."""
        approve(actor=self.actor, approval_id=approval_id, via=VIA, **self.body(ApproveBody))
        return self.shown(approval_id)


class Deny(ApprovalEndpoint):
    """No."""

    scopes = {"POST": "approvals"}

    @extend_schema(operation_id="deny", request=DenyBody, responses=ApprovalDetail)
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Deny a call; its run is refused with the comment."""
        deny(actor=self.actor, approval_id=approval_id, via=VIA, **self.body(DenyBody))
        return self.shown(approval_id)


class AskAgain(ApprovalEndpoint):
    """Once more."""

    scopes = {"POST": "approvals"}

    @extend_schema(operation_id="ask_again", request=EmptyBody, responses={201: ApprovalDetail})
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Ask for the same call again after its approval expired, or was superseded."""
        self.body(EmptyBody)
        fresh = ask_again(actor=self.actor, approval_id=approval_id)
        return self.shown(fresh.pk, status=201)


class Extend(ApprovalEndpoint):
    """More time."""

    scopes = {"POST": "approvals"}

    @extend_schema(operation_id="extend_approval", request=ExtendBody, responses=ApprovalDetail)
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Give a waiting approval more time; its binding changes with its end."""
        extend(actor=self.actor, approval_id=approval_id, **self.body(ExtendBody))
        return self.shown(approval_id)


class Grants(Endpoint):
    """Remembered approvals in force."""

    scopes = {"GET": ("approvals", "audit")}

    @extend_schema(operation_id="list_grants", parameters=[PageQuery], responses=GrantPage)
    def get(self, request: Request) -> Response:
        """List remembered approvals, newest first."""
        return self.page(standing_grants(self.actor, **self.query(PageQuery)), grant_json)


class GrantItem(Endpoint):
    """One remembered approval."""

    scopes = {"DELETE": "approvals"}

    @extend_schema(operation_id="revoke_grant", responses=GrantShown)
    def delete(self, request: Request, grant_id: int) -> Response:
        """Take a remembered approval back; the next such call asks again."""
        return Response(grant_json(revoke_grant(actor=self.actor, grant_id=grant_id)))
