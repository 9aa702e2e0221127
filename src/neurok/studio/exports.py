"""What leaves the window: one file to download for each format."""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.io import save
from neurok.model import propose_materials
from neurok.scene.picture import render
from neurok.studio.page import write_page
from neurok.studio.scene import StudioScene
from neurok.studio.scene_file import SUFFIX, save_scene

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
