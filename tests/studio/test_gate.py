"""Who gets through the door of the studio, and who does not."""

import asyncio
import os
import socket
import time
from pathlib import Path

import pytest

from neurok.errors import NeurokError
from neurok.studio.server import COOKIE, AccessGate, Head, admit, is_loopback


def head(path="/", **headers):
    lines = [f"GET {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return Head.parse(("\r\n".join(lines) + "\r\n\r\n").encode())


@pytest.mark.parametrize(
    ("request_head", "token", "kind"),
    [
        (head(host="127.0.0.1:8080"), None, "pass"),
        (head(host="localhost:8080"), None, "pass"),
        (head(host="evil.example:8080"), None, "refuse"),  # a name that was made to lead here
        (head(host="[::1"), None, "refuse"),
        (head(host="127.0.0.1:1", upgrade="websocket", origin="http://[::1"), None, "refuse"),
        (head(host="127.0.0.1:1", upgrade="websocket", origin="http://127.0.0.1:1"), None, "pass"),
        (head(host="127.0.0.1:1", upgrade="websocket", origin="http://evil.example"), None, "refuse"),
        (head(host="127.0.0.1:1", upgrade="websocket"), None, "refuse"),
        (head(host="10.0.0.5:80"), "secret", "refuse"),
        (head("/?token=wrong", host="10.0.0.5:80"), "secret", "refuse"),
        (head("/?token=secret", host="10.0.0.5:80"), "secret", "welcome"),
        (head(host="10.0.0.5:80", cookie=f"{COOKIE}=secret"), "secret", "pass"),
        (head(host="10.0.0.5:80", cookie=f"{COOKIE}=secre"), "secret", "refuse"),
        (head("/?token=secret", host="h", upgrade="websocket", origin="http://h"), "secret", "refuse"),
        (head(host="h", upgrade="websocket", origin="http://h", cookie=f"{COOKIE}=secret"), "secret", "pass"),
        (head(host="h", upgrade="websocket", origin="http://other", cookie=f"{COOKIE}=secret"), "secret", "refuse"),
    ],
)
def test_requests_are_judged(request_head, token, kind):
    assert admit(request_head, token).kind == kind


@pytest.mark.parametrize(
    "data", [b"", b"nonsense\r\n\r\n", b"GET /\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n", b"GET / SPDY/3\r\n\r\n"]
)
def test_what_is_no_request_is_no_head(data):
    assert Head.parse(data) is None


@pytest.mark.parametrize(
    ("host", "answer"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("10.1.2.3", False), ("name", False)],
)
def test_the_loopback_is_known(host, answer):
    assert is_loopback(host) is answer


def test_bytes_pass_both_ways_and_too_many_end_the_connection():
    async def go():
        async def echo(reader, writer):
            while data := await reader.read(1000):
                writer.write(data)
                await writer.drain()
            writer.close()

        inner = await asyncio.start_server(echo, "127.0.0.1", 0)
        gate = AccessGate("127.0.0.1", 0, inner.sockets[0].getsockname()[1], None, 5_000)
        port = await gate.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        asked = b"GET /thing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        writer.write(asked)
        assert await reader.readexactly(len(asked)) == asked
        writer.write(b"x" * 4_000)
        assert await reader.readexactly(4_000) == b"x" * 4_000
        writer.write(b"x" * 20_000)
        assert len(await reader.read()) < 20_000  # it was cut off
        writer.close()
        refused, other = await asyncio.open_connection("127.0.0.1", port)
        other.write(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        assert b"403" in await refused.readline()
        other.close()
        await gate.close()
        inner.close()

    asyncio.run(asyncio.wait_for(go(), 20))


def test_the_page_comes_with_our_script_and_its_true_length():
    async def go():
        async def serve(reader, writer):
            asked = await reader.readuntil(b"\r\n\r\n")
            assert b"gzip" not in asked  # it would hide where the page ends
            page = b"<body>a string '</body>' of a script</body></html>"
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(page) + page)
            await writer.drain()
            writer.close()

        inner = await asyncio.start_server(serve, "127.0.0.1", 0)
        gate = AccessGate("127.0.0.1", 0, inner.sockets[0].getsockname()[1], None, 5_000)
        port = await gate.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n")
        head, _, page = (await reader.read(-1)).partition(b"\r\n\r\n")
        assert b"Content-Length: %d" % len(page) in head
        assert page.startswith(b"<body>a string '</body>' of a script<script>")
        assert page.endswith(b"</script></body></html>")
        writer.close()
        await gate.close()
        inner.close()

    asyncio.run(asyncio.wait_for(go(), 20))


def answer_of(port, lines):
    """The first line that a port answers."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as stream:
        stream.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return stream.recv(4096).split(b"\r\n")[0].decode()


def listening():
    """The ports that this process listens on."""
    found = set()
    mine = {os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if _is_open(name)}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in mine:
                found.add(int(words[1].rpartition(":")[2], 16))
    return found


def _is_open(name):
    return os.path.islink(f"/proc/self/fd/{name}")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="ports are looked up in /proc")
def test_every_port_of_the_studio_refuses_foreign_pages_and_too_many_people(capfd):
    pytest.importorskip("viser", reason="viser is not installed: there is no studio")
    from neurok.studio.config import StudioConfig
    from neurok.studio.server import StudioServer

    upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
    upgrade += ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: viser-v0"]
    before = listening()
    server = StudioServer(config=StudioConfig(sessions=2))
    try:
        outer, ports = server.port, listening() - before
        assert {server.viser.get_port(), outer} <= ports
        for port in ports:
            ask = ["GET / HTTP/1.1", f"Host: 127.0.0.1:{port}"]
            assert "403" in answer_of(port, [*ask, *upgrade, "Origin: http://evil.example"])
            assert ("200" in answer_of(port, ask)) == (port == outer)
            assert "403" in answer_of(port, ["GET / HTTP/1.1", "Host: [::1"])
        own = [*upgrade, f"Origin: http://127.0.0.1:{outer}"]
        assert "101" in answer_of(outer, ["GET / HTTP/1.1", f"Host: 127.0.0.1:{outer}", *own])
        with socket.create_connection(("127.0.0.1", outer), timeout=20) as stream:  # then nonsense, and gone
            ask = ["GET / HTTP/1.1", f"Host: 127.0.0.1:{outer}", *own]
            stream.sendall(("\r\n".join(ask) + "\r\n\r\n").encode())
            stream.recv(4096)
            stream.sendall(b"\x82\x84\0\0\0\0junk" + b"\xff" * 100)
            time.sleep(1.0)
        assert [server._seats.acquire(blocking=False) for _ in range(3)].count(True) <= 2
    finally:
        server.stop()
    assert "Traceback" not in capfd.readouterr().err
    with pytest.raises(NeurokError, match="--host"):
        StudioServer(host="")
