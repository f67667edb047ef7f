"""The ASGI application: one port for pages, REST, WebSockets and the event stream.

Ordinary HTTP takes the WSGI way (see :mod:`openjarvis_web.adapter`); only what stays open, the
WebSocket and the server-sent event stream, runs on the event loop.
"""

from __future__ import annotations

import gc
import os
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openjarvis_web.settings")
django.setup(set_prefix=False)

from channels.routing import URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402

from openjarvis_web.adapter import Receive, Scope, Send, WsgiAdapter, send_problem  # noqa: E402
from openjarvis_web.middleware import SECRET_IN_URL, holds_secret  # noqa: E402
from openjarvis_web.threads import WorkerThreads  # noqa: E402
from openjarvis_web.wsgi import application as wsgi_application  # noqa: E402
from tools_app.live import follower, sse  # noqa: E402
from tools_app.live.routing import websocket_urlpatterns  # noqa: E402

STREAM_PATH = "/api/v1/events/stream"


async def refuse_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer the handshake of a WebSocket with 403: closing before accepting does that."""
    await receive()
    await send({"type": "websocket.close", "code": 1008})


threads = WorkerThreads(settings.OPENJARVIS_WEB_THREADS)
ordinary = WsgiAdapter(
    wsgi_application, threads=threads, max_body_bytes=settings.OPENJARVIS_MAX_BODY_BYTES
)
elsewhere: Any = refuse_socket  # Django's types know views alone
sockets = URLRouter([*websocket_urlpatterns, re_path("", elsewhere)])


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Send each connection to the application that serves its kind."""
    kind = scope["type"]
    if kind == "lifespan":
        await lifespan(receive, send)
    elif kind == "http" and not (scope["path"] == STREAM_PATH and scope["method"] == "GET"):
        await ordinary(scope, receive, send)
    elif holds_secret(scope["query_string"].decode("latin-1")):
        if kind == "http":
            await send_problem(send, *SECRET_IN_URL)
        else:
            await refuse_socket(scope, receive, send)
    elif kind == "http":
        await sse.application(scope, receive, send)
    else:
        await sockets(scope, receive, send)


async def lifespan(receive: Receive, send: Send) -> None:
    """Start and stop what lives as long as the web process."""
    await receive()
    await follower.start()
    # All that was loaded stays for good; looking through it again would stop every request.
    gc.collect()
    gc.freeze()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await follower.stop()
    threads.close()
    await send({"type": "lifespan.shutdown.complete"})
