"""Files from a browser: read and looked at by the mesh doctor in a process of its own, with limits.

A file that is too large, too slow to read, damaged or malicious ends that process, and one sentence says so.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from neurok.core import Asset
from neurok.doctor import diagnose, mend, mended_asset
from neurok.doctor.frame import framed
from neurok.errors import MeshError, NeurokError
from neurok.io import load, save
from neurok.io.formats import states_frame
from neurok.studio.config import CONFIG, StudioConfig
from neurok.studio.processes import context
from neurok.studio.scene_file import SUFFIX, SavedScene, read_scene_file, unpacked_scene


@dataclass(frozen=True, eq=False)
class Taken:
    """A file that was let in."""

    asset: Asset
    notes: tuple[str, ...]
    scene: SavedScene | None = None
    """Set for a scene of the studio."""


def take_file(name: str, content: bytes, folder: Path, config: StudioConfig = CONFIG) -> Taken:
    """Read what somebody sent.

    Raises:
        NeurokError: Saying in one sentence why it is not let in.
    """
    if len(content) > config.upload_bytes:
        raise NeurokError(
            f"'{name}' has {len(content) / 1e6:.0f} MB; the studio takes up to {config.upload_bytes / 1e6:.0f} MB."
        )
    if not content:
        raise NeurokError(f"'{name}' is empty.")
    room = Path(tempfile.mkdtemp(prefix="taken", dir=folder))
    try:
        path = room / f"file{Path(name).suffix.lower()[:12]}"
        path.write_bytes(content)
        notes = _checked(path, name, room, config)
        if path.suffix == SUFFIX:
            scene = unpacked_scene(room)
            return Taken(scene.asset, notes, scene)
        return Taken(load(room / "checked.npz"), notes)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _checked(path: Path, name: str, room: Path, config: StudioConfig) -> tuple[str, ...]:
    """Have the file read by another process; its notes."""
    ours, theirs = context().Pipe()
    process: Any = context().Process(  # type: ignore[attr-defined]
        target=check_file, args=(theirs, str(path), name, config.check_bytes), daemon=True
    )
    process.start()
    theirs.close()
    try:
        if not ours.poll(config.check_seconds):
            raise NeurokError(
                f"'{name}' was not read within {config.check_seconds:.0f} s; it may be too large or damaged."
            )
        kind, said = ours.recv()
    except EOFError:
        raise NeurokError(
            f"'{name}' could not be read: it takes more memory than the studio allows, or is damaged."
        ) from None
    finally:
        if process.is_alive():
            process.kill()
        process.join()
        ours.close()
    if kind != "ok":
        raise NeurokError(said)
    return tuple(said)


def check_file(link: Connection, path: str, name: str, memory: int) -> None:
    """What the process does: limits first, then the file."""
    _limit(memory)
    try:
        link.send(("ok", _read(Path(path), name)))
    except NeurokError as error:
        link.send(("refused", str(error).replace(f"'{path}'", f"'{name}'").replace(path, name)))
    except MemoryError:
        link.send(("refused", f"'{name}' takes more memory to read than the studio allows."))
    except Exception as error:  # whatever a damaged file does to a reader is this process's alone
        link.send(("refused", f"'{name}' could not be read: it is damaged ({type(error).__name__})."))


def _limit(memory: int) -> None:
    """No more memory than allowed, and no further files than those of a mesh."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return  # a system without it: the time limit remains
    wanted = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(path: Path, name: str) -> list[str]:
    if path.suffix == SUFFIX:
        read_scene_file(path, path.parent)
        return []
    try:
        asset = load(path)
    except MeshError as error:
        mended = mend(error.draft)
        asset = Asset(mended.mesh)
        notes = [f"Mended: {note}" for note in mended.notes]
    else:
        mended = mend(asset.mesh)
        asset = mended_asset(asset, mended)
        notes = [f"Mended: {note}" for note in mended.notes]
    found = framed(asset, is_stated=states_frame(path))
    notes += [f"{problem.sentence}" for problem in diagnose(found.asset.mesh).problems if problem.severity != "info"]
    save(_named(found.asset, Path(name).stem), path.parent / "checked.npz")
    return [*found.notes, *notes]


def _named(asset: Asset, name: str) -> Asset:
    """Objects whose file names none are called like the file."""
    from dataclasses import replace

    if asset.mesh.name not in ("object", "file"):
        return asset
    mesh = replace(asset.mesh, name=name[:60] or "object")
    clips = tuple(replace(clip, rest=mesh) for clip in asset.clips)
    joints = asset.articulation and replace(asset.articulation, mesh=mesh, name=mesh.name)
    return replace(asset, mesh=mesh, clips=clips, articulation=joints)
