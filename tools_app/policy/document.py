"""The strict door for policy documents that people write: schema errors and save-time warnings.

The document has the shape of OpenClaw's configuration: ``tools``, ``agents``, ``channels``. Parts
that configure something else there are kept and reported as not used; unknown keys are errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tools_app.policy.edits import Path, format_path
from tools_app.policy.lint import DocumentWarning, lint
from tools_app.policy.names import normalise_agent_id
from tools_app.policy.pipeline import rulebook
from tools_app.policy.subjects import OfferedTool
from tools_app.policy.tables import DEFAULT_TABLES, TableSet

MAX_ENTRIES = 1000  # per list: far above any real list, far below what slows a page down
MAX_ENTRY_LENGTH = 200
MAX_AGENTS = 5000
MAX_ERRORS = 100  # enough to mend a file by; more would only be noise

_POLICY_KEYS = ("allow", "alsoAllow", "deny")
_PROFILED_KEYS = ("profile", *_POLICY_KEYS)
_TOOLS_NOT_USED = (
    "elevated", "exec", "fs", "loopDetection", "web", "media", "links", "sessions",
    "agentToAgent", "message",
)  # fmt: skip
_AGENT_TOOLS_NOT_USED = ("elevated", "exec", "fs", "loopDetection")
_AGENT_NOT_USED = (
    "default", "name", "workspace", "agentDir", "model", "skills", "memorySearch", "humanDelay",
    "heartbeat", "identity", "groupChat", "subagents", "sandbox", "params", "runtime",
)  # fmt: skip
_TOP_NOT_USED = (
    "$schema", "meta", "env", "wizard", "diagnostics", "logging", "update", "browser", "ui", "auth",
    "acp", "models", "nodeHost", "bindings", "broadcast", "audio", "media", "messages", "commands",
    "approvals", "session", "cron", "hooks", "web", "discovery", "canvasHost", "talk", "gateway",
    "memory", "skills", "plugins", "secrets", "cli",
)  # fmt: skip

ErrorItem = dict[str, str]


class PolicyError(ValueError):
    """A policy document was refused; ``errors`` is a list of {"path", "message"}."""

    code = "invalid_policy"

    def __init__(self, errors: Sequence[ErrorItem]) -> None:
        first = errors[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{first['path'] or 'document'}: {first['message']}{more}")
        self.errors = list(errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the strict check found; ``errors`` is a list of {"path", "message"}."""

    errors: list[ErrorItem]
    warnings: list[DocumentWarning]

    @property
    def is_valid(self) -> bool:
        """Whether the document may be published."""
        return not self.errors

    def raise_for_errors(self) -> None:
        """Raise ``PolicyError`` if there is any error."""
        if self.errors:
            raise PolicyError(self.errors)


def check_document(
    document: object,
    *,
    tools: Sequence[OfferedTool] = (),
    tables: str = DEFAULT_TABLES,
    drop_plugin_only_allow: bool | None = None,
) -> Checked:
    """Check any JSON value as a policy document.

    Warnings are looked for only when there are no errors. With ``tools``, entries are also held
    against what is offered now. Raises ``ValueError`` only for an unknown table set.
    """
    rules = rulebook(tables, drop_plugin_only_allow)
    check = _Check(rules.tables)
    check.document(document)
    warnings = check.not_used
    if not check.errors and isinstance(document, Mapping):
        warnings = [*lint(document, tools, rules), *warnings]
    return Checked(errors=check.errors, warnings=warnings)


def schema_errors(document: object, tables: TableSet) -> list[ErrorItem]:
    """Give the schema errors of a document, without looking for warnings."""
    check = _Check(tables)
    check.document(document)
    return check.errors


