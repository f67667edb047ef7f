"""Tool calls as they come in, and runs as they are shown."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from tools_app.api.serializers.base import (
    AnyJSON,
    JSONObject,
    PageQuery,
    StrictBoolean,
    StrictSerializer,
    page_of,
)
from tools_app.models import RunStatus

MAX_TIMEOUT_S = 3600.0
MAX_BATCH = 50


@extend_schema_field({"oneOf": [{"type": "object"}, {"type": "string"}]})
class Arguments(serializers.JSONField):
    """A JSON object, or the JSON text of one, as models write it."""


class CallBody(StrictSerializer):
    """One tool call; read by ``tools_app.api.calls``, described here."""

    arguments = Arguments(required=False)
    agent = serializers.CharField(required=False, max_length=64, allow_blank=True)
    provider = serializers.CharField(required=False, max_length=64, allow_blank=True)
    model = serializers.CharField(required=False, max_length=200, allow_blank=True)
    session = serializers.CharField(required=False, max_length=200, allow_blank=True)
    dry_run = StrictBoolean(required=False, default=False)
    timeout_seconds = serializers.FloatField(
        required=False, allow_null=True, min_value=0.001, max_value=MAX_TIMEOUT_S
    )


class BatchCall(CallBody):
    """One call of a batch."""

    tool = serializers.CharField(max_length=200)
    idempotency_key = serializers.CharField(required=False, max_length=200)


class BatchBody(StrictSerializer):
    """Up to 50 calls."""

    calls: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=BatchCall(), min_length=1, max_length=MAX_BATCH
    )


class DecisionBrief(serializers.Serializer):
    """The policy's answer in one line; the whole is at decisions/{id}."""

    id = serializers.UUIDField()
    effect = serializers.ChoiceField(["allow", "ask", "deny"])
    code = serializers.CharField()
    summary = serializers.CharField()
    policy_version = serializers.IntegerField()


class Result(serializers.Serializer):
    """What a tool answered; a failing tool is a result with ``success`` false."""

    tool_name = serializers.CharField()
    content = serializers.CharField(allow_blank=True)
    success = serializers.BooleanField()
    usage = JSONObject()
    cost_usd = serializers.FloatField()
    latency_seconds = serializers.FloatField()
    metadata = JSONObject()


class Run(serializers.Serializer):
    """One attempt to run one tool. Arguments are redacted unless you may see more."""

    id = serializers.UUIDField()
    tool = serializers.CharField()
    agent = serializers.CharField()
    provider = serializers.CharField()
    model = serializers.CharField()
    session = serializers.CharField()
    surface = serializers.CharField()
    actor = serializers.CharField()
    status = serializers.ChoiceField(RunStatus.choices)
    outcome = serializers.CharField()
    message = serializers.CharField()
    effect = serializers.CharField()
    decision = serializers.UUIDField(allow_null=True)
    policy_version = serializers.IntegerField(allow_null=True)
    definition_hash = serializers.CharField()
    arguments = JSONObject()
    arguments_digest = serializers.CharField()
    coerced = serializers.ListField(child=serializers.CharField())
    timeout_seconds = serializers.FloatField()
    success = serializers.BooleanField(allow_null=True)
    content_size = serializers.IntegerField(help_text="Bytes of the result's content.")
    cost_usd = serializers.FloatField()
    requested_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    decide_ms = serializers.FloatField(allow_null=True)
    duration_ms = serializers.FloatField(allow_null=True)
    cancel_requested_at = serializers.DateTimeField(allow_null=True)
    cancel_reason = serializers.CharField()


class RunDetail(Run):
    """A run with its result, the decision in one line and its approval."""

    result = Result(allow_null=True)
    decided = DecisionBrief(allow_null=True)
    approval = serializers.UUIDField(allow_null=True)


class ApprovalBrief(serializers.Serializer):
    """What a caller needs to wait for a person's answer."""

    id = serializers.UUIDField()
    status = serializers.CharField()
    reason = serializers.CharField()
    expires_at = serializers.DateTimeField()


class DryRun(serializers.Serializer):
    """What would happen; nothing ran and nothing was counted."""

    effect = serializers.ChoiceField(["allow", "ask", "deny"])
    arguments = JSONObject()
    coerced = serializers.ListField(child=serializers.CharField())
    would_wait_for_approval = serializers.BooleanField()
    would_be_refused = serializers.CharField(help_text="The code of a refusal, or empty.")
    reason = serializers.CharField()
    limits = serializers.ListField(child=JSONObject())


class Executed(serializers.Serializer):
    """The tool ran; or, with dry_run, what would happen."""

    run = Run(allow_null=True)
    result = Result(allow_null=True)
    decision = DecisionBrief()
    dry_run = DryRun(required=False, allow_null=True)


class Accepted(serializers.Serializer):
    """Nothing has run yet: it waits for a worker, or for a person when ``approval`` is there."""

    run = Run()
    approval = ApprovalBrief(allow_null=True)
    decision = DecisionBrief(allow_null=True)


class BatchOutcome(serializers.Serializer):
    """The answer to one call of a batch: what ``execute`` would have answered, with its status."""

    status = serializers.IntegerField()
    body = AnyJSON()


class BatchOutcomes(serializers.Serializer):
    """One outcome per call, in their order."""

    outcomes = BatchOutcome(many=True)


class RunQuery(PageQuery):
    """Which runs."""

    agent = serializers.CharField(required=False, max_length=64)
    tool = serializers.CharField(required=False, max_length=200)
    status = serializers.ChoiceField(RunStatus.choices, required=False)
    outcome = serializers.CharField(required=False, max_length=40)
    effect = serializers.ChoiceField(["allow", "ask", "deny"], required=False)
    token_key = serializers.CharField(
        required=False, max_length=16, help_text="The public key id of a token."
    )
    q = serializers.CharField(required=False, max_length=200)
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
    format = serializers.ChoiceField(
        ["json", "csv", "ndjson"],
        required=False,
        default="json",
        help_text="csv and ndjson give every run that matches, without pages.",
    )


class WaitQuery(StrictSerializer):
    """How long to wait for a change."""

    wait = serializers.FloatField(
        required=False, min_value=0, max_value=60, default=0.0, help_text="Seconds."
    )


class CancelBody(StrictSerializer):
    """Why a run is cancelled."""

    reason = serializers.CharField(required=False, max_length=200, allow_blank=True, default="")


RunPage = page_of(Run, "RunPage")
