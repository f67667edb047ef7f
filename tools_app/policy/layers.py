"""The nine layers of a run: which rules of the document apply to a subject, in order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from math import inf

from tools_app.policy.chats import chat_scope
from tools_app.policy.names import normalise
from tools_app.policy.scopes import (
    Entry,
    Origin,
    Scope,
    agent_places,
    agent_scope,
    as_strings,
    dig,
    entries_of,
    global_scope,
)
from tools_app.policy.subjects import Subject
from tools_app.policy.tables import (
    LEAF_SUBAGENT_DENY,
    SANDBOX_ALLOW,
    SANDBOX_DENY,
    SUBAGENT_DENY,
    TableSet,
)

_IMAGE = "image"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layer:
    """One filter of the pipeline; ``allow`` empty means no restriction from here.

    ``label`` is the name used in warnings. ``droppable``: an allow list without any known core
    tool is ignored.
    """

    scope: str
    label: str
    allow: tuple[Entry, ...] = ()
    deny: tuple[Entry, ...] = ()
    droppable: bool = True

    def has_rules_of(self, other: Layer) -> bool:
        """Tell whether another layer has the same rules, written in the same places."""
        mine = (self.label, self.allow, self.deny, self.droppable)
        return mine == (other.label, other.allow, other.deny, other.droppable)

    @property
    def applies(self) -> bool:
        """Whether the layer has any rule at all."""
        return bool(self.allow or self.deny)


class LayerBuilder:
    """Builds the layers of subjects from one document; equal layers are the same object.

    Sharing the objects is what lets evaluations be shared: see ``compiled.CompiledPolicy``.
    """

    def __init__(self, document: Mapping[str, object], tables: TableSet) -> None:
        self._document = document
        self._tables = tables
        self._global = global_scope(document)
        self._places = agent_places(document)
        self._agents: dict[str, Scope] = {}
        self._memo: dict[Hashable, Layer] = {}
        self._bundles: dict[Hashable, tuple[Layer, ...]] = {}

    def layers(self, subject: Subject) -> tuple[Layer, ...]:
        """Give all nine layers in pipeline order; those without rules are there but empty."""
        agent_id = subject.resolved_agent_id()
        agent = self.agent(agent_id) if agent_id else None
        by_provider = self._global.provider(subject.provider, subject.model)
        agent_provider = agent.provider(subject.provider, subject.model) if agent else None
        return (
            *self._written(agent, agent_provider, by_provider),
            self._rules("group", "group tools.allow", chat_scope(self._document, subject)),
            self._sandbox(subject, agent),
            self._subagent(subject),
        )

    def _written(
        self, agent: Scope | None, agent_provider: Scope | None, by_provider: Scope | None
    ) -> tuple[Layer, ...]:
        """Give layers 1 to 6, which three places of the document settle."""
        key = tuple(scope and scope.path for scope in (agent, agent_provider, by_provider))
        layers = self._bundles.get(key)
        if layers is None:
            prefix = f"{agent.title}.tools" if agent else "agent tools"
            provider_profile = "tools.byProvider.profile"
            layers = (
                self._profile("profile", "tools.profile", agent, self._global),
                self._profile("provider_profile", provider_profile, agent_provider, by_provider),
                self._rules("global", "tools.allow", self._global),
                self._rules("provider", "tools.byProvider.allow", by_provider),
                self._rules("agent", f"{prefix}.allow", agent),
                self._rules("agent_provider", f"{prefix}.byProvider.allow", agent_provider),
            )
            layers = self._bundles.setdefault(key, layers)
        return layers

    def agent(self, agent_id: str) -> Scope | None:
        """Give the scope of an agent, ``None`` when the document does not list it."""
        scope = self._agents.get(agent_id)
        if scope is None and agent_id in self._places:
            scope = agent_scope(self._document, agent_id, self._places[agent_id])
            scope = self._agents.setdefault(agent_id, scope)
        return scope

    def _shared(self, key: Hashable, build: Callable[[], Layer]) -> Layer:
        layer = self._memo.get(key)
        if layer is None:
            layer = self._memo.setdefault(key, build())
        return layer

    def _rules(self, step: str, label: str, scope: Scope | None) -> Layer:
        def build() -> Layer:
            return Layer(
                scope=step,
                label=label,
                allow=tuple(scope.effective_allow()) if scope else (),
                deny=tuple(scope.entries("deny")) if scope else (),
            )

        return self._shared((step, label, scope and scope.path), build)

    def _profile(self, step: str, label: str, inner: Scope | None, outer: Scope | None) -> Layer:
        """Select a profile (the inner scope's, else the outer's) and extend it by alsoAllow."""
        scopes = [scope for scope in (inner, outer) if scope is not None]
        source = next((scope for scope in scopes if scope.profile is not None), None)
        extra = next((scope for scope in scopes if scope.also_allow is not None), None)

        def build() -> Layer:
            profile_id = source.profile if source else None
            members = self._tables.profiles.get(profile_id, ()) if profile_id else ()
            named = f"{label} ({profile_id})" if profile_id else label
            if source is None or not members:
                return Layer(scope=step, label=named)
            origin = replace(source.origin("profile"), scope=step)
            listed = [
                Entry(
                    written=str(profile_id),
                    name=normalise(member),
                    origin=origin,
                    table=f"profile {profile_id}",
                )
                for member in members
            ]
            return Layer(
                scope=step,
                label=named,
                allow=(*listed, *(extra.entries("alsoAllow") if extra else ())),
                droppable=not self._tables.fails_closed,
            )

        key = (step, source and source.path, extra and extra.path)
        return self._shared(key, build)

    def _sandbox(self, subject: Subject, agent: Scope | None) -> Layer:
        """Choose allow and deny independently: the agent's, else the global, else built in."""
        label = "sandbox tools.allow"
        if not subject.sandboxed:
            return self._rules("sandbox", label, None)

        def build() -> Layer:
            allow = self._sandbox_list(agent, "allow", SANDBOX_ALLOW)
            deny = self._sandbox_list(agent, "deny", SANDBOX_DENY)
            named = {name for entry in (*allow, *deny) for name in self._tables.expand(entry.name)}
            if allow and _IMAGE not in named:
                allow += entries_of([_IMAGE], _built_in("sandbox", "allow"))
            return Layer(
                scope="sandbox",
                label=label,
                allow=tuple(allow),
                deny=tuple(deny),
                droppable=False,
            )

        return self._shared(("sandbox", True, agent and agent.path), build)

    def _sandbox_list(self, agent: Scope | None, key: str, default: tuple[str, ...]) -> list[Entry]:
        for scope in (agent, self._global):
            written = as_strings(dig(scope.raw, "sandbox", "tools").get(key)) if scope else None
            if scope is not None and written is not None:
                path = (*scope.path, "sandbox", "tools", key)
                title = f"{scope.title}.sandbox.{key}"
                return entries_of(written, Origin(scope="sandbox", path=path, title=title))
        return entries_of(default, _built_in("sandbox", key))

    def _subagent(self, subject: Subject) -> Layer:
        label = "subagent tools.allow"
        if not subject.is_subagent():
            return self._rules("subagent", label, None)
        is_leaf = subject.resolved_depth() >= self._max_spawn_depth()

        def build() -> Layer:
            scope = Scope(
                name="subagent",
                path=("tools", "subagents", "tools"),
                title="tools.subagents",
                raw=dig(self._global.raw, "subagents", "tools"),
            )
            allow, also = scope.entries("allow"), scope.entries("alsoAllow")
            lifted = {entry.name for entry in (*allow, *also)}
            defaults = (*SUBAGENT_DENY, *(LEAF_SUBAGENT_DENY if is_leaf else ()))
            kept = [name for name in defaults if name not in lifted]
            restricts = as_strings(scope.raw.get("allow")) is not None
            return Layer(
                scope="subagent",
                label=label,
                allow=(*allow, *also) if restricts else (),
                deny=(*entries_of(kept, _built_in("subagent", "deny")), *scope.entries("deny")),
                droppable=False,
            )

        return self._shared(("subagent", is_leaf), build)

    def _max_spawn_depth(self) -> int:
        value = dig(self._document, "agents", "defaults", "subagents").get("maxSpawnDepth")
        if isinstance(value, int | float) and not isinstance(value, bool) and -inf < value < inf:
            return max(1, int(value))
        return 1


def _built_in(scope: str, key: str) -> Origin:
    section = "subagents" if scope == "subagent" else scope
    return Origin(
        scope=scope,
        path=("tools", section, "tools", key),
        title=f"built-in {scope} {key}",
        built_in=True,
    )
