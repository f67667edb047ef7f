"""A tolerant reading of the policy document: the scopes that can carry tool rules.

What does not have the expected type counts as absent; ``document.check_document`` is the strict
door that tells a person about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tools_app.policy.edits import Path
from tools_app.policy.names import WILDCARD, normalise, normalise_agent_id

Lists = tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an entry stands: scope, address, and the short title people read."""

    scope: str
    path: Path
    title: str
    built_in: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of an allow or deny list.

    ``written`` is what stands in the document, ``name`` what it means after normalisation. They
    differ for a profile, whose members become entries with ``table`` naming the profile.
    ``implied`` marks the ``*`` that ``alsoAllow`` brings along in its own scope.
    """

    written: str
    name: str
    origin: Origin
    table: str | None = None
    implied: bool = False


def entries_of(written: Iterable[str], origin: Origin, table: str | None = None) -> list[Entry]:
    """Turn written entries into entries; blank ones disappear."""
    return [
        Entry(written=text, name=name, origin=origin, table=table)
        for text in written
        if (name := normalise(text))
    ]


def as_mapping(value: object) -> Mapping[str, object]:
    """Give the value if it is an object, else an empty one."""
    return value if isinstance(value, dict | Mapping) else {}  # dict first: it is quicker to tell


def dig(value: object, *keys: str) -> Mapping[str, object]:
    """Follow keys through nested objects; a missing step gives an empty object."""
    for key in keys:
        value = as_mapping(value).get(key)
    return as_mapping(value)


def as_strings(value: object) -> Lists:
    """Give the strings of a list, ``None`` when it is not a list at all."""
    if not isinstance(value, list | tuple):
        return None
    return tuple(item for item in value if isinstance(item, str))


@dataclass(frozen=True, kw_only=True)
class Scope:
    """One object with ``profile``, ``allow``, ``alsoAllow``, ``deny``, and where it stands.

    ``title`` is how people read the place, for example ``agents.support``.
    """

    name: str
    path: Path
    title: str
    raw: Mapping[str, object]

    @cached_property
    def profile(self) -> str | None:
        """The profile id as written, or ``None``."""
        value = self.raw.get("profile")
        return value if isinstance(value, str) else None

    @cached_property
    def also_allow(self) -> Lists:
        """The additive list, ``None`` when absent: an empty one still replaces an outer one."""
        return as_strings(self.raw.get("alsoAllow"))

    @cached_property
    def providers(self) -> dict[str, Scope]:
        """The ``byProvider`` entries by normalised key; of equal keys the last counts."""
        name = "agent_provider" if self.name == "agent" else "provider"
        return {
            key.strip().lower(): Scope(
                name=name,
                path=(*self.path, "byProvider", key),
                title=f"{self.title}.byProvider.{key.strip()}",
                raw=value,
            )
            for key, value in as_mapping(self.raw.get("byProvider")).items()
            if isinstance(value, Mapping)
        }

    def origin(self, key: str) -> Origin:
        """Give the place of one of the lists."""
        return Origin(scope=self.name, path=(*self.path, key), title=f"{self.title}.{key}")

    def entries(self, key: str) -> list[Entry]:
        """Give the entries of one list, empty when absent."""
        return entries_of(as_strings(self.raw.get(key)) or (), self.origin(key))

    def effective_allow(self) -> list[Entry]:
        """Unite ``allow`` and ``alsoAllow``: the latter alone never narrows its own scope."""
        extra = self.entries("alsoAllow")
        if not self.also_allow or as_strings(self.raw.get("allow")):
            return [*self.entries("allow"), *extra]
        origin = self.origin("alsoAllow")
        return [Entry(written=WILDCARD, name=WILDCARD, origin=origin, implied=True), *extra]

    def provider(self, provider: str | None, model: str | None) -> Scope | None:
        """Find the one ``byProvider`` entry that counts: full model key first, then provider."""
        provider, model = (provider or "").strip().lower(), (model or "").strip().lower()
        if not provider:
            return None
        full = model if "/" in model else f"{provider}/{model}"
        found = self.providers.get(full) if model else None
        return found or self.providers.get(provider)

    def inner(self) -> Iterator[Scope]:
        """Yield the scopes written inside this one: byProvider entries, sandbox, sub-agents."""
        yield from self.providers.values()
        for section, name in (("sandbox", "sandbox"), ("subagents", "subagent")):
            raw = dig(self.raw, section, "tools")
            if raw:
                path = (*self.path, section, "tools")
                yield Scope(name=name, path=path, title=f"{self.title}.{section}", raw=raw)


def global_scope(document: Mapping[str, object]) -> Scope:
    """Give the scope of ``tools``."""
    return Scope(name="global", path=("tools",), title="tools", raw=dig(document, "tools"))


def agent_places(document: Mapping[str, object]) -> dict[str, int]:
    """Index ``agents.list`` by normalised agent id; the first of equal ids counts."""
    places: dict[str, int] = {}
    listed = dig(document, "agents").get("list")
    for index, agent in enumerate(listed if isinstance(listed, list | tuple) else ()):
        written = as_mapping(agent).get("id")
        agent_id = normalise_agent_id(written) if isinstance(written, str) else ""
        if agent_id:
            places.setdefault(agent_id, index)
    return places


def agent_scope(document: Mapping[str, object], agent_id: str, index: int) -> Scope:
    """Give the scope of ``agents.list[index].tools``."""
    listed = dig(document, "agents").get("list")
    agent = listed[index] if isinstance(listed, list | tuple) else None
    return Scope(
        name="agent",
        path=("agents", "list", index, "tools"),
        title=f"agents.{agent_id}",
        raw=dig(agent, "tools"),
    )


def tool_scopes(document: Mapping[str, object]) -> Iterator[Scope]:
    """Yield every scope under ``tools`` and ``agents``, each followed by those inside it."""
    agents = (agent_scope(document, *place) for place in agent_places(document).items())
    for scope in (global_scope(document), *agents):
        yield scope
        yield from scope.inner()
