"""Where the vertices of a body are when a run begins, and how fast its particles move then."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.body import Body
from neurok.dynamics.condition import Condition
from neurok.dynamics.reduced.build import mechanics_of, start_of
from neurok.geometry import lie


@dataclass(frozen=True, eq=False)
class Beginning:
    """One body at the start."""

    vertices: Float[np.ndarray, "V 3"]
    """[m]."""

    pose: Float[np.ndarray, "4 4"]
    """From the object's frame to the world's, in mesh units."""

    velocity: Float[np.ndarray, "3"]
    """[m/s]."""

    spin: Float[np.ndarray, "3"]
    """About its centre of mass [rad/s]."""

    more: Float[np.ndarray, "V 3"] | None
    """Of each vertex, besides [m/s]; ``None`` where it is zero."""

    def velocities_at(
        self, points: Float[np.ndarray, "P 3"], vertex: Int[np.ndarray, " P"], masses: Float[np.ndarray, " P"]
    ) -> Float[np.ndarray, "P 3"]:
        """Of particles; each gets what the vertex nearest to it has of its own."""
        from scipy.spatial import cKDTree

        centre = masses @ points / masses.sum()
        out = self.velocity + np.cross(self.spin, points - centre)
        if self.more is not None:
            out = out + self.more[cKDTree(self.vertices).query(points)[1]]
        return out


def beginning_of(body: Body) -> Beginning:
    """The start of a body; wished positions are met as far as its joints allow."""
    mesh, start = body.mesh, body.condition.start
    unit, free = mesh.unit, body.free
    pose = np.eye(4) if body.placement is None else np.array(body.placement)
    velocity, spin = (np.array(vector) if free else np.zeros(3) for vector in (start.velocity * unit, start.spin))
    wish = start.velocities
    if start.q is None and start.qdot is None and start.positions is None:
        vertices, more = lie.apply(pose, mesh.vertices) * unit, None
    else:
        plain = replace(body, condition=Condition(replace(start, velocities=None)))
        mechanics = mechanics_of(plain)
        pose, q, qdot = start_of(plain, mechanics)
        vertices = mechanics.positions(pose, q) * unit
        base = mechanics.dim - body.poses.dim
        qdot[:base] = 0.0
        more = None
        if np.any(qdot):
            motion = mechanics.motion(pose, q[None], qdot[None])
            more = mechanics.points(np.arange(mesh.vertex_count)).velocities(motion)[0] * unit
    if wish is not None:
        more = np.zeros_like(vertices) if more is None else more
        more[wish.vertices] = wish.values * unit
    return Beginning(vertices, pose, velocity, spin, more)
