"""Objects that lie askew: their own frame from their flat sides, and the way up that the network is surest of."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float

from neurok.articulation.config import CLOUDS
from neurok.articulation.features import PartClouds, describe_parts
from neurok.articulation.network import JointModel
from neurok.articulation.views import stack_clouds, turned
from neurok.core import Mesh
from neurok.core.mesh import frame_change
from neurok.geometry.lie import quarter_turns
from neurok.geometry.operators import face_areas, face_normals

# When an object lies askew. By eye; found the frame of 19 training objects out of 19 that have one.
# Normals nearer than this to a direction belong to it, and a frame this near to up stands upright [cosine].
CLOSE = math.cos(math.radians(8.0))
FACING = 0.4  # Share of the surface that must face along the frame; round and grown things have none.
MOST_FACES = 2000  # Faces that are looked at: the largest.

WAYS_UP = (*quarter_turns(0)[[0, 2]], *quarter_turns(2)[[1, 3]], *quarter_turns(0)[[3, 1]])
"""Turns that bring each of the six directions of a frame to +y."""


def find_upright(mesh: Mesh, members: Sequence[JointModel], seed: int = 0) -> Float[np.ndarray, "3 3"]:
    """The turn from the axes of the mesh to +y up: as the mesh says, unless its flat sides show that it lies askew."""
    said = frame_change(mesh.up, "y")
    frame = main_frame(mesh)
    if frame is None or np.abs(frame @ mesh.up_vector).max() > CLOSE:
        return said
    clouds = describe_parts(mesh, seed, frame)
    return max(WAYS_UP, key=lambda way: sum(certainty(model, clouds, way) for model in members)) @ frame


def main_frame(mesh: Mesh) -> Float[np.ndarray, "3 3"] | None:
    """Three directions across each other that most of the surface faces along, as the rows of a turn; or none."""
    areas = face_areas(mesh.vertices, mesh.faces)
    normals = np.nan_to_num(face_normals(mesh.vertices, mesh.faces))
    if len(areas) > MOST_FACES:  # the largest tell enough
        largest = np.argsort(-areas, kind="stable")[:MOST_FACES]
        areas, normals = areas[largest], normals[largest]
    normals, group = np.unique(np.round(normals, 5) + 0.0, axis=0, return_inverse=True)
    areas = np.bincount(group.reshape(-1), weights=areas)
    first = _main_direction(normals, areas)
    if first is None:
        return None
    across = np.abs(normals @ first) < np.sqrt(1.0 - CLOSE**2)
    second = _main_direction(normals[across], areas[across])
    if second is None:
        return None
    second = second - (second @ first) * first
    second /= np.linalg.norm(second)
    frame = np.stack([second, first, np.cross(second, first)])
    facing = (np.abs(normals @ frame.T).max(axis=1) > CLOSE) @ areas
    return frame if facing > FACING * areas.sum() else None


def _main_direction(normals: Float[np.ndarray, "F 3"], areas: Float[np.ndarray, " F"]) -> Float[np.ndarray, "3"] | None:
    if not len(areas) or not areas.sum() > 0:
        return None
    shared = (np.abs(normals @ normals.T) > CLOSE) @ areas
    best = normals[int(shared.argmax())]
    group = np.abs(normals @ best) > CLOSE
    mean = (normals[group] * (np.sign(normals[group] @ best) * areas[group])[:, None]).sum(axis=0)
    return mean / np.linalg.norm(mean)


@torch.no_grad()
def certainty(model: JointModel, clouds: PartClouds, way: Float[np.ndarray, "3 3"]) -> float:
    """How sure the network is of the kinds and axes of an object that is turned this way, on a log scale."""
    view = turned(clouds, None, way)[0]
    parts = stack_clouds([view], CLOUDS.view_points, np.random.default_rng(0))
    motions = model.motions(parts, model.encode(parts))
    kinds = motions.kinds.log_softmax(dim=-1).amax(dim=-1)
    axes = motions.axes.log_softmax(dim=2).amax(dim=2).mean(dim=-1)
    return float((kinds + axes).mean())
