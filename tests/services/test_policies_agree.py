"""Whatever the policy: what is listed, described, offered to a model and run is the same."""

from __future__ import annotations

import random
import re

import pytest

from tests.builders import make_agent, make_token_actor, make_tool, publish_policy
from tools_app.models import ToolRun
from tools_app.policy.tables import TABLE_SETS
from tools_app.selectors.tools import list_tools, openai_functions, prompt_text, visible_names
from tools_app.services import policies
from tools_app.services.access import SYSTEM
from tools_app.services.errors import DeniedByPolicy
from tools_app.services.running import RunRequest, run_tool
from tools_app.services.tool_sync import sync_tools

pytestmark = pytest.mark.django_db

CORE = ("apply_patch", "browser", "calculator", "canvas", "exec", "file_read", "gateway", "image",
        "memory_search", "message", "process", "read", "sessions_list", "think", "web_fetch",
        "web_search", "write")  # fmt: skip
PLUGIN = {"tickets_open": "tickets", "tickets_close": "tickets", "weather": "weather"}
AGENTS = ("main", "coding", "support")
PROVIDERS = ("", "openai", "anthropic")
ENTRIES = (
    *CORE, *PLUGIN, "http_request", "tickets", "*", "sessions_*", "w*", "*_search", "bash",
    "nonsense",
    *TABLE_SETS["default"].groups, "group:plugins",
)  # fmt: skip
PROFILES = tuple(TABLE_SETS["default"].profiles)


def random_rules(rnd: random.Random) -> dict[str, object]:
    rules: dict[str, object] = {}
    if rnd.random() < 0.3:
        rules["profile"] = rnd.choice(PROFILES)
    if rnd.random() < 0.6:
        rules[rnd.choice(("allow", "alsoAllow"))] = rnd.sample(ENTRIES, rnd.randint(0, 6))
    if rnd.random() < 0.6:
        rules["deny"] = rnd.sample(ENTRIES, rnd.randint(0, 4))
    return rules


def random_policy(rnd: random.Random) -> dict[str, object]:
    def scope() -> dict[str, object]:
        rules = random_rules(rnd)
        if rnd.random() < 0.3:
            rules["byProvider"] = {rnd.choice(PROVIDERS[1:]): random_rules(rnd)}
        return rules

    listed = [{"id": slug, "tools": scope()} for slug in AGENTS if rnd.random() < 0.8]
    return {"tools": scope(), "agents": {"list": listed}}


@pytest.fixture
def catalogue() -> None:
    for slug in AGENTS:
        make_agent(slug)
    for name in CORE:
        make_tool(name, requires_confirmation=name in ("exec", "write"))
    for name, plugin in PLUGIN.items():
        make_tool(name, plugin_id=plugin)


@pytest.mark.parametrize("seed", range(10))
def test_lists_and_dispatch_agree_for_a_hundred_random_policies(catalogue, seed: int) -> None:
    rnd = random.Random(seed)  # noqa: S311
    for _ in range(100):
        publish_policy(random_policy(rnd))
        agent, provider = rnd.choice(AGENTS), rnd.choice(PROVIDERS)
        as_whom = {"agent": agent, "provider": provider}
        dispatched = {
            name
            for name in (*CORE, *PLUGIN)
            if policies.effective_tools(**as_whom).decide(name).effect != "deny"
        }
        every = list_tools(SYSTEM, all=True, limit=200, **as_whom).items
        prompt = prompt_text(SYSTEM, **as_whom)
        assert {v.tool.name for v in list_tools(SYSTEM, limit=200, **as_whom).items} == dispatched
        assert {v.tool.name for v in every if v.callable} == dispatched
        assert set(visible_names(SYSTEM, **as_whom)) == dispatched
        assert {f["function"]["name"] for f in openai_functions(SYSTEM, **as_whom)} == dispatched
        assert set(re.findall(r"^### (\S+)$", prompt, re.MULTILINE)) == dispatched
        for name in rnd.sample((*CORE, *PLUGIN), 2):
            decision = policies.decide(tool_name=name, **as_whom)
            assert (decision.effect != "deny") is (name in dispatched)


CALLS = {
    "calculator": {"expression": "2+2"},
    "think": {"thought": "…"},
    "file_read": {"path": "/nowhere"},
    "http_request": {"url": "https://example.org/"},
}


@pytest.mark.parametrize("seed", range(4))
def test_a_call_is_refused_by_policy_exactly_when_the_tool_is_not_listed(seed: int) -> None:
    rnd = random.Random(1000 + seed)  # noqa: S311
    for slug in AGENTS:
        make_agent(slug)
    sync_tools()
    for _ in range(10):
        publish_policy(random_policy(rnd))
        agent = rnd.choice(AGENTS)
        token = make_token_actor(agent=agent)
        listed = set(visible_names(token))
        for name in listed & {"calculator", "think"}:
            outcome = run_tool(RunRequest(actor=token, tool_name=name, arguments=CALLS[name]))
            assert outcome.run.status == "succeeded"
        for name in set(CALLS) - listed:
            with pytest.raises(DeniedByPolicy) as refusal:
                run_tool(RunRequest(actor=token, tool_name=name, arguments=CALLS[name]))
            assert ToolRun.objects.get(pk=refusal.value.extra["run"]).outcome == "denied_by_policy"
