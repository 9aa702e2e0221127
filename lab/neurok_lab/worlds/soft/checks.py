"""Whether a simulated clip can be trusted: each fault has a short name, so that rejections can be counted."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from neurok.core import Asset, Clip
from neurok.geometry import lie
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import is_watertight, unique_edges
from neurok.geometry.voxels import winding_numbers

VERTEX_RANGE = (300, 3000)
MOTION_RANGE = (0.01, 2.0)
"""Largest displacement from rest, as a share of the object's size."""

STRETCH_RANGE = (0.15, 2.5)
"""Length of nearly all edges against rest."""

MAX_SPEED = 15.0
"""[m/s]."""

MAX_JITTER = 0.5
"""Share of the motion that reverses from frame to frame."""

GROUND_TOLERANCE = 0.03
"""How far below its own lowest point at rest (or the floor) an object may go, as a share of its size."""

MAX_PENETRATION = 0.05
"""Share of the soft vertices that may be inside rigid parts where they were outside at rest."""


def check_clip(asset: Asset) -> list[str]:
    """The names of the faults of an asset's clips; an empty list means that all is well."""
    if not asset.clips:
        return ["no_clip"]
    faults: list[str] = []
    for clip in asset.clips:
        faults += [fault for fault in _faults(clip) if fault not in faults]
    return faults


def _faults(clip: Clip) -> list[str]:
    positions = np.asarray(clip.positions, dtype=np.float64)
    if not np.isfinite(positions).all():
        return ["not_finite"]
    found = {
        "vertex_count": not VERTEX_RANGE[0] <= clip.rest.vertex_count <= VERTEX_RANGE[1],
        "frame_count": not 24 <= clip.frame_count <= 40,
        "rest_mismatch": _rest_mismatch(clip, positions),
        "exploded": _is_torn(clip, positions) or _top_speed(clip, positions) > MAX_SPEED,
        "frozen": motion_share(clip, positions) < MOTION_RANGE[0],
        "ran_away": motion_share(clip, positions) > MOTION_RANGE[1],
        "jitter": jitter_share(positions, clip.rest.size) > MAX_JITTER,
        "below_ground": _sinks(clip, positions),
        "turned_inside_out": _is_inside_out(clip, positions),
        "penetrates": penetration_share(clip, positions) > MAX_PENETRATION,
    }
    return [name for name, is_wrong in found.items() if is_wrong]


def motion_share(clip: Clip, positions: Float[np.ndarray, "T V 3"]) -> float:
    """Largest distance of a vertex from its rest place over the object's size."""
    return float(np.linalg.norm(positions - clip.rest.vertices, axis=-1).max()) / clip.rest.size


def jitter_share(positions: Float[np.ndarray, "T V 3"], size: float) -> float:
    """How much of the motion goes back and forth at the frame rate.

    Compares each frame with the mean of its neighbours: smooth motion stays close to it (its square is the
    acceleration), while a vertex that flips between two places is as far from it as it moves.
    """
    if len(positions) < 4:
        return 0.0
    steps = np.diff(positions, axis=0)
    # Third differences: constant acceleration (free fall) counts as smooth.
    rough = np.sqrt(np.mean(np.sum(np.diff(steps, n=2, axis=0) ** 2, axis=-1), axis=0)) / 4.0
    moved = np.sqrt(np.mean(np.sum(steps**2, axis=-1), axis=0))
    moving = moved > 5e-4 * size
    if not moving.any():
        return 0.0
    return float(np.quantile(rough[moving] / moved[moving], 0.9))


def _rest_mismatch(clip: Clip, positions: Float[np.ndarray, "T V 3"]) -> bool:
    """The first frame must be a state near rest, and the rest shape must have area everywhere."""
    start = np.linalg.norm(positions[0] - clip.rest.vertices, axis=-1).max()
    areas = face_areas(clip.rest.vertices, clip.rest.faces)
    return bool(start > 0.05 * clip.rest.size or (areas <= 1e-12 * clip.rest.size**2).mean() > 0.01)


def _is_torn(clip: Clip, positions: Float[np.ndarray, "T V 3"]) -> bool:
    a, b = unique_edges(clip.rest.faces).T
    rest = np.linalg.norm(clip.rest.vertices[a] - clip.rest.vertices[b], axis=-1)
    keep = rest > 1e-6 * clip.rest.size
    ratio = np.linalg.norm(positions[:, a[keep]] - positions[:, b[keep]], axis=-1) / rest[keep]
    # The wall of a thin shell may fold: judge by nearly all edges, and hard only by the far outliers.
    low, high = np.quantile(ratio, [0.002, 0.998])
    return bool(low < STRETCH_RANGE[0] or high > STRETCH_RANGE[1] or ratio.max() > 6.0)


def _top_speed(clip: Clip, positions: Float[np.ndarray, "T V 3"]) -> float:
    return float(np.linalg.norm(np.diff(positions, axis=0), axis=-1).max()) * clip.fps * clip.rest.unit


def _sinks(clip: Clip, positions: Float[np.ndarray, "T V 3"]) -> bool:
    floor = min(0.0, float(clip.rest.bounds[0, 1]))
    return bool(positions[..., 1].min() < floor - GROUND_TOLERANCE * clip.rest.size)


def _is_inside_out(clip: Clip, positions: Float[np.ndarray, "T V 3"]) -> bool:
    """A closed solid keeps a good part of its volume; thin shells, which hold little, are not judged."""
    faces = clip.rest.faces
    if not is_watertight(faces):
        return False

    def volume(x: np.ndarray) -> float:
        return float(np.einsum("fi,fi->", x[faces[:, 0]], np.cross(x[faces[:, 1]], x[faces[:, 2]]))) / 6

    area = float(face_areas(clip.rest.vertices, faces).sum())
    rest = volume(clip.rest.vertices)
    if rest < 0.05 * area**1.5 / 6:
        return False
    return min(volume(x) for x in positions) < 0.4 * rest


def penetration_share(clip: Clip, positions: Float[np.ndarray, "T V 3"], probes: int = 120) -> float:
    """Largest share of soft vertices inside a rigid part that were outside at rest, at two later moments."""
    rest, parts = clip.rest, clip.rest.part_ids
    if parts is None or rest.part_count < 2:
        return 0.0
    rigid_parts = [k for k in range(rest.part_count) if _moves_rigidly(rest.vertices, positions, parts == k)]
    soft = np.flatnonzero(~np.isin(parts, rigid_parts))
    if not rigid_parts or not len(soft):
        return 0.0
    soft = soft[:: max(1, len(soft) // probes)]
    faces = rest.faces[np.isin(rest.face_parts, rigid_parts)]
    outside = winding_numbers(rest.vertices[soft], rest.vertices, faces) <= 0.5
    moments = [len(positions) // 2, len(positions) - 1]
    inside = [winding_numbers(positions[t, soft], positions[t], faces) > 0.5 for t in moments]
    return max(float((each & outside).mean()) for each in inside)


def _moves_rigidly(rest: Float[np.ndarray, "V 3"], positions: Float[np.ndarray, "T V 3"], mask: np.ndarray) -> bool:
    chosen = np.flatnonzero(mask)
    chosen = chosen[:: max(1, len(chosen) // 60)]
    if len(chosen) < 4:
        return True
    middle = positions[[len(positions) // 3, 2 * len(positions) // 3]][:, chosen]
    moved = lie.apply(lie.fit_rigid(rest[chosen], middle), rest[chosen])
    return bool(np.abs(moved - middle).max() < 2e-3 * np.ptp(rest, axis=0).max())
