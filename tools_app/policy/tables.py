"""The named tables behind ``group:…`` entries and profiles.

Three sets can be chosen: the two OpenClaw releases exactly as published, and ``default``, which is
the earlier of them plus the groups of this product's own tools. ``docs/policy-tables.md`` prints
them; a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

DEFAULT_TABLES = "default"
PLUGINS_GROUP = "group:plugins"
UNRESTRICTED_PROFILE = "full"
OWNER_ONLY = frozenset({"cron", "gateway", "whatsapp_login"})

Members = tuple[str, ...]

SANDBOX_ALLOW: Members = (
    "exec", "process", "read", "write", "edit", "apply_patch", "image", "sessions_list",
    "sessions_history", "sessions_send", "sessions_spawn", "subagents", "session_status",
)  # fmt: skip
SANDBOX_DENY: Members = (
    "browser", "canvas", "nodes", "cron", "gateway", "telegram", "whatsapp", "discord", "irc",
    "googlechat", "slack", "signal", "imessage",
)  # fmt: skip
SUBAGENT_DENY: Members = (
    "gateway", "agents_list", "whatsapp_login", "session_status", "cron", "memory_search",
    "memory_get", "sessions_send",
)  # fmt: skip
LEAF_SUBAGENT_DENY: Members = ("sessions_list", "sessions_history", "sessions_spawn")

_SESSIONS: Members = (
    "sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "subagents",
    "session_status",
)  # fmt: skip
_GROUPS: dict[str, Members] = {
    "group:fs": ("read", "write", "edit", "apply_patch"),
    "group:runtime": ("exec", "process"),
    "group:sessions": _SESSIONS,
    "group:memory": ("memory_search", "memory_get"),
    "group:web": ("web_search", "web_fetch"),
    "group:ui": ("browser", "canvas"),
    "group:automation": ("cron", "gateway"),
    "group:messaging": ("message",),
    "group:nodes": ("nodes",),
    "group:openclaw": (
        "browser", "canvas", "nodes", "cron", "message", "gateway", "agents_list", *_SESSIONS,
        "memory_search", "memory_get", "web_search", "web_fetch", "image",
    ),
}  # fmt: skip
_PROFILES: dict[str, Members] = {
    "minimal": ("session_status",),
    "coding": ("group:fs", "group:runtime", "group:sessions", "group:memory", "image"),
    "messaging": (
        "group:messaging", "sessions_list", "sessions_history", "sessions_send", "session_status",
    ),
    UNRESTRICTED_PROFILE: (),
}  # fmt: skip

_LATER_GROUPS: dict[str, Members] = {
    **_GROUPS,
    "group:agents": ("agents_list",),
    "group:media": ("image", "tts"),
    "group:openclaw": (*_GROUPS["group:openclaw"], "tts"),
}
_LATER_PROFILES: dict[str, Members] = {
    **_PROFILES,
    "coding": (
        *_GROUPS["group:fs"], *_GROUPS["group:runtime"], "cron", *_SESSIONS,
        *_GROUPS["group:memory"], "image",
    ),
    "messaging": (
        "message", "sessions_list", "sessions_history", "sessions_send", "session_status",
    ),
}  # fmt: skip

_OWN_GROUPS: dict[str, Members] = {
    "group:reasoning": ("think",),
    "group:math": ("calculator",),
    "group:code": ("code_interpreter", "code_interpreter_docker", "repl"),
    "group:search": ("web_search", "retrieval"),
    "group:files": ("file_read",),
    "group:http": ("http_request",),
    "group:knowledge": (
        "retrieval", "memory_store", "memory_retrieve", "memory_search", "memory_index",
    ),
    "group:inference": ("llm",),
    "group:channels": ("channel_send", "channel_list", "channel_status"),
    "group:scheduler": (
        "schedule_task", "list_scheduled_tasks", "pause_scheduled_task", "resume_scheduled_task",
        "cancel_scheduled_task",
    ),
}  # fmt: skip
_OWN_PROFILES: dict[str, Members] = {
    **_PROFILES,
    "coding": (
        *_PROFILES["coding"], "group:code", "group:files", "group:reasoning", "group:math",
    ),
    "messaging": (*_PROFILES["messaging"], "group:channels"),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSet:
    """Groups and profiles of one release.

    ``groups`` and ``profiles`` map a name to its members; profile members may be groups, and an
    empty profile restricts nothing. ``voice_excludes`` are tools never offered to the ``voice``
    channel. With ``fails_closed`` a profile or an allow list stays in force even when it names no
    tool offered here, so a narrow policy cannot turn into "everything".
    """

    name: str
    groups: Mapping[str, Members]
    profiles: Mapping[str, Members]
    voice_excludes: frozenset[str] = field(default_factory=frozenset)
    fails_closed: bool = False

    def expand(self, name: str) -> Members:
        """Give the members of a normalised group name, or the name itself."""
        return self.groups.get(name, (name,))

    def names(self) -> frozenset[str]:
        """Give every tool name that some group or profile mentions."""
        members = [m for group in (*self.groups.values(), *self.profiles.values()) for m in group]
        return frozenset(name for name in members if name not in self.groups)


def _table_set(
    name: str,
    groups: dict[str, Members],
    profiles: dict[str, Members],
    *,
    voice_excludes: frozenset[str] = frozenset(),
    fails_closed: bool = False,
) -> TableSet:
    return TableSet(
        name=name,
        groups=MappingProxyType(groups),
        profiles=MappingProxyType(profiles),
        voice_excludes=voice_excludes,
        fails_closed=fails_closed,
    )


TABLE_SETS: Mapping[str, TableSet] = MappingProxyType(
    {
        "2026.2.22": _table_set("2026.2.22", _GROUPS, _PROFILES),
        "2026.2.26": _table_set(
            "2026.2.26", _LATER_GROUPS, _LATER_PROFILES, voice_excludes=frozenset({"tts"})
        ),
        DEFAULT_TABLES: _table_set(
            DEFAULT_TABLES, _GROUPS | _OWN_GROUPS, _OWN_PROFILES, fails_closed=True
        ),
    }
)


def table_set(name: str) -> TableSet:
    """Find a table set by name; raises ``ValueError`` that lists the known ones."""
    try:
        return TABLE_SETS[name]
    except KeyError:
        known = ", ".join(TABLE_SETS)
        raise ValueError(f"unknown table set {name!r}; known: {known}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedEntry:
    """A group or profile that a picker can offer, with the tools it stands for."""

    entry: str
    kind: Literal["group", "profile"]
    members: Members


def suggested_entries(tables: str = DEFAULT_TABLES) -> tuple[SuggestedEntry, ...]:
    """List the groups, then the profiles of a table set; profile members are tool names.

    ``group:plugins`` comes with no members: they depend on the plugins of the moment.
    """
    known = table_set(tables)
    groups = [
        SuggestedEntry(entry=name, kind="group", members=members)
        for name, members in [*known.groups.items(), (PLUGINS_GROUP, ())]
    ]
    profiles = [
        SuggestedEntry(
            entry=name,
            kind="profile",
            members=tuple(dict.fromkeys(tool for m in members for tool in known.expand(m))),
        )
        for name, members in known.profiles.items()
    ]
    return (*groups, *profiles)
