"""``neurok convert``: from any format to any other."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from neurok.errors import NeurokError

if TYPE_CHECKING:
    from neurok.core import Asset, Clip, Mesh

METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".mp4", ".gif")
FRAMELESS = (".obj", ".ply", ".stl", ".off", ".pc2")
"""Formats that know neither unit nor up axis."""

TAKES_TOLERANCE = (".glb", ".gltf")

Up = Literal["x", "y", "z"]
Unit = Literal["m", "cm", "mm", "in"]


@dataclass
class Convert:
    """Read an object in one format and write it in another, with everything both can hold."""

    input: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="IN")]
    """A mesh, animation or robot file, a PartNet-Mobility folder, or a built-in object such as sample:laptop."""

    output: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT")]
    """Where to write; the suffix picks the format. .png, .mp4 and .gif are rendered."""

    clip: Annotated[str | None, tyro.conf.arg(metavar="NAME|NUMBER")] = None
    """Keep only this animation (name or number)."""

    from_up: Up | None = None
    """The up axis of the input, when its format does not say."""

    from_unit: Unit | None = None
    """The unit of the input, when its format does not say."""

    up: Up | None = None
    """The up axis of the output; y if not given. Formats with an axis of their own (glTF, URDF, MJCF) keep that."""

    unit: Unit | None = None
    """The unit of the output; m if not given. Formats with a unit of their own (glTF, URDF, MJCF) keep that."""

    max_faces: int | None = None
    """Reduce the mesh to about this many faces."""

    tolerance: float | None = None
    """Largest error of animated GLB positions as a fraction of the object's size; 1e-4 if not given."""

    fps: float | None = None
    """Frames per second to resample animations to."""

    json: bool = False
    """Print one JSON object instead of text."""

    def run(self) -> dict[str, Any]:
        from neurok.cli.report import say
        from neurok.doctor import decimate_asset
        from neurok.io import load

        asset = load(self.input)
        if self.clip is not None:
            asset = replace(asset, clips=(pick_clip(asset, self.clip, self.input),))
        asset = self._framed(asset)
        if self.fps is not None:
            asset = replace(asset, clips=tuple(resample(clip, self.fps) for clip in asset.clips))
        if self.max_faces is not None:
            asset = decimate_asset(asset, self.max_faces)
        files = self._write(asset)
        figures = self._figures(asset, files)
        say(_sentence(figures), json=self.json)
        for note in asset.notes:
            say(f"  {note}", json=self.json)
        return figures

    def _framed(self, asset: Asset) -> Asset:
        """The asset with the frame of the input corrected and that of the output taken on."""
        asset = relabelled(asset, self.from_up, self.from_unit)
        if self.up is None and self.unit is None:
            return asset
        if self.output.suffix.lower() in FRAMELESS:
            # Their writers turn everything y up and to metres; numbers called that already pass as they are.
            return relabelled(in_frame(asset, self.up or "y", self.unit or "m"), "y", "m")
        return in_frame(asset, self.up, self.unit)

    def _write(self, asset: Asset) -> list[Path]:
        suffix = self.output.suffix.lower()
        if suffix in PICTURES:
            _render(asset, self.output, self.fps, self.json)
            return [self.output]
        options = {}
        if self.tolerance is not None:
            if suffix not in TAKES_TOLERANCE:
                raise NeurokError(f"--tolerance is for {' and '.join(TAKES_TOLERANCE)} files, not '{self.output}'.")
            options["tolerance"] = self.tolerance
        return _save(asset, self.output, options)

    def _figures(self, asset: Asset, files: list[Path]) -> dict[str, Any]:
        joints = asset.articulation.joints if asset.articulation is not None else ()
        return {
            "input": self.input,
            "output": str(self.output),
            "files": [str(path) for path in files],
            "vertices": asset.mesh.vertex_count,
            "faces": asset.mesh.face_count,
            "parts": asset.mesh.part_count,
            "clips": [clip.name for clip in asset.clips],
            "joints": sum(joint.kind != "fixed" for joint in joints),
            "bytes": sum(path.stat().st_size for path in files),
            "notes": list(asset.notes),
        }


def pick_clip(asset: Asset, which: str, source: str) -> Clip:
    """One animation, by name or number."""
    for number, clip in enumerate(asset.clips):
        if which in (clip.name, str(number)):
            return clip
    known = ", ".join(f"{i} ({clip.name})" for i, clip in enumerate(asset.clips)) or "none"
    raise NeurokError(f"'{source}' has no animation {which!r}; it has {known}.")