class _Check:
    """Walks a document and collects errors and unused keys, each with its address."""

    def __init__(self, tables: TableSet) -> None:
        self.errors: list[ErrorItem] = []
        self.not_used: list[DocumentWarning] = []
        self._tables = tables

    def document(self, value: object) -> None:
        root = self._object(value, ())
        self._keys(root, (), ("tools", "agents", "channels"), _TOP_NOT_USED)
        if "tools" in root:
            self._tools(root["tools"], ("tools",), is_agent=False)
        if "agents" in root:
            self._agents(root["agents"])
        if "channels" in root:
            for name, channel in self._object(root["channels"], ("channels",)).items():
                self._channel(channel, ("channels", name))

    def _error(self, path: Path, message: str) -> None:
        if len(self.errors) < MAX_ERRORS:
            self.errors.append({"path": format_path(path), "message": message})

    def _unused(self, path: Path) -> None:
        text = format_path(path)
        self.not_used.append(
            DocumentWarning(code="not_used", path=text, message="kept, but has no effect here")
        )

    def _object(self, value: object, path: Path) -> Mapping[str, object]:
        if not isinstance(value, Mapping):
            self._error(path, "must be an object")
            return {}
        for key in value:
            problem = _text_problem(key)
            if problem:
                self._error(path, f"key {_shown(key)} {problem}")
        return {key: item for key, item in value.items() if isinstance(key, str)}

    def _keys(
        self,
        value: Mapping[str, object],
        path: Path,
        known: Iterable[str],
        not_used: Iterable[str] = (),
    ) -> None:
        for key in value:
            if key in not_used:
                self._unused((*path, key))
            elif key not in known:
                self._error((*path, key), f"unknown key {_shown(key)}")

    def _tools(self, value: object, path: Path, *, is_agent: bool) -> None:
        tools = self._object(value, path)
        known = [*_PROFILED_KEYS, "byProvider", "sandbox", *([] if is_agent else ["subagents"])]
        self._keys(tools, path, known, _AGENT_TOOLS_NOT_USED if is_agent else _TOOLS_NOT_USED)
        self._rules(tools, path)
        if "byProvider" in tools:
            by_provider = self._object(tools["byProvider"], (*path, "byProvider"))
            for key, entry in by_provider.items():
                self._rule_object(entry, (*path, "byProvider", key), _PROFILED_KEYS)
        for section in ("sandbox", "subagents"):
            if section in tools and section in known:
                self._nested_tools(tools[section], (*path, section))

    def _nested_tools(self, value: object, path: Path) -> None:
        section = self._object(value, path)
        self._keys(section, path, ("tools",))
        if "tools" in section:
            self._rule_object(section["tools"], (*path, "tools"), _POLICY_KEYS, both_allowed=True)

    def _rule_object(
        self, value: object, path: Path, known: Iterable[str], *, both_allowed: bool = False
    ) -> None:
        rules = self._object(value, path)
        self._keys(rules, path, known)
        self._rules(rules, path, both_allowed=both_allowed)

    def _rules(
        self, rules: Mapping[str, object], path: Path, *, both_allowed: bool = False
    ) -> None:
        """Check profile and lists of one scope, and that it has one kind of allow list."""
        profiles = self._tables.profiles
        profile = rules.get("profile", UNSET)
        if profile is not UNSET and not (isinstance(profile, str) and profile in profiles):
            self._error((*path, "profile"), f"must be one of {', '.join(profiles)}")
        for key in _POLICY_KEYS:
            if key in rules:
                self._entries(rules[key], (*path, key))
        if rules.get("allow") and rules.get("alsoAllow") and not both_allowed:
            self._error(
                path,
                "allow and alsoAllow cannot both be set in one scope: "
                "use allow to restrict, or a profile with alsoAllow to extend it",
            )

    def _entries(self, value: object, path: Path) -> None:
        if not isinstance(value, list | tuple):
            self._error(path, "must be a list of text entries")
            return
        if len(value) > MAX_ENTRIES:
            self._error(path, f"has {len(value)} entries; at most {MAX_ENTRIES} are allowed")
            return
        for index, entry in enumerate(value):
            problem = _text_problem(entry)
            if problem:
                self._error((*path, index), problem)

    def _agents(self, value: object) -> None:
        path: Path = ("agents",)
        agents = self._object(value, path)
        self._keys(agents, path, ("defaults", "list"))
        if "defaults" in agents:
            self._defaults(agents["defaults"], (*path, "defaults"))
        listed = agents.get("list", [])
        if not isinstance(listed, list | tuple):
            self._error((*path, "list"), "must be a list of agents")
        elif len(listed) > MAX_AGENTS:
            self._error((*path, "list"), f"has {len(listed)} agents; at most {MAX_AGENTS}")
        else:
            for index, agent in enumerate(listed):
                self._agent(agent, (*path, "list", index))

    def _agent(self, value: object, path: Path) -> None:
        agent = self._object(value, path)
        self._keys(agent, path, ("id", "tools"), _AGENT_NOT_USED)
        agent_id = agent.get("id")
        if not isinstance(agent_id, str) or not normalise_agent_id(agent_id):
            self._error((*path, "id"), "must be text with at least one letter or digit")
        if "tools" in agent:
            self._tools(agent["tools"], (*path, "tools"), is_agent=True)

    def _defaults(self, value: object, path: Path) -> None:
        defaults = self._object(value, path)
        for key in defaults:
            if key == "tools":
                self._error((*path, key), "unknown key: tool rules for all agents belong in tools")
            elif key != "subagents":
                self._unused((*path, key))
        if "subagents" in defaults:
            subagents = self._object(defaults["subagents"], (*path, "subagents"))
            depth = subagents.get("maxSpawnDepth", 1)
            if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
                self._error((*path, "subagents", "maxSpawnDepth"), "must be a whole number ≥ 1")
            for key in subagents:
                if key != "maxSpawnDepth":
                    self._unused((*path, "subagents", key))

    def _channel(self, value: object, path: Path, *, is_account: bool = False) -> None:
        channel = self._object(value, path)
        for key, part in channel.items():
            if key == "accounts" and not is_account:
                for name, account in self._object(part, (*path, key)).items():
                    self._channel(account, (*path, key, name), is_account=True)
            elif key in ("groups", "channels", "guilds"):
                for name, chat in self._object(part, (*path, key)).items():
                    self._chat(chat, (*path, key, name))
            else:
                self._unused((*path, key))

    def _chat(self, value: object, path: Path) -> None:
        chat = self._object(value, path)
        for key, part in chat.items():
            if key == "tools":
                self._rule_object(part, (*path, key), _POLICY_KEYS)
            elif key == "toolsBySender":
                for sender, rules in self._object(part, (*path, key)).items():
                    self._rule_object(rules, (*path, key, sender), _POLICY_KEYS)
            elif key == "channels" and path[-2] == "guilds":
                for name, inner in self._object(part, (*path, key)).items():
                    self._chat(inner, (*path, key, name))
            else:
                self._unused((*path, key))


UNSET = object()


def _text_problem(text: object) -> str | None:
    if not isinstance(text, str):
        return f"must be text, not {_shown(text)}"
    if len(text) > MAX_ENTRY_LENGTH:
        return f"has {len(text)} characters; at most {MAX_ENTRY_LENGTH} are allowed"
    if not text.strip().isprintable():
        return "must not contain control or invisible characters"
    return None


def _shown(value: object) -> str:
    """Give a short, printable form of a value for a message."""
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
