"""Save-time warnings: entries and lists that do not do what they seem to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from tools_app.policy.chats import chat_scopes
from tools_app.policy.edits import format_path
from tools_app.policy.layers import Layer, LayerBuilder
from tools_app.policy.matching import Matcher, expand
from tools_app.policy.names import (
    WILDCARD,
    NamePattern,
    alias_target,
    is_pattern,
    normalise_agent_id,
)
from tools_app.policy.offers import Offer
from tools_app.policy.pipeline import LayerFilter, Rulebook
from tools_app.policy.scopes import Entry, Scope, agent_places, as_mapping, dig, tool_scopes
from tools_app.policy.subjects import OfferedTool, Subject
from tools_app.policy.tables import PLUGINS_GROUP

_LISTS = ("allow", "alsoAllow", "deny")
_ALLOW_LISTS = ("allow", "alsoAllow")
CODES = (
    "alias",
    "allow_list_ignored",
    "allow_shadowed_by_deny",
    "duplicate_agent",
    "duplicate_entry",
    "duplicate_provider",
    "matches_nothing",
    "not_used",
    "unknown_entry",
)
MAX_SHOWN = 10  # entries named in a message; the warning itself carries all
MAX_GUESSES = 5  # near names are looked for by comparing with every known name

_NEVER_IGNORED = ("sandbox", "subagent")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWarning:
    """Something legal that a person should know before publishing; ``code`` is one of CODES."""

    code: str
    path: str
    message: str
    entries: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Give the warning as plain JSON data."""
        return {
            "code": self.code,
            "path": self.path,
            "message": self.message,
            "entries": list(self.entries),
        }


def lint(
    document: Mapping[str, object], tools: Sequence[OfferedTool], rules: Rulebook
) -> list[DocumentWarning]:
    """Look for entries and lists without the effect they promise, in document order."""
    linter = _Linter(tools, rules)
    warnings: list[DocumentWarning] = []
    for scope in _rule_scopes(document):
        warnings += linter.scope(scope)
    warnings += linter.profiles(document)
    warnings += _duplicates(document)
    return warnings


def _rule_scopes(document: Mapping[str, object]) -> Iterator[Scope]:
    yield from tool_scopes(document)
    yield from chat_scopes(document)


