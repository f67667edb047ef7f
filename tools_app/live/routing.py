"""WebSocket addresses of this app."""

from django.urls import path

from tools_app.live.consumers import EventStream

websocket_urlpatterns = [path("ws/events/", EventStream.as_asgi())]
