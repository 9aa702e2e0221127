"""``neurok pose``: inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.report import say
from neurok.cli.space import SpaceName

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from neurok.core import Mesh

LITTLE_SEEN = 0.1
"""How much farther from a partial scan a pose along joints may be than one of the wider space, as a share."""

MISSED = 0.2
"""Share of the way of what is dragged that a pose along joints may miss before a wider space is taken."""


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

    weights: str | None = None
    """Of the learned space: a .safetensors file or a hub id; the shipped ones by default."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from dataclasses import replace

        import numpy as np

        from neurok.cli.space import facts_of, find_spaces
        from neurok.core.select import parse_vector, select_vertices
        from neurok.errors import NeurokError
        from neurok.io import load, save
        from neurok.posing.pose import pose_to_points, pose_to_vertices, refined, simplest

        if (self.target is None) == (not self.move):
            raise NeurokError("Say what the pose shall fit: either --target MESH or one or more --move AT:POINT.")
        if self.refine and self.target is None:
            raise NeurokError("--refine fits a target closer: it goes with --target MESH, not with --move.")
        if self.partial and (self.refine or self.target is None):
            raise NeurokError("--partial is for a target that shows a part only: give --target and leave out --refine.")
        asset = load(self.mesh)
        spaces = find_spaces(asset, self.mesh, self.space, self.weights)
        if self.target is not None:
            target, cloud = _read_target(self.target, asset.mesh)
            if target is not None and np.array_equal(target.faces, asset.mesh.faces):
                poses = [pose_to_vertices(s, np.arange(target.vertex_count), target.vertices) for s in spaces]
            else:
                poses = [pose_to_points(s, cloud, self.seed, partial=self.partial) for s in spaces]
            slack = LITTLE_SEEN * poses[-1].residual if self.partial else 0.0
            pose = refined(poses[-1], cloud, self.seed, poses[:-1]) if self.refine else simplest(poses, slack)
        else:
            chosen, places = [], []
            for move in self.move:
                at, _, point = move.rpartition(":")
                vertices = select_vertices(asset.mesh, at)
                middle = asset.mesh.vertices[vertices].mean(axis=0)
                chosen.append(vertices)
                places.append(asset.mesh.vertices[vertices] - middle + parse_vector(point, "--move"))
            grip, wish = np.concatenate(chosen), np.concatenate(places)
            way = float(np.linalg.norm(wish - asset.mesh.vertices[grip], axis=1).mean())
            slack = MISSED * way / float(np.ptp(asset.mesh.bounds, axis=0).max())
            pose = simplest([pose_to_vertices(s, grip, wish) for s in spaces], slack)
        posed = pose.mesh(asset.mesh)
        save(replace(asset, mesh=posed, clips=(), articulation=None), self.out)
        figures = {"out": str(self.out), "status": pose.status, **facts_of(pose.space), "residual": pose.residual}
        say(f"{self.out}: {pose.residual:.4f} of the object's side away from the wish ({pose.status})", json=self.json)
        return {**figures, "q": pose.q.tolist()}


def _read_target(path: str, like: Mesh) -> tuple[Mesh | None, Float[np.ndarray, "N 3"]]:
    """A mesh and points all over it, or the points of a file that has only those, in the frame of the object."""
    import numpy as np

    from neurok.core.mesh import frame_change
    from neurok.errors import MeshError, NeurokError
    from neurok.geometry.sampling import sample_surface
    from neurok.io import load

    if path.endswith(".npy"):
        try:
            points = np.load(path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise NeurokError(f"'{path}' cannot be read as an array of points; give a .npy of rows x, y, z.") from error
        if points.ndim != 2 or points.shape[1] != 3 or points.dtype.kind not in "fiu":
            raise NeurokError(f"A cloud needs rows of three numbers; '{path}' holds {points.dtype} of {points.shape}.")
        return None, points.astype(np.float64)
    try:
        target = load(path).mesh.in_frame(like.up, like.unit)
    except MeshError as error:
        draft = error.draft
        if len(draft.faces) or not len(draft.vertices):
            raise
        return None, draft.vertices @ frame_change(draft.up, like.up).T * (draft.unit / like.unit)
    samples = sample_surface(target.vertices, target.faces, 10_000, np.random.default_rng(0))
    return target, samples.interpolate(target.vertices)
