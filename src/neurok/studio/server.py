"""The server of the studio: one window for each person who connects, behind a gate that checks who may."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

import numpy as np

from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.studio.config import CONFIG, StudioConfig
from neurok.studio.live import warm_up
from neurok.studio.page import PASSWORD_HEADER, make_server, quiet
from neurok.studio.session import Session
from neurok.studio.view import EYE, UP

HEAD_BYTES = 32_768
"""Of the head of a request; browsers send a few hundred [bytes]."""

HEAD_SECONDS = 10.0
"""In which it must arrive [s]."""

COOKIE = "neurok_studio"
SENTENCE = "The studio needs its token: open the address that 'neurok studio' printed, with ?token=... at its end."


@dataclass(frozen=True)
class Head:
    """The first lines of a request."""

    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]

    @staticmethod
    def parse(data: bytes) -> Head | None:
        """Nothing where it makes no sense."""
        try:
            first, *lines = data.decode("latin-1").split("\r\n")
            _, target, version = first.split(" ")
            if not version.startswith("HTTP/1."):
                return None
            url = urlsplit(target)
            headers = {}
            for line in lines:
                name, colon, value = line.partition(":")
                if colon:
                    headers[name.strip().lower()] = value.strip()
            return Head(url.path, parse_qs(url.query), headers)
        except ValueError:
            return None

    @property
    def cookie(self) -> str:
        try:
            found = SimpleCookie(self.headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return ""
        return "" if found is None else found.value

    @property
    def is_page(self) -> bool:
        """Whether it asks for the window itself."""
        return self.path in ("/", "/index.html") and not self.is_websocket

    @property
    def is_websocket(self) -> bool:
        return self.headers.get("upgrade", "").lower() == "websocket"


@dataclass(frozen=True)
class Admission:
    """What the gate does with a request."""

    kind: str
    """``pass``, ``welcome`` (the token was in the address: keep it in a cookie) or ``refuse``."""

    sentence: str = ""


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _split(address: str) -> SplitResult:
    """The parts of an address; none where it makes no sense."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def admit(head: Head, token: str | None) -> Admission:
    """Let in or refuse; ``token`` is ``None`` where the gate listens on the loopback only."""
    host = head.headers.get("host", "")
    if token is None and not is_loopback(_split(f"//{host}").hostname or ""):
        return Admission("refuse", "The studio listens on this machine only; open it as http://127.0.0.1.")
    if head.is_websocket and _split(head.headers.get("origin", "")).netloc != host:
        return Admission("refuse", "Pages of other sites may not use the studio.")
    if token is None:
        return Admission("pass")
    if hmac.compare_digest(head.cookie.encode(), token.encode()):
        return Admission("pass")
    given = (head.query.get("token") or [""])[0]
    if not head.is_websocket and hmac.compare_digest(given.encode(), token.encode()):
        return Admission("welcome")
    return Admission("refuse", SENTENCE)


class AccessGate:
    """Listens at one address and passes connections on to another port of the loopback."""

    def __init__(
        self, host: str, port: int, inner: int, token: str | None, most_bytes: int, password: str = ""
    ) -> None:
        self.host, self.port, self.inner, self.token, self.most_bytes = host, port, inner, token, most_bytes
        self.password = password
        """What the inner port asks for."""

        self.server: asyncio.Server | None = None
        self.tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        """Begin to listen; the port."""
        self.server = await asyncio.start_server(self._serve, self.host, self.port, limit=HEAD_BYTES)
        self.port = self.server.sockets[0].getsockname()[1]
        return self.port

    async def close(self) -> None:
        if self.server is not None:
            self.server.close()
        for task in list(self.tasks):
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        try:
            data = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
            head = Head.parse(data)
            if self.password:
                data = data.replace(b"\r\n", f"\r\n{PASSWORD_HEADER}: {self.password}\r\n".encode(), 1)
            admission = (
                Admission("refuse", "This is no request that the studio knows.")
                if head is None
                else admit(head, self.token)
            )
            if admission.kind == "pass" and head is not None and head.is_page:
                await self._give_page(data, writer)
            elif admission.kind == "pass":
                await self._pass_on(data, reader, writer)
            elif admission.kind == "welcome":
                kept = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                await _answer(writer, "302 Found", "", f"Location: /\r\nSet-Cookie: {kept}\r\n")
            else:
                await _answer(writer, "403 Forbidden", admission.sentence)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # gone, or the gate is being closed
        finally:
            writer.close()

    async def _give_page(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        """The page of viser with our script in it."""
        lines = data.split(b"\r\n\r\n")[0].split(b"\r\n")
        plain = [line for line in lines if not line.lower().startswith((b"accept-encoding:", b"connection:"))]
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.inner)
        try:
            inner_writer.write(b"\r\n".join([*plain, b"Connection: close", b"", b""]))
            answer = await asyncio.wait_for(inner_reader.read(-1), HEAD_SECONDS)
        finally:
            inner_writer.close()
        head, _, page = answer.partition(b"\r\n\r\n")
        kept = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length:")]
        body, end, rest = page.rpartition(b"</body>")
        if end:
            script = files("neurok.studio").joinpath("drop.js").read_bytes()
            page = b"".join([body, b"<script>", script, b"</script>", end, rest])
        writer.write(b"\r\n".join([*kept, b"Content-Length: %d" % len(page), b"", b""]) + page)
        await writer.drain()

    async def _pass_on(self, data: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.inner)
        inner_writer.write(data)
        flows = [
            asyncio.create_task(_flow(reader, inner_writer, self.most_bytes)),
            asyncio.create_task(_flow(inner_reader, writer, None)),
        ]
        try:
            await asyncio.wait(flows, return_when=asyncio.FIRST_COMPLETED)
            if flows[1].done():
                await writer.drain()
        finally:
            for flow in flows:
                flow.cancel()
            inner_writer.close()


