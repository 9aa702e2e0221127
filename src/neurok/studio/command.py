"""``neurok studio``: the window in the browser."""

from __future__ import annotations

import sys
import webbrowser
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

if TYPE_CHECKING:
    from neurok.core import Asset

UNIT = "(default: as in the file, unless that is clearly wrong)"
UP = "(default: as in the file, or a confident guess)"


@dataclass
class Studio:
    """Open an object in the browser: pose it, grab it, push it, correct its plan, record and save it."""

    object: Annotated[
        tyro.conf.Positional[str], tyro.conf.arg(metavar="[OBJECT]", help_behavior_hint="(default: none)")
    ] = ""
    """Object to show first: a file, a PartNet-Mobility folder or sample:NAME."""

    host: str = "127.0.0.1"
    """Address to listen on; any but localhost needs the token of the printed address."""

    port: int = 8080
    """Port to listen on; 0 takes a free one."""

    browser: bool = False
    """Open the address in the browser of this machine."""

    unit: Annotated[str | None, tyro.conf.arg(metavar="m|cm|mm|in|METRES", help_behavior_hint=UNIT)] = None
    """The unit of the object's file."""

    up: Annotated[str | None, tyro.conf.arg(metavar="x|y|z", help_behavior_hint=UP)] = None
    """The axis of the object's file that points up."""

    json: bool = False
    """Print the address as one JSON object when the studio is ready."""

    def run(self) -> dict[str, Any]:
        from neurok.studio.server import StudioServer

        server = StudioServer(self._start(), self.host, self.port)
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

    def _start(self) -> Asset | None:
        """The object in the frame that is given or surely right."""
        from neurok.doctor.frame import framed, parse_unit, parse_up
        from neurok.io import load
        from neurok.io.formats import states_frame

        unit = None if self.unit is None else parse_unit(self.unit)
        up = None if self.up is None else parse_up(self.up)
        if not self.object:
            return None
        return framed(load(self.object), is_stated=states_frame(self.object), unit=unit, up=up).asset


def _own_id() -> int:
    import os

    return os.getpid()


def _as_json(said: dict[str, Any]) -> str:
    import json

    return json.dumps(said) + "\n"
