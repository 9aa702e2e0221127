"""``neurok convert``: from any format to any other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from neurok.cli.physics import PhysicsFlags
from neurok.errors import NeurokError

if TYPE_CHECKING:
    from neurok.core import Asset

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".mp4", ".gif")
TAKES_TOLERANCE = (".glb", ".gltf")

Up = Literal["x", "y", "z"]


@dataclass
class Convert:
    """Read an object in one format and write it in another, with everything both can hold."""

    input: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="IN")]
    """A mesh, animation or robot file, a PartNet-Mobility folder, or a built-in object such as sample:laptop."""

    output: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT")]
    """Where to write; the suffix picks the format. .png, .mp4 and .gif are rendered."""

    clip: Annotated[str | None, tyro.conf.arg(metavar="NAME|NUMBER")] = None
    """Keep only this animation (name or number)."""

    from_up: Annotated[Up | None, tyro.conf.arg(metavar="x|y|z")] = None
    """The up axis of the input, when its format does not say."""

    from_unit: Annotated[str | None, tyro.conf.arg(metavar="m|cm|mm|in|METRES")] = None
    """The unit of the input, when its format does not say."""

    up: Annotated[Up | None, tyro.conf.arg(metavar="x|y|z")] = None
    """The up axis of the output; y if not given. Formats with an axis of their own (glTF, URDF, MJCF) keep that."""

    unit: Annotated[str | None, tyro.conf.arg(metavar="m|cm|mm|in|METRES")] = None
    """The unit of the output; m if not given. Formats with a unit of their own (glTF, URDF, MJCF) keep that."""

    max_faces: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Reduce the mesh to about this many faces."""

    tolerance: Annotated[float | None, tyro.conf.arg(metavar="FRACTION")] = None
    """Largest error of animated GLB positions as a fraction of the object's size; 1e-4 if not given."""

    fps: Annotated[float | None, tyro.conf.arg(metavar="RATE")] = None
    """Frames per second to resample animations to."""

    physics: tyro.conf.OmitArgPrefixes[PhysicsFlags] = field(default_factory=PhysicsFlags)

    json: bool = False
    """Print one JSON object instead of text."""

    def run(self) -> dict[str, Any]:
        from neurok.cli.report import say
        from neurok.doctor import decimate_asset
        from neurok.io import load

        self.physics.check((self.output,))
        asset = load(self.input)
        if self.clip is not None:
            asset = replace(asset, clips=(asset.clip(self.clip),))
        asset = self._framed(asset)
        if self.fps is not None:
            asset = replace(asset, clips=tuple(clip.resampled(self.fps) for clip in asset.clips))
        if self.max_faces is not None:
            asset = decimate_asset(asset, self.max_faces)
        asset = self._fitting(self.physics.scaled(asset))
        files = self._write(asset)
        figures = self._figures(asset, files)
        say(_sentence(figures), json=self.json)
        for note in asset.notes:
            say(f"  {note}", json=self.json)
        return figures

    def _framed(self, asset: Asset) -> Asset:
        """The asset with the frame of the input corrected and that of the output taken on."""
        if self.from_up is not None or self.from_unit is not None:
            asset = asset.relabelled(self.from_up or asset.mesh.up, _metres(self.from_unit, asset.mesh.unit))
        if self.up is None and self.unit is None:
            return asset
        from neurok.io.formats import WITHOUT_FRAME

        if self.output.suffix.lower() in WITHOUT_FRAME:
            # Their writers turn everything y up and to metres; numbers called that already pass as they are.
            return asset.in_frame(self.up or "y", _metres(self.unit, 1.0)).relabelled("y", 1.0)
        return asset.in_frame(self.up or asset.mesh.up, _metres(self.unit, asset.mesh.unit))

    def _fitting(self, asset: Asset) -> Asset:
        """The asset without the clips and joints that the output cannot hold, and with a word about them."""
        from neurok.io.files import is_pattern
        from neurok.io.formats import ALL_CLIPS, ONE_CLIP, WITH_JOINTS

        suffix = self.output.suffix.lower()
        if suffix in PICTURES:
            return asset
        notes = []
        if len(asset.clips) > 1 and (suffix in ONE_CLIP or is_pattern(self.output)):
            notes.append(f"Only the animation '{asset.clips[0].name}' is written; --clip chooses another.")
            asset = replace(asset, clips=asset.clips[:1])
        elif asset.clips and suffix not in ALL_CLIPS + ONE_CLIP and not is_pattern(self.output):
            notes.append(f"Animations are left out: '{suffix}' files hold none.")
            asset = replace(asset, clips=())
        if asset.articulation is not None and suffix not in WITH_JOINTS:
            notes.append(f"Joints are left out: '{suffix}' files hold none.")
            asset = replace(asset, articulation=None)
        notes += self.physics.left_out(asset, self.output)
        return replace(asset, notes=(*asset.notes, *notes))

    def _write(self, asset: Asset) -> list[Path]:
        from neurok.io import save

        suffix = self.output.suffix.lower()
        if suffix in PICTURES:
            _render(asset, self.output, self.fps, self.json)
            return [self.output]
        options = self.physics.options(self.output)
        if self.tolerance is not None:
            if suffix not in TAKES_TOLERANCE:
                raise NeurokError(f"--tolerance is for {' and '.join(TAKES_TOLERANCE)} files, not '{self.output}'.")
            options["tolerance"] = self.tolerance
        return save(asset, self.output, **options)

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


def _metres(unit: str | None, otherwise: float) -> float:
    from neurok.doctor.frame import parse_unit

    return otherwise if unit is None else parse_unit(unit)


def _render(asset: Asset, path: Path, fps: float | None, json: bool) -> None:
    from neurok.cli.report import progress
    from neurok.scene.picture import render

    render(asset, path, fps=fps, watch=lambda frames, total: progress(frames, "rendering", total=total, json=json))


def _sentence(figures: dict[str, Any]) -> str:
    extras = [f"{figures['faces']:,} faces", f"{figures['parts']} part{'s' if figures['parts'] != 1 else ''}"]
    extras += [f"{len(figures['clips'])} clips"] if figures["clips"] else []
    extras += [f"{figures['joints']} joints"] if figures["joints"] else []
    beside = f" and {len(figures['files']) - 1} files beside it" if len(figures["files"]) > 1 else ""
    return f"Wrote {figures['output']}{beside}: {', '.join(extras)}, {figures['bytes'] / 1e6:.2f} MB."
