"""From a call to the row of its run: redacted and storable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tools_app.core import canonical_json, redact, redact_text
from tools_app.core.arguments import parse_arguments
from tools_app.core.errors import InvalidArguments
from tools_app.models import RunStatus, SealedPayload, ToolRun
from tools_app.services.running.admission import digest_of
from tools_app.services.running.calls import Call
from tools_app.services.sealing import sealed_payload
from tools_app.services.storable import storable_json, storable_text

MAX_REFUSED_ARGUMENTS = 16 * 1024  # bytes of JSON kept of a call that never ran
MAX_UNREADABLE_TEXT = 1000  # characters kept of arguments that are no JSON


_BLANK = {field.attname: field.get_default() for field in ToolRun._meta.concrete_fields}
_CONTAINERS = {name: type(value) for name, value in _BLANK.items() if value in ({}, [])}


@dataclass(frozen=True, slots=True)
class ShownArguments:
    """Arguments as a row keeps them, and the true ones where those differ."""

    shown: Any
    digest: str
    true: bytes | None  # canonical JSON


def shown_arguments(call: Call) -> ShownArguments:
    """Return the arguments of an admitted call for its row."""
    values = call.checked_arguments.values
    shown = storable_json(redact(values))
    digest = digest_of(call.canonical_arguments)
    return ShownArguments(shown, digest, None if shown == values else call.canonical_arguments)


def refused_arguments(call: Call) -> ShownArguments:
    """Return what to keep of the arguments of a refused call; nothing of it is sealed."""
    if call.checked is not None:
        values: object = call.checked.values
    else:
        try:
            values = parse_arguments(call.request.arguments)
        except InvalidArguments:
            text = redact_text(str(call.request.arguments)[:MAX_UNREADABLE_TEXT])
            return ShownArguments({"unreadable": storable_text(text)}, "", None)
    canonical = call.canonical_arguments or canonical_json(values)
    if len(canonical) > MAX_REFUSED_ARGUMENTS:
        shown: Any = {"omitted": f"{len(canonical)} bytes"}
    else:
        shown = storable_json(redact(values))
    return ShownArguments(shown, digest_of(canonical), None)


def new_run(call: Call, arguments: ShownArguments, *, status: RunStatus, **fields: Any) -> ToolRun:
    """Return the unsaved row of a call, as far as the call is known."""
    request, actor = call.request, call.request.actor
    decision = call.decision
    run = _unsaved_run(
        id=call.run_id,
        tool_name=storable_text(call.tool.name if call.tool else request.tool_name[:200]),
        definition_hash=call.tool.definition_hash if call.tool else "",
        agent=storable_text(call.agent[:64]),
        provider=storable_text(call.provider[:64]),
        model=storable_text(call.model[:200]),
        session=storable_text(request.session[:200]),
        surface=request.surface,
        actor=actor.label[:200],
        user_id=actor.user_id,
        token_id=actor.token_id,
        arguments=arguments.shown,
        arguments_digest=arguments.digest,
        coerced=list(call.checked.coerced) if call.checked else [],
        timeout_s=call.timeout_s,
        status=status.value,
        effect=decision.effect if decision else "",
        policy_version=decision.policy_version if decision else None,
        requested_at=call.requested_at,
        decide_ms=call.decide_ms,
        **fields,
    )
    run.decision = decision
    return run


def _unsaved_run(**columns: Any) -> ToolRun:
    """Return ``ToolRun(**columns)`` at a third of its cost: it is made for every single call.

    Django fills positional values in without asking each field for its default again.
    """
    # A name keeps the place it first had, so the values are in the order of the columns.
    values = {**_BLANK, **{name: make() for name, make in _CONTAINERS.items()}, **columns}
    if len(values) > len(_BLANK):
        raise TypeError(f"a run has no columns {sorted(set(columns) - set(_BLANK))}")
    return ToolRun(*values.values())  # type: ignore[misc]  # the plugin takes all for the first column


def sealed_arguments(
    call: Call, arguments: ShownArguments, *, now: datetime, content: str | None = None
) -> SealedPayload | None:
    """Return the row that keeps what redaction took away, ``None`` when it took nothing."""
    return sealed_payload(call.run_id, arguments=arguments.true, content=content, now=now)
