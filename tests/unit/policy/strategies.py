"""Random policies, subjects and offered tools for the property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from tools_app.policy import TABLE_SETS, OfferedTool, Subject

CORE = [
    "read", "write", "edit", "apply_patch", "exec", "process", "web_search", "web_fetch", "browser",
    "cron", "message", "sessions_list", "session_status", "image", "think", "calculator",
    "file_read", "http_request", "memory_search",
]  # fmt: skip
PLUGINS = {
    "lobster": ["lobster"],
    "voice-call": ["voice_call", "voice_hangup"],
    "Acme": ["acme_get"],
}
AGENTS = ["main", "support", "coding"]
PROVIDERS = ["openai", "openai/gpt-5", "google"]

GROUPS = sorted({group for tables in TABLE_SETS.values() for group in tables.groups})
ENTRIES = [
    *CORE, *GROUPS, "group:plugins", *PLUGINS, "voice_call", "acme_get", "*", "**", "web_*", "*e*",
    "session*_*t*", "bash", "APPLY-PATCH", " Read ", "ghost", "group:ghost", "", "exec?",
]  # fmt: skip
PROFILES = ["minimal", "coding", "messaging", "full"]

lists = st.lists(st.sampled_from(ENTRIES), max_size=4)


@st.composite
def rules(draw, *, profile=True, both=False):
    """One scope that the schema accepts: an allow list or an additive list, seldom both."""
    value = {}
    if profile and draw(st.booleans()):
        value["profile"] = draw(st.sampled_from(PROFILES))
    kind = draw(st.sampled_from(["allow", "alsoAllow", "none", *(["both"] if both else [])]))
    for key in ("allow", "alsoAllow"):
        if kind in (key, "both"):
            value[key] = draw(lists)
    if draw(st.booleans()):
        value["deny"] = draw(lists)
    return value


by_provider = st.dictionaries(st.sampled_from(PROVIDERS), rules(), max_size=2)


@st.composite
def documents(draw):
    """A document the strict check accepts, with any of the nine layers in it."""
    tools = draw(rules())
    tools["byProvider"] = draw(by_provider)
    if draw(st.booleans()):
        tools["sandbox"] = {"tools": draw(rules(profile=False, both=True))}
    if draw(st.booleans()):
        tools["subagents"] = {"tools": draw(rules(profile=False, both=True))}
    agents = [
        {"id": name, "tools": {**draw(rules()), "byProvider": draw(by_provider)}}
        for name in draw(st.lists(st.sampled_from(AGENTS), unique=True))
    ]
    chat = {
        "tools": draw(rules(profile=False)),
        "toolsBySender": {"id:boss": draw(rules(profile=False))},
    }
    return {
        "tools": tools,
        "agents": {"defaults": {"subagents": {"maxSpawnDepth": 2}}, "list": agents},
        "channels": {"telegram": {"groups": {"7": chat}}},
    }


@st.composite
def subjects(draw):
    agent = draw(st.sampled_from([None, *AGENTS, "unlisted"]))
    prefix = f"agent:{agent or 'main'}"
    key = draw(st.sampled_from([None, f"{prefix}:main", f"{prefix}:subagent:a", "subagent:b"]))
    return Subject(
        agent_id=agent,
        session_key=key,
        spawn_depth=draw(st.sampled_from([None, 1, 2])),
        provider=draw(st.sampled_from([None, "openai", "google"])),
        model=draw(st.sampled_from([None, "gpt-5"])),
        message_provider=draw(st.sampled_from([None, "telegram", "voice"])),
        group_id=draw(st.sampled_from([None, "7"])),
        sender_id=draw(st.sampled_from([None, "boss"])),
        sender_is_owner=draw(st.booleans()),
        sandboxed=draw(st.booleans()),
    )


@st.composite
def offers(draw):
    core = [
        OfferedTool(name=name, requires_confirmation=draw(st.booleans()))
        for name in draw(st.lists(st.sampled_from(CORE), unique=True, min_size=1))
    ]
    plugins = [
        OfferedTool(name=name, plugin_id=plugin, optional=draw(st.booleans()))
        for plugin, names in PLUGINS.items()
        if draw(st.booleans())
        for name in names
    ]
    return tuple(draw(st.permutations([*core, *plugins])))


table_names = st.sampled_from(sorted(TABLE_SETS))

keys = st.sampled_from(
    ["tools", "agents", "channels", "list", "defaults", "subagents", "sandbox", "byProvider",
     "allow", "alsoAllow", "deny", "profile", "id", "groups", "guilds", "channels", "accounts",
     "telegram", "discord", "slack", "7", "*", "toolsBySender", "maxSpawnDepth", "openai"]
) | st.text(max_size=4)  # fmt: skip

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=20,
)
