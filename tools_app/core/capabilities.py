"""Which agent may use which capability, and on what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tools_app.core.errors import InvalidSetting

CAPABILITIES = (
    "file:read",
    "file:write",
    "network:fetch",
    "code:execute",
    "memory:read",
    "memory:write",
    "channel:send",
    "tool:invoke",
    "schedule:create",
    "system:admin",
)


@dataclass(slots=True)
class _AgentRules:
    grants: list[tuple[str, str]] = field(default_factory=list)  # capability, resource
    denials: list[str] = field(default_factory=list)


class CapabilityPolicy:
    """Grants and denials per agent id; in patterns ``*`` stands for any run of characters.

    A denial beats a grant. What neither names is allowed unless ``default_deny``.
    """

    def __init__(self, *, default_deny: bool = False) -> None:
        self._default_deny = default_deny
        self._agents: dict[str, _AgentRules] = {}

    @classmethod
    def from_file(cls, path: Path, *, default_deny: bool = False) -> CapabilityPolicy:
        """Read a policy file; raises InvalidSetting when it cannot be read or has another shape.

        The caller must not go on without the policy it asked for.
        """
        policy = cls(default_deny=default_deny)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            for agent in document["agents"]:
                policy._add(agent)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidSetting(f"cannot use the capability policy {path}: {error!r}") from error
        return policy

    def grant(self, agent_id: str, capability: str, resource: str = "*") -> None:
        """Let an agent use a capability on the resources that match."""
        self._rules(agent_id).grants.append((capability, resource))

    def deny(self, agent_id: str, capability: str) -> None:
        """Keep an agent from a capability, whatever is granted."""
        self._rules(agent_id).denials.append(capability)

    def check(self, agent_id: str, capability: str, resource: str = "") -> bool:
        """Return whether the agent may use the capability on the resource."""
        rules = self._agents.get(agent_id)
        if rules is None:
            return not self._default_deny
        if any(fnmatchcase(capability, denied) for denied in rules.denials):
            return False
        for granted, on in rules.grants:
            if fnmatchcase(capability, granted) and (not resource or fnmatchcase(resource, on)):
                return True
        return not self._default_deny

    def _rules(self, agent_id: str) -> _AgentRules:
        return self._agents.setdefault(agent_id, _AgentRules())

    def _add(self, agent: Mapping[str, Any]) -> None:
        agent_id = agent["agent_id"]
        self._rules(agent_id)
        for grant in agent.get("grants", []):
            self.grant(agent_id, grant["capability"], grant.get("pattern", "*"))
        for denial in agent.get("deny", []):
            self.deny(agent_id, denial)
