"""``POST tools/{name}/execute``: the door most calls come through, kept lean."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import MethodNotAllowed, UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api import calls
from tools_app.api.authentication import request_actor
from tools_app.api.bodies import JSON, read_body, write_body
from tools_app.api.endpoint import Endpoint
from tools_app.api.serializers.base import Problem
from tools_app.api.serializers.runs import Accepted, BatchBody, BatchOutcomes, CallBody, Executed
from tools_app.services.errors import ServiceError
from tools_app.services.metrics import count_call
from tools_app.services.running import run_batch, run_tool

REPLAYED = "Idempotency-Replayed"
PREFER = OpenApiParameter(
    "Prefer",
    str,
    OpenApiParameter.HEADER,
    description="respond-async: a worker runs it, the answer is 202 at once. wait=N: at most N s.",
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 200},
    OpenApiParameter.HEADER,
    description="A retry with the same key and request gets the first answer; nothing runs twice.",
)


class Execute(Endpoint):
    """Run a tool under the policy of an agent.

    200: it ran, or with ``dry_run`` this is what would happen; a tool that fails is a result with
    ``success`` false. 202: nothing has run; it waits for a worker or for a person's approval.
    """

    scopes = {"POST": "tools:execute"}

    # REST framework's own dispatch costs as much as everything else a call goes through, so here
    # it is the five lines below; the service asks for the scope and stores every refusal.
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        started = perf_counter()
        response = self._answer(request, kwargs["name"])
        count_call(response.status_code, perf_counter() - started)
        return response

    def _answer(self, request: HttpRequest, tool: str) -> HttpResponse:
        try:
            if request.method != "POST":
                return self._other_method(request)
            return self._run(request, tool)
        except Exception as error:
            replayed = isinstance(error, ServiceError) and error.extra.pop("replayed", False)
            response: HttpResponse = self.get_exception_handler()(error, {"view": self})
            if replayed:
                response[REPLAYED] = "true"
            return response

    def _run(self, request: HttpRequest, tool: str) -> HttpResponse:
        actor = request_actor(request)
        if request.content_type != JSON:
            raise UnsupportedMediaType(request.content_type or "")
        fields = calls.read_call(read_body(request.body))
        prefer = request.META.get("HTTP_PREFER", "")
        key = calls.read_key(request.META.get("HTTP_IDEMPOTENCY_KEY"))
        asked = calls.run_request(actor, tool, fields, key=key, prefer=prefer)
        outcome = run_tool(asked)
        status, body = calls.answer(outcome)
        response = HttpResponse(write_body(body), status=status, content_type=JSON)
        if outcome.replayed:
            response[REPLAYED] = "true"
        if asked.respond_async:
            response["Preference-Applied"] = "respond-async"
        if status == 202 and outcome.run is not None:
            response["Location"] = f"/api/v1/runs/{outcome.run.pk}"
        return response

    def _other_method(self, request: HttpRequest) -> HttpResponse:
        if request.method != "OPTIONS":
            raise MethodNotAllowed(request.method or "")
        return HttpResponse(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    @extend_schema(
        operation_id="execute_tool",
        request=CallBody,
        parameters=[PREFER, IDEMPOTENCY_KEY],
        responses={200: Executed, 202: Accepted, (423, "application/problem+json"): Problem},
    )
    def post(self, request: Request, name: str) -> Response:
        """Run a tool."""
        raise NotImplementedError  # dispatch answers; this carries the schema


class Batch(Endpoint):
    """Run up to 50 calls; each has its own outcome, and one refused does not stop the others."""

    scopes = {"POST": "tools:execute"}

    @extend_schema(
        operation_id="run_batch",
        request=BatchBody,
        parameters=[PREFER],
        responses={200: BatchOutcomes},
    )
    def post(self, request: Request) -> Response:
        """Run several calls."""
        body = self.body(BatchBody)
        prefer = request.headers.get("Prefer", "")
        asked = []
        for call in body["calls"]:
            tool, key = call.pop("tool"), call.pop("idempotency_key", "")
            fields = {"arguments": {}, **call}
            asked.append(calls.run_request(self.actor, tool, fields, key=key, prefer=prefer))
        outcomes = [self._outcome(outcome) for outcome in run_batch(asked)]
        return Response({"outcomes": outcomes})

    def _outcome(self, outcome: Any) -> dict[str, Any]:
        if not isinstance(outcome, ServiceError):
            status, body = calls.answer(outcome)
            return {"status": status, "body": body}
        problem = self.get_exception_handler()(outcome, {"view": self})
        return {"status": problem.status_code, "body": read_body(problem.content)}
