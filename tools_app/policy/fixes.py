"""The shortest change of the document that turns a decision around.

A search by number of edits: each step takes the first layer that stands in the way and tries every
small change that could remove it. A change is offered only after the changed document passed the
schema and gave the wanted answer; ties go to the change with the fewest side effects, then to the
narrower scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

from tools_app.policy.decisions import Fix
from tools_app.policy.edits import Edit, Path, apply_edits, format_path, parse_path
from tools_app.policy.names import normalise_agent_id
from tools_app.policy.pipeline import LayerFilter
from tools_app.policy.scopes import (
    Entry,
    Origin,
    Scope,
    as_strings,
    dig,
    global_scope,
)
from tools_app.policy.tables import UNRESTRICTED_PROFILE

if TYPE_CHECKING:
    from tools_app.policy.compiled import EffectiveTools

MAX_CHANGES_TRIED = 120  # one costs about a millisecond; real documents need fewer than ten

Change = tuple[Edit, ...]


def find_fix(effective: EffectiveTools, tool_name: str) -> Fix | None:
    """Find the shortest verified change that flips the decision about an offered tool."""
    if effective.refusal(tool_name) not in (None, "optional"):
        return None
    index = effective.offer.index_of(tool_name)
    wanted = not _is_allowed(effective, index)
    allowed_errors = effective.policy.schema_error_count
    order = count()
    queue: list[tuple[int, int, int, int, Change, EffectiveTools]] = []
    heappush(queue, (0, 0, 0, next(order), (), effective))
    tried = 0
    while queue:
        *_, change, state = heappop(queue)
        if _is_allowed(state, index) is wanted:
            if state.policy.schema_error_count > allowed_errors:
                continue
            return _fix(effective, index, *_pruned(effective, index, change, state))
        for step in _steps(state, index, wanted):
            tried += 1
            after = _after(state, step) if tried <= MAX_CHANGES_TRIED else None
            if after is None:
                continue
            longer = (*change, *step)
            side_effects = (effective.mask ^ after.mask).bit_count()
            breadth = sum(not edit.path.startswith("agents.list") for edit in longer)
            heappush(queue, (len(longer), side_effects, breadth, next(order), longer, after))
    return None


def _after(state: EffectiveTools, step: Change) -> EffectiveTools | None:
    """Evaluate the changed document; ``None`` when the change does not fit it."""
    try:
        document = apply_edits(state.policy.document, step)
    except ValueError:
        return None
    return state.policy.what_if(document, state)


def _pruned(
    before: EffectiveTools, index: int, change: Change, after: EffectiveTools
) -> tuple[Change, EffectiveTools]:
    """Leave out edits that a later one made needless; give the rest and what it leads to."""
    for edit in change:
        rest = tuple(other for other in change if other is not edit)
        state = _after(before, rest) if rest else None
        if state is not None and _is_allowed(state, index) is _is_allowed(after, index):
            return _pruned(before, index, rest, state)
    return change, after


def _is_allowed(state: EffectiveTools, index: int) -> bool:
    return bool(state.mask >> index & 1)


def _fix(before: EffectiveTools, index: int, change: Change, after: EffectiveTools) -> Fix:
    tool = before.offer.tools[index]
    effect = after.decide(tool.name).effect
    others = (before.mask ^ after.mask) & ~(1 << index)
    verb = "ask about" if effect == "ask" else effect
    document = before.policy.document
    steps = ", and ".join(_in_words(edit, document) for edit in change)
    return Fix(
        effect=effect,
        edits=change,
        sentence=f"To {verb} {tool.name}: {steps}.",
        also_changes=before.offer.members(others),
    )


def _in_words(edit: Edit, document: Mapping[str, object]) -> str:
    place = _place(parse_path(edit.path), document)
    if edit.op == "add":
        value = edit.value if isinstance(edit.value, str) else "an entry"
        return f"add {value} to {place}"
    if edit.op == "remove":
        return f"remove {edit.value} from {place}"
    values = ", ".join(map(str, edit.value)) if isinstance(edit.value, list) else edit.value
    return f"set {place} to {values}"


def _place(path: Path, document: Mapping[str, object]) -> str:
    """Name a place as the titles of rules do: an agent by its id, not by its position."""
    agents = dig(document, "agents").get("list")
    match path:
        case ("agents", "list", int() as index, "tools", *rest) if (
            rest and isinstance(agents, list) and index < len(agents)
        ):
            return format_path(("agents", normalise_agent_id(agents[index]["id"]), *rest))
    return format_path(path)


def _steps(state: EffectiveTools, index: int, wanted: bool) -> Iterator[Change]:
    """Yield the changes that could remove the first obstacle on the way to ``wanted``."""
    tool = state.offer.tools[index]
    around = _Surroundings(state)
    if not wanted:
        yield from around.denials_of(tool.name)
        return
    if state.refusal(tool.name) == "optional":
        yield from around.opt_ins_of(tool.name)
        return
    name = state.offer.names[index]
    for result in state.results:
        verdict = result.verdict(name)
        if verdict.kept:
            continue
        if verdict.reason == "denied":
            yield from around.without_denial(result, name, tool.name)
        elif result.layer.scope in ("profile", "provider_profile"):
            yield from around.with_profile_extended(result.layer.scope, tool.name)
        else:
            yield from around.with_entry_listed(result, tool.name)
        return


class _Surroundings:
    """The scopes of the document that bear on one subject, and the changes they allow."""

    def __init__(self, state: EffectiveTools) -> None:
        self._document = state.policy.document
        self._subject = state.subject
        self._agent_id = state.subject.resolved_agent_id()
        self._global = global_scope(self._document)
        self._agent = state.policy.agent_scope(self._agent_id) if self._agent_id else None

    def _scopes(self) -> list[Scope]:
        return [scope for scope in (self._agent, self._global) if scope is not None]

    def denials_of(self, tool: str) -> Iterator[Change]:
        """Deny the tool for the agent or for everyone."""
        for scope in self._scopes():
            yield (_add((*scope.path, "deny"), tool),)

    def opt_ins_of(self, tool: str) -> Iterator[Change]:
        """Name an optional tool where it does not narrow the scope."""
        for scope in self._scopes():
            key = "allow" if scope.raw.get("allow") else "alsoAllow"
            yield (_add((*scope.path, key), tool),)

    def without_denial(self, result: LayerFilter, name: str, tool: str) -> Iterator[Change]:
        """Take out every entry that denies the tool; built-in ones are lifted or restated."""
        written: dict[Edit, None] = {}
        built_in: Origin | None = None
        for match in result.denials(name):
            origin = match.entry.origin
            if origin.built_in:
                built_in = origin
                continue
            path = format_path(origin.path)
            written[Edit(op="remove", path=path, value=match.entry.written)] = None
        if built_in is None:
            yield tuple(written)
        elif built_in.scope == "subagent":
            lists = dig(self._global.raw, "subagents", "tools")
            key = "allow" if as_strings(lists.get("allow")) is not None else "alsoAllow"
            yield (*written, _add((*built_in.path[:-1], key), tool))
        else:
            named = {match.entry.name for match in result.denials(name)}
            rest = [entry.name for entry in result.layer.deny if entry.name not in named]
            yield from self._restated(built_in, rest)

    def _restated(self, origin: Origin, values: list[str]) -> Iterator[Change]:
        """Write a built-in list down, for the agent or for everyone."""
        for scope in self._scopes():
            path = (*scope.path, "sandbox", "tools", origin.path[-1])
            yield (Edit(op="set", path=format_path(path), value=values),)

    def with_entry_listed(self, result: LayerFilter, tool: str) -> Iterator[Change]:
        """Add the tool to the lists that leave it out."""
        entries: tuple[Entry, ...] = result.layer.allow
        written = dict.fromkeys(e.origin.path for e in entries if not e.origin.built_in)
        for path in written:
            yield (_add(path, tool),)
        if not written and entries:
            yield from self._restated(entries[0].origin, [*(e.name for e in entries), tool])

    def with_profile_extended(self, step: str, tool: str) -> Iterator[Change]:
        """Extend the profile by alsoAllow, or lift it, in the inner or the outer scope."""
        inner, outer = self._agent, self._global
        pair: list[Scope | None] = [inner, outer]
        if step == "provider_profile":
            subject = self._subject
            pair = [s and s.provider(subject.provider, subject.model) for s in pair]
        scopes = [scope for scope in pair if scope is not None]
        inherited = next((s.also_allow for s in scopes if s.also_allow is not None), ())
        for scope in scopes:
            path = (*scope.path, "alsoAllow")
            if scope.also_allow is not None or not inherited:
                yield (_add(path, tool),)
            else:
                yield (Edit(op="set", path=format_path(path), value=[*inherited, tool]),)
            profile = format_path((*scope.path, "profile"))
            yield (Edit(op="set", path=profile, value=UNRESTRICTED_PROFILE),)
        if step == "profile" and self._agent_id and self._agent is None:
            agent = {"id": self._agent_id, "tools": {"alsoAllow": [*inherited, tool]}}
            yield (Edit(op="add", path="agents.list", value=agent),)


def _add(path: Path, tool: str) -> Edit:
    return Edit(op="add", path=format_path(path), value=tool)
