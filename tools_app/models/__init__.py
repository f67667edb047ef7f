"""Rows of the control room. Anything that touches two of them is a service."""

from tools_app.models.access import ApiToken, WsTicket
from tools_app.models.approvals import Approval, ApprovalGrant, ApprovalStatus, GrantScope
from tools_app.models.catalogue import AgentProfile, Tool
from tools_app.models.events import Event, EventSeal
from tools_app.models.limits import Freeze, FreezeScope, Limit, LimitScope, LimitUse
from tools_app.models.policy import Decision, PolicyVersion
from tools_app.models.revisions import ConfigurationRevision
from tools_app.models.runs import (
    FINAL_STATUSES,
    OPEN_STATUSES,
    RunStatus,
    SealedPayload,
    ToolRun,
)

__all__ = [
    "FINAL_STATUSES",
    "OPEN_STATUSES",
    "AgentProfile",
    "ApiToken",
    "Approval",
    "ApprovalGrant",
    "ApprovalStatus",
    "ConfigurationRevision",
    "Decision",
    "Event",
    "EventSeal",
    "Freeze",
    "FreezeScope",
    "GrantScope",
    "Limit",
    "LimitScope",
    "LimitUse",
    "PolicyVersion",
    "RunStatus",
    "SealedPayload",
    "Tool",
    "ToolRun",
    "WsTicket",
]
