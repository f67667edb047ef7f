"""The event log over REST; the streams are in ``tools_app.live``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.bodies import write_body
from tools_app.api.endpoint import Endpoint
from tools_app.api.serializers.events import EventList, EventQuery
from tools_app.models import Event
from tools_app.selectors.events import EventFilters, events_after
from tools_app.services.access import Actor
from tools_app.services.events import event_json

READS_EVENTS = ("tools:read", "tools:execute", "policy:read", "approvals", "agents", "audit")
COME_BACK_MS = 1000
SERVER_SENT = {
    "type": "object",
    "description": "One message; data is an event as JSON, id its seq.",
    "properties": {
        "id": {"type": "string"},
        "event": {"type": "string"},
        "data": {"type": "string"},
        "retry": {"type": "integer"},
    },
}


def event_list(actor: Actor, query: dict[str, Any], *, run_id: Any = None) -> dict[str, Any]:
    """Return the events of a log query that the actor may see."""
    since, limit = query["since"], query["limit"]
    filters = EventFilters(
        kinds=kinds_of(query.get("type", "").split(",")),
        agent=query.get("agent", ""),
        tool=query.get("tool", ""),
        run_id=run_id or query.get("run"),
    )
    found: Sequence[Event] = events_after(since, limit=limit, filters=filters, actor=actor)
    return {
        "items": [event_json(event) for event in found],
        "next_since": found[-1].seq if found else since,
        "has_more": len(found) == limit,
    }


def kinds_of(words: Sequence[str]) -> frozenset[str]:
    """Return event kinds and families; ``run.*`` is the family ``run``."""
    return frozenset(word.strip().removesuffix(".*") for word in words if word.strip())


class Events(Endpoint):
    """The one log of everything that happens."""

    scopes = {"GET": READS_EVENTS}

    @extend_schema(operation_id="list_events", parameters=[EventQuery], responses=EventList)
    def get(self, request: Request) -> Response:
        """Read the log after an event, in order, as far as it is yours to see."""
        return Response(event_list(self.actor, self.query(EventQuery)))


class EventStream(Endpoint):
    """The log as server-sent events.

    The ASGI server answers this address itself and keeps it open (``tools_app.live.sse``). A
    server without ASGI ends the answer after what there is; the browser comes back by itself.
    """

    scopes = {"GET": "tools:read"}

    @extend_schema(
        operation_id="stream_events",
        parameters=[
            OpenApiParameter("Last-Event-ID", OpenApiTypes.INT64, OpenApiParameter.HEADER),
            OpenApiParameter("since", {"type": "integer", "minimum": 0}),
            OpenApiParameter("type", {"type": "array", "items": {"type": "string"}}),
            OpenApiParameter("agent", str),
            OpenApiParameter("tool", str),
            OpenApiParameter("run", OpenApiTypes.UUID),
        ],
        responses={(200, "text/event-stream"): SERVER_SENT},
    )
    def get(self, request: Request) -> HttpResponse:
        """Follow the log."""
        data = request.query_params.dict()
        if kinds := request.query_params.getlist("type"):
            data["type"] = ",".join(kinds)
        if last := request.headers.get("Last-Event-ID"):
            data["since"] = last
        checked = EventQuery(data=data)
        checked.is_valid(raise_exception=True)
        found = event_list(self.actor, checked.validated_data)["items"]
        lines = [b"id: %d\ndata: %b\n\n" % (event["seq"], write_body(event)) for event in found]
        body = b"retry: %d\n\n" % COME_BACK_MS + b"".join(lines)
        return HttpResponse(body, content_type="text/event-stream; charset=utf-8")
