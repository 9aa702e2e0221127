"""``neurok pose``: inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.frame import UnitFlag, UpFlag, load_framed
from neurok.cli.report import say
from neurok.cli.space import SpaceName

if TYPE_CHECKING:
    from neurok.core import Asset
    from neurok.posing.verbs import Target


@dataclass
class PoseCommand:
    """Pose an object so that it fits a target, or so that some of its places go where they are told."""

    mesh: tyro.conf.Positional[str]
    """Object to pose: a file, a PartNet-Mobility folder or sample:NAME."""

    out: Path
    """Where to write the posed object."""

    target: str | None = None
    """Mesh to fit: vertex by vertex where it has the same faces, else by its shape. Or a cloud of points, which may
    show a part of the object only: a file without faces (such as .ply), or an .npy of rows x, y, z in its frame."""

    move: Annotated[tuple[str, ...], tyro.conf.arg(metavar="AT:POINT"), tyro.conf.UseAppendAction] = ()
    """Bring a place (see 'neurok simulate --help') to a point, in the unit of the object; may be repeated."""

    partial: bool = False
    """The target is a scan that shows only a part of the object; what it does not show stays near rest."""

    refine: bool = False
    """After fitting a target that shows the whole object, leave the learned space as far as it demands; rigid parts
    stay rigid unless the target clearly bends them."""

    seed: int = 0
    """Of the starts of the search."""

    space: SpaceName = "auto"
    """Which poses it can take: those of its joints, of its own clip, or learned ones; auto takes the first there is."""

    plan: Path | None = None
    """A body plan that 'neurok plan' wrote and somebody may have edited."""

    weights: str | None = None
    """Of the learned space: a .safetensors file or a hub id; the shipped ones by default."""

    unit: UnitFlag = None
    up: UpFlag = None

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from dataclasses import replace

        from neurok.cli.space import facts_of, warn_of
        from neurok.io import save
        from neurok.posing.verbs import pose

        asset, move = load_framed(self.mesh, self.unit, self.up), _moves(self.move)
        found = pose(
            asset,
            target=self._target(asset),
            move=move,
            partial=self.partial,
            refine=self.refine,
            space=self.space,
            weights=self.weights,
            plan=self.plan,
            seed=self.seed,
        )
        warn_of(found.space)
        save(replace(asset, mesh=found.mesh(asset.mesh), clips=(), articulation=None), self.out)
        figures = {"out": str(self.out), "status": found.status, **facts_of(found.space), "residual": found.residual}
        say(
            f"{self.out}: {found.residual:.4f} of the object's side away from the wish ({found.status})", json=self.json
        )
        return {**figures, "q": found.q.tolist()}

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


def _moves(words: tuple[str, ...]) -> dict[str, tuple[float, float, float]]:
    """Places and points out of ``AT:POINT``."""
    from neurok.core.select import parse_vector
    from neurok.errors import NeurokError

    moves: dict[str, tuple[float, float, float]] = {}
    for word in words:
        at, _, point = word.rpartition(":")
        if at in moves:
            raise NeurokError(f"The place '{at}' is moved twice; give one --move for each place.")
        moves[at] = parse_vector(point, "--move")
    return moves
