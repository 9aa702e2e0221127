"""The door of the studio: everyone comes through it, and it lets in only who was given the address.

viser itself listens on a random port of the loopback; the gate listens where people connect, reads the head of each
request, and passes the connection on. It refuses

- requests without the token, when it listens on anything but the loopback,
- requests that name another host, and websockets that a page of another site opens: a page in the same browser could
  otherwise use the studio behind its user's back,
- connections that send more than an upload may have.

Into the page itself it puts one script of ours (``drop.js``): files can be dropped onto the window.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from ipaddress import ip_address
from urllib.parse import parse_qs, urlsplit

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
class Verdict:
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


def judge(head: Head, token: str | None) -> Verdict:
    """Let in or refuse; ``token`` is ``None`` where the gate listens on the loopback only."""
    host = head.headers.get("host", "")
    if token is None and not is_loopback(urlsplit(f"//{host}").hostname or ""):
        return Verdict("refuse", "The studio listens on this machine only; open it as http://127.0.0.1.")
    if head.is_websocket and urlsplit(head.headers.get("origin", "")).netloc != host:
        return Verdict("refuse", "Pages of other sites may not use the studio.")
    if token is None:
        return Verdict("pass")
    if hmac.compare_digest(head.cookie.encode(), token.encode()):
        return Verdict("pass")
    given = (head.query.get("token") or [""])[0]
    if not head.is_websocket and hmac.compare_digest(given.encode(), token.encode()):
        return Verdict("welcome")
    return Verdict("refuse", SENTENCE)


class Gate:
    """Listens at one address and passes connections on to another port of the loopback."""

    def __init__(self, host: str, port: int, inner: int, token: str | None, most_bytes: int) -> None:
        self.host, self.port, self.inner, self.token, self.most_bytes = host, port, inner, token, most_bytes
        self.server: asyncio.Server | None = None
        self.tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        """Begin to listen; the port."""
        self.server = await asyncio.start_server(self._meet, self.host, self.port, limit=HEAD_BYTES)
        self.port = self.server.sockets[0].getsockname()[1]
        return self.port

    async def close(self) -> None:
        if self.server is not None:
            self.server.close()
        for task in list(self.tasks):
            task.cancel()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        try:
            data = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
            head = Head.parse(data)
            verdict = (
                Verdict("refuse", "This is no request that the studio knows.")
                if head is None
                else judge(head, self.token)
            )
            if verdict.kind == "pass" and head is not None and head.is_page:
                await self._give_page(data, writer)
            elif verdict.kind == "pass":
                await self._pass_on(data, reader, writer)
            elif verdict.kind == "welcome":
                kept = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                await _answer(writer, "302 Found", "", f"Location: /\r\nSet-Cookie: {kept}\r\n")
            else:
                await _answer(writer, "403 Forbidden", verdict.sentence)
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