class _Linter:
    """Holds the offers of owner and stranger, and the names known to tables or runtime."""

    def __init__(self, tools: Sequence[OfferedTool], rules: Rulebook) -> None:
        self._rules = rules
        self._tables = rules.tables
        self._has_tools = bool(tools)
        self._owner = Offer(tools, owner=True)
        self._stranger = Offer(tools, owner=False)
        groups = {*rules.tables.groups, PLUGINS_GROUP}
        self._tool_names = rules.tables.names() | self._owner.masks.keys()
        self._names = self._tool_names | groups | self._owner.plugins.keys()

    def scope(self, scope: Scope) -> Iterator[DocumentWarning]:
        """Warn about the lists of one scope."""
        deny = scope.entries("deny")
        matcher = Matcher(deny, self._owner, self._tables)
        shadowed: set[str] = set()
        for key in _ALLOW_LISTS:
            dead = [e for e in scope.entries(key) if self._is_shadowed(e, matcher, deny)]
            shadowed.update(entry.name for entry in dead)
            if dead:
                yield _warning(
                    "allow_shadowed_by_deny",
                    scope,
                    key,
                    dead,
                    "without effect, deny of the same scope covers all of it",
                )
        for key in _LISTS:
            yield from self._entries(scope, key, shadowed)
        if scope.name not in _NEVER_IGNORED:
            yield from self._ignored(scope, shadowed)

    def _is_shadowed(self, entry: Entry, deny: Matcher, deny_entries: list[Entry]) -> bool:
        denied = {other.name for other in deny_entries}
        names, _ = expand(entry.name, self._owner, self._tables)
        for name in names:
            if deny.first(name):
                continue
            hits = NamePattern(name).matching(self._owner.masks) if is_pattern(name) else []
            if WILDCARD not in denied and not (hits and all(map(deny.first, hits))):
                return False
        return True

    def _entries(self, scope: Scope, key: str, shadowed: set[str]) -> Iterator[DocumentWarning]:
        entries = scope.entries(key)
        aliases = [entry for entry in entries if alias_target(entry.written)]
        if aliases:
            meant = ", ".join(dict.fromkeys(entry.name for entry in aliases))
            yield _warning("alias", scope, key, aliases, f"read as {meant}")
        counts = Counter(entry.name for entry in entries)
        twice = [entry for entry in entries if counts[entry.name] > 1]
        if twice:
            yield _warning("duplicate_entry", scope, key, twice, "more than once in the list")
        live = [e for e in entries if key == "deny" or e.name not in shadowed]
        unknown = [entry for entry in live if not self._is_known(entry.name)]
        if unknown:
            yield _warning("unknown_entry", scope, key, unknown, self._guesses(unknown))
        idle = [e for e in live if e not in unknown and not self._matches_now(e)]
        if idle:
            message = "no tool offered now matches"
            yield _warning("matches_nothing", scope, key, idle, message)

    def _is_known(self, name: str) -> bool:
        if is_pattern(name):
            return bool(NamePattern(name).matching(self._tool_names))
        return name in self._names

    def _matches_now(self, entry: Entry) -> bool:
        if not self._has_tools:
            return True
        return bool(Matcher([entry], self._owner, self._tables).mask(self._owner))

    def _guesses(self, entries: list[Entry]) -> str:
        guesses = []
        for entry in entries[:MAX_GUESSES]:
            guesses += get_close_matches(entry.name, sorted(self._names), n=1, cutoff=0.7)
        hint = f" — did you mean {', '.join(dict.fromkeys(guesses))}?" if guesses else ""
        return f"no known tool, group or plugin of this name{hint}"

    def _ignored(self, scope: Scope, shadowed: set[str]) -> Iterator[DocumentWarning]:
        """Warn when an allow list is put out of force: everything else then stays allowed."""
        entries = tuple(scope.effective_allow())
        if not self._has_tools or all(entry.name in shadowed for entry in entries):
            return
        layer = Layer(scope=scope.name, label=scope.title, allow=entries)
        yield from self._ignored_layer(layer, format_path((*scope.path, "allow")))

    def _ignored_layer(self, layer: Layer, path: str) -> Iterator[DocumentWarning]:
        written = tuple(dict.fromkeys(entry.written for entry in layer.allow))
        for offer, who in ((self._owner, "anyone"), (self._stranger, "senders who are not owners")):
            if LayerFilter(layer, offer, self._rules).ignored:
                yield DocumentWarning(
                    code="allow_list_ignored",
                    path=path,
                    message=f"names no core tool offered to {who}, so it is ignored for them "
                    "and restricts nothing",
                    entries=written,
                )
                return

    def profiles(self, document: Mapping[str, object]) -> Iterator[DocumentWarning]:
        """Warn about profiles that name no offered tool, once per place that selects one."""
        if not self._has_tools:
            return
        builder = LayerBuilder(document, self._tables)
        subjects = [Subject(), *(Subject(agent_id=key) for key in agent_places(document))]
        seen = set()
        for subject in subjects:
            layer = builder.layers(subject)[0]
            if not layer.allow or layer.allow[0].origin.path in seen:
                continue
            seen.add(layer.allow[0].origin.path)
            path = format_path(layer.allow[0].origin.path)
            yield from self._ignored_layer(layer, path)
            if not Matcher(layer.allow, self._owner, self._tables).mask(self._owner):
                yield DocumentWarning(
                    code="matches_nothing",
                    path=path,
                    message="none of the profile's tools is offered now",
                    entries=(layer.allow[0].written,),
                )


def _warning(
    code: str, scope: Scope, key: str, entries: Sequence[Entry], message: str
) -> DocumentWarning:
    written = tuple(dict.fromkeys(entry.written for entry in entries))
    return DocumentWarning(
        code=code,
        path=format_path((*scope.path, key)),
        message=f"{_listed(written)}: {message}",
        entries=written,
    )


def _listed(written: Sequence[str]) -> str:
    more = len(written) - MAX_SHOWN
    return ", ".join(written[:MAX_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _duplicates(document: Mapping[str, object]) -> Iterator[DocumentWarning]:
    """Warn about agents and provider keys that become equal: only one of them counts."""
    ids: set[str] = set()
    listed = dig(document, "agents").get("list")
    for index, agent in enumerate(listed if isinstance(listed, list | tuple) else ()):
        written = str(as_mapping(agent).get("id"))
        if normalise_agent_id(written) in ids:
            yield DocumentWarning(
                code="duplicate_agent",
                path=format_path(("agents", "list", index)),
                message="an agent with this id stands before it; the first counts",
                entries=(written,),
            )
        ids.add(normalise_agent_id(written))
    for scope in _rule_scopes(document):
        last: dict[str, str] = {}
        for key in as_mapping(scope.raw.get("byProvider")):
            hidden = last.get(key.strip().lower())
            last[key.strip().lower()] = key
            if hidden is not None:
                yield DocumentWarning(
                    code="duplicate_provider",
                    path=format_path((*scope.path, "byProvider", hidden)),
                    message=f"{key!r} after it means the same provider; the last counts",
                    entries=(hidden, key),
                )
