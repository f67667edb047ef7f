"""What all REST views share: who may call, how bodies are read, how pages are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from rest_framework.exceptions import NotAuthenticated, NotFound, ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from tools_app.api.authentication import SessionAuthentication, TokenAuthentication
from tools_app.api.bodies import JSONOnly, JSONRenderer, StrictJSONParser
from tools_app.api.schema import OperationSchema
from tools_app.selectors.paging import Page
from tools_app.services.access import Actor

Item = TypeVar("Item")
Scopes = str | tuple[str, ...]


class HasScope(BasePermission):
    """The one place where a route asks for a scope; see :attr:`Endpoint.scopes`."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.auth, Actor):
            raise NotAuthenticated()
        needed = getattr(view, "scopes", {}).get(_asked_method(request), ())
        names = (needed,) if isinstance(needed, str) else needed
        if names:
            request.auth.require_any(*names)
        return True


def _asked_method(request: Request) -> str:
    return "GET" if request.method == "HEAD" else str(request.method)


class Endpoint(APIView):
    """A REST view. ``scopes`` names per method the scope a caller needs, or any one of several."""

    scopes: ClassVar[Mapping[str, Scopes]] = {}
    authentication_classes = [TokenAuthentication, SessionAuthentication]
    permission_classes = [HasScope]
    parser_classes = [StrictJSONParser]
    renderer_classes = [JSONRenderer]
    content_negotiation_class = JSONOnly
    metadata_class = None
    schema = OperationSchema()

    @property
    def actor(self) -> Actor:
        """The caller."""
        auth = self.request.auth
        assert isinstance(auth, Actor)  # noqa: S101  (HasScope let nobody else in)
        return auth

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if any("\0" in value for value in kwargs.values() if isinstance(value, str)):
            raise NotFound

    def options(  # type: ignore[override]
        self, request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        """Say which methods there are."""
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    def body(self, serializer: type[Serializer]) -> dict[str, Any]:
        """Return the validated body; raises ValidationError."""
        checked = serializer(data=self.request.data)
        checked.is_valid(raise_exception=True)
        return dict(checked.validated_data)

    def query(self, serializer: type[Serializer]) -> dict[str, Any]:
        """Return the validated query parameters; raises ValidationError."""
        params = self.request.query_params
        if twice := {name: ["Give it once."] for name, values in params.lists() if len(values) > 1}:
            raise ValidationError(twice)
        checked = serializer(data=params.dict())
        checked.is_valid(raise_exception=True)
        return dict(checked.validated_data)

    def page(self, page: Page[Item], show: Callable[[Item], Mapping[str, Any]]) -> Response:
        """Answer one page of a list."""
        return Response(
            {
                "items": [show(item) for item in page.items],
                "next_cursor": page.next_cursor,
                "previous_cursor": page.previous_cursor,
            }
        )
