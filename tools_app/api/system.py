"""Probes and metrics, for machines that watch this one."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.endpoint import Endpoint
from tools_app.api.serializers.system import Health, Readiness
from tools_app.services.errors import ServiceError
from tools_app.services.metrics import exposition
from tools_app.services.policies import current_version


class Probe(Endpoint):
    """A view that anybody may ask; it tells nothing but whether we work."""

    authentication_classes = []
    permission_classes = []


class Healthz(Probe):
    """Is the process alive?"""

    @extend_schema(operation_id="healthz", responses=Health, auth=[])
    def get(self, request: Request) -> Response:
        """Answer as long as the process can answer at all."""
        return Response({"status": "ok"}, headers={"Cache-Control": "no-store"})


class Readyz(Probe):
    """Can it do its work?"""

    @extend_schema(operation_id="readyz", responses={200: Readiness, 503: Readiness}, auth=[])
    def get(self, request: Request) -> Response:
        """Check the database and the policy; 503 names what is missing."""
        checks = {"database": _check_database(), "policy": _check_policy()}
        is_ready = all(state == "ok" for state in checks.values())
        shown = {"status": "ready" if is_ready else "not_ready", "checks": checks}
        status = 200 if is_ready else 503
        return Response(shown, status=status, headers={"Cache-Control": "no-store"})


class Metrics(Endpoint):
    """Figures for Prometheus; the scraper needs a token with the scope audit."""

    scopes = {"GET": "audit"}

    @extend_schema(operation_id="metrics", responses={(200, "text/plain"): OpenApiTypes.STR})
    def get(self, request: Request) -> HttpResponse:
        """Show our series in the text format of Prometheus."""
        return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def _check_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "unreachable"
    return "ok"


def _check_policy() -> str:
    try:
        current_version()
    except (ServiceError, DatabaseError):
        return "unreadable"
    return "ok"
