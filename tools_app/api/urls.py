"""Addresses below ``/api/v1/``."""

from django.urls import path

from tools_app.api import (
    agents,
    approvals,
    configuration,
    decisions,
    events,
    execute,
    freezes,
    limits,
    policy,
    runs,
    tokens,
    tools,
)

app_name = "api"
urlpatterns = [
    path("tools", tools.Tools.as_view(), name="tools"),
    path("tools/<str:name>", tools.ToolItem.as_view(), name="tool"),
    path("tools/<str:name>/execute", execute.Execute.as_view(), name="execute"),
    path("runs", runs.Runs.as_view(), name="runs"),
    path("runs/batch", execute.Batch.as_view(), name="batch"),
    path("runs/<uuid:run_id>", runs.RunItem.as_view(), name="run"),
    path("runs/<uuid:run_id>/cancel", runs.RunCancel.as_view(), name="run-cancel"),
    path("runs/<uuid:run_id>/events", runs.RunEvents.as_view(), name="run-events"),
    path("decisions/<uuid:decision_id>", decisions.DecisionItem.as_view(), name="decision"),
    path("agents", agents.Agents.as_view(), name="agents"),
    path("agents/<str:slug>", agents.AgentItem.as_view(), name="agent"),
    path(
        "agents/<str:slug>/effective-tools",
        agents.AgentEffectiveTools.as_view(),
        name="agent-effective-tools",
    ),
    path("agents/<str:slug>/explain", agents.AgentExplain.as_view(), name="agent-explain"),
    path("agents/<str:slug>/prompt", agents.AgentPromptItem.as_view(), name="agent-prompt"),
    path("policy", policy.Policy.as_view(), name="policy"),
    path("policy/check", policy.PolicyCheck.as_view(), name="policy-check"),
    path("policy/versions", policy.PolicyVersions.as_view(), name="policy-versions"),
    path("policy/versions/<int:number>", policy.PolicyVersionItem.as_view(), name="policy-version"),
    path(
        "policy/versions/<int:number>/publish-again",
        policy.PolicyPublishAgain.as_view(),
        name="policy-publish-again",
    ),
    path("configuration", configuration.Configuration.as_view(), name="configuration"),
    path(
        "configuration/plan", configuration.ConfigurationPlan.as_view(), name="configuration-plan"
    ),
    path(
        "configuration/apply",
        configuration.ConfigurationApply.as_view(),
        name="configuration-apply",
    ),
    path("approvals", approvals.Approvals.as_view(), name="approvals"),
    path("approvals/<uuid:approval_id>", approvals.ApprovalItem.as_view(), name="approval"),
    path("approvals/<uuid:approval_id>/approve", approvals.Approve.as_view(), name="approve"),
    path("approvals/<uuid:approval_id>/deny", approvals.Deny.as_view(), name="deny"),
    path("approvals/<uuid:approval_id>/ask-again", approvals.AskAgain.as_view(), name="ask-again"),
    path("approvals/<uuid:approval_id>/extend", approvals.Extend.as_view(), name="extend"),
    path("grants", approvals.Grants.as_view(), name="grants"),
    path("grants/<int:grant_id>", approvals.GrantItem.as_view(), name="grant"),
    path("freezes", freezes.Freezes.as_view(), name="freezes"),
    path("freezes/<int:freeze_id>", freezes.FreezeItem.as_view(), name="freeze"),
    path("limits", limits.Limits.as_view(), name="limits"),
    path("limits/<int:limit_id>", limits.LimitItem.as_view(), name="limit"),
    path("tokens", tokens.Tokens.as_view(), name="tokens"),
    path("tokens/<int:token_id>", tokens.TokenItem.as_view(), name="token"),
    path("ws-tickets", tokens.WsTickets.as_view(), name="ws-tickets"),
    path("events", events.Events.as_view(), name="events"),
    path("events/stream", events.EventStream.as_view(), name="event-stream"),
]
