"""http_request: one HTTP request to the public internet, or to where the policy lets it."""

from __future__ import annotations

from typing import Any

from tools_app.core.errors import InvalidArguments, ToolError
from tools_app.core.registry import ToolRegistry
from tools_app.core.tool import BaseTool
from tools_app.core.types import ToolResult, ToolSpec
from tools_app.guards.network import METHODS, Fetched, NetworkGuard, RedirectRefused
from tools_app.guards.network_policy import NetworkRefused

DEFAULT_TIMEOUT_S = 30
_TRUNCATED = "\n[Response truncated at 1 MB]"


@ToolRegistry.register("http_request")
class HttpRequestTool(BaseTool):
    """Sends what it is told, as it is told: nothing is expanded from the environment.

    Any status is a success. The network guard checks every hop.
    """

    tool_id = "http_request"
    is_local = False

    def __init__(self, guard: NetworkGuard | None = None) -> None:
        self._guard = guard or NetworkGuard()

    @property
    def spec(self) -> ToolSpec:
        """The tool's published description."""
        return ToolSpec(
            name="http_request",
            description="Send an HTTP request and return the body of the answer.",
            parameters={
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "An http or https URL."},
                    "method": {
                        "type": "string",
                        "description": f"One of {', '.join(sorted(METHODS))}; GET if left out.",
                    },
                    "headers": {
                        "type": "object",
                        "description": "Request headers, texts by name.",
                    },
                    "body": {"type": "string", "description": "The request's body."},
                    "timeout": {
                        "type": "integer",
                        "description": "Seconds for the whole exchange; 30 if left out.",
                    },
                },
                "required": ["url"],
            },
            category="network",
            required_capabilities=["network:fetch"],
        )

    def execute(self, /, **params: Any) -> ToolResult:
        """Return the answer's body with its status and headers as metadata."""
        try:
            return _succeeded(self._fetch(**params))
        except RedirectRefused as error:
            return _failed(f"SSRF protection blocked redirect: {error.message}", error.code)
        except NetworkRefused as error:
            return _failed(f"SSRF protection blocked request: {error.message}", error.code)
        except ToolError as error:
            return _failed(error.message, error.code)

    def _fetch(
        self,
        *,
        url: object = "",
        method: object = "GET",
        headers: object = None,
        body: object = "",
        timeout: object = DEFAULT_TIMEOUT_S,
        **_: object,
    ) -> Fetched:
        if not isinstance(url, str) or not url.strip():
            raise InvalidArguments("no URL given")
        if not isinstance(method, str) or not isinstance(body, str):
            raise InvalidArguments("'method' and 'body' must be texts")
        if not isinstance(headers, dict | None):
            raise InvalidArguments("'headers' must be an object")
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
            raise InvalidArguments("'timeout' must be a number of seconds above 0")
        return self._guard.fetch(
            method, url.strip(), headers=headers, body=body.encode(), timeout_s=timeout
        )


def _succeeded(answer: Fetched) -> ToolResult:
    headers: dict[str, str] = {}
    for name, value in answer.headers:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return ToolResult(
        "http_request",
        answer.text() + (_TRUNCATED if answer.is_truncated else ""),
        metadata={
            "status_code": answer.status,
            "headers": headers,
            "content_type": answer.header("content-type"),
            "elapsed_ms": round(answer.elapsed_s * 1000, 2),
            "truncated": answer.is_truncated,
            "url": answer.url,
        },
    )


def _failed(message: str, code: str) -> ToolResult:
    return ToolResult(
        "http_request", f"Error: {message}", success=False, metadata={"error_code": code}
    )
