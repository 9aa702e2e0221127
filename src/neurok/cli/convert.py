"""``neurok convert``: from any format to any other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from neurok.cli.flags import ForceFlag, JsonFlag, NeededOut, NodesFlag, PhysicsFlags, UnitFlag, UpFlag, arg
from neurok.cli.outputs import (
    Command,
    check_outputs,
    frame_facts,
    frame_words,
    load_framed,
    warn,
)
from neurok.errors import NeurokError, counted
from neurok.staging import together

if TYPE_CHECKING:
    from neurok.core import Asset

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".mp4", ".gif")
TAKES_TOLERANCE = (".glb", ".gltf")
PASSES = (".glb", ".gltf")
"""Between these an object that is not changed passes with all its file holds."""

Up = Literal["x", "y", "z"]


@dataclass
class Convert(Command):
    """Read an object in one format and write it in others, with everything that both formats support."""

    input: Annotated[str, tyro.conf.Positional, arg("IN")]
    """A mesh, animation or robot file, a PartNet-Mobility folder, or a built-in object such as sample:laptop."""

    out: NeededOut
    """Where to write; the suffix determines the format. .png, .mp4 and .gif are rendered."""

    clip: Annotated[str | None, arg("NAME|NUMBER", "all are kept")] = None
    """Keep only this animation (name or number)."""

    max_faces: Annotated[int | None, arg("N", "all are kept")] = None
    """Reduce the mesh to about this many faces."""

    unit: UnitFlag = None
    up: UpFlag = None
    nodes: NodesFlag = ()

    out_unit: Annotated[str | None, arg("m|cm|mm|in|METRES", "m, and in USD and NPZ the unit of the file")] = None
    """The unit of the output. Formats with a fixed unit (glTF, URDF, MJCF) keep that."""

    out_up: Annotated[Up | None, arg("x|y|z", "y, and in USD and NPZ the axis of the file")] = None
    """The up axis of the output. Formats with a fixed axis (glTF, URDF, MJCF) keep that."""

    tolerance: Annotated[float | None, arg("FRACTION", "1e-4")] = None
    """Largest error of animated GLB positions as a fraction of the object's size."""

    fps: Annotated[float | None, arg("RATE", "as they are")] = None
    """Frames per second to resample animations to."""

    force: ForceFlag = False
    json: JsonFlag = False

    physics: tyro.conf.OmitArgPrefixes[PhysicsFlags] = field(default_factory=PhysicsFlags)

    def run(self) -> dict[str, Any]:
        from neurok.doctor import decimate_asset

        asset = self._read()
        if self.clip is not None:
            asset = replace(asset, clips=(asset.clip(self.clip),))
        if self.fps is not None:
            asset = replace(asset, clips=tuple(clip.resampled(self.fps) for clip in asset.clips))
        if self.max_faces is not None:
            asset = decimate_asset(asset, self.max_faces)
        read, asset = asset.mesh, self.physics.scaled(asset)
        fitting = [self._fitting(self._framed(asset, path), path) for path in self.out]
        with together():
            written = [self._write(one, path) for one, path in zip(fitting, self.out)]
        outputs = [_figures(path, one, files) for path, one, files in zip(self.out, fitting, written)]
        notes = list(dict.fromkeys(note for one in fitting for note in one.notes))
        self.say(*map(_sentence, outputs), *(f"  {note}" for note in notes), f"Read with {frame_words(read)}.")
        files = [str(path) for paths in written for path in paths]
        totals = {"files": files, "bytes": sum(one["bytes"] for one in outputs), "notes": notes}
        return {"input": self.input, **frame_facts(read), **outputs[0], **totals, "outputs": outputs}

    def check_flags(self) -> None:
        from neurok.io.formats import WRITERS

        self.physics.check(self.out)
        if self.tolerance is not None and not any(path.suffix.lower() in TAKES_TOLERANCE for path in self.out):
            raise NeurokError(f"--tolerance is for {' and '.join(TAKES_TOLERANCE)} files, not '{self.out[0]}'.")
        check_outputs(self.out, [self.input], force=self.force, known=(*WRITERS, *PICTURES))

    def _read(self) -> Asset:
        """The object in the frame it is read in.

        Numbers pass as they are from glTF to glTF, and where no file says what they mean.
        """
        from neurok.io import load
        from neurok.io.formats import states_frame
        from neurok.io.nodes import sentence

        frames = (self.unit, self.up, self.out_unit, self.out_up)
        paths = [self.input, *map(str, self.out)]
        passes = all(Path(path).suffix.lower() in PASSES for path in paths) or not any(map(states_frame, paths))
        if all(word is None for word in frames) and passes:
            asset = load(self.input, nodes=self.nodes)
            warn(sentence(asset))
            return asset
        return load_framed(self.input, self.unit, self.up, self.nodes)

    def _framed(self, asset: Asset, path: Path) -> Asset:
        """The asset with the frame of an output taken on."""
        from neurok.io.formats import WITHOUT_FRAME

        if self.out_up is None and self.out_unit is None:
            return asset
        if path.suffix.lower() in WITHOUT_FRAME:
            # Their writers turn everything y up and to metres; numbers called that already pass as they are.
            return asset.in_frame(self.out_up or "y", _metres(self.out_unit, 1.0)).relabelled("y", 1.0)
        return asset.in_frame(self.out_up or asset.mesh.up, _metres(self.out_unit, asset.mesh.unit))

    def _fitting(self, asset: Asset, path: Path) -> Asset:
        """The asset without the clips and joints that the output cannot hold, and with a word about them."""
        from neurok.io.files import is_pattern
        from neurok.io.formats import ALL_CLIPS, ONE_CLIP, WITH_JOINTS, looks_left_out

        suffix = path.suffix.lower()
        if suffix in PICTURES:
            return asset
        notes = []
        if len(asset.clips) > 1 and (suffix in ONE_CLIP or is_pattern(path)):
            notes.append(f"Only the animation '{asset.clips[0].name}' is written; --clip chooses another.")
            asset = replace(asset, clips=asset.clips[:1])
        elif asset.clips and suffix not in ALL_CLIPS + ONE_CLIP and not is_pattern(path):
            notes.append(f"Animations are left out: '{suffix}' files hold none.")
            asset = replace(asset, clips=())
        if asset.articulation is not None and suffix not in WITH_JOINTS:
            notes.append(f"Joints are left out: '{suffix}' files hold none.")
            asset = replace(asset, articulation=None)
        notes += [*self.physics.left_out(asset, path), *looks_left_out(asset, path)]
        return replace(asset, notes=(*asset.notes, *notes))

    def _write(self, asset: Asset, path: Path) -> list[Path]:
        from neurok.io import save
        from neurok.scene.output import render

        suffix = path.suffix.lower()
        if suffix in PICTURES:
            render(asset, path, fps=self.fps, watch=self.watch)
            return [path]
        options = self.physics.options(path)
        if self.tolerance is not None and suffix in TAKES_TOLERANCE:
            options["tolerance"] = self.tolerance
        return save(asset, path, **options)


def _figures(path: Path, asset: Asset, files: list[Path]) -> dict[str, Any]:
    joints = asset.articulation.joints if asset.articulation is not None else ()
    return {
        "output": str(path),
        "files": [str(file) for file in files],
        "vertices": asset.mesh.vertex_count,
        "faces": asset.mesh.face_count,
        "parts": asset.mesh.part_count,
        "clips": [clip.name for clip in asset.clips],
        "joints": sum(joint.kind != "fixed" for joint in joints),
        "bytes": sum(file.stat().st_size for file in files),
    }


def _metres(unit: str | None, otherwise: float) -> float:
    from neurok.doctor.frame import parse_unit

    return otherwise if unit is None else parse_unit(unit)


def _sentence(figures: dict[str, Any]) -> str:
    extras = [counted(figures["faces"], "face"), counted(figures["parts"], "part")]
    extras += [counted(len(figures["clips"]), "clip")] if figures["clips"] else []
    extras += [counted(figures["joints"], "joint")] if figures["joints"] else []
    beside = f" and {len(figures['files']) - 1} files beside it" if len(figures["files"]) > 1 else ""
    return f"Wrote {figures['output']}{beside}: {', '.join(extras)}, {figures['bytes'] / 1e6:.2f} MB."
