"""``neurok pose``: inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.report import say
from neurok.cli.space import SpaceName

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
    """Mesh to fit: vertex by vertex where it has the same faces, else by its shape; a point cloud may be partial."""

    move: Annotated[tuple[str, ...], tyro.conf.arg(metavar="AT:POINT"), tyro.conf.UseAppendAction] = ()
    """Bring a place (see 'neurok simulate --help') to a point, in the unit of the object; may be repeated."""

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
        from neurok.dynamics.select import parse_vector, select_vertices
        from neurok.errors import NeurokError
        from neurok.io import load, save
        from neurok.kinematics.pose import pose_to_points, pose_to_vertices, refined, simplest

        if (self.target is None) == (not self.move):
            raise NeurokError("Say what the pose shall fit: either --target MESH or one or more --move AT:POINT.")
        if self.refine and self.target is None:
            raise NeurokError("--refine fits a target closer: it goes with --target MESH, not with --move.")
        asset = load(self.mesh)
        spaces = find_spaces(asset, self.mesh, self.space, self.weights)
        if self.target is not None:
            target = load(self.target).mesh.in_frame(asset.mesh.up, asset.mesh.unit)
            if np.array_equal(target.faces, asset.mesh.faces):
                poses = [pose_to_vertices(s, np.arange(target.vertex_count), target.vertices) for s in spaces]
            else:
                poses = [pose_to_points(s, _cloud(target), self.seed) for s in spaces]
            pose = refined(poses[-1], _cloud(target), self.seed, poses[:-1]) if self.refine else simplest(poses)
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


def _cloud(target):  # type: ignore[no-untyped-def]
    """Points all over a mesh."""
    import numpy as np

    from neurok.geometry.sampling import sample_surface

    samples = sample_surface(target.vertices, target.faces, 10_000, np.random.default_rng(0))
    return samples.interpolate(target.vertices)
