"""Who asks, which tools exist, and what a session key says about a run."""

from __future__ import annotations

import json
import re
from dataclasses import astuple, dataclass

from tools_app.policy.names import normalise_agent_id

_AGENT_KEY = re.compile(r"^agent:([^:]*):(.*)$", re.IGNORECASE | re.DOTALL)
_GROUP_KEY = re.compile(r"^([^:]+):(?:group|channel):(.+)$", re.IGNORECASE | re.DOTALL)
_THREAD_SUFFIX = re.compile(r":(?:thread|topic):.*$", re.IGNORECASE | re.DOTALL)
_SUBAGENT_PREFIX = "subagent:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who asks for tools. Every field is optional and is normalised by the engine.

    ``session_key`` has the form ``agent:<id>:…``; ``spawned_by`` is the key of the session that
    started this one. ``group_space`` is the guild or team that ``group_id`` belongs to.
    """

    agent_id: str | None = None
    provider: str | None = None
    model: str | None = None
    session_key: str | None = None
    spawned_by: str | None = None
    spawn_depth: int | None = None
    message_provider: str | None = None
    account_id: str | None = None
    group_id: str | None = None
    group_space: str | None = None
    sender_id: str | None = None
    sender_name: str | None = None
    sender_username: str | None = None
    sender_e164: str | None = None
    sender_is_owner: bool = True
    sandboxed: bool = False

    def key(self) -> str:
        """Give a stable text that is equal for equal subjects, for caches and ids."""
        return json.dumps(astuple(self), ensure_ascii=True, separators=(",", ":"))

    def resolved_agent_id(self) -> str | None:
        """Give the normalised agent id: the explicit one, else the one in the session key."""
        explicit = normalise_agent_id(self.agent_id or "")
        if explicit:
            return explicit
        found = _AGENT_KEY.match((self.session_key or "").strip())
        return normalise_agent_id(found[1]) or None if found else None

    def is_subagent(self) -> bool:
        """Tell whether the session was spawned by another session of an agent."""
        return _is_subagent_key(self.session_key or "")

    def resolved_depth(self) -> int:
        """Give the spawn depth: stored, else one below the spawner, else counted in the key."""
        if self.spawn_depth is not None:
            return self.spawn_depth
        if self.spawned_by:
            return _depth_of_key(self.spawned_by) + 1
        return _depth_of_key(self.session_key or "")

    def chat_group(self) -> tuple[str, str] | None:
        """Give (channel, group id) when the run belongs to a group chat, else ``None``."""
        channel = (self.message_provider or "").strip().lower()
        group = _THREAD_SUFFIX.sub("", (self.group_id or "").strip())
        if not (channel and group):
            from_key = _group_of_key(self.session_key) or _group_of_key(self.spawned_by)
            key_channel, key_group = from_key or ("", "")
            channel, group = channel or key_channel, group or key_group
        return (channel, group) if channel and group else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool that the runtime could give to a run, before any policy.

    ``plugin_id`` is set when a plugin registered the tool. An ``optional`` tool is offered only if
    an allow entry names it, its plugin or ``group:plugins``. A tool that ``requires_confirmation``
    is decided ``ask`` where others are allowed.
    """

    name: str
    plugin_id: str | None = None
    owner_only: bool = False
    optional: bool = False
    requires_confirmation: bool = False


def _without_agent(key: str) -> str:
    found = _AGENT_KEY.match(key.strip())
    return found[2] if found else key.strip()


def _is_subagent_key(key: str) -> bool:
    return _without_agent(key).lower().startswith(_SUBAGENT_PREFIX)


def _depth_of_key(key: str) -> int:
    return key.lower().count(f":{_SUBAGENT_PREFIX}")


def _group_of_key(key: str | None) -> tuple[str, str] | None:
    rest = _without_agent(key or "")
    if rest.lower().startswith(_SUBAGENT_PREFIX):
        rest = rest[len(_SUBAGENT_PREFIX) :]
    found = _GROUP_KEY.match(_THREAD_SUFFIX.sub("", rest))
    return (found[1].strip().lower(), found[2].strip()) if found else None
