"""One tool call: from a request to a :class:`RunRequest`, from its outcome to an answer.

Written out by hand, because this is the hot path: a serializer costs more than the policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tools_app.api import shown
from tools_app.api.serializers.runs import MAX_TIMEOUT_S
from tools_app.services.access import Actor
from tools_app.services.errors import InvalidRequest
from tools_app.services.running import RunOutcome, RunRequest

DEFAULT_WAIT_S = 30.0
LONGEST_WAIT_S = 60.0
MAX_KEY = 200
_WAIT = re.compile(r"(?:^|[,;\s])wait=\"?(\d{1,6})\"?(?=$|[,;\s])", re.IGNORECASE)
_ASYNC = re.compile(r"(?:^|[,;\s])respond-async(?=$|[,;\s])", re.IGNORECASE)
_KEY = re.compile(r"[\x21-\x7e]{1,200}\Z")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_timeout(value: object) -> bool:
    if value is None:
        return True
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value <= MAX_TIMEOUT_S  # type: ignore[operator]  # never NaN


_FIELDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "arguments": (
        lambda value: isinstance(value, dict | str),
        "must be an object, or the JSON text of one",
    ),
    "agent": (_is_text, "must be a text"),
    "provider": (_is_text, "must be a text"),
    "model": (_is_text, "must be a text"),
    "session": (_is_text, "must be a text"),
    "dry_run": (lambda value: isinstance(value, bool), "must be true or false"),
    "timeout_seconds": (
        _is_timeout,
        f"must be null or a number of seconds, above 0, at most {MAX_TIMEOUT_S:g}",
    ),
}


def read_call(body: object, *, path: str = "$") -> dict[str, Any]:
    """Return the fields of a call, checked for their types; raises InvalidRequest."""
    if not isinstance(body, dict):
        raise invalid_call([{"path": path, "message": "must be a JSON object"}])
    errors = []
    for name, value in body.items():
        rule = _FIELDS.get(name)
        if rule is None:
            errors.append({"path": f"{path}.{name}", "message": "there is no such field"})
        elif not rule[0](value):
            errors.append({"path": f"{path}.{name}", "message": rule[1]})
    if errors:
        raise invalid_call(errors)
    return {"arguments": {}, **body}


def invalid_call(errors: list[dict[str, str]]) -> InvalidRequest:
    """Return the refusal of a call whose envelope is wrong."""
    first = errors[0]
    return InvalidRequest(f"{first['path']} {first['message']}.", extra={"errors": errors})


def read_key(text: str | None) -> str:
    """Return the Idempotency-Key, empty when there is none; raises InvalidRequest."""
    if text is None:
        return ""
    if not _KEY.match(text):
        message = f"must be 1 to {MAX_KEY} visible ASCII characters"
        raise invalid_call([{"path": "Idempotency-Key", "message": message}])
    return text


def read_preference(text: str) -> tuple[bool, float]:
    """Return what ``Prefer`` asks for (RFC 7240): respond-async, and how many seconds to wait."""
    wait = _WAIT.search(text) if text else None
    wait_s = min(float(wait[1]), LONGEST_WAIT_S) if wait else DEFAULT_WAIT_S
    return bool(text and _ASYNC.search(text)), wait_s


def run_request(
    actor: Actor, tool: str, fields: Mapping[str, Any], *, key: str, prefer: str
) -> RunRequest:
    """Return the service's request."""
    respond_async, wait_s = read_preference(prefer)
    return RunRequest(
        actor=actor,
        tool_name=tool,
        surface=actor.surface,
        idempotency_key=key,
        respond_async=respond_async,
        wait_s=wait_s,
        **fields,
    )


def answer(outcome: RunOutcome) -> tuple[int, dict[str, Any]]:
    """Return the status and body that tell an outcome.

    200 when it is over (or a dry run), 202 when it waits for a worker or for approval.
    """
    decision = shown.decision_brief(outcome.decision)
    if outcome.run is None:
        body = {"run": None, "result": None, "decision": decision}
        return 200, body if outcome.dry is None else {
            **body,
            "dry_run": shown.dry_json(outcome.dry),
        }
    run = shown.run_json(outcome.run)
    if outcome.run.is_finished:
        result = None if outcome.result is None else shown.result_json(outcome.result)
        return 200, {"run": run, "result": result, "decision": decision}
    approval = None if outcome.approval is None else shown.approval_brief(outcome.approval)
    return 202, {"run": run, "approval": approval, "decision": decision}
