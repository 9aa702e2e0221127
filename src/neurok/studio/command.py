"""``neurok studio``: the window in the browser."""

from __future__ import annotations

import sys
import webbrowser
from dataclasses import dataclass
from typing import Annotated, Any

import tyro


@dataclass
class Studio:
    """Open an object in the browser: pose it, grab it, push it, correct its plan, record and save it."""

    object: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[OBJECT]")] = ""
    """Object to show first: a file, a PartNet-Mobility folder or sample:NAME."""

    host: str = "127.0.0.1"
    """Address to listen on; any but the loopback needs the token of the printed address."""

    port: int = 8080
    """Port to listen on; 0 takes a free one."""

    browser: bool = False
    """Open the address in the browser of this machine."""

    json: bool = False
    """Print the address as one JSON object when the studio is ready."""

    def run(self) -> dict[str, Any]:
        from neurok.doctor.frame import framed
        from neurok.io import load
        from neurok.io.formats import states_frame
        from neurok.studio.server import StudioServer

        start = framed(load(self.object), is_stated=states_frame(self.object)).asset if self.object else None
        server = StudioServer(start, self.host, self.port)
        said = {"url": server.url, "pid": _own_id()}
        sys.stdout.write(_as_json(said) if self.json else f"The studio is at {server.url}\nStop it with Ctrl-C.\n")
        sys.stdout.flush()
        if self.browser:
            webbrowser.open(server.url)
        try:
            server.wait()
        finally:
            server.stop()
        return said


def _own_id() -> int:
    import os

    return os.getpid()


def _as_json(said: dict[str, Any]) -> str:
    import json

    return json.dumps(said) + "\n"
