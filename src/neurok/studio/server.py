"""The server of the studio: one window for each person who connects."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from neurok.core import Asset
from neurok.errors import MissingDependencyError, NeurokError
from neurok.studio.config import CONFIG, StudioConfig
from neurok.studio.gate import Gate, is_loopback
from neurok.studio.page import quiet
from neurok.studio.processes import warm_up
from neurok.studio.session import Session
from neurok.studio.view import EYE, UP

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
        self.sessions: dict[int, Any] = {}
        with quiet():
            self.viser = _make_server(LOOPBACK)
        self.viser.gui.configure_theme(
            show_logo=False, show_share_button=False, control_layout="collapsible", control_width="large"
        )
        self.viser.scene.set_up_direction("+y")
        camera = self.viser.initial_camera
        camera.position, camera.look_at, camera.up = EYE, np.zeros(3), UP
        self.viser.on_client_connect(self._come)
        self.viser.on_client_disconnect(self._go)
        self.gate = Gate(host, port, self.viser.get_port(), self.token, 2 * config.upload_bytes)
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
        if len(self.sessions) >= self.config.sessions:
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


def _make_server(host: str) -> Any:
    try:
        import viser
    except ImportError:
        raise MissingDependencyError("The studio needs viser: pip install 'neurok[studio]'.") from None

    class Unshared(viser.ViserServer):
        """Never opens a tunnel to the internet, whoever asks."""

        def request_share_url(self, verbose: bool = True) -> str | None:
            return None

    return Unshared(host=host, port=0, label="neurok studio", verbose=False)
