"""Addresses of the console, at the root of the site."""

from django.urls import path

from tools_app.console.views import (
    agents,
    frame,
    freezing,
    live,
    overview,
    policy,
    runs,
    sessions,
    tokens,
    tools,
)

app_name = "console"

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("live/", live.live, name="live"),
    path("runs/", runs.runs, name="runs"),
    path("runs/<uuid:run_id>/", runs.run, name="run"),
    path("runs/<uuid:run_id>/output/", runs.run_output, name="run-output"),
    path("runs/<uuid:run_id>/cancel/", runs.run_cancel, name="run-cancel"),
    path("decisions/<uuid:decision_id>/", runs.decision, name="decision"),
    path("why/", tools.why, name="why"),
    path("tools/", tools.tools, name="tools"),
    path("tools/<str:name>/", tools.tool, name="tool"),
    path("tools/<str:name>/try/", tools.tool_try, name="tool-try"),
    path("tools/<str:name>/change/", tools.tool_change, name="tool-change"),
    path("agents/", agents.agents, name="agents"),
    path("agents/+new/", agents.agent_new, name="agent-new"),
    path("agents/<str:slug>/", agents.agent, name="agent"),
    path("agents/<str:slug>/change/", agents.agent_change, name="agent-change"),
    path("agents/<str:slug>/rules/", agents.agent_rules, name="agent-rules"),
    path("agents/<str:slug>/delete/", agents.agent_delete, name="agent-delete"),
    path("policy/", policy.policy, name="policy"),
    path("policy/<int:number>/", policy.version, name="policy-version"),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.token_revoke, name="token-revoke"),
    path("sign-in/", sessions.SignIn.as_view(), name="sign-in"),
    path("sign-in/once/<str:uid>/<str:token>/", sessions.sign_in_once, name="sign-in-once"),
    path("sign-out/", sessions.SignOut.as_view(), name="sign-out"),
    path("set-language/", sessions.set_language, name="set-language"),
    path("preferences/", sessions.set_preferences, name="preferences"),
    path("palette/", frame.palette, name="palette"),
    path("freezes/new/", freezing.freeze_new, name="freeze-new"),
    path("freezes/new/blast/", freezing.freeze_blast, name="freeze-blast"),
    path("frame/", frame.frame_update, name="frame"),
]
