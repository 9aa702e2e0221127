"""One file that opens anywhere: an object, a motion or a plan, to turn and to play, without a server."""

from __future__ import annotations

import contextlib
import hmac
import html
import http
import io
import logging
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neurok.bodyplan.plan import BodyPlan
from neurok.core import Articulation, Asset, Clip, Mesh, Rollout
from neurok.errors import MissingDependencyError, NeurokError
from neurok.io.files import write_files
from neurok.io.formats import as_asset
from neurok.scene.output import motion_of
from neurok.studio.config import CONFIG, StudioConfig
from neurok.studio.view import EYE, UP, StudioView, body_colors

MOST_BYTES = 300_000_000
"""Positions of one page [bytes]: a browser holds all of them."""


class Shown:
    """A page; a notebook shows it inline, ``save`` writes it."""

    def __init__(self, page: str, height: int) -> None:
        self.page, self.height = page, height

    def _repr_html_(self) -> str:
        frame = f'<iframe srcdoc="{html.escape(self.page, quote=True)}" width="100%" height="{self.height}"'
        return f'{frame} style="border:none;display:block"></iframe>'

    def save(self, path: str | Path) -> Path:
        """Write the page to a file."""
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise NeurokError(f"A page cannot be written to '{path}'; the name must end in .html.")
        write_files(path, {path.name: self.page.encode()})
        return path


def show(
    thing: Asset | Mesh | Clip | Rollout | Articulation | BodyPlan | str | Path,
    *,
    clip: str = "0",
    height: int = 480,
    config: StudioConfig = CONFIG,
) -> Shown:
    """Show an object, a motion, a rollout or a body plan inline in a notebook, to turn and to play.

    Args:
        thing: What to show, or what ``neurok.load`` reads.
        clip: Which animation of an object, by name or number; joints go from limit to limit where there is none.
        height: Of the frame in a notebook [pixels].
        config: Limits.

    Returns:
        What a notebook shows; its ``save`` writes one HTML file that needs no server.
    """
    return Shown(page_of(thing, clip, config), height)


def write_page(thing: Any, path: Path, clip: str = "0", config: StudioConfig = CONFIG) -> Path:
    """Write one HTML file."""
    return show(thing, clip=clip, config=config).save(path)


def page_of(thing: Any, clip: str = "0", config: StudioConfig = CONFIG) -> str:
    """The page as text."""
    with quiet(), _server() as server:
        return _drawn(server, thing, clip, config)


def _drawn(server: Any, thing: Any, clip: str, config: StudioConfig) -> str:
    """The page of a server's scene, in which the thing is drawn and moved."""
    server.scene.set_up_direction("+y")
    view = StudioView(server.scene, config)
    if isinstance(thing, BodyPlan):
        view.show(thing.mesh, body_colors(len(thing.bodies)))
        view.show_joints(thing, None, None)
        _look(server)
        return str(server.get_scene_serializer().as_html())
    if isinstance(thing, str | Path):
        from neurok.io import load

        thing = load(thing)
    asset = as_asset(thing)
    motion = motion_of(asset, clip)
    view.show(asset.mesh if motion is None else motion.rest)
    _look(server)
    if motion is None:
        return str(server.get_scene_serializer().as_html())
    if motion.skin is None and motion.positions.nbytes > MOST_BYTES:
        raise NeurokError(
            f"This motion takes {motion.positions.nbytes / 1e6:.0f} MB, more than the {MOST_BYTES / 1e6:.0f} that a "
            "page can hold; show fewer frames or a coarser mesh."
        )
    view.move(motion.positions[0])
    recorder = server.get_scene_serializer()
    for frame in motion.positions:
        view.move(frame)
        recorder.insert_sleep(1.0 / motion.fps)
    return str(recorder.as_html())


def _look(server: Any) -> None:
    camera = server.initial_camera
    camera.position, camera.look_at, camera.up = EYE, np.zeros(3), UP


@contextlib.contextmanager
def _server() -> Iterator[Any]:
    """A server that nobody connects to: it only keeps the scene until it is written."""
    server = make_server("Pages need")
    try:
        yield server
    finally:
        server.stop()


PASSWORD_HEADER = "X-Neurok-Studio"
"""By which the gate shows that it let a request in."""

_building = threading.Lock()


def make_server(needs: str, password: str | None = None) -> Any:
    """A server of viser on a free port of the loopback, which answers nobody but who knows its password."""
    try:
        import viser
    except ImportError:
        raise MissingDependencyError(f"{needs} viser: pip install 'neurok[studio]'.") from None
    log = logging.getLogger("websockets.server")  # it prints a traceback for every visitor who speaks nonsense
    log.addHandler(logging.NullHandler())
    log.propagate = False

    class Unshared(viser.ViserServer):
        """Never opens a tunnel to the internet, whoever asks."""

        def request_share_url(self, verbose: bool = True) -> str | None:
            return None

    with _building, _guarded(password or secrets.token_urlsafe(24)):
        return Unshared(host="127.0.0.1", port=0, label="neurok studio", verbose=False)


@contextlib.contextmanager
def _guarded(password: str) -> Iterator[None]:
    """Servers that viser starts meanwhile ask for the password; any page of any site can reach a port of the loopback,
    and viser has no check of its own."""
    from websockets.asyncio import server as sockets

    serve = sockets.serve

    def guarded(*args: Any, process_request: Any = None, **options: Any) -> Any:
        def check(connection: Any, request: Any) -> Any:
            if not hmac.compare_digest(request.headers.get(PASSWORD_HEADER, "").encode(), password.encode()):
                return connection.respond(http.HTTPStatus.FORBIDDEN, "This port belongs to the neurok studio.\n")
            return None if process_request is None else process_request(connection, request)

        return serve(*args, process_request=check, **options)

    sockets.serve = guarded  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        sockets.serve = serve  # type: ignore[misc]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """What viser prints about its servers is not for those who asked for something else."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
