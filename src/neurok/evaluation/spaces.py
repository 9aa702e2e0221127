"""Registration in a space of poses: the learned one, the true joints, and principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Clip, Mesh
from neurok.evaluation.cases import random_states
from neurok.geometry.sampling import sample_surface
from neurok.inference.spaces import learned_spaces
from neurok.kinematics.articulated import ArticulatedSpace
from neurok.kinematics.linear import LinearSpace
from neurok.kinematics.skeleton import skeleton_space
from neurok.kinematics.space import on_vertices
from neurok.posing.pose import pose_to_points
from neurok.posing.registration import RegistrationConfig, register_points
from neurok.posing.verbs import pose

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


def bones(
    rest: Mesh, target: Float[np.ndarray, "N 3"], rng: np.random.Generator, seed: int = 0
) -> Float[np.ndarray, "V 3"]:
    """The skeleton of the surface alone, without a plan or a network; the rest shape where there are no bones."""
    space = skeleton_space(rest, loose=True)
    return rest.vertices if space is None else pose_to_points(space, target, seed).vertices


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
    """The spaces inferred from the rest mesh alone: that of its plan, then the prior; only the prior if a reduction is
    asked for."""
    from neurok.inference.infer import infer

    seed = int(rng.integers(1 << 31))
    spaces = learned_spaces(rest, model, **plan_weights, possible=True) if mode is None and dim is None else []
    spaces = spaces or [infer(rest, model, wide=True, mode=mode or "gram", dim=dim)]
    found = pose(rest, target=target, deform=closer, spaces=spaces, seed=seed)
    return on_vertices(rest, found.space.rest, found.vertices)
