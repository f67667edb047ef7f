"""The published policy: reading it, deciding by it, publishing the next version.

Whatever goes wrong while a policy is read or evaluated is PolicyUnreadable, and the call is
refused.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction

from tools_app.core import canonical_json
from tools_app.models import Decision, PolicyVersion
from tools_app.policy import (
    CompiledPolicy,
    DocumentWarning,
    EffectiveTools,
    OfferedTool,
    Subject,
    check_document,
    compile_policy,
    diff_effective,
    normalise,
    normalise_agent_id,
)
from tools_app.services.access import Actor
from tools_app.services.agents import known_agents
from tools_app.services.catalogue import catalogue, offered_tools
from tools_app.services.configuration import Cached, CachedByKey, bump
from tools_app.services.errors import (
    PolicyInvalid,
    PolicyUnreadable,
    PreconditionFailed,
    PreconditionRequired,
    UnknownAgent,
)
from tools_app.services.events import record_event

log = structlog.get_logger(__name__)

_DECISIONS = uuid.UUID("6f2f7c1e-3d8b-5e0c-9a41-8b7d2f60c5a4")  # name space of their ids
MAX_COMMENT = 500

Question = tuple[str, str, str, str, str]  # tool, agent, provider, model, session


def current_version() -> PolicyVersion:
    """Return the version in force; raises PolicyUnreadable when there is none."""
    return _current.get()[0]


def current_policy() -> CompiledPolicy:
    """Return the version in force, compiled; raises PolicyUnreadable."""
    return _current.get()[1]


def subject_for(*, agent: str, provider: str = "", model: str = "", session: str = "") -> Subject:
    """Return who asks, in the terms of the policy.

    A session counts only when its key says something the policy looks at (an agent, a group
    chat, a sub-agent): plain session ids share one subject, and so one decision.
    """
    return Subject(
        agent_id=agent or None,
        provider=provider or None,
        model=model or None,
        session_key=session if ":" in session else None,
    )


def effective_tools(
    *,
    agent: str,
    provider: str = "",
    model: str = "",
    session: str = "",
    offered: tuple[OfferedTool, ...] | None = None,
) -> EffectiveTools:
    """Return what the policy gives this agent; every list is a view of it.

    ``offered`` is what a caller has read already, so that both rest on one state of the tools.
    """
    subject = subject_for(agent=agent, provider=provider, model=model, session=session)
    with _fail_closed():
        tools = offered_tools() if offered is None else offered
        return current_policy().effective(subject, tools)


def decide(
    *, tool_name: str, agent: str, provider: str = "", model: str = "", session: str = ""
) -> Decision:
    """Return the stored decision about one call: effect ``allow``, ``ask`` or ``deny``.

    Its id follows from the policy version, the offered tools, the subject and the tool, so
    calls that are decided alike share one row. It is written, with the whole explanation, when
    the question first comes up; later the answer comes from memory without a query.
    """
    question = (tool_name, agent, provider, model, session if ":" in session else "")
    stamps = _decisions.stamps()
    row = _decisions.find(question, stamps)
    if row is None:
        row = _write_decision(question)
        # Only now is it certain that later runs may refer to the row.
        transaction.on_commit(partial(_decisions.keep, question, row, stamps))
    return row


def decide_for_agent(
    *, agent: str, tool: str, provider: str = "", model: str = "", session: str = ""
) -> Decision:
    """Return the decision that a call of an agent would meet now; raises UnknownAgent.

    The tool is found by any of its spellings, and the profile gives provider and model, as in a
    call.
    """
    profile = known_agents().get(agent)
    if profile is None:
        raise UnknownAgent(f"There is no agent {agent[:64]!r}.")
    known = catalogue()
    name = tool if tool in known.tools else known.spellings.get(normalise(tool), tool)
    return decide(
        tool_name=name,
        agent=agent,
        provider=provider or profile.provider,
        model=model or profile.model,
        session=session,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChange:
    """Tools an agent would gain and lose; ``asks`` are those gained that need approval.

    ``agent`` is empty for calls that name no agent.
    """

    agent: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    asks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCheck:
    """What publishing a document would mean; ``changes`` is empty while there are errors.

    ``errors`` is a list of {"path", "message"}.
    """

    errors: list[dict[str, str]]
    warnings: list[DocumentWarning]
    changes: list[AgentChange]


def check(*, actor: Actor, document: object, tables: str = "") -> PolicyCheck:
    """Check a document and compare the tools of every agent with those of today.

    ``tables`` is the table set to read it by, by default the one in the settings.
    """
    actor.require("policy:read")
    offered, tables = offered_tools(), tables or _table_set()
    checked = check_document(document, tools=offered, tables=tables)
    if checked.errors or not isinstance(document, Mapping):
        return PolicyCheck(errors=checked.errors, warnings=[], changes=[])
    old = current_policy()
    new = compile_policy(document, version=old.version + 1, tables=tables)
    subjects = _subjects_of(current_version().document, document)
    asking = {tool.name for tool in offered if tool.requires_confirmation}
    changes = [
        AgentChange(
            agent=diff.subject.agent_id or "",
            added=diff.added,
            removed=diff.removed,
            asks=tuple(name for name in diff.added if name in asking),
        )
        for diff in diff_effective(old, new, subjects, offered)
    ]
    return PolicyCheck(errors=[], warnings=checked.warnings, changes=changes)


def _subjects_of(*documents: Mapping[str, Any]) -> list[Subject]:
    """Return every agent that has a profile or stands in a document, and "no agent"."""
    agents = {slug: (known.provider, known.model) for slug, known in known_agents().items()}
    for document in documents:
        for entry in (document.get("agents") or {}).get("list") or []:
            agents.setdefault(normalise_agent_id(entry["id"]), ("", ""))
    agents[""] = ("", "")
    return [
        subject_for(agent=slug, provider=provider, model=model)
        for slug, (provider, model) in sorted(agents.items())
    ]


def publish(
    *,
    actor: Actor,
    document: object,
    base_number: int | None,
    comment: str = "",
    tables: str = "",
) -> PolicyVersion:
    """Put a new version of the policy in force; event ``policy.published``.

    ``base_number`` is the number of the version the change is based on, 0 for the first.
    ``tables`` is the table set to read it by, by default the one in the settings.
    Publishing what is in force already changes nothing and returns it. Raises
    PreconditionRequired, PreconditionFailed (the message has the current number) and
    PolicyInvalid with every error.
    """
    actor.require("policy:write")
    if base_number is None:
        raise PreconditionRequired("Name the policy version that you change (If-Match).")
    tables = tables or _table_set()
    checked = check_document(document, tools=offered_tools(), tables=tables)
    if checked.errors or not isinstance(document, Mapping):
        raise PolicyInvalid("The policy is not valid.", extra={"errors": checked.errors})
    digest = document_digest(document)
    try:
        with transaction.atomic():
            newest = PolicyVersion.objects.order_by("-number").first()
            number = newest.number if newest else 0
            if number != base_number:
                raise _superseded(number, base_number)
            # The document itself too: a row that was damaged is mended by publishing it again.
            is_same = newest and (newest.digest, newest.table_set) == (digest, tables)
            if newest and is_same and newest.document == document:
                return newest
            fresh = PolicyVersion(
                number=number + 1, document=document, digest=digest, table_set=tables
            )
            return _store(actor, fresh, comment, len(checked.warnings))
    except IntegrityError:  # two at once: the number is unique
        raise _superseded(base_number + 1, base_number) from None


def set_agent_tools(
    *,
    actor: Actor,
    agent: str,
    tools: Mapping[str, Any],
    base_number: int | None,
    comment: str = "",
) -> PolicyVersion:
    """Publish the policy with other lists for one agent; raises as :func:`publish`.

    ``tools`` may hold profile, allow, alsoAllow and deny; an empty one is taken out of the
    document, one that is not given stays as it is, and so does everything else of the agent.
    """
    document = with_agent_tools(current_version().document, agent, tools)
    return publish(
        actor=actor,
        document=document,
        base_number=base_number,
        comment=comment or f"tools of agent {agent}",
    )


def with_agent_tools(
    document: Mapping[str, Any], agent: str, tools: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a copy of the document with other lists in ``agents.list[]`` for one agent."""
    agents = dict(document.get("agents") or {})
    listed = list(agents.get("list") or [])
    wanted = normalise_agent_id(agent)
    places = [i for i, entry in enumerate(listed) if normalise_agent_id(entry["id"]) == wanted]
    if not places:
        listed.append({"id": agent})
        places = [len(listed) - 1]
    entry = listed[places[0]]
    rules = {**(entry.get("tools") or {}), **tools}
    entry = {**entry, "tools": {key: value for key, value in rules.items() if value}}
    if not entry["tools"]:
        del entry["tools"]
    listed[places[0]] = entry
    return {**document, "agents": {**agents, "list": listed}}


