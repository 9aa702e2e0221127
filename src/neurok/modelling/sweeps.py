"""Solids carried along paths: bars, tubes, handles, frames."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from neurok.geometry.lie import rotated
from neurok.modelling import profiles
from neurok.modelling.profiles import Number
from neurok.modelling.shapes import Shape, Triple, loft


def sweep(
    profile: Float[np.ndarray, "M 2"],
    path: npt.ArrayLike,
    closed: bool = False,
    scales: npt.ArrayLike | None = None,
    up: Triple | None = None,
) -> Shape:
    """A closed outline carried along a path, without twist and with mitred corners.

    Its x follows the first side direction, chosen across ``up`` when given (its y then lies nearest to ``up``).
    """
    p = np.asarray(path, dtype=np.float64)
    sides, tops, (bend, factor) = _frames(p, closed, up)
    size = np.ones(len(p)) if scales is None else np.asarray(scales, dtype=np.float64)
    rings = (
        p[:, None]
        + size[:, None, None] * profile[None, :, :1] * sides[:, None]
        + size[:, None, None] * profile[None, :, 1:] * tops[:, None]
    )
    offset = rings - p[:, None]
    rings = rings + (factor - 1.0)[:, None, None] * np.einsum("nmd,nd->nm", offset, bend)[..., None] * bend[:, None]
    return loft(rings, closed)


def tube(
    path: npt.ArrayLike, radius: Number, segments: int = 12, closed: bool = False, scales: npt.ArrayLike | None = None
) -> Shape:
    """A round bar along a path."""
    return sweep(profiles.circle(radius, segments), path, closed, scales)


def _frames(
    p: Float[np.ndarray, "N 3"], closed: bool, up: Triple | None
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Rotation-minimising frames (double reflection), and the direction and factor of each mitre."""
    steps = np.diff(np.concatenate([p, p[:1]]) if closed else p, axis=0)
    steps = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    before = np.concatenate([steps[-1:] if closed else steps[:1], steps[: len(p) - 1]])
    after = steps if closed else np.concatenate([steps, steps[-1:]])
    tangents = before + after
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    hint = np.asarray(up, dtype=np.float64) if up is not None else np.eye(3)[np.abs(tangents[0]).argmin()]
    side = np.cross(hint, tangents[0])
    sides = [side / np.linalg.norm(side)]
    for k in range(1, len(p)):
        v1 = p[k] - p[k - 1]
        r, t = (x - 2 * v1 * (v1 @ x) / (v1 @ v1) for x in (sides[-1], tangents[k - 1]))
        v2 = tangents[k] - t
        length = v2 @ v2
        sides.append(r if length < 1e-20 else r - 2 * v2 * (v2 @ r) / length)
    sides_array = np.stack(sides)
    if closed:
        sides_array = _untwist(p, sides_array, tangents)
    tops = np.cross(tangents, sides_array)
    bend = after - before
    norm = np.linalg.norm(bend, axis=1, keepdims=True)
    bend = np.divide(bend, norm, out=np.zeros_like(bend), where=norm > 1e-9)
    factor = 1.0 / np.maximum(np.sum(after * tangents, axis=1), 0.35)
    return sides_array, tops, (bend, factor)


def _untwist(p: np.ndarray, sides: np.ndarray, tangents: np.ndarray) -> np.ndarray:
    """Spread over a closed path the angle by which its frames fail to meet."""
    v1 = p[0] - p[-1]
    r, t = (x - 2 * v1 * (v1 @ x) / (v1 @ v1) for x in (sides[-1], tangents[-1]))
    v2 = tangents[0] - t
    r = r if v2 @ v2 < 1e-20 else r - 2 * v2 * (v2 @ r) / (v2 @ v2)
    gap = float(np.arctan2(np.cross(r, sides[0]) @ tangents[0], r @ sides[0]))
    return rotated(sides, tangents, gap * np.arange(len(p)) / len(p))
