"""``neurok pose``: inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.report import say
from neurok.cli.space import SpaceName


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

        from neurok.cli.space import facts_of, find_space
        from neurok.dynamics.select import parse_vector, select_vertices
        from neurok.errors import NeurokError
        from neurok.io import load, save
        from neurok.kinematics.pose import pose_to_points, pose_to_vertices, refined

        if (self.target is None) == (not self.move):
            raise NeurokError("Say what the pose shall fit: either --target MESH or one or more --move AT:POINT.")
        if self.refine and self.target is None:
            raise NeurokError("--refine fits a target closer: it goes with --target MESH, not with --move.")
        asset = load(self.mesh)
        space = find_space(asset, self.mesh, self.space, self.weights, touch=False)
        if self.target is not None:
            target = load(self.target).mesh.in_frame(asset.mesh.up, asset.mesh.unit)
            if np.array_equal(target.faces, asset.mesh.faces):
                pose = pose_to_vertices(space, np.arange(target.vertex_count), target.vertices)
            else:
                pose = pose_to_points(space, _cloud(target), self.seed)
            if self.refine:
                pose = refined(space, pose, _cloud(target), self.seed)
        else:
            chosen, places = [], []
            for wish in self.move:
                at, _, point = wish.rpartition(":")
                vertices = select_vertices(asset.mesh, at)
                middle = asset.mesh.vertices[vertices].mean(axis=0)
                chosen.append(vertices)
                places.append(asset.mesh.vertices[vertices] - middle + parse_vector(point, "--move"))
            pose = pose_to_vertices(space, np.concatenate(chosen), np.concatenate(places))
        posed = pose.mesh(asset.mesh)
        save(replace(asset, mesh=posed, clips=(), articulation=None), self.out)
        figures = {"out": str(self.out), "status": pose.status, **facts_of(space), "residual": pose.residual}
        say(f"{self.out}: {pose.residual:.4f} of the object's side away from the wish ({pose.status})", json=self.json)
        return {**figures, "q": pose.q.tolist()}


def _cloud(target):  # type: ignore[no-untyped-def]
    """Points all over a mesh."""
    import numpy as np

    from neurok.geometry.sampling import sample_surface

    samples = sample_surface(target.vertices, target.faces, 10_000, np.random.default_rng(0))
    return samples.interpolate(target.vertices)
