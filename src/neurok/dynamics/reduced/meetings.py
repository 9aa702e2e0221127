"""From points that meet a solid, as the solid says it, to contacts in the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.colliders import Meeting
from neurok.dynamics.reduced.contact import Found, Touch
from neurok.dynamics.reduced.shapes import PointSet
from neurok.geometry.lie import apply, inverse


@dataclass(eq=False)
class Way:
    """Where the points of a set are at the start of a step, and where they would be at its end."""

    start: Float[np.ndarray, "n 3"]
    end: Float[np.ndarray, "n 3"]
    which: Any = field(default_factory=lambda: slice(None))
    """Points that may touch something; those of the others are out of date."""


def met_in_world(
    touch: Touch,
    met: Meeting,
    faces: Int[np.ndarray, " n"] | None,
    frame: Float[np.ndarray, "4 4"] | None,
    motion: Any,
    way: Way,
    old: Found | None,
    begin: Sequence[Any],
) -> Found | None:
    """A meeting in the world, with the points that are touched; what was found before stays as it was."""
    if old is not None and len(met.which):
        fresh = ~np.isin(met.which, old.which)
        met = Meeting(*(column[fresh] for column in met))
        faces = None if faces is None else faces[fresh]
    if not len(met.which):
        return old
    normals = met.normals if frame is None else met.normals @ frame[:3, :3].T
    places = way.start[met.which]
    below = places - met.gaps[:, None] * normals
    gaps = met.gaps - touch.points.radii[met.which]
    feet = None
    if faces is not None:
        feet = touch.solid.feet(motion, below, faces)
    elif motion is not None and frame is not None:
        feet = motion.mechanics.node_points(apply(inverse(frame), below), np.full(len(below), touch.node))
    soles = _soles(touch.points, met.which, places, normals, begin)
    found = Found(touch, met.which, normals, gaps, met.marks, feet, soles)
    return found if old is None else _joined(old, found)


def _soles(
    points: PointSet, which: Int[np.ndarray, " n"], places: np.ndarray, normals: np.ndarray, begin: Sequence[Any]
) -> Any:
    """Where balls touch, as points of their surface; ``None`` where there are none."""
    radii = points.radii[which]
    if not radii.any():
        return None
    motion = begin[points.owner]
    frames = np.stack([inverse(motion.node_frame(int(node))) for node in points.nodes[which]])
    lowest = places - radii[:, None] * normals
    local = (frames[:, :3, :3] @ lowest[..., None])[..., 0] + frames[:, :3, 3]
    return motion.mechanics.node_points(local, points.nodes[which])


def _joined(a: Found, b: Found) -> Found:
    feet = None if a.feet is None else a.feet.join([b.feet])
    soles = a.soles
    if a.soles is not None or b.soles is not None:
        soles = a.soles.join([b.soles])
    which, normals, gaps, marks = (np.concatenate(pair) for pair in zip(_columns(a), _columns(b), strict=True))
    return Found(a.touch, which, normals, gaps, marks, feet, soles)


def _columns(found: Found) -> tuple[np.ndarray, ...]:
    return found.which, found.normals, found.gaps, found.marks
