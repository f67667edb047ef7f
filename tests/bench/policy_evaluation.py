"""Time of policy evaluation: 100 offered tools, all nine layers in force.

Run: ``python tests/bench/policy_evaluation.py``. Prints CPU microseconds per question, the median
of several rounds, and the ratio to the floor: picking the allowed names out of the offered ones
with one set look-up each, which no engine that builds a list of names can go below. Ends with
status 1 when a warm evaluation misses its budget.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median
from time import thread_time

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools_app.policy import OfferedTool, Subject, compile_policy
from tools_app.policy.explaining import explain

BUDGET_US = 100.0
ROUNDS = 15

CORE = [
    "read", "write", "edit", "apply_patch", "exec", "process", "web_search", "web_fetch",
    "browser", "canvas", "nodes", "cron", "message", "gateway", "agents_list", "sessions_list",
    "sessions_history", "sessions_send", "sessions_spawn", "session_status", "image", "think",
    "calculator", "file_read", "http_request",
]  # fmt: skip
TOOLS = tuple(
    [OfferedTool(name=name) for name in CORE]
    + [OfferedTool(name=f"acme_{i}", plugin_id=f"acme{i % 5}") for i in range(100 - len(CORE))]
)
RULES = {"allow": ["*"], "deny": ["acme_9*", "ghost"]}
DOCUMENT = {
    "tools": {
        "profile": "coding",
        "alsoAllow": ["group:plugins", "web_*"],
        "deny": ["group:nodes", "*_77"],
        "byProvider": {"openai": {"profile": "coding", "alsoAllow": ["*"], "deny": ["acme_1*"]}},
        "sandbox": {"tools": {"allow": ["*"], "deny": ["browser"]}},
        "subagents": {"tools": {"deny": ["acme_2*"]}},
    },
    "agents": {
        "list": [
            {"id": f"agent-{i}", "tools": {**RULES, "byProvider": {"openai": RULES}}}
            for i in range(50)
        ]
    },
    "channels": {"telegram": {"groups": {"*": {"tools": {"deny": ["canvas", "acme_3?"]}}}}},
}


def subject(number: int) -> Subject:
    """Build one of endlessly many subjects for whom every layer is in force."""
    return Subject(
        agent_id=f"agent-{number % 50}",
        provider="openai",
        session_key=f"agent:agent-{number % 50}:subagent:{number}",
        message_provider="telegram",
        group_id=str(number),
        sandboxed=True,
    )


def microseconds(work: Callable[[], object], repeat: int) -> float:
    """Time one call: the median of several rounds of ``repeat`` calls."""
    rounds = []
    for _ in range(ROUNDS):
        start = thread_time()
        for _ in range(repeat):
            work()
        rounds.append((thread_time() - start) / repeat * 1e6)
    return median(rounds)


def main() -> int:
    policy = compile_policy(DOCUMENT, version=1)
    known = subject(0)
    effective = policy.effective(known, TOOLS)
    assert all(layer.applies for layer in effective.layers), "all nine layers must be in force"
    assert 0 < len(effective.allowed) < len(TOOLS)
    for number in range(50):
        policy.effective(subject(number), TOOLS)

    names, allowed = [tool.name for tool in TOOLS], frozenset(effective.allowed)
    listed, numbers = list(TOOLS), count(50)
    fresh = iter([subject(next(numbers)) for _ in range(ROUNDS * 200)])
    floor = microseconds(lambda: tuple(name for name in names if name in allowed), 2000)
    figures = {
        "floor: pick the allowed names": floor,
        "known subject, same tuple of tools": microseconds(
            lambda: policy.effective(known, TOOLS), 2000
        ),
        "known subject, equal list of tools": microseconds(
            lambda: policy.effective(known, listed), 500
        ),
        "new subject, all nine layers": microseconds(
            lambda: policy.effective(next(fresh), TOOLS), 200
        ),
        "one decision": microseconds(lambda: effective.decide("exec"), 2000),
        "compile and first evaluation": microseconds(
            lambda: compile_policy(DOCUMENT, version=1).effective(known, TOOLS), 5
        ),
        "first explanation of a refusal": microseconds(lambda: explain(effective, "nodes"), 2),
        "the same explanation again": microseconds(lambda: effective.explain("nodes"), 2000),
    }
    print(f"{len(TOOLS)} tools, {len(effective.layers)} layers, {len(allowed)} tools allowed")
    for name, figure in figures.items():
        print(f"{name:<38}{figure:>10.1f} µs{figure / floor:>9.2f} x floor")
    warm = max(
        figures["known subject, same tuple of tools"], figures["new subject, all nine layers"]
    )
    print(f"warm policy: {warm:.1f} µs, budget {BUDGET_US:.0f} µs")
    return 0 if warm <= BUDGET_US else 1


if __name__ == "__main__":
    sys.exit(main())
