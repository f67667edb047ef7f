"""The network guard: every outbound HTTP request of every tool goes through it.

Each hop is parsed, resolved and checked when it connects, and the connection goes to the checked
address. Redirects are followed by hand under the same check. Credentials stay within their origin,
no environment is consulted, time and size are limited.
"""

from __future__ import annotations

import codecs
import os
import re
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import httpx2

from tools_app.core.cancellation import deadline_in, remaining_seconds
from tools_app.core.errors import ToolError
from tools_app.core.redaction import is_secret_name, redact_text
from tools_app.guards.addresses import Address
from tools_app.guards.network_policy import (
    NetworkPolicy,
    NetworkRefused,
    Resolver,
    Target,
    checked_addresses,
    parse_target,
    system_resolver,
)
from tools_app.guards.transport import CheckedTransport

METHODS = frozenset({"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"})
MAX_REDIRECTS = 5
MAX_BODY_BYTES = 1024 * 1024
USER_AGENT = "OpenJarvis-Web/1"

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BECOMES_GET = frozenset({301, 302, 303})
# Set by the guard itself, or about the connection instead of the message.
_RESERVED_HEADERS = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "te"}
    | {"trailer", "transfer-encoding", "upgrade", "proxy-connection"}
)
_CHARSET = re.compile(r"charset\s{0,4}=\s{0,4}\"?([\w.:-]{1,40})", re.IGNORECASE)
# Python knows more codecs: some are no charsets, and decoding punycode takes quadratic time.
_CHARSET_FAMILIES = (
    *("ascii", "big5", "cp", "euc", "gb", "hz", "iso2022", "iso8859", "johab", "koi8", "latin"),
    *("mac", "shift_jis", "tis", "utf"),
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}\Z")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,8192}\Z")


class InvalidRequest(ToolError):
    """The method or a header cannot be sent."""

    code = "invalid_request"


class RedirectRefused(NetworkRefused):
    """A server redirected to where a request must not go."""

    code = "redirect_refused"


class TooManyRedirects(ToolError):
    """More than ``MAX_REDIRECTS`` hops."""

    code = "too_many_redirects"


class RequestTimeout(ToolError):
    """The whole exchange did not end in time."""

    code = "request_timeout"
    retryable = True


