"""A network cable between a browser and the product that a test can cut."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from tests.servers import free_port

CHUNK = 65_536
HOST = "127.0.0.1"


class Wire:
    """Forwards TCP connections to a port of this machine, while it is whole.

    Cutting it breaks every open connection and refuses new ones, as a lost network does.
    """

    def __init__(self, target_port: int) -> None:
        self.port = free_port()
        self._target_port = target_port
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def __enter__(self) -> Wire:
        self._thread.start()
        self.mend()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def mend(self) -> None:
        """Let connections through again."""
        self._do(self._listen())

    def cut(self) -> None:
        """Break everything, and let nothing through."""
        self._do(self._close())

    def _do(self, step: object) -> None:
        asyncio.run_coroutine_threadsafe(step, self._loop).result(10)  # type: ignore[arg-type]

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._forward, HOST, self.port)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._open):
            writer.transport.abort()

    async def _forward(
        self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter
    ) -> None:
        self._open.add(to_client)
        try:
            from_server, to_server = await asyncio.open_connection(HOST, self._target_port)
            self._open.add(to_server)
            await asyncio.gather(_pump(from_client, to_server), _pump(from_server, to_client))
            self._open.discard(to_server)
        except OSError:
            to_client.transport.abort()
        finally:
            self._open.discard(to_client)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(CHUNK):
            sink.write(data)
            await sink.drain()
    sink.close()