def in_frame(asset: Asset, up: Up | None, unit: Unit | None) -> Asset:
    """The same object turned and scaled to another up axis and unit."""
    from neurok.io.gltf_extras import in_frame as turned

    return turned(asset, up or asset.mesh.up, METRES[unit] if unit else asset.mesh.unit)


def relabelled(asset: Asset, up: Up | None, unit: Unit | None) -> Asset:
    """The same numbers, read as of another up axis and unit."""
    from neurok.core import Articulation

    told = partial(_told, up=up, unit=unit)
    joints = asset.articulation
    if joints is not None:
        joints = Articulation(told(joints.mesh), joints.joints, joints.inertials, joints.name)
    clips = tuple(replace(clip, rest=told(clip.rest)) for clip in asset.clips)
    return replace(asset, mesh=told(asset.mesh), clips=clips, articulation=joints)


def _told(mesh: Mesh, up: Up | None, unit: Unit | None) -> Mesh:
    return replace(mesh, up=up or mesh.up, unit=METRES[unit] if unit else mesh.unit)


def resample(clip: Clip, fps: float) -> Clip:
    """The clip at another frame rate, by linear interpolation; handles survive where frames fall on old ones."""
    import numpy as np

    from neurok.core import Skin

    if not (np.isfinite(fps) and 0 < fps <= 1000):
        raise NeurokError(f"--fps must lie between 0 and 1000, got {fps}.")
    count = int(np.floor(clip.duration * fps + 1e-6)) + 1
    at = np.minimum(np.arange(count) * (clip.fps / fps), clip.frame_count - 1)
    whole = np.rint(at).astype(np.int64)
    if np.allclose(at, whole, atol=1e-6):
        skin = clip.skin and Skin(clip.skin.weights, clip.skin.transforms[whole])
        return replace(clip, positions=clip.positions[whole], fps=fps, skin=skin)
    before = np.floor(at).astype(np.int64)
    after = np.minimum(before + 1, clip.frame_count - 1)
    share = (at - before)[:, None, None].astype(clip.positions.dtype)
    positions = (1 - share) * clip.positions[before] + share * clip.positions[after]
    return replace(clip, positions=positions, fps=fps, skin=None)


def _save(asset: Asset, path: Path, options: dict[str, Any]) -> list[Path]:
    """Like ``neurok.save``, and tells which files that made."""
    from pkgutil import resolve_name

    from neurok.io import save
    from neurok.io.files import is_pattern, write_files
    from neurok.io.formats import WRITERS

    home = WRITERS.get(path.suffix.lower())
    if is_pattern(path) or home is None:
        save(asset, path, **options)
        return sorted(path.parent.glob(re.sub(r"%0?\d*d", "*", path.name)))
    files = resolve_name(home)(asset, path, **options)
    write_files(path, files)
    return [path.parent / name for name in files]


def _render(asset: Asset, path: Path, fps: float | None, json: bool) -> None:
    from neurok import render
    from neurok.cli.render import TURN_SECONDS, find_motion
    from neurok.cli.report import progress

    if path.suffix.lower() not in (".mp4", ".gif"):
        render.save_image(render.render_mesh(asset.mesh), path)
        return
    motion = find_motion(asset, "0", asset.mesh.name)
    rate = motion.fps if motion is not None else fps or 24.0
    total = motion.frame_count if motion is not None else max(2, round(TURN_SECONDS * rate))
    frames = render.render_clip(motion) if motion is not None else render.render_turntable(asset.mesh, total)
    render.save_video(progress(frames, "rendering", total=total, json=json), path, rate)


def _sentence(figures: dict[str, Any]) -> str:
    extras = [f"{figures['faces']:,} faces", f"{figures['parts']} part{'s' if figures['parts'] != 1 else ''}"]
    extras += [f"{len(figures['clips'])} clips"] if figures["clips"] else []
    extras += [f"{figures['joints']} joints"] if figures["joints"] else []
    beside = f" and {len(figures['files']) - 1} files beside it" if len(figures["files"]) > 1 else ""
    return f"Wrote {figures['output']}{beside}: {', '.join(extras)}, {figures['bytes'] / 1e6:.2f} MB."
