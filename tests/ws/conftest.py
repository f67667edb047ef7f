"""Fixtures of the streams."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest_asyncio
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import Client

from tests.ws.sockets import Socket, visitor
from tools_app.live import follower


@pytest_asyncio.fixture
async def stream(transactional_db: None) -> AsyncIterator[Callable[..., Socket]]:
    """A maker of sockets; closes them and the follower in the end."""
    sockets: list[Socket] = []

    def make(query: str = "", **options: Any) -> Socket:
        sockets.append(Socket(query, **options))
        return sockets[-1]

    yield make
    for socket in sockets:
        await socket.disconnect()
    await follower.stop()
    await sync_to_async(connections.close_all)()


@pytest_asyncio.fixture
async def anna(transactional_db: None) -> Client:
    """An operator's browser."""
    return await visitor("anna", "operator")