async def _flow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None) -> None:
    """Bytes one way, until an end closes, or more came within a minute than may."""
    clock = asyncio.get_running_loop()
    since, count = clock.time(), 0
    with contextlib.suppress(OSError):
        while data := await reader.read(262_144):
            if most is not None:
                now = clock.time()
                since, count = (now, 0) if now - since > 60.0 else (since, count)
                count += len(data)
                if count > most:
                    return
            writer.write(data)
            await writer.drain()


async def _answer(writer: asyncio.StreamWriter, status: str, text: str, headers: str = "") -> None:
    body = text.encode()
    writer.write(
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        f"Cache-Control: no-store\r\nConnection: close\r\n{headers}\r\n".encode()
        + body
    )
    await writer.drain()


LOOPBACK = "127.0.0.1"


class StudioServer:
    """Serves the studio until it is stopped.

    Args:
        start: What every window shows first; nothing by default.
        host: Where to listen. Anything but the loopback needs the token that is part of ``url``.
        port: 0 takes a free one.
        config: Limits and rates.

    Raises:
        NeurokError: If viser is not installed, or the address cannot be used.
    """

    def __init__(
        self, start: Asset | None = None, host: str = LOOPBACK, port: int = 0, config: StudioConfig = CONFIG
    ) -> None:
        self.start, self.config, self.host = start, config, host
        self.token = None if is_loopback(host) else secrets.token_urlsafe(24)
        if not host.strip():
            raise NeurokError("The studio needs an address to listen on; give --host 127.0.0.1, or 0.0.0.0 for all.")
        self.sessions: dict[int, Any] = {}
        self._seats = threading.BoundedSemaphore(config.sessions)
        password = secrets.token_urlsafe(24)
        with quiet():
            self.viser = make_server("The studio needs", password)
        self.viser.gui.configure_theme(
            show_logo=False, show_share_button=False, control_layout="collapsible", control_width="large"
        )
        self.viser.scene.set_up_direction("+y")
        camera = self.viser.initial_camera
        camera.position, camera.look_at, camera.up = EYE, np.zeros(3), UP
        self.viser.on_client_connect(self._come)
        self.viser.on_client_disconnect(self._go)
        self.gate = AccessGate(host, port, self.viser.get_port(), self.token, 2 * config.upload_bytes, password)
        try:
            self.port = self._in_loop(self.gate.open())
        except (OSError, OverflowError) as error:
            self.stop()
            raise NeurokError(f"The studio cannot listen on {host}:{port}: {error}. Choose another --port.") from None
        self._warming = threading.Lock()

    @property
    def url(self) -> str:
        """What to open in a browser; with the token where one is needed."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/" + ("" if self.token is None else f"?token={self.token}")

    def _in_loop(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.viser.get_event_loop()).result(10.0)

    def _come(self, client: Any) -> None:
        if not self._seats.acquire(blocking=False):  # people may come at the same moment
            client.add_notification(
                "neurok", f"The studio is full: {self.config.sessions} people are in it.", color="red"
            )
            return
        self.sessions[client.client_id] = Session(client, self.config, self.start)
        if self._warming.acquire(blocking=False):  # once, after the first picture
            threading.Thread(target=_get_ready, daemon=True).start()

    def _go(self, client: Any) -> None:
        session = self.sessions.pop(client.client_id, None)
        if session is not None:
            session.close()
            self._seats.release()

    def stop(self) -> None:
        """Close all windows and stop to listen."""
        for session in list(self.sessions.values()):
            session.close()
        self.sessions.clear()
        if hasattr(self, "gate"):
            self._in_loop(self.gate.close())
        with quiet():
            self.viser.stop()

    def wait(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Until the user interrupts."""
        while True:
            pause(3600.0)


def _get_ready() -> None:
    """Import what poses and simulations need, before somebody waits for it."""
    warm_up()
    import torch  # noqa: F401
