"""Files of the studio: uploads that are checked, the whole window in one file, and downloads."""

from __future__ import annotations

import io
import json
import math
import shutil
import tempfile
import zipfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from neurok.bodyplan.plan import BodyPlan
from neurok.bodyplan.plan_file import read_plan, write_plan
from neurok.core import Asset
from neurok.doctor import diagnose, mend, mended_asset
from neurok.doctor.frame import framed
from neurok.errors import FormatError, MeshError, NeurokError
from neurok.io import load, save
from neurok.io.files import write_files
from neurok.io.formats import states_frame
from neurok.io.npz_arrays import member_bytes, members
from neurok.sandbox import SANDBOX, Ended, Limits
from neurok.scene.output import render
from neurok.studio.config import CONFIG, StudioConfig
from neurok.studio.page import write_page
from neurok.studio.scene import StudioScene
from neurok.studio.state import Forces, Recording
from neurok.verbs import propose_materials

SUFFIX = ".neurok"
VERSION = 1
KEY = "neurok_studio"
MEMBERS = ("object.npz", "plan.json", "studio.json")


@dataclass(frozen=True, eq=False)
class SavedScene:
    """What a file says."""

    asset: Asset
    plan: BodyPlan | None
    settings: dict[str, Any]


def save_scene(scene: StudioScene, path: Path) -> Path:
    """Write the window to a file."""
    asset, recording = scene.open_asset, scene.playback.recording
    clips = asset.clips
    if recording is not None and recording.clip.rest.vertex_count == asset.mesh.vertex_count:
        clips = (replace(recording.clip, rest=asset.mesh),)
    settings = {
        KEY: VERSION,
        "q": scene.q.tolist(),
        "materials": scene.materials,
        "forces": asdict(scene.forces),
        "edited": scene.is_edited,
        "energies": _listed(recording.energies) if recording is not None else [],
        "depths": _listed(recording.depths) if recording is not None else [],
    }
    folder = scene.folder / "saved"
    folder.mkdir(exist_ok=True)
    save(replace(asset, clips=clips), folder / "object.npz")
    (folder / "studio.json").write_text(json.dumps(settings, allow_nan=False))
    names = ["object.npz", "studio.json"]
    if scene.plan is not None:
        write_plan(scene.plan, folder / "plan.json")
        names.append("plan.json")
    packed = folder / "packed.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:  # the object is packed already
        for name in names:
            archive.write(folder / name, name)
    write_files(path, {path.name: packed.read_bytes()})
    return path


