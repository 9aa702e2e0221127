"""The whole window in one file: the object, its plan, its recording, what acts on it and how it stands.

It is a zip archive of ``object.npz``, ``plan.json`` and ``studio.json``; nothing else in it is read.
"""

from __future__ import annotations

import json
import math
import zipfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from neurok.bodyplan.plan import BodyPlan
from neurok.bodyplan.plan_file import read_plan, write_plan
from neurok.core import Asset
from neurok.errors import FormatError, NeurokError
from neurok.io import load, save
from neurok.io.files import write_files
from neurok.studio.forces import Forces
from neurok.studio.playback import Recording
from neurok.studio.scene import StudioScene

SUFFIX = ".neurok"
VERSION = 1
KEY = "neurok_studio"
MEMBERS = ("object.npz", "plan.json", "studio.json")
MOST_BYTES = 2_000_000_000
"""Of what an archive may unpack to [bytes]."""


@dataclass(frozen=True, eq=False)
class SavedScene:
    """What a file says."""

    asset: Asset
    plan: BodyPlan | None
    said: dict[str, Any]


def save_scene(scene: StudioScene, path: Path) -> Path:
    """Write the window to a file."""
    asset, recording = scene.open_asset, scene.playback.recording
    clips = asset.clips
    if recording is not None and recording.clip.rest.vertex_count == asset.mesh.vertex_count:
        clips = (replace(recording.clip, rest=asset.mesh),)
    said = {
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
    (folder / "studio.json").write_text(json.dumps(said, allow_nan=False))
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
            infos = {info.filename: info for info in archive.infolist() if info.filename in MEMBERS}
            if "object.npz" not in infos or "studio.json" not in infos:
                raise FormatError(f"'{path.name}' is no scene of the studio: it holds no object.")
            if sum(info.file_size for info in infos.values()) > MOST_BYTES:
                raise FormatError(f"'{path.name}' unpacks to more than {MOST_BYTES / 1e9:.0f} GB.")
            for name in infos:
                archive.extract(name, folder)
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
        raise FormatError(f"'{path.name}' is damaged or no scene of the studio ({type(error).__name__}).") from None
    return unpacked_scene(folder)


def unpacked_scene(folder: Path) -> SavedScene:
    """The same from a folder that it was unpacked into."""
    asset = load(folder / "object.npz")
    plan = read_plan(folder / "plan.json", asset.mesh) if (folder / "plan.json").exists() else None
    try:
        said = json.loads((folder / "studio.json").read_text())
        if not isinstance(said, dict) or said.get(KEY) != VERSION:
            raise FormatError(f"It is a scene of version {said.get(KEY)!r}; this neurok reads {VERSION}.")
        Forces(**said["forces"])
        np.array(said["q"], dtype=np.float64).reshape(-1)
        {str(key): str(value) for key, value in said["materials"].items()}
    except NeurokError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"The scene is damaged: what it says makes no sense ({type(error).__name__}).") from None
    return SavedScene(asset, plan, said)


def restore(scene: StudioScene, saved: SavedScene, notes: tuple[str, ...] = ()) -> None:
    """Show what was saved, just as it stood."""
    said = saved.said
    scene.open(saved.asset, notes)
    if saved.plan is not None:
        edited = bool(said.get("edited"))
        plan = saved.plan
        scene.corrections = replace(scene.corrections, plan=scene.plan or plan)
        if edited:
            scene.edit("opened", lambda _: plan)
    for region, name in said["materials"].items():
        scene.set_material(str(region), str(name))
    scene.forget_edits()
    q = np.array(said["q"], dtype=np.float64).reshape(-1)
    for index, value in enumerate(q if len(q) == len(scene.q) else []):
        if math.isfinite(value) and value != 0.0:
            scene.set_coordinate(index, float(value))
    scene.forces = Forces(**said["forces"])
    recording = scene.playback.recording
    if recording is not None and len(said["energies"]) == recording.clip.frame_count:
        clip = replace(recording.clip, rest=scene.object_mesh)
        energies, depths = (np.array(said[name], dtype=np.float64) for name in ("energies", "depths"))
        scene.keep(Recording(clip, energies, depths))


def _listed(values: np.ndarray) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]
