"""Rates, budgets and concurrency over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.endpoint import Endpoint
from tools_app.api.serializers.base import PageQuery
from tools_app.api.serializers.limits import LimitBody, LimitPage, LimitShown
from tools_app.models import Limit
from tools_app.selectors.paging import page_of_rows
from tools_app.services.errors import NotFound
from tools_app.services.limits import delete_limit, set_limit


def limit_json(limit: Limit) -> dict[str, Any]:
    """Return a limit."""
    return dict(LimitShown(limit).data)


class Limits(Endpoint):
    """What agents, tools and tokens may use per window."""

    scopes = {"GET": "tools:read", "POST": "admin"}

    @extend_schema(operation_id="list_limits", parameters=[PageQuery], responses=LimitPage)
    def get(self, request: Request) -> Response:
        """List limits, newest first."""
        rows = page_of_rows(Limit.objects.all(), key=int, **self.query(PageQuery))
        return self.page(rows, limit_json)

    @extend_schema(operation_id="create_limit", request=LimitBody, responses={201: LimitShown})
    def post(self, request: Request) -> Response:
        """Set a limit for a scope, target and window that has none."""
        limit = set_limit(actor=self.actor, **self.body(LimitBody))
        return Response(limit_json(limit), status=201)


class LimitItem(Endpoint):
    """One limit."""

    scopes = {"GET": "tools:read", "DELETE": "admin"}

    @extend_schema(operation_id="get_limit", responses=LimitShown)
    def get(self, request: Request, limit_id: int) -> Response:
        """Show a limit."""
        limit = Limit.objects.filter(pk=limit_id).first()
        if limit is None:
            raise NotFound("There is no such limit.")
        return Response(limit_json(limit))

    @extend_schema(operation_id="delete_limit", responses={204: None})
    def delete(self, request: Request, limit_id: int) -> Response:
        """Remove a limit and what it counted."""
        delete_limit(actor=self.actor, limit_id=limit_id)
        return Response(status=204)
