"""Which points may touch which solids: boxes first, then points, once for each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.dynamics.colliders import HalfSpace, Meeting
from neurok.dynamics.reduced.bending import BendingSurface
from neurok.dynamics.reduced.config import ContactConfig
from neurok.dynamics.reduced.contact import Found, Touch
from neurok.dynamics.reduced.shapes import PointSet
from neurok.geometry.lie import apply, inverse, seen_from


@dataclass(eq=False)
class Way:
    """Where the points of a set are at the start of a step, and where they would be at its end."""

    start: Float[np.ndarray, "n 3"]
    end: Float[np.ndarray, "n 3"]


@dataclass(eq=False)
class ContactSearch:
    """All touches of a scene, and those that matter now."""

    touches: list[Touch]
    size: float
    """Of the scene's smallest object."""

    config: ContactConfig
    ways: dict[int, Way] = field(default_factory=dict, init=False)
    close: list[Touch] = field(default_factory=list, init=False)
    reach: float = field(default=0.0, init=False)
    dt: float = field(default=0.0, init=False)
    fall: float = 0.0
    """Largest acceleration that brings things together [length/s^2]."""

    def find(self, motions: Sequence[Any], dt: float) -> list[Found]:
        """What meets within ``dt`` if everything goes on as it moves now."""
        self.dt = dt
        self.ways = {id(points): _way(points, motions, dt) for points in self._sets}
        moved = max((float(np.abs(way.end - way.start).max(initial=0.0)) for way in self.ways.values()), default=0.0)
        self.reach = self.config.near * self.size + self.fall * dt**2 + self.config.near_travel * moved
        self.close = [touch for touch, near in zip(self.touches, self._near(motions), strict=True) if near]
        found = [self._meet(touch, motions, None) for touch in self.close]
        met = {id(entry.touch) for entry in found if entry is not None}
        for touch in self.touches:
            if id(touch) not in met and touch.loads.any():
                touch.forget(len(touch.marks))
        return [entry for entry in found if entry is not None]

    def find_again(self, found: list[Found], begin: Sequence[Any], now: Sequence[Any]) -> list[Found] | None:
        """What was found and what has come inside a solid unforeseen; ``None`` where nothing has."""
        known = {id(entry.touch): entry for entry in found}
        sets = {id(touch.points): touch.points for touch in self.close if not isinstance(touch.solid, HalfSpace)}
        for key, points in sets.items():
            self.ways[key] = Way(self.ways[key].start, points.points.positions(now[points.owner])[0])
        out, is_new = list(found), False
        for touch in self.close:
            if isinstance(touch.solid, HalfSpace):
                continue
            old = known.get(id(touch))
            entry = self._meet(touch, begin, old, now)
            if entry is not None and entry is not old:
                out = [each for each in out if each is not old] + [entry]
                is_new = True
        return out if is_new else None

    @cached_property
    def _sets(self) -> list[PointSet]:
        return list({id(touch.points): touch.points for touch in self.touches}.values())

    @cached_property
    def _boxes(self) -> list[tuple[int | None, Int[np.ndarray, " n"], Int[np.ndarray, " n"], np.ndarray, np.ndarray]]:
        """Of rigid solids: the object, its touches, nodes, and middles and half sides of the boxes."""
        out = []
        for other in dict.fromkeys(touch.other for touch in self.touches):
            mine = [i for i, t in enumerate(self.touches) if t.other == other and _is_boxed(t)]
            boxes = np.array([self.touches[i].solid.box for i in mine]).reshape(-1, 2, 3)
            nodes = np.array([self.touches[i].node for i in mine], dtype=np.int64)
            middles, halves = boxes.mean(axis=1), 0.5 * (boxes[:, 1] - boxes[:, 0])
            out.append((other, np.array(mine, dtype=np.int64), nodes, middles, halves))
        return out

    @cached_property
    def _radii(self) -> list[float]:
        return [float(points.radii.max(initial=0.0)) for points in self._sets]

    @cached_property
    def _set_of(self) -> Int[np.ndarray, " T"]:
        index = {id(points): k for k, points in enumerate(self._sets)}
        return np.array([index[id(touch.points)] for touch in self.touches], dtype=np.int64)

    def _near(self, motions: Sequence[Any]) -> Bool[np.ndarray, " T"]:
        """Touches whose points pass the box around the solid."""
        count = len(self.touches)
        low, high = np.full((count, 3), -np.inf), np.full((count, 3), np.inf)
        for other, mine, nodes, middles, halves in self._boxes:
            if other is not None and len(mine):
                frames = motions[other].nodes[0][nodes]
                middles = (frames[:, :3, :3] @ middles[..., None])[..., 0] + frames[:, :3, 3]
                halves = (np.abs(frames[:, :3, :3]) @ halves[..., None])[..., 0]
            low[mine], high[mine] = middles - halves, middles + halves
        for k, touch in enumerate(self.touches):
            if isinstance(touch.solid, BendingSurface) and touch.other is not None:
                low[k], high[k] = touch.solid.place(motions[touch.other])[2:]
        ways = [self.ways[id(points)] for points in self._sets]
        bottom = np.array([np.minimum(way.start, way.end).min(axis=0) - r for way, r in zip(ways, self._radii, strict=True)])
        top = np.array([np.maximum(way.start, way.end).max(axis=0) + r for way, r in zip(ways, self._radii, strict=True)])
        pick = self._set_of
        if not count:
            return np.zeros(0, dtype=bool)
        return ((bottom[pick] < high + self.reach) & (top[pick] > low - self.reach)).all(axis=1)

    def _meet(
        self, touch: Touch, begin: Sequence[Any], old: Found | None, now: Sequence[Any] | None = None
    ) -> Found | None:
        """Points of one touch that meet its solid, beside those that were found before."""
        way, motion = self.ways[id(touch.points)], None if touch.other is None else begin[touch.other]
        radii = touch.points.radii
        reach = self.reach if now is None else 0.0
        reach += float(radii.max(initial=0.0))
        faces = None
        if isinstance(touch.solid, BendingSurface):
            met, faces = touch.solid.meet(motion, way.start, way.end, touch.marks, reach)
            frame = None
        elif motion is None:
            met, frame = touch.solid.meet(way.start, way.end, touch.marks, reach), None
        else:
            frame = motion.node_frame(touch.node)
            after = _frame_after(motion, touch.node, self.dt) if now is None else now[touch.other or 0].node_frame(touch.node)
            met = touch.solid.meet(seen_from(frame, way.start), seen_from(after, way.end), touch.marks, reach)
        return _found(touch, met, faces, frame, motion, way, old, begin)


def _is_boxed(touch: Touch) -> bool:
    return not isinstance(touch.solid, (BendingSurface, HalfSpace))


def _way(points: PointSet, motions: Sequence[Any], dt: float) -> Way:
    motion = motions[points.owner]
    start = points.points.positions(motion)[0]
    return Way(start, start + dt * points.points.velocities(motion)[0])


def _frame_after(motion: Any, node: int, dt: float) -> Float[np.ndarray, "4 4"]:
    """Where a node will be."""
    frame = motion.node_frame(node)
    return frame + dt * motion.node_twist(node) @ frame


def _found(
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
    columns = [np.concatenate([x, y]) for x, y in zip(_columns(a), _columns(b), strict=True)]
    return Found(a.touch, *columns, feet, soles)


def _columns(found: Found) -> tuple[np.ndarray, ...]:
    return found.which, found.normals, found.gaps, found.marks