def read_scene_file(path: Path, folder: Path) -> SavedScene:
    """What a file says; its members are unpacked into a folder.

    Raises:
        NeurokError: If it is damaged or no such file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            found = members(archive, Path(path.name), path.stat().st_size)
            infos = {info.filename: info for info in found if info.filename in MEMBERS}
            if "object.npz" not in infos or "studio.json" not in infos:
                raise FormatError(f"'{path.name}' is no scene of the studio: it holds no object.")
            for name, info in infos.items():
                (folder / name).write_bytes(member_bytes(archive, info))
    except NeurokError:
        raise
    except Exception as error:  # zipfile and zlib raise a dozen kinds for damaged bytes
        raise FormatError(f"'{path.name}' is damaged or no scene of the studio ({type(error).__name__}).") from None
    return unpacked_scene(folder)


def unpacked_scene(folder: Path) -> SavedScene:
    """The same from a folder that it was unpacked into."""
    asset = load(folder / "object.npz")
    plan = read_plan(folder / "plan.json", asset.mesh) if (folder / "plan.json").exists() else None
    try:
        settings = json.loads((folder / "studio.json").read_text())
        if not isinstance(settings, dict) or settings.get(KEY) != VERSION:
            raise FormatError(f"It is a scene of version {settings.get(KEY)!r}; this neurok reads {VERSION}.")
        Forces(**settings["forces"])
        np.array(settings["q"], dtype=np.float64).reshape(-1)
        {str(key): str(value) for key, value in settings["materials"].items()}
    except NeurokError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"The scene is damaged: what it says makes no sense ({type(error).__name__}).") from None
    return SavedScene(asset, plan, settings)


def restore(scene: StudioScene, saved: SavedScene, notes: tuple[str, ...] = ()) -> None:
    """Show what was saved, just as it stood."""
    settings = saved.settings
    scene.open(saved.asset, notes)
    if saved.plan is not None:
        edited = bool(settings.get("edited"))
        plan = saved.plan
        scene.corrections = replace(scene.corrections, plan=scene.plan or plan)
        if edited:
            scene.edit("opened", lambda _: plan)
    for region, name in settings["materials"].items():
        scene.set_material(str(region), str(name))
    scene.forget_edits()
    q = np.array(settings["q"], dtype=np.float64).reshape(-1)
    for index, value in enumerate(q if len(q) == len(scene.q) else []):
        if math.isfinite(value) and value != 0.0:
            scene.set_coordinate(index, float(value))
    scene.forces = Forces(**settings["forces"])
    recording = scene.playback.recording
    if recording is not None and len(settings["energies"]) == recording.clip.frame_count:
        clip = replace(recording.clip, rest=scene.object_mesh)
        energies, depths = (np.array(settings[name], dtype=np.float64) for name in ("energies", "depths"))
        scene.keep(Recording(clip, energies, depths))


def _listed(values: np.ndarray) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


@dataclass(frozen=True, eq=False)
class Upload:
    """A file that was let in."""

    asset: Asset
    notes: tuple[str, ...]
    scene: SavedScene | None = None
    """Set for a scene of the studio."""


def check_upload(name: str, content: bytes, folder: Path, config: StudioConfig = CONFIG) -> Upload:
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
        notes = _checked(path, name, config)
        if path.suffix == SUFFIX:
            scene = unpacked_scene(room)
            return Upload(scene.asset, notes, scene)
        return Upload(load(room / "checked.npz"), notes)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _checked(path: Path, name: str, config: StudioConfig) -> tuple[str, ...]:
    """Have the file read in the sandbox, which leaves what it read beside it; its notes."""
    limits = Limits(cpu=None, seconds=config.check_seconds, memory=config.check_bytes)
    home = "neurok.studio.files"
    try:
        (found,) = SANDBOX.call(f"{home}:read_upload", limits=limits, preload=[home], path=str(path), name=name)
    except Ended as end:
        reasons = {
            "time": f"was not read within {config.check_seconds:.0f} s; it may be too large or damaged",
            "memory": "could not be read: it takes more memory than the studio allows",
        }
        raise NeurokError(f"'{name}' {reasons.get(end.cause, 'could not be read: it is damaged')}.") from None
    refusal, *notes = found.tolist()
    if refusal:
        raise NeurokError(refusal)
    return tuple(notes)


def read_upload(path: str, name: str) -> list[np.ndarray]:
    """What the sandbox does with a file: why it is refused, which is empty where it is not, and notes."""
    try:
        return [np.array(["", *_read(Path(path), name)])]
    except NeurokError as error:
        return [np.array([str(error).replace(f"'{path}'", f"'{name}'").replace(path, name)])]


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


FORMATS = {
    "GLB": ".glb",
    "URDF": ".urdf",
    "MJCF": ".xml",
    "USD": ".usdc",
    "MP4": ".mp4",
    "HTML": ".html",
    "OBJ": ".obj",
    "Scene": SUFFIX,
}
"""What the window can write, by the name on the button."""


def exported(scene: StudioScene) -> Asset:
    """What is written: the object, its materials where they were named, and the recording."""
    asset = scene.made_asset()
    if scene.materials:
        asset = replace(asset, materials=propose_materials(asset, given=scene.materials).field)
    if scene.playback.recording is None:
        return asset
    clip = scene.playback.recording.clip
    if clip.rest.vertex_count != asset.mesh.vertex_count:
        return Asset(clip.rest, clips=(clip,))
    return replace(asset, clips=(replace(clip, rest=asset.mesh),))


def export(scene: StudioScene, format: str) -> tuple[str, bytes]:
    """The name and the bytes of a download; several files come as one zip archive."""
    if format not in FORMATS:
        raise NeurokError(f"{format!r} is no format of the studio; there are {', '.join(FORMATS)}.")
    asset, suffix = exported(scene), FORMATS[format]
    stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in asset.mesh.name)[:60] or "object"
    folder = Path(tempfile.mkdtemp(prefix="export", dir=scene.folder))
    try:
        path = folder / f"{stem}{suffix}"
        if suffix == SUFFIX:
            save_scene(scene, path)
        elif suffix == ".mp4":
            render(asset, path)
        elif suffix == ".html":
            write_page(asset, path)
        elif suffix == ".obj":
            same = len(scene.positions) == asset.mesh.vertex_count
            save(asset.mesh.with_vertices(scene.positions) if same else asset.mesh, path)
        elif suffix in (".urdf", ".xml"):
            save(replace(asset, clips=()), path)
        else:
            save(asset, path)
        files = sorted(each for each in folder.rglob("*") if each.is_file())
        if len(files) == 1:
            return files[0].name, files[0].read_bytes()
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in files:
                archive.write(each, each.relative_to(folder))
        return f"{stem}_{format.lower()}.zip", packed.getvalue()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
