"""Freezes over REST."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.endpoint import Endpoint
from tools_app.api.serializers.limits import (
    FreezeBody,
    FreezeEnd,
    FreezePage,
    FreezeQuery,
    FreezeShown,
)
from tools_app.models import Freeze
from tools_app.selectors.freezes import freeze_detail, list_freezes
from tools_app.services.errors import NotFound
from tools_app.services.freezes import create_freeze, extend_freeze, lift_freeze

MAY_FREEZE = ("approvals", "agents")


def freeze_json(freeze: Freeze) -> dict[str, Any]:
    """Return a freeze."""
    return dict(FreezeShown(freeze, context={"now": timezone.now()}).data)


class Freezes(Endpoint):
    """Stops for one agent, one tool, one node or everything."""

    scopes = {"GET": ("tools:read", "approvals", "agents"), "POST": MAY_FREEZE}

    @extend_schema(operation_id="list_freezes", parameters=[FreezeQuery], responses=FreezePage)
    def get(self, request: Request) -> Response:
        """List freezes, newest first."""
        return self.page(list_freezes(self.actor, **self.query(FreezeQuery)), freeze_json)

    @extend_schema(operation_id="create_freeze", request=FreezeBody, responses={201: FreezeShown})
    def post(self, request: Request) -> Response:
        """Freeze: new runs are refused and open ones are cancelled within a second."""
        freeze = create_freeze(actor=self.actor, **self.body(FreezeBody))
        return Response(freeze_json(freeze), status=201)


class FreezeItem(Endpoint):
    """One freeze."""

    scopes = {
        "GET": ("tools:read", "approvals", "agents"),
        "PATCH": MAY_FREEZE,
        "DELETE": MAY_FREEZE,
    }

    @extend_schema(operation_id="get_freeze", responses=FreezeShown)
    def get(self, request: Request, freeze_id: int) -> Response:
        """Show a freeze."""
        freeze = freeze_detail(self.actor, freeze_id)
        if freeze is None:
            raise NotFound("There is no such freeze.")
        return Response(freeze_json(freeze))

    @extend_schema(operation_id="extend_freeze", request=FreezeEnd, responses=FreezeShown)
    def patch(self, request: Request, freeze_id: int) -> Response:
        """Give a freeze a later end."""
        body = self.body(FreezeEnd)
        return Response(freeze_json(extend_freeze(actor=self.actor, freeze_id=freeze_id, **body)))

    @extend_schema(operation_id="lift_freeze", responses=FreezeShown)
    def delete(self, request: Request, freeze_id: int) -> Response:
        """Lift a freeze now; it stays in the list with who lifted it."""
        return Response(freeze_json(lift_freeze(actor=self.actor, freeze_id=freeze_id)))