def tools_of_agent(document: Mapping[str, Any], agent: str) -> dict[str, object]:
    """Return ``agents.list[].tools`` of one agent, empty when the document has none."""
    wanted = normalise_agent_id(agent)
    for entry in (document.get("agents") or {}).get("list") or []:
        if normalise_agent_id(entry["id"]) == wanted:
            return dict(entry.get("tools") or {})
    return {}


def document_digest(document: Mapping[str, Any]) -> str:
    """Return ``sha256:…`` of a document, independent of the order of its keys."""
    return f"sha256:{hashlib.sha256(canonical_json(dict(document))).hexdigest()}"


def _table_set() -> str:
    return str(settings.OPENJARVIS_TABLE_SET)


def _store(actor: Actor, version: PolicyVersion, comment: str, warning_count: int) -> PolicyVersion:
    version.comment = comment.strip()[:MAX_COMMENT]
    version.author_id, version.author_label = actor.user_id, actor.label
    version.save(force_insert=True)
    bump("policy")
    record_event(
        "policy.published",
        actor=actor.label,
        data={
            "version": version.number,
            "digest": version.digest,
            "comment": version.comment,
            "warnings": warning_count,
        },
    )
    return version


def _superseded(current: int, base: int) -> PreconditionFailed:
    return PreconditionFailed(f"Version {current} of the policy is in force by now, not {base}.")


