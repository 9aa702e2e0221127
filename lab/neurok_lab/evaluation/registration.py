"""What a user would pick instead: registration methods that know nothing of how objects move.

Each takes a rest mesh in its unit box, a cloud of target points and a source of randomness, and returns vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from neurok.core import Articulation, Clip, Mesh
from neurok.errors import require
from neurok.geometry import lie
from neurok.geometry.cells import Cells, Pulls, cells_of, sample_rows
from neurok.geometry.decimate import decimate
from neurok.geometry.sampling import sample_evenly, sample_surface
from neurok.geometry.topology import face_components, vertex_labels
from neurok.geometry.transfer import Transfer
from neurok.kinematics.articulated import ArticulatedSpace
from neurok.kinematics.linear import LinearSpace
from neurok.kinematics.skeleton import skeleton_space
from neurok.kinematics.space import on_vertices
from neurok.model import Weights, understand
from neurok.posing.pose import pose_to_points
from neurok.posing.registration import RegistrationConfig, register_points
from neurok.posing.verbs import pose
from neurok_lab.evaluation.cases import random_states


def no_motion(rest: Mesh, target: Float[np.ndarray, "N 3"], rng: np.random.Generator) -> Float[np.ndarray, "V 3"]:
    """The rest shape."""
    return rest.vertices


def rigid_icp(rest: Mesh, target: Float[np.ndarray, "N 3"], rng: np.random.Generator) -> Float[np.ndarray, "V 3"]:
    """The whole object moved rigidly: iterated closest points in both directions."""
    points = sample_surface(rest.vertices, rest.faces, 2000, rng).interpolate(rest.vertices)
    thin, tree = target[rng.permutation(len(target))[:2000]], cKDTree(target)
    transform = np.eye(4)
    for _ in range(40):
        moved = lie.apply(transform, points)
        near, owner = tree.query(moved)[1], cKDTree(moved).query(thin)[1]
        new = lie.fit_rigid(np.concatenate([points, points[owner]]), np.concatenate([target[near], thin]))
        if np.abs(new - transform).max() < 1e-6:
            break
        transform = new
    return lie.apply(transform, rest.vertices)


def coherent_drift(
    rest: Mesh,
    target: Float[np.ndarray, "N 3"],
    rng: np.random.Generator,
    count: int = 500,
    rounds: int = 100,
) -> Float[np.ndarray, "V 3"]:
    """Non-rigid coherent point drift of evenly spread points (pycpd), carried to the vertices by its kernel."""
    require("pycpd", "peers")
    from pycpd import DeformableRegistration

    stiffness = width = 2.0  # for points of zero mean and unit variance
    samples = sample_evenly(rest.vertices, rest.faces, count, rng, oversample=4)
    source = samples.interpolate(rest.vertices)
    thin = target[rng.permutation(len(target))[: 2 * count]]
    center, spread = source.mean(axis=0), float(source.std())
    scaled = lambda x: (x - center) / spread  # noqa: E731
    drift: Any = DeformableRegistration(
        X=scaled(thin), Y=scaled(source), alpha=stiffness, beta=width, max_iterations=rounds, tolerance=1e-5
    )
    drift.register()
    vertices = scaled(rest.vertices)
    out = np.empty_like(vertices)
    for start in range(0, len(vertices), 4096):
        block = vertices[start : start + 4096]
        apart = ((block[:, None] - drift.Y[None]) ** 2).sum(axis=2)
        out[start : start + 4096] = block + np.exp(-apart / (2 * width**2)) @ drift.W
    return out * spread + center


MAX_FACES = 5000
PULL = (0.002, 0.2)  # strength of a pair at first and in the end ...
TRUST = (0.5, 0.05)  # ... and the distance at which it counts half [unit box]


def rigid_cells_icp(
    rest: Mesh,
    target: Float[np.ndarray, "N 3"],
    rng: np.random.Generator,
    rounds: int = 40,
    count: int = 2500,
) -> Float[np.ndarray, "V 3"]:
    """Closest points in both directions pull on surface samples, ever harder, and far pairs are trusted ever less.

    Works on a coarser mesh with libigl's cotangent weights; neighbouring components are loosely tied.
    """
    groups = face_components(rest.vertices, rest.faces, rest.face_surfaces)
    coarse, faces, face_groups = decimate(rest.vertices, rest.faces, MAX_FACES, groups)
    cells = make_cells(coarse, faces, face_groups)
    samples = sample_surface(coarse, faces, count, rng)
    thin, tree = target[rng.permutation(len(target))[:count]], cKDTree(target)
    x = coarse.copy()
    for strength, reach in zip(np.geomspace(*PULL, rounds), np.geomspace(*TRUST, rounds)):
        points = samples.interpolate(x)
        forward, near = tree.query(points)
        backward, owner = cKDTree(points).query(thin)
        away = np.concatenate([forward, backward])
        weight = strength / (1.0 + (away / reach) ** 2) / count
        select = sample_rows(samples, np.concatenate([np.arange(len(points)), owner]), len(coarse))
        x = cells.relaxed(x, Pulls(select, np.concatenate([target[near], thin]), weight))
    owners = vertex_labels(rest.faces, groups, rest.vertex_count)
    return Transfer.between(coarse, faces, rest.vertices, face_groups, owners)(x)


def make_cells(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], face_groups: Int[np.ndarray, " F"]
) -> Cells:
    """Cells with libigl's cotangents."""
    require("igl", "peers")
    import igl

    return cells_of(igl.cotmatrix(vertices, faces), vertices, faces, face_groups)


