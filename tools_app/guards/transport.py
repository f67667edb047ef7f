"""HTTP connections that go to the address that was checked, within the call's deadline."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import httpcore2
import httpx2

from tools_app.core.cancellation import remaining_seconds
from tools_app.guards.addresses import Address

MAX_CONNECTIONS = 64  # of one guard; a further request waits for one, within its deadline

CheckHost = Callable[[str, int], Sequence[Address]]
SocketOption = Any  # httpcore2 takes any tuple that socket.setsockopt takes


@cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context of this process: loading the certificates takes some 40 ms."""
    return ssl.create_default_context()


class CheckedTransport(httpx2.HTTPTransport):
    """Resolves and checks a host in the moment of connecting, by ``check_host``.

    There is no second resolution that could answer differently, and TLS still verifies the host
    name. Proxies of the environment are not used.
    """

    def __init__(self, check_host: CheckHost) -> None:
        super().__init__(verify=tls_context(), trust_env=False)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=tls_context(),
            max_connections=MAX_CONNECTIONS,
            keepalive_expiry=10.0,
            network_backend=_CheckedBackend(check_host),
        )


class _CheckedBackend(httpcore2.SyncBackend):
    def __init__(self, check_host: CheckHost) -> None:
        self._check_host = check_host

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.NetworkStream:
        addresses = self._check_host(host, port)
        for index, address in enumerate(addresses):
            try:
                share = _within_deadline(timeout, shared_by=len(addresses) - index)
                stream = super().connect_tcp(
                    str(address), port, share, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if index + 1 == len(addresses):
                    raise
            else:
                return _TimedStream(stream)
        raise httpcore2.ConnectError(f"host '{host}' has no address")

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.NetworkStream:
        raise httpcore2.ConnectError("Unix sockets are not reached from here")


class _TimedStream(httpcore2.NetworkStream):
    """Holds every single operation to the deadline of the whole call."""

    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _within_deadline(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _within_deadline(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        return _TimedStream(
            self._inner.start_tls(ssl_context, server_hostname, _within_deadline(timeout))
        )

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _within_deadline(timeout: float | None, *, shared_by: int = 1) -> float | None:
    """Return the time one of so many operations has; raises ReadTimeout when none is left."""
    remaining = remaining_seconds()
    if remaining is None:
        return timeout
    if remaining <= 0:
        raise httpcore2.ReadTimeout("the request's time is over")
    share = remaining / shared_by
    return share if timeout is None else min(timeout, share)
