"""``neurok studio``: the window in the browser."""

from __future__ import annotations

import json
import os
import webbrowser
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from neurok.cli.flags import NodesFlag, UnitFlag, UpFlag, arg
from neurok.cli.outputs import Command, load_framed


@dataclass
class Studio(Command):
    """Open an object in the browser: pose it, grab it, push it, correct its plan, record and save it."""

    object: Annotated[tyro.conf.Positional[str], arg("[OBJECT]", "none")] = ""
    """Object to show first: a file, a PartNet-Mobility folder or sample:NAME."""

    host: str = "127.0.0.1"
    """Address to listen on; any but localhost needs the token of the printed address."""

    port: int = 8080
    """Port to listen on; 0 takes a free one."""

    browser: bool = False
    """Open the address in the browser of this machine."""

    unit: UnitFlag = None
    up: UpFlag = None
    nodes: NodesFlag = ()

    json: bool = False
    """Print the address as one JSON object when the studio is ready."""

    def run(self) -> dict[str, Any]:
        from neurok.studio.server import StudioServer

        asset = load_framed(self.object, self.unit, self.up, self.nodes) if self.object else None
        server = StudioServer(asset, self.host, self.port)
        figures = {"url": server.url, "pid": os.getpid()}
        print(json.dumps(figures) if self.json else f"The studio is at {server.url}\nStop it with Ctrl-C.", flush=True)
        if self.browser:
            webbrowser.open(server.url)
        try:
            server.wait()
        finally:
            server.stop()
        return figures