def _write_decision(question: Question) -> Decision:
    tool_name, agent, provider, model, session = question
    subject = subject_for(agent=agent, provider=provider, model=model, session=session)
    version, policy = _current.get()
    tools = catalogue()
    with _fail_closed():
        explanation = policy.effective(subject, tools.offered).explain(tool_name)
    decision = explanation.decision
    basis = (version.number, version.digest, version.table_set, tools.offered_digest)
    row = Decision(
        id=uuid.uuid5(_DECISIONS, repr((*basis, subject.key(), tool_name))),
        effect=decision.effect,
        code=decision.code,
        tool_name=tool_name[:200],
        agent=agent,
        policy_version=version.number,
        subject={"agent": agent, "provider": provider, "model": model, "session": session},
        summary=decision.summary,
        explanation=explanation.to_json(),
    )
    Decision.objects.bulk_create([row], ignore_conflicts=True)
    return row


def _load_current() -> tuple[PolicyVersion, CompiledPolicy]:
    with _fail_closed():
        version = PolicyVersion.objects.order_by("-number").first()
        if version is None:
            raise PolicyUnreadable("No policy has been published yet: every call is refused.")
        if not isinstance(version.document, Mapping):
            raise PolicyUnreadable(f"Version {version.number} of the policy is no document.")
        compiled = compile_policy(
            version.document, version=version.number, tables=version.table_set
        )
        return version, compiled


@contextmanager
def _fail_closed() -> Iterator[None]:
    """Turn any failure inside into PolicyUnreadable, with the details in the log."""
    try:
        yield
    except PolicyUnreadable:
        raise
    except Exception as error:
        log.exception("the policy could not be read or evaluated")
        raise PolicyUnreadable(
            "The policy could not be read or evaluated: every call is refused."
        ) from error


_current: Cached[tuple[PolicyVersion, CompiledPolicy]] = Cached("policy", load=_load_current)
_decisions: CachedByKey[Question, Decision] = CachedByKey("policy", "tools", load=_write_decision)
