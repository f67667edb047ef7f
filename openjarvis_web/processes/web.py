"""The web process: one port for pages, REST, WebSockets and the event stream."""

from __future__ import annotations

import socket

import uvicorn
from django.conf import settings
from django.urls import get_resolver

from openjarvis_web.asgi import application
from openjarvis_web.environment import BadSetting

BACKLOG = 2048
get_resolver().url_patterns  # noqa: B018  (imports every view now, not at the first request)

GRACE_SECONDS = 2  # for requests under way when we stop


def listen() -> socket.socket:
    """Return the listening socket; raises ``BadSetting`` when the address cannot be had.

    The supervisor holds it, so connections wait in line while a web process is replaced.
    """
    host, port = settings.OPENJARVIS_HOST, settings.OPENJARVIS_PORT
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise BadSetting("OPENJARVIS_HOST", f"{host!r} is no address of ours: {error}") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        reason = (error.strerror or str(error)).lower()
        raise BadSetting("OPENJARVIS_PORT", f"cannot listen on {host}:{port}: {reason}") from None
    listener.listen(BACKLOG)
    return listener


def run_web(listener: socket.socket) -> None:
    """Serve until SIGTERM."""
    config = uvicorn.Config(
        application,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.OPENJARVIS_TRUSTED_PROXIES),
        forwarded_allow_ips=list(settings.OPENJARVIS_TRUSTED_PROXIES),
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE_SECONDS,
        # Browsers offer compression; per socket it would undo encoding each event only once.
        ws_per_message_deflate=False,
        backlog=BACKLOG,
    )
    uvicorn.Server(config).run(sockets=[listener])