SAMPLES = 1500
STARTS = 64
MOST_FRAMES = 200


def register_in(
    space: Any,
    rest: Mesh,
    target: Float[np.ndarray, "N 3"],
    starts: Float[np.ndarray, "S D"],
    rng: np.random.Generator,
    config: RegistrationConfig | None = None,
) -> Float[np.ndarray, "V 3"]:
    """Vertices of the pose of a space that fits a cloud best; the mesh lies in its unit box."""
    samples = sample_surface(rest.vertices, rest.faces, SAMPLES, rng)
    found = register_points(space, samples.interpolate(space.features), target, starts, 1.0, config)
    return space.features @ space.shape(found.q[None])[0][0]


def true_joints(
    articulation: Articulation, rest: Mesh, target: Float[np.ndarray, "N 3"], rng: np.random.Generator
) -> Float[np.ndarray, "V 3"]:
    """The upper bound: the search of the learned space, over the true joints."""
    guesses = random_states(articulation, STARTS - 1, rng)
    starts = np.concatenate([np.zeros((1, articulation.dof)), guesses])
    return register_in(ArticulatedSpace(articulation), rest, target, starts, rng, RegistrationConfig(prior=1e-8))


def principal_components(
    clips: tuple[Clip, ...], rest: Mesh, target: Float[np.ndarray, "N 3"], rng: np.random.Generator, count: int = 16
) -> Float[np.ndarray, "V 3"]:
    """A linear space of other motions of the same object."""
    frames = np.concatenate([clip.positions for clip in clips])
    frames = frames[np.linspace(0, len(frames) - 1, min(len(frames), MOST_FRAMES)).round().astype(int)]
    space = LinearSpace.from_clip(Clip(rest, frames), count)
    seen = np.linalg.lstsq(space.basis.reshape(space.dim, -1).T, (frames - rest.vertices).reshape(len(frames), -1).T)[
        0
    ].T
    chosen = rng.choice(len(seen), min(STARTS - 1, len(seen)), replace=False)
    starts = np.concatenate([np.zeros((1, space.dim)), seen[chosen]])
    return register_in(space, rest, target, starts, rng)


def bones(rest: Mesh, target: Float[np.ndarray, "N 3"], rng: np.random.Generator) -> Float[np.ndarray, "V 3"]:
    """The skeleton of the surface alone, without a plan or a network; the rest shape where there are no bones."""
    space = skeleton_space(rest, loose=True)
    return rest.vertices if space is None else pose_to_points(space, target, 0).vertices


def learned(
    model: Any,
    mode: Any,
    dim: int | None,
    closer: bool,
    plan_weights: dict[str, Any],
    rest: Mesh,
    target: Float[np.ndarray, "N 3"],
    rng: np.random.Generator,
) -> Float[np.ndarray, "V 3"]:
    """The spaces inferred from the rest mesh alone: those of its plan; only the latent if a reduction is asked for."""
    seed = int(rng.integers(1 << 31))
    networks = Weights(model, plan_weights.get("joint_weights"), plan_weights.get("piece_weights"))
    known = understand(rest, parts="pieces", weights=networks)
    if mode is None and dim is None:
        spaces = known.learned_spaces(target=True, deform=True)
    else:
        spaces = [known.latent_space(mode or "gram", dim)]
    found = pose(rest, target=target, deform=closer, spaces=spaces, seed=seed)
    return on_vertices(rest, found.space.rest, found.vertices)
