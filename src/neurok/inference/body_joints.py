"""Joints of rigid bodies: the motion on which the prior of the network and the geometry at hand agree.

The prior of a body is a cloud of screws around the right one, blind to edges and gaps: a lid drawn from it turns about
its hinge and a little about everything else. The geometric search knows lines along which a body neither collides nor
comes loose, but not which of them is meant. A line is the likelier the better the search thinks of it and the nearer
it lies to the prior; the body keeps the best, with the pace that the prior has and the room that the search has found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.contacts import PartSamples, contact_graph
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.search import search_joints
from neurok.bodyplan.tree import find_tree
from neurok.inference.gather import Motions, gathered, metric

BLUR = 0.03
"""Share of the motion of a body that the prior leaves open in every direction."""

CLASH = 1.0
"""What a line costs, in nats, along which the search could not move the body: meshes interpenetrate, so it may err."""

FASTEST = 0.5
"""Angle [rad] of one standard deviation at most: thin rods that turn about themselves hardly move by it."""

LEAST_ROOM = 1e-3
"""A joint must have this much room: an angle [rad], or a share of the box."""

UNLIKELY = 1e-5
"""Least score of a line."""


@dataclass(frozen=True, eq=False)
class BodyJoint:
    """One coordinate: a screw of bodies that move as one."""

    bodies: tuple[int, ...]
    twist: Float[np.ndarray, "6"]
    """About the origin, for one standard deviation of the prior."""

    middle: float
    limits: tuple[float, float]
    """In standard deviations; infinite where geometry says nothing."""

    latent: Float[np.ndarray, " Z"]
    """The direction of the latent space that moves it most."""


def body_joints(motions: Motions) -> list[BodyJoint]:
    """A joint for each body that moves, the liveliest first."""
    motions = gathered(motions)
    if not motions.screws:
        return []
    names, mesh = motions.parts()
    contacts = contact_graph(mesh)
    search = search_joints(mesh, contacts, find_tree(contacts, mesh.up_vector, base=0))
    found = []
    for part, cloud in enumerate(contacts.samples):
        tried = (*search.hypotheses[part], *search.rejected[part])
        lines = [line for line in tried if line.kind not in ("fixed", "cylindrical") and _leads_anywhere(line)]
        if cloud is not None and lines:
            body = int(names[part])
            found.append(_joint(lines, cloud, motions.screws[body], motions.middle, motions.members[body]))
    return [joint for joint, _ in sorted(found, key=lambda pair: -pair[1])]


def _joint(
    lines: list[Hypothesis],
    cloud: PartSamples,
    screws: Float[np.ndarray, "6 Z"],
    middle: Float[np.ndarray, " Z"],
    bodies: tuple[int, ...],
) -> tuple[BodyJoint, float]:
    """The likeliest of the lines as a joint, and the mean square of how far the body moves."""
    root = np.linalg.cholesky(metric(cloud.points)).T
    seen = root @ screws
    energy = float((seen**2).sum())
    twists = unit_twists(lines)
    paces = np.linalg.norm(twists @ root.T, axis=1)
    ways = twists @ root.T / paces[:, None]
    covariance = seen @ seen.T / max(energy, 1e-300) + BLUR * np.eye(6)
    strange = np.einsum("ni,ni->n", ways, np.linalg.solve(covariance, ways.T).T)
    scores = np.log([max(line.probability, UNLIKELY) for line in lines]) - CLASH * np.array(
        [not c.is_valid for c in lines]
    )
    best = int((scores - 0.5 * strange).argmax())
    along = ways[best] @ seen
    step = float(np.sqrt(energy) / paces[best])
    if lines[best].kind != "prismatic":
        step = min(step, FASTEST)
    joint = BodyJoint(
        bodies,
        twists[best] * step,
        float(along @ middle / max(step * paces[best], 1e-300)),
        _limits(lines[best], step),
        along / max(float(np.linalg.norm(along)), 1e-300),
    )
    return joint, energy


def _leads_anywhere(line: Hypothesis) -> bool:
    """Whether a line that was not rejected has any room."""
    return line.kind == "continuous" or not line.is_valid or bool(line.upper - line.lower > LEAST_ROOM)


def _limits(line: Hypothesis, step: float) -> tuple[float, float]:
    """What the search allows, in standard deviations; wheels and what it could not move have no limits."""
    if line.kind == "continuous" or not line.is_valid or not step > 0:
        return -np.inf, np.inf
    return line.lower / step, line.upper / step


def unit_twists(lines: list[Hypothesis]) -> Float[np.ndarray, "N 6"]:
    """Turning by one radian, or sliding by one unit, as twists about the origin."""
    axes, origins = np.stack([line.axis for line in lines]), np.stack([line.origin for line in lines])
    slides = np.array([line.kind == "prismatic" for line in lines])[:, None]
    turning = np.concatenate([axes, np.cross(origins, axes)], axis=1)
    return np.where(slides, np.concatenate([np.zeros_like(axes), axes], axis=1), turning)
