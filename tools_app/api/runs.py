"""Runs over REST: lists, one run, its events, cancelling it, exports."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any
from uuid import UUID

from django.http import HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.bodies import write_body
from tools_app.api.endpoint import Endpoint
from tools_app.api.events import event_list
from tools_app.api.long_polls import LONG_POLLS
from tools_app.api.serializers.events import EventList, RunEventQuery
from tools_app.api.serializers.runs import (
    CancelBody,
    RunDetail,
    RunPage,
    RunQuery,
    WaitQuery,
)
from tools_app.api.shown import run_detail_json, run_json
from tools_app.models import ToolRun
from tools_app.selectors.runs import RunFilters, export_runs, list_runs, run_detail
from tools_app.services.running import cancel_run, wait_for_run

SEES_RUNS = ("tools:read", "tools:execute", "audit")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
CSV_FIELDS = (
    "id",
    "requested_at",
    "finished_at",
    "actor",
    "agent",
    "tool",
    "surface",
    "status",
    "outcome",
    "effect",
    "decision",
    "policy_version",
    "provider",
    "model",
    "session",
    "arguments",
    "arguments_digest",
    "duration_ms",
    "cost_usd",
    "content_size",
    "message",
)


class Runs(Endpoint):
    """Every attempt to run a tool, refused ones too."""

    scopes = {"GET": SEES_RUNS}

    @extend_schema(
        operation_id="list_runs",
        parameters=[RunQuery],
        responses={
            (200, "application/json"): RunPage,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "application/x-ndjson"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """List runs, newest first, or download all that match."""
        query = self.query(RunQuery)
        cursor, limit, form = query.pop("cursor", None), query.pop("limit"), query.pop("format")
        filters = RunFilters(token=query.pop("token_key", ""), **query)
        if form == "json":
            return self.page(list_runs(filters, self.actor, cursor=cursor, limit=limit), run_json)
        runs = export_runs(filters, self.actor)
        if form == "csv":
            return _download(csv_lines(runs), "text/csv; charset=utf-8", "runs.csv")
        lines = (write_body(run_json(run)) + b"\n" for run in runs)
        return _download(lines, "application/x-ndjson", "runs.ndjson")


class RunItem(Endpoint):
    """One run."""

    scopes = {"GET": SEES_RUNS}

    @extend_schema(operation_id="get_run", parameters=[WaitQuery], responses=RunDetail)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Show a run; with ``wait`` not before it has ended or that time is over."""
        asked_s = self.query(WaitQuery)["wait"]
        run = run_detail(run_id, self.actor)
        if not run.is_finished:
            with LONG_POLLS.place(asked_s) as wait_s:
                if wait_s:
                    wait_for_run(run_id, wait_s)
            run = run_detail(run_id, self.actor)
        return Response(run_detail_json(run, self.actor))


class RunCancel(Endpoint):
    """Stopping one run."""

    scopes = {"POST": ("tools:execute", "approvals")}

    @extend_schema(
        operation_id="cancel_run", request=CancelBody, responses={200: RunDetail, 202: RunDetail}
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Cancel an open run: 200 when it has ended, 202 while a running one is being stopped."""
        cancel_run(actor=self.actor, run_id=run_id, **self.body(CancelBody))
        run = run_detail(run_id, self.actor)
        shown = run_detail_json(run, self.actor)
        return Response(shown, status=200 if run.is_finished else 202)


class RunEvents(Endpoint):
    """What happened to one run."""

    scopes = {"GET": SEES_RUNS}

    @extend_schema(operation_id="list_run_events", parameters=[RunEventQuery], responses=EventList)
    def get(self, request: Request, run_id: UUID) -> Response:
        """List the events of a run, in order."""
        run_detail(run_id, self.actor)
        return Response(event_list(self.actor, self.query(RunEventQuery), run_id=run_id))


def csv_lines(runs: Iterator[ToolRun]) -> Iterator[bytes]:
    """Yield the runs as CSV (RFC 4180), made safe for spreadsheets."""
    writer = csv.writer(_Line())
    yield writer.writerow(CSV_FIELDS)
    for run in runs:
        shown = run_json(run)
        yield writer.writerow([_cell(shown[name]) for name in CSV_FIELDS])


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else write_body(value).decode().strip('"')
    # A cell that begins like a formula is one to a spreadsheet; what agents wrote must not run.
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA_STARTS) else text


class _Line:
    """A file for ``csv.writer`` whose ``write`` gives the line back."""

    def write(self, line: str) -> bytes:
        return line.encode("utf-8", "replace")


def _download(lines: Iterator[bytes], content_type: str, name: str) -> StreamingHttpResponse:
    # The first line is made before the answer begins, so that a failure still is a problem.
    first: Sequence[Any] = [line for line in [next(lines, None)] if line is not None]
    return StreamingHttpResponse(
        chain(first, lines),
        content_type=content_type,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )
