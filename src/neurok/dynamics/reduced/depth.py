"""How deep things are in each other at a recorded frame, on many more points than contact itself looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.dynamics.colliders import HalfSpace
from neurok.dynamics.reduced.bending import BendingSurface
from neurok.dynamics.reduced.build import Bound
from neurok.dynamics.reduced.contact import Touch
from neurok.geometry.lie import seen_from


@dataclass(frozen=True, eq=False)
class DepthGauge:
    """Vertices of each object against the solids that it may touch."""

    vertices: tuple[np.ndarray, ...]
    solids: tuple[tuple[int, Any, int | None, int], ...]
    """Object whose vertices are looked at, solid, object and node that carry the solid."""

    sizes: tuple[float, ...]

    @staticmethod
    def of(bounds: Sequence[Bound], touches: Sequence[Touch], count: int) -> DepthGauge:
        used = [np.unique(bound.body.mesh.faces) for bound in bounds]
        solids = [
            (touch.points.owner, touch.solid, touch.other, touch.node)
            for touch in touches
            if touch.other != touch.points.owner
        ]
        return DepthGauge(
            tuple(mine[:: max(1, -(-len(mine) // count))] for mine in used),
            tuple(solids),
            tuple(bound.body.mesh.size for bound in bounds),
        )

    def deepest(self, positions: Sequence[np.ndarray], motions: Sequence[Any]) -> tuple[float, float]:
        """Largest depth, in mesh units and as a share of the object's size."""
        depth, share = 0.0, 0.0
        boxes: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for owner, solid, other, node in [self.solids[k] for k in self._close(positions, motions)]:
            everything = positions[owner]
            if isinstance(solid, HalfSpace):
                found = max(0.0, float(solid.height - (everything @ solid.normal).min()))
            else:
                motion = None if other is None else motions[other]
                if owner not in boxes:
                    boxes[owner] = everything.min(axis=0), everything.max(axis=0)
                if _is_apart(solid, motion, node, boxes[owner]):
                    continue
                found = _depth(solid, everything[self.vertices[owner]], motion, node)
            depth, share = max(depth, found), max(share, found / self.sizes[owner])
        return depth, share

    @cached_property
    def _boxed(self) -> dict[int, tuple[np.ndarray, ...]]:
        """Of each object with rigid solids: these, who is looked at, nodes, and middles and half sides of the boxes."""
        out: dict[int, tuple[np.ndarray, ...]] = {}
        for carrier in dict.fromkeys(other for _, _, other, node in self.solids if other is not None and node >= 0):
            mine = [k for k, (_, _, other, node) in enumerate(self.solids) if other == carrier and node >= 0]
            corners = np.array([self.solids[k][1].box for k in mine])
            owners, nodes = (np.array([self.solids[k][column] for k in mine]) for column in (0, 3))
            sides = 0.5 * (corners[:, 1] - corners[:, 0])
            out[int(carrier)] = (np.array(mine), owners, nodes, corners.mean(axis=1), sides)
        return out

    def _close(self, positions: Sequence[np.ndarray], motions: Sequence[Any]) -> list[int]:
        """Solids but for those of other objects whose box has nothing in common with that around the vertices."""
        is_close = np.ones(len(self.solids), dtype=bool)
        if self._boxed:
            low, high = (np.stack([pick(x, axis=0) for x in positions]) for pick in (np.min, np.max))
        for carrier, (mine, owners, nodes, middles, halves) in self._boxed.items():
            frames = np.stack([motions[carrier].node_frame(int(node)) for node in nodes])
            places = (frames[:, :3, :3] @ middles[..., None])[..., 0] + frames[:, :3, 3]
            sides = (np.abs(frames[:, :3, :3]) @ halves[..., None])[..., 0]
            is_close[mine] = ((places - sides <= high[owners]) & (places + sides >= low[owners])).all(axis=1)
        return np.flatnonzero(is_close).tolist()


def _is_apart(solid: Any, motion: Any, node: int, box: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether the box around a solid and that around some points have nothing in common."""
    if isinstance(solid, BendingSurface):
        low, high = solid.place(motion)[2:]
        low, high = low - solid.half, high + solid.half
    else:
        low, high = solid.box
        if motion is not None:
            frame = motion.node_frame(node)
            middle, half = (
                frame[:3, :3] @ (0.5 * (low + high)) + frame[:3, 3],
                np.abs(frame[:3, :3]) @ (0.5 * (high - low)),
            )
            low, high = middle - half, middle + half
    return bool((low > box[1]).any() or (high < box[0]).any())


def _depth(solid: Any, x: Float[np.ndarray, "n 3"], motion: Any, node: int) -> float:
    """How deep the deepest of some points is."""
    if isinstance(solid, BendingSurface):
        gaps = solid.meet(motion, x, x, np.full(len(x), -1), 0.0)[0].gaps
    else:
        gaps = solid.distance(x if motion is None else seen_from(motion.node_frame(node), x))[0]
    return max(0.0, -float(gaps.min(initial=0.0)))