class RequestFailed(ToolError):
    """No connection, or the server broke the protocol."""

    code = "request_failed"
    retryable = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A server's answer. ``body`` is decoded and at most the asked number of bytes."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    is_truncated: bool
    elapsed_s: float

    def header(self, name: str) -> str:
        """Return the first header of a name, or an empty text."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    def text(self) -> str:
        """Return the body as text: in the declared charset, unknown bytes replaced."""
        declared = _CHARSET.search(self.header("content-type"))
        return self.body.decode(
            _known_charset(declared.group(1)) if declared else "utf-8", "replace"
        )


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    target: Target
    headers: dict[str, str]
    body: bytes


class NetworkGuard:
    """Fetches from where the policy lets it. Safe to share between threads and across forks."""

    def __init__(
        self, policy: NetworkPolicy | None = None, *, resolve: Resolver = system_resolver
    ) -> None:
        self._policy = policy or NetworkPolicy()
        self._resolve = resolve
        self._lock = threading.Lock()
        self._transport: CheckedTransport | None = None
        self._transport_pid = 0

    def check(self, url: str) -> Target:
        """Return where a URL points; raises NetworkRefused if it must not be reached.

        For callers that do not fetch by this guard (a browser, say): the answer may change until
        they connect.
        """
        target = parse_target(url)
        self._checked_addresses(target.host, target.port)
        return target

    def fetch(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        timeout_s: float = 30.0,
        max_bytes: int = MAX_BODY_BYTES,
    ) -> Fetched:
        """Send a request, follow its redirects and return the last answer, whatever its status.

        ``timeout_s`` covers everything from resolution to the last byte. Raises NetworkRefused,
        RedirectRefused, TooManyRedirects, InvalidRequest, RequestTimeout or RequestFailed.
        """
        request = _Request(
            _checked_method(method), parse_target(url), _checked_headers(headers or {}), body
        )
        started = time.monotonic()
        with deadline_in(timeout_s):
            for hop in range(MAX_REDIRECTS + 1):
                try:
                    answer = self._send(request, max_bytes)
                except NetworkRefused as error:
                    if hop == 0:
                        raise
                    raise RedirectRefused(error.message) from error
                following = _redirected(request, answer)
                if following is None:
                    return replace(answer, elapsed_s=time.monotonic() - started)
                request = following
        raise TooManyRedirects(f"more than {MAX_REDIRECTS} redirects")

    def close(self) -> None:
        """Close idle connections; the guard stays usable."""
        with self._lock:
            if self._transport is not None:
                self._transport.close()
            self._transport = None

    def _checked_addresses(self, host: str, port: int) -> list[Address]:
        return checked_addresses(self._policy, host, port, self._resolve)

    def _send(self, request: _Request, max_bytes: int) -> Fetched:
        headers = httpx2.Headers({"User-Agent": USER_AGENT, "Accept": "*/*"})
        headers.update(request.headers)
        headers["Accept-Encoding"] = "gzip, deflate"
        prepared = httpx2.Request(
            request.method,
            request.target.url,
            headers=headers,
            content=request.body or None,
            extensions={"timeout": {"pool": remaining_seconds()}},
        )
        try:
            response = self._current_transport().handle_request(prepared)
            response.request = prepared
            try:
                return _read(response, request.target, max_bytes)
            finally:
                response.close()
        except httpx2.TimeoutException as error:
            raise RequestTimeout(f"request to '{request.target.host}' timed out") from error
        except (httpx2.HTTPError, httpx2.StreamError, zlib.error, OSError) as error:
            raise RequestFailed(f"request error: {error or type(error).__name__}") from error

    def _current_transport(self) -> CheckedTransport:
        with self._lock:
            if self._transport is None or self._transport_pid != os.getpid():
                self._transport = CheckedTransport(self._checked_addresses)
                self._transport_pid = os.getpid()
            return self._transport


def _known_charset(name: str) -> str:
    """Return a charset that is safe to decode, UTF-8 for any other name."""
    try:
        codec = codecs.lookup(name).name.replace("-", "")
    except LookupError:
        return "utf-8"
    return name if codec.startswith(_CHARSET_FAMILIES) else "utf-8"


def _checked_method(method: str) -> str:
    upper = method.upper()
    if upper not in METHODS:
        raise InvalidRequest(
            f"unsupported method '{method}'; allowed are {', '.join(sorted(METHODS))}"
        )
    return upper


def _checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not isinstance(name, str) or not _HEADER_NAME.match(name):
            raise InvalidRequest(f"{name!r:.80} is no header name")
        if name.lower() in _RESERVED_HEADERS:
            raise InvalidRequest(f"header '{name}' cannot be set")
        if not isinstance(value, str) or not _HEADER_VALUE.match(value):
            raise InvalidRequest(f"the value of header '{name}' cannot be sent")
    return dict(headers)


def _redirected(request: _Request, answer: Fetched) -> _Request | None:
    """Return the request a redirect asks for, ``None`` when the answer is the last one."""
    location = answer.header("location")
    if answer.status not in _REDIRECTS or not location:
        return None
    try:
        target = parse_target(str(request.target.url.join(location)))
    except (NetworkRefused, httpx2.InvalidURL, ValueError) as error:
        raise RedirectRefused(f"to '{location[:200]}': {error}") from error
    headers = request.headers
    if target.origin != request.target.origin:
        headers = {n: v for n, v in headers.items() if not _is_credential(n, v)}
    if answer.status not in _BECOMES_GET or request.method in ("GET", "HEAD"):
        return replace(request, target=target, headers=headers)
    headers = {n: v for n, v in headers.items() if not n.lower().startswith("content-")}
    return _Request("GET", target, headers, b"")


def _is_credential(name: str, value: str) -> bool:
    """Tell by its name, or by the shape of its value, whether a header carries a secret."""
    return is_secret_name(name) or redact_text(value) != value


def _read(response: httpx2.Response, target: Target, max_bytes: int) -> Fetched:
    body = bytearray()
    for piece in _decoded(response, max_bytes + 1):
        body += piece
        if len(body) > max_bytes:
            break
    return Fetched(
        url=str(target.url),
        status=response.status_code,
        headers=tuple(response.headers.multi_items()),
        body=bytes(body[:max_bytes]),
        is_truncated=len(body) > max_bytes,
        elapsed_s=0.0,
    )


def _decoded(response: httpx2.Response, piece_bytes: int) -> Iterator[bytes]:
    """Yield the body in pieces of bounded size, however far it expands."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        yield from response.iter_raw()
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise RequestFailed(f"request error: unsupported content encoding '{encoding[:40]}'")
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)  # reads the header of gzip and of zlib
    for data in response.iter_raw():
        while data:
            yield decompressor.decompress(data, piece_bytes)
            data = decompressor.unconsumed_tail
