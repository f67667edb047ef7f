"""What the OpenAPI document says about every operation: errors, scopes, ways to sign in."""

from __future__ import annotations

from typing import Any, Literal

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

from tools_app.api.serializers.base import Problem

PROBLEM_JSON = "application/problem+json"


class OperationSchema(AutoSchema):
    """Adds to each operation the one form of all its errors and the scopes it needs."""

    def get_description(self) -> str:  # type: ignore[override]
        text = super().get_description() or ""
        needed = getattr(self.view, "scopes", {}).get(self.method, ())
        names = (needed,) if isinstance(needed, str) else needed
        if not names:
            return text
        return f"{text}\n\nNeeds the scope {' or '.join(f'`{name}`' for name in names)}."

    def get_tags(self) -> list[str]:
        parts = [part for part in self.path.strip("/").split("/") if not part.startswith("{")]
        return [parts[2] if parts[:2] == ["api", "v1"] else "system"]

    def _get_response_bodies(
        self, direction: Literal["request", "response"] = "response"
    ) -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        error = self._get_response_for_code(Problem, "default", [PROBLEM_JSON], direction)
        return {**bodies, "default": {**error, "description": "A problem (RFC 9457)."}}


class TokenScheme(OpenApiAuthenticationExtension):
    """Tells how a token is sent."""

    target_class = "tools_app.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "ojw_<key id>_<secret>"}


class SessionScheme(OpenApiAuthenticationExtension):
    """Tells which cookie a signed-in browser sends."""

    target_class = "tools_app.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}
