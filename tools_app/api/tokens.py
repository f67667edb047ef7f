"""API tokens and WebSocket tickets over REST."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.endpoint import Endpoint
from tools_app.api.serializers.access import (
    Ticket,
    TokenBody,
    TokenMade,
    TokenPage,
    TokenQuery,
    TokenShown,
)
from tools_app.models import ApiToken
from tools_app.selectors.paging import page_of_rows
from tools_app.services.errors import InvalidRequest
from tools_app.services.tokens import (
    TICKET_LIFE,
    create_token,
    create_ws_ticket,
    revoke_token,
    visible_tokens,
)


def token_json(token: ApiToken) -> dict[str, Any]:
    """Return a token without its secret."""
    return dict(TokenShown(token).data)


class Tokens(Endpoint):
    """Your tokens; an admin sees everybody's."""

    @extend_schema(operation_id="list_tokens", parameters=[TokenQuery], responses=TokenPage)
    def get(self, request: Request) -> Response:
        """List tokens."""
        rows = visible_tokens(actor=self.actor)
        return self.page(page_of_rows(rows, key=int, **self.query(TokenQuery)), token_json)

    @extend_schema(operation_id="create_token", request=TokenBody, responses={201: TokenMade})
    def post(self, request: Request) -> Response:
        """Create a token; its secret is shown this once."""
        body = self.body(TokenBody)
        owner = self._owner(body.pop("owner", None))
        made = create_token(actor=self.actor, owner=owner, **body)
        shown = {"token": token_json(made.token), "secret": made.secret_text}
        return Response(shown, status=201, headers={"Cache-Control": "no-store"})

    def _owner(self, name: str | None) -> Any:
        users = get_user_model()._default_manager
        if name is None:
            return users.get(pk=self.actor.user_id)  # type: ignore[misc]
        owner = users.filter(username=name).first()
        if owner is None:
            errors = [{"path": "$.owner", "message": "There is no such user."}]
            raise InvalidRequest("There is no such user.", extra={"errors": errors})
        return owner


class TokenItem(Endpoint):
    """One token."""

    @extend_schema(operation_id="revoke_token", responses=TokenShown)
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke a token for good; its open streams close within a second."""
        return Response(token_json(revoke_token(actor=self.actor, token_id=token_id)))


class WsTickets(Endpoint):
    """Tickets for clients that cannot send a cookie with a WebSocket."""

    scopes = {"POST": "tools:read"}

    @extend_schema(operation_id="create_ws_ticket", request=None, responses={201: Ticket})
    def post(self, request: Request) -> Response:
        """Get a ticket that opens one WebSocket once."""
        ticket = create_ws_ticket(actor=self.actor)
        shown = {"ticket": ticket, "expires_in": int(TICKET_LIFE.total_seconds())}
        return Response(shown, status=201, headers={"Cache-Control": "no-store"})
