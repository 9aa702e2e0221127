"""``neurok pose`` and ``neurok sample``: one pose of an object that is asked for, or several plausible ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.flags import (
    ForceFlag,
    JsonFlag,
    NeededOut,
    NodesFlag,
    PlanFlag,
    SeedFlag,
    UnitFlag,
    UpFlag,
    WeightsFlag,
    arg,
)
from neurok.cli.outputs import (
    EXIT_CODES,
    PICTURES,
    Command,
    SpaceName,
    check_outputs,
    frame_facts,
    frame_words,
    space_facts,
    understood,
    written,
)
from neurok.errors import NeurokError, counted

if TYPE_CHECKING:
    from neurok.core import Asset
    from neurok.posing.verbs import Samples, Target


@dataclass(frozen=True)
class FitFlags:
    """How a target is fitted."""

    partial: bool = False
    """The target is a scan that shows only a part of the object; parts that it does not show stay near rest."""

    deform: bool = False
    """Leave the object's own joints or bones as far as a target that shows the whole object requires; rigid parts stay
    rigid unless the target clearly bends them."""


@dataclass
class PoseCommand(Command):
    """Pose an object to fit a target, or to move some of its places to given points."""

    mesh: Annotated[tyro.conf.Positional[str], arg("OBJECT")]
    """Object to pose: a file, a PartNet-Mobility folder or sample:NAME."""

    out: NeededOut
    """Where to write the posed object: any format of meshes, or .png .jpg .webp for a picture."""

    target: Annotated[str | None, arg("FILE", "places of --move")] = None
    """Mesh to fit: vertex by vertex if it has the same faces, else by its shape. Or a point cloud, which may show only
    a part of the object: a file without faces (such as .ply), or an .npy of rows x, y, z in its frame."""

    move: Annotated[tuple[str, ...], arg("AT:POINT"), tyro.conf.UseAppendAction] = ()
    """Move a place (see 'neurok simulate --help') to a point, in the unit of the object; may be repeated."""

    seed: SeedFlag = 0

    space: SpaceName = "auto"
    """Which poses it can take: those of its joints, of its own clip, or learned ones; auto takes the first one
    available."""

    plan: PlanFlag = None
    weights: WeightsFlag = None
    unit: UnitFlag = None
    up: UpFlag = None
    nodes: NodesFlag = ()
    force: ForceFlag = False
    json: JsonFlag = False

    fitting: tyro.conf.OmitArgPrefixes[FitFlags] = field(default_factory=FitFlags)

    def check_flags(self) -> None:
        from neurok.io.formats import WRITERS

        inputs = [self.mesh, self.target, self.plan]
        check_outputs(self.out, inputs, force=self.force, known=(*WRITERS, *PICTURES), what="a posed object")

    def run(self) -> dict[str, Any]:
        from neurok.posing.verbs import pose

        model, move = understood(self.mesh, self.unit, self.up, nodes=self.nodes, plan=self.plan), _moves(self.move)
        asset = model.asset
        found = pose(
            model,
            target=self._target(asset),
            move=move,
            partial=self.fitting.partial,
            deform=self.fitting.deform,
            space=self.space,
            weights=self.weights,
            seed=self.seed,
        )
        posed = replace(asset, mesh=found.mesh(asset.mesh), clips=(), articulation=None)
        files = written(self.out, lambda path: _write_posed(posed, path))
        names, verdict = ", ".join(map(str, self.out)), found.verdict
        assert verdict is not None, "the verb judges"
        self.exit_code = EXIT_CODES.get(found.status, 0)
        away = f"{found.residual:.4f} of the object's side away from the wish"
        self.say(f"{names}: {verdict.sentence} ({away}, {found.status})")
        self.say(f"Read with {frame_words(asset.mesh)}. Space {found.why}")
        return {
            "out": str(self.out[0]),
            "files": files,
            "status": found.status,
            **frame_facts(asset.mesh),
            **space_facts(found.space, found.why),
            "residual": found.residual,
            "fit": verdict.grade,
            "reached": round(verdict.reached, 4),
            "torn": round(verdict.torn, 4),
            "apart": verdict.apart,
            "waits": [list(pair) for pair in verdict.obstructions],
            "q": found.q.tolist(),
        }

    def _target(self, asset: Asset) -> Target | None:
        """The target; where neither file says in which frame it is, both are in the same."""
        from neurok.errors import MeshError
        from neurok.io import load
        from neurok.io.formats import states_frame

        alike = self.target is not None and not (states_frame(self.mesh) or states_frame(self.target))
        if self.target is None or not alike:
            return self.target
        try:
            return load(self.target).relabelled(asset.mesh.up, asset.mesh.unit)
        except MeshError as error:
            if len(error.draft.faces) or not len(error.draft.vertices):
                raise
            return error.draft.vertices


def _write_posed(posed: Asset, path: Path) -> list[Path]:
    """The posed object, or a picture of it."""
    from neurok.io import save
    from neurok.rendering import render_mesh, save_image

    if path.suffix.lower() not in PICTURES:
        return save(posed, path)
    save_image(render_mesh(posed.mesh), path)
    return [path]


def _moves(words: tuple[str, ...]) -> dict[str, tuple[float, float, float]]:
    """Places and points out of ``AT:POINT``."""
    from neurok.core.select import parse_vector

    moves: dict[str, tuple[float, float, float]] = {}
    for word in words:
        at, _, point = word.rpartition(":")
        if at in moves:
            raise NeurokError(f"The place '{at}' is moved twice; give one --move for each place.")
        moves[at] = parse_vector(point, "--move")
    return moves


@dataclass
class Sample(Command):
    """Sample plausible states of an object: a contact sheet (.png), a motion through them, or a folder of meshes."""

    mesh: Annotated[tyro.conf.Positional[str], arg("OBJECT")]
    """Object: a file, a PartNet-Mobility folder or sample:NAME."""

    out: NeededOut
    """A .png for a contact sheet; .glb, .usd or .npz for one motion through all states, on joints or bones; a name
    without suffix is a folder, which gets state_0000.glb and so on."""

    count: Annotated[int, arg("N", aliases=("-n",))] = 8
    """How many states."""

    seed: SeedFlag = 0

    space: SpaceName = "auto"
    """Which states: those of its joints, of the bones recovered from its own clip, or learned ones of its body plan;
    auto takes the first one available."""

    plan: PlanFlag = None
    weights: WeightsFlag = None
    unit: UnitFlag = None
    up: UpFlag = None
    nodes: NodesFlag = ()
    force: ForceFlag = False
    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.posing.verbs import sample

        model = understood(self.mesh, self.unit, self.up, nodes=self.nodes, plan=self.plan)
        states = sample(model, self.count, space=self.space, weights=self.weights, seed=self.seed)
        asset = model.asset
        files = written(self.out, lambda path: self._write(asset, states, path))
        names = ", ".join(map(str, self.out))
        self.say(f"{counted(self.count, 'state')} of {counted(states.space.dim, 'coordinate')}: {names}")
        self.say(f"Read with {frame_words(asset.mesh)}. Space {states.why}")
        figures = {"out": str(self.out[0]), "files": files, "count": self.count, **frame_facts(asset.mesh)}
        return {**figures, **space_facts(states.space, states.why), "q": states.q.tolist()}

    def check_flags(self) -> None:
        from neurok.io.formats import FORMATS

        moving = [suffix for suffix, holds in FORMATS.items() if holds.clips != "none" and holds.joints]
        for path in self.out:
            if path.suffix and path.suffix.lower() not in (".png", *moving):
                raise NeurokError(
                    f"States go into a .png sheet or a folder, or a motion ({', '.join(moving)}), got '{path}'."
                )
        check_outputs([path for path in self.out if path.suffix], [self.mesh, self.plan], force=self.force)

    def _write(self, asset: Asset, states: Samples, path: Path) -> list[Path]:
        from neurok.io import save
        from neurok.rendering import contact_sheet, render_mesh, save_image

        if path.suffix.lower() == ".png":
            drawn = self.progress(states, "drawing", len(states))
            save_image(contact_sheet([render_mesh(mesh, width=320, height=260) for mesh in drawn]), path)
            return [path]
        if path.suffix:
            clip = states.clip()
            return save(replace(asset, mesh=clip.rest, clips=(clip,), articulation=states.space.articulation), path)
        meshes = enumerate(self.progress(states, "writing", len(states)))
        return [file for number, mesh in meshes for file in save(mesh, path / f"state_{number:04d}.glb")]
