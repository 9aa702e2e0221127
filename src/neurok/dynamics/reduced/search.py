"""Which points may touch which solids: boxes first, then points, once for each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.colliders import HalfSpace, Meeting
from neurok.dynamics.reduced.contact import Found, PointSet, Touch
from neurok.dynamics.reduced.shapes import BendingSurface
from neurok.geometry.lie import apply, inverse, seen_from
from neurok.geometry.loops import compiled

NEAR = 0.01
"""Points closer to a solid than this share of the smallest object's size are followed through a step; where the solid
bends, also those that could come there at the speeds of both."""

NEAR_OWN = 2e-3
"""The same for parts of one object, which move slowly against each other."""

UNFORESEEN = 5e-4
"""Points of what bends that got deeper into a plane than this share of the smallest object's size though they were not
on their way there are taken in, and the step is found again: a tenth of what can be seen."""

ASKED = 8
"""At least one in so many points of what bends is asked how near it is to something, until others may be nearer."""


@dataclass(eq=False)
class Way:
    """Where the points of a set are at the start of a step, and where they would be at its end."""

    start: Float[np.ndarray, "n 3"]
    end: Float[np.ndarray, "n 3"]
    which: Any = field(default_factory=lambda: slice(None))
    """Points that may touch something; those of the others are out of date."""

    travelled: float = 0.0
    """How far any has moved at most, from step to step."""


@dataclass(eq=False)
class Clearance:
    """How far points that bend are from solids that stand still: some are asked, as long as no other can be near."""

    points: PointSet
    solids: list[Any]
    asked: Int[np.ndarray, " m"] = field(init=False)
    """Points that were not farther than ``limit`` when all were asked, ..."""

    limit: float = field(default=-np.inf, init=False)
    y: Float[np.ndarray, "K 3"] | None = field(default=None, init=False)
    """... and the features then."""

    _some: Any = field(init=False)

    def __post_init__(self) -> None:
        self.asked, self._some = np.arange(len(self.points.radii)), self.points.points

    def near(self, motion: Any, ahead: float, reach: float) -> Int[np.ndarray, " n"]:
        """Points that are not farther than ``reach`` now or so many seconds ahead; of each patch of a fine surface the
        one that stands for it, and the lowest."""
        if self._corners is not None:
            y = motion.y[0]
            rate = motion.rate[0] if ahead else y
            since = y if self.y is None else self.y
            lowest, travel = corner_bounds(*self._corners, self._plane, y, rate, ahead, since)
            if lowest > reach:
                return self.asked[:0]
            if self.y is None or not reach + travel <= self.limit:
                self.y, known = y, _above(self.solids, self.points.points, motion, 0.0)
                share, travel = len(known) // ASKED, corner_bounds(*self._corners, self._plane, y, rate, ahead, y)[1]
                self.limit = max(float(np.partition(known, share)[share]), reach + 2.0 * travel)
                self.asked = np.flatnonzero(~(known > self.limit))
                self._some = self.points.points.take(self.asked)
        heights = _above(self.solids, self._some, motion, ahead)
        near = np.flatnonzero(~(heights > reach))
        return _foremost(self.points, self.asked[near], heights[near]) if len(near) else near

    @cached_property
    def _plane(self) -> Float[np.ndarray, "4"]:
        """Normal and height of the only plane; zeros and infinity where there are other solids."""
        if not self.is_plane:
            return np.array([0.0, 0.0, 0.0, np.inf])
        return np.append(self.solids[0].normal, self.solids[0].height)

    @property
    def is_plane(self) -> bool:
        """Whether one plane is all there is."""
        return len(self.solids) == 1 and isinstance(self.solids[0], HalfSpace)

    @cached_property
    def _corners(self) -> tuple[Float[np.ndarray, "H 8 4"], float] | None:
        """Corners around what follows each handle, which move farther than what is between them; ``None`` where there
        are no handles."""
        shares = getattr(self.points.points, "shares", None)
        return None if shares is None else around(*shares)


@dataclass(eq=False)
class Pairs:
    """Points of rigid parts against convex pieces of other parts of the same object, T pairs of at most n points."""

    nodes: Int[np.ndarray, "2 T"]
    """What carries the points, and what carries the piece."""

    places: Float[np.ndarray, "T n 3"]
    """Points at rest; where a part has fewer, its last one again."""

    radii: Float[np.ndarray, "T n"]
    counts: Int[np.ndarray, " T"]
    boxes: Float[np.ndarray, "2 T 1 3"]
    """Lowest and highest corner around each piece at rest."""

    clear: Float[np.ndarray, " T"] = field(init=False)
    """How far each pair is surely apart."""

    def __post_init__(self) -> None:
        self.clear = np.zeros(len(self.counts))

    @staticmethod
    def of(touches: Sequence[Touch]) -> Pairs:
        counts = np.array([len(touch.points.radii) for touch in touches])
        picks = [np.minimum(np.arange(counts.max()), count - 1) for count in counts]
        everyone = list(zip(touches, picks, strict=True))
        return Pairs(
            np.array([[touch.points.nodes[0] for touch in touches], [touch.node for touch in touches]]),
            np.stack([touch.points.points.rest[pick] for touch, pick in everyone]),
            np.stack([touch.points.radii[pick] for touch, pick in everyone]),
            counts,
            np.array([[touch.solid.low for touch in touches], [touch.solid.high for touch in touches]])[:, :, None],
        )

    def near(
        self,
        nodes: Float[np.ndarray, "N 4 4"],
        twists: Float[np.ndarray, "N 4 4"],
        dt: float,
        near: float,
        stride: float,
    ) -> list[tuple[int, Int[np.ndarray, " m"]]]:
        """Pairs that may come nearer than ``near`` in a step in which nothing moves farther against anything than
        ``stride``, and these points; brings up to date how far pairs are apart."""
        self.clear -= stride
        due = np.flatnonzero(self.clear < near)
        mine, theirs = self.nodes[:, due]
        ways = []
        for frames in (nodes, nodes + dt * twists @ nodes):
            seen = inverse(frames)[theirs] @ frames[mine]
            ways.append(self.places[due] @ seen[:, :3, :3].swapaxes(1, 2) + seen[:, None, :3, 3])
        (low, high), radii = self.boxes[:, due], self.radii[due]
        gaps = np.maximum(low - ways[0], ways[0] - high).max(axis=2) - radii
        self.clear[due] = gaps.min(axis=1, initial=np.inf) - stride
        margin = near + radii[..., None]
        passes = (np.minimum(*ways) < high + margin) & (np.maximum(*ways) > low - margin)
        marked = passes.all(axis=2) & (np.arange(radii.shape[1]) < self.counts[due, None])
        return [(int(due[k]), np.flatnonzero(marked[k])) for k in np.flatnonzero(marked.any(axis=1))]


@dataclass(frozen=True, eq=False)
class Extent:
    """A box around one object at any moment, from what carries its vertices; none where that is not known."""

    corners: Float[np.ndarray, "H 8 4"] | None
    """Corners (x, 1) around what follows each frame at rest."""

    share: float = 1.0
    """Largest sum of the sizes of weights: vertices are mixtures of points in the boxes of their frames, and stay in
    the box around all of these if no weight is negative."""

    @staticmethod
    def of(mechanics: Any) -> Extent:
        if len(mechanics.part_nodes):
            rest = np.concatenate([mechanics.vertices, np.ones((len(mechanics.vertices), 1))], axis=1)
            return Extent(*around(np.eye(len(mechanics.moments))[mechanics.vertex_nodes], rest))
        return Extent(None) if mechanics.shares is None else Extent(*around(*mechanics.shares))

    def box(self, y: Float[np.ndarray, "m K 3"]) -> Float[np.ndarray, "2 3"]:
        """Lowest and highest corner, of several moments together."""
        if self.corners is None:
            return np.array([[-np.inf] * 3, [np.inf] * 3])
        places = (self.corners @ y.reshape(len(y), -1, 4, 3)).reshape(-1, 3)
        low, high = places.min(axis=0), places.max(axis=0)
        middle, half = 0.5 * (low + high), 0.5 * self.share * (high - low)
        return np.stack([middle - half, middle + half])


def around(
    weights: Float[np.ndarray, "n H"], rest: Float[np.ndarray, "n 4"]
) -> tuple[Float[np.ndarray, "H 8 4"], float]:
    """Corners (x, 1) of the boxes around all points that follow each frame at rest, and the largest sum of the sizes of
    their weights; frames that nothing follows have zeros."""
    ends = np.zeros((2, weights.shape[1], 4))
    for frame, column in enumerate(weights.T):
        mine = rest[column != 0.0]
        if len(mine):
            ends[:, frame] = mine.min(axis=0), mine.max(axis=0)
    pick = np.array(list(np.ndindex(2, 2, 2)))
    corners = np.stack([np.where(np.append(row, 0) == 0, *ends) for row in pick], axis=1)
    return corners, float(np.abs(weights).sum(axis=1).max(initial=0.0))


def overlapping(low: Float[np.ndarray, "n 3"], high: Float[np.ndarray, "n 3"]) -> Int[np.ndarray, "m 2"]:
    """Pairs of boxes that overlap, by sorting and sweeping along the first axis."""
    order = np.argsort(low[:, 0], kind="stable")
    ends = np.searchsorted(low[order, 0], high[order, 0], side="right")
    counts = np.maximum(ends - np.arange(len(order)) - 1, 0)
    first = np.repeat(np.arange(len(order)), counts)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    a, b = order[first], order[second]
    return np.stack([a, b], axis=1)[((low[a] <= high[b]) & (low[b] <= high[a])).all(axis=1)]


@dataclass(eq=False)
class ContactSearch:
    """All that may touch in a scene, and what matters now."""

    touches: list[Touch]
    """On the ground, on obstacles, and of parts of one object on each other."""

    size: float
    """Of the scene's smallest object."""

    fall: float = 0.0
    """Largest acceleration that brings things together [length/s^2]."""

    extents: tuple[Extent, ...] = ()
    """Of each object."""

    between: Callable[[int, int], list[Touch]] = field(default=lambda mine, other: [])
    """Points of one object against the solids of another; asked when they first come near each other."""

    ways: dict[int, Way] = field(default_factory=dict, init=False)
    close: list[tuple[Touch, np.ndarray]] = field(default_factory=list, init=False)
    """Touches that matter in the present step, and the points of them that do."""

    reach: float = field(default=0.0, init=False)
    """How near a point must be to be followed though it is not on its way into a solid."""

    moved: list[float] = field(default_factory=list, init=False)
    """How far points of each object go in the present step."""

    dt: float = field(default=0.0, init=False)
    _paths: dict[int, tuple[Float[np.ndarray, "n 3"], float]] = field(default_factory=dict, init=False)
    """Where the points of a set were last, and how far they had travelled."""

    _touching: list[Touch] = field(default_factory=list, init=False)
    _known_levers: dict[int, Float[np.ndarray, " D"]] = field(default_factory=dict, init=False)
    _pairs: dict[tuple[int, int], list[Touch]] = field(default_factory=dict, init=False)

    def find(self, motions: Sequence[Any], dt: float) -> list[Found]:
        """What meets within ``dt`` if everything goes on as it moves now."""
        self.dt, self.reach = dt, NEAR * self.size + self.fall * dt**2
        if not self.has_walls and not self._inner:
            return self._forget_others(self._find_below(motions))
        boxes = self.boxes([np.stack([motion.y[0], motion.y[0] + dt * motion.rate[0]]) for motion in motions])
        walls = self.walls_near(*boxes)
        sets = {id(touch.points): touch.points for touch in (*self.floors, *walls)}
        self.ways = {key: self._followed(points, motions, dt) for key, points in sets.items()}
        self.moved = [0.0 for _ in motions]
        for key, points in sets.items() if walls else ():
            way = self.ways[key]
            travel = float(np.abs(way.end[way.which] - way.start[way.which]).max(initial=0.0))
            self.moved[points.owner] = max(self.moved[points.owner], travel)
        self.close = self._level() + self._passing(walls, motions, boxes) + self._within(motions, dt)
        found = [entry for entry in (self._meet(*close, motions) for close in self.close) if entry is not None]
        return self._forget_others(found)

    def _find_below(self, motions: Sequence[Any]) -> list[Found]:
        """What meets the ground where nothing else is around."""
        self.ways, self.close, out = {}, [], []
        for touch in self.floors:
            clearance, motion = self._still.get(id(touch.points)), motions[touch.points.owner]
            if clearance is None:
                self.ways[id(touch.points)] = _way(touch.points, motions, self.dt)
                entry = self._meet(touch, np.arange(len(touch.points.radii)), motions)
            else:
                which = clearance.near(motion, self.dt, self.reach)
                pressed = touch.known[touch.loads[touch.known] > 0.0]
                which = np.union1d(which, pressed) if len(pressed) else np.sort(which)
                entry = _on_plane(touch, which, motion) if len(which) else None
            out += [] if entry is None else [entry]
        return out

    def _forget_others(self, found: list[Found]) -> list[Found]:
        """The same; touches of the step before that are not among them remember nothing."""
        met = {id(entry.touch) for entry in found}
        for touch in self._touching:
            if id(touch) not in met:
                touch.forget()
        self._touching = [entry.touch for entry in found]
        return found

    def find_again(self, found: list[Found], begin: Sequence[Any], now: Sequence[Any]) -> list[Found] | None:
        """What was found and what has come inside a solid unforeseen; ``None`` where nothing has."""
        open_ones = [close for close in self.close if not isinstance(close[0].solid, HalfSpace)]
        known = {id(entry.touch): entry for entry in found}
        for key, points in {id(touch.points): touch.points for touch, _ in open_ones}.items():
            way = self.ways[key]
            self.ways[key] = replace(way, end=points.points.positions(now[points.owner])[0])
        again = [(touch, self._meet(touch, which, begin, known.get(id(touch)), now)) for touch, which in open_ones]
        again += [(each[0], self._sunken(*each, known.get(id(each[0])), begin, now)) for each in self._planes]
        out, is_new = list(found), False
        for touch, entry in again:
            old = known.get(id(touch))
            if entry is not None and entry is not old:
                out = [each for each in out if each is not old] + [entry]
                is_new = True
        return out if is_new else None

    @cached_property
    def _planes(self) -> list[tuple[Touch, Clearance]]:
        """Points that bend against planes: limits and blows may throw them below, whatever way they were on."""
        planes = [(each, self._still[id(each.points)]) for each in self.floors if id(each.points) in self._still]
        return [(each, it if len(it.solids) == 1 else Clearance(it.points, [each.solid])) for each, it in planes]

    def _sunken(
        self, touch: Touch, clearance: Clearance, old: Found | None, begin: Sequence[Any], now: Sequence[Any]
    ) -> Found | None:
        """What was found of such a touch, and points that have got below the plane without being followed."""
        owner = touch.points.owner
        which = clearance.near(now[owner], 0.0, -UNFORESEEN * self.size)
        which = which if old is None or not len(which) else which[~np.isin(which, old.which)]
        if not len(which):
            return old
        new = _on_plane(touch, which, begin[owner])
        return new if old is None else _joined(old, new)

    def _followed(self, points: PointSet, motions: Sequence[Any], dt: float) -> Way:
        """The ways of all points of a set, or of those that are near where the others cannot touch anything."""
        if id(points) not in self._still:
            way = _way(points, motions, dt)
            before, travelled = self._paths.get(id(points), (way.start, 0.0))
            way.travelled = travelled + float(np.sqrt(((way.start - before) ** 2).sum(axis=1).max(initial=0.0)))
            self._paths[id(points)] = way.start, way.travelled
            return way
        motion, fixed = motions[points.owner], self._still[id(points)]
        near = fixed.near(motion, dt, self.reach)
        pressed = [touch.known[touch.loads[touch.known] > 0.0] for touch in self.touches if touch.points is points]
        which = np.unique(np.concatenate([near, *pressed]))
        chosen, way = points.points.take(which), self.ways.get(id(points)) or Way(*np.zeros((2, len(points.radii), 3)))
        way.which = which
        way.start[which] = chosen.positions(motion)[0]
        way.end[which] = way.start[which] + dt * chosen.velocities(motion)[0]
        return way

    @cached_property
    def _still(self) -> dict[int, Clearance]:
        """Sets of points that bend, of which all that they may touch stands still; and how far that is."""
        out: dict[int, Clearance] = {}
        others = {
            id(touch.points)
            for k in range(len(self.extents))
            for touch in self._against(k, (k + 1) % len(self.extents))
        }
        for points in {id(touch.points): touch.points for touch in self._outer}.values():
            if id(points) not in others and (points.nodes < 0).all():
                mine = [touch.solid for touch in self._outer if touch.points is points]
                out[id(points)] = Clearance(points, mine)
        return out

    @cached_property
    def _outer(self) -> list[Touch]:
        return [touch for touch in self.touches if touch.other is None]

    @cached_property
    def floors(self) -> list[Touch]:
        return [touch for touch in self._outer if isinstance(touch.solid, HalfSpace)]

    @cached_property
    def _obstacles(self) -> tuple[list[Touch], Int[np.ndarray, " T"], Float[np.ndarray, "2 T 3"]]:
        """What stands around and has a box, the object that may touch it, and these boxes."""
        mine = [touch for touch in self._outer if not isinstance(touch.solid, HalfSpace)]
        boxes = np.array([touch.solid.box for touch in mine]).reshape(-1, 2, 3)
        return mine, np.array([touch.points.owner for touch in mine], dtype=np.int64), boxes.swapaxes(0, 1)

    def _against(self, mine: int, other: int) -> list[Touch]:
        if mine == other:
            return []
        if (mine, other) not in self._pairs:
            self._pairs[mine, other] = self.between(mine, other)
        return self._pairs[mine, other]

    @cached_property
    def has_walls(self) -> bool:
        """Whether there is anything but planes that one object could touch from outside."""
        return len(self.extents) > 1 or bool(self._obstacles[0])

    def boxes(self, moments: Sequence[np.ndarray]) -> Float[np.ndarray, "2 N 3"]:
        """Boxes around all objects, of each at some moments of its features."""
        return np.stack([extent.box(y) for extent, y in zip(self.extents, moments, strict=True)], axis=1)

    def walls_near(self, low: Float[np.ndarray, "N 3"], high: Float[np.ndarray, "N 3"]) -> list[Touch]:
        """Obstacles and other objects that objects in these boxes may touch."""
        fixed, owners, (bottom, top) = self._obstacles
        margin = self.reach
        near = ((low[owners] - margin <= top) & (high[owners] + margin >= bottom)).all(axis=1)
        out = [fixed[k] for k in np.flatnonzero(near)]
        if len(self.extents) > 1:
            for a, b in overlapping(low - 0.5 * margin, high + 0.5 * margin).tolist():
                out += self._against(a, b) + self._against(b, a)
        return out

    def _level(self) -> list[tuple[Touch, np.ndarray]]:
        """Planes, and all points that are followed: to ask for their heights is as quick as to ask for a box."""
        out = []
        for touch in self.floors:
            which = self.ways[id(touch.points)].which
            out.append((touch, np.arange(len(touch.points.radii)) if isinstance(which, slice) else which))
        return out

    @cached_property
    def _inner(self) -> list[Touch]:
        return [touch for touch in self.touches if touch.other == touch.points.owner]

    @cached_property
    def _own_pairs(self) -> dict[int, tuple[list[Touch], Pairs]]:
        """Of each object whose parts touch each other: these touches, and the same packed."""
        out = {}
        for owner in dict.fromkeys(touch.points.owner for touch in self._inner):
            mine = [touch for touch in self._inner if touch.points.owner == owner]
            out[owner] = mine, Pairs.of(mine)
        return out

    def _within(self, motions: Sequence[Any], dt: float) -> list[tuple[Touch, np.ndarray]]:
        """Parts of one object that may meet: their joints have moved farther than they were apart."""
        out: list[tuple[Touch, np.ndarray]] = []
        near = NEAR_OWN * self.size
        for owner, (touches, pairs) in self._own_pairs.items():
            motion = motions[owner]
            base = motion.tree.base_dim
            stride = dt * float(np.abs(motion.qdot[0, base:]) @ self._levers(owner, motion)[base:])
            for k, which in pairs.near(motion.nodes[0], motion.velocity[0], dt, near, stride):
                key = id(touches[k].points)
                if key not in self.ways:
                    self.ways[key] = _way(touches[k].points, motions, dt)
                out.append((touches[k], which))
        return out

    def _levers(self, owner: int, motion: Any) -> Float[np.ndarray, " D"]:
        """How far the farthest point moves at most when a coordinate does: by 1 for slides, by the size for turns."""
        if owner not in self._known_levers:
            turns = np.abs(motion.tree.generators[:, :3, :3]).sum(axis=(1, 2)) > 0
            size = float(np.linalg.norm(np.ptp(motion.mechanics.vertices, axis=0)))
            levers = np.where(turns, size, 1.0)
            self._known_levers[owner] = np.concatenate([np.zeros(motion.tree.base_dim), levers])
        return self._known_levers[owner]

    def _passing(
        self, walls: Sequence[Touch], motions: Sequence[Any], boxes: Float[np.ndarray, "2 N 3"]
    ) -> list[tuple[Touch, np.ndarray]]:
        """Touches with points that pass the box around the solid, and these points."""
        if not walls:
            return []
        low, high = solid_boxes(walls, motions, boxes)
        # Ways of points are in their boxes; that of the solid is not.
        reach = self.reach + np.array([0.0 if t.other is None else self.moved[t.other] for t in walls])[:, None]
        low, high, out = low - reach, high + reach, []
        groups: dict[int, list[int]] = {}
        for k, touch in enumerate(walls):
            groups.setdefault(id(touch.points), []).append(k)
        for key, mine in groups.items():
            way, radii = self.ways[key], walls[mine[0]].points.radii
            which = np.arange(len(radii)) if isinstance(way.which, slice) else way.which
            passes = np.zeros((len(mine), len(which)), dtype=bool)
            found = mark_passing(way.start, way.end, radii, which, low[mine], high[mine], passes)
            out += [(walls[k], which[row]) for k, row, is_any in zip(mine, passes, found, strict=True) if is_any]
        return out

    def _meet(
        self,
        touch: Touch,
        which: Int[np.ndarray, " n"],
        begin: Sequence[Any],
        old: Found | None = None,
        now: Sequence[Any] | None = None,
    ) -> Found | None:
        """Points of one touch that meet its solid, beside those that were found before."""
        if old is not None:
            which = which[~np.isin(which, old.which)]
        way, motion = self.ways[id(touch.points)], None if touch.other is None else begin[touch.other]
        is_own = touch.other == touch.points.owner
        reach = 0.0 if now is not None else NEAR_OWN * self.size if is_own else self.reach
        reach += float(touch.points.radii.max(initial=0.0))
        start, end, marks, faces, frame = way.start[which], way.end[which], touch.marks[which], None, None
        if isinstance(touch.solid, BendingSurface):
            reach += self.moved[touch.points.owner] + self.moved[touch.other or 0]
            spent = way.travelled + touch.solid.place(motion).travelled
            clear = touch.clear[which] - spent
            met, faces = touch.solid.meet(motion, start, end, marks, reach, clear)
            touch.clear[which] = clear + spent
        elif motion is None:
            met = touch.solid.meet(start, end, marks, reach)
        else:
            frame = motion.node_frame(touch.node)
            after = _frame_after(motion, touch.node, self.dt)
            after = after if now is None or touch.other is None else now[touch.other].node_frame(touch.node)
            met = touch.solid.meet(seen_from(frame, start), seen_from(after, end), marks, reach)
        met = met._replace(which=which[met.which])
        return _met_in_world(touch, met, faces, frame, motion, way.start[met.which], old, begin)


def solid_boxes(
    walls: Sequence[Touch], motions: Sequence[Any], boxes: Float[np.ndarray, "2 N 3"]
) -> tuple[Float[np.ndarray, "T 3"], Float[np.ndarray, "T 3"]]:
    """Boxes around solids in the world; those of what bends are around the whole object."""
    low, high = np.empty((len(walls), 3)), np.empty((len(walls), 3))
    moved, frames = [], []
    for k, touch in enumerate(walls):
        if isinstance(touch.solid, BendingSurface):
            margin = touch.solid.half + touch.solid.reach
            low[k], high[k] = boxes[0, touch.other] - margin, boxes[1, touch.other] + margin
            continue
        low[k], high[k] = touch.solid.box
        if touch.other is not None:
            moved.append(k)
            frames.append(motions[touch.other].node_frame(touch.node))
    if moved:
        frame, middle, half = np.array(frames), 0.5 * (low[moved] + high[moved]), 0.5 * (high[moved] - low[moved])
        middle = (frame[:, :3, :3] @ middle[..., None])[..., 0] + frame[:, :3, 3]
        half = (np.abs(frame[:, :3, :3]) @ half[..., None])[..., 0]
        low[moved], high[moved] = middle - half, middle + half
    return low, high


def _clearance(solid: Any, x: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, " n"]:
    """How far points are at least from a solid that stands still."""
    if isinstance(solid, HalfSpace):
        return x @ solid.normal - solid.height
    low, high = solid.box
    return np.maximum(low - x, x - high).max(axis=1)


def _above(solids: Sequence[Any], points: Any, motion: Any, ahead: float) -> Float[np.ndarray, " n"]:
    """The same of points that bend and of the nearest of some solids, now or so many seconds ahead."""
    if len(solids) == 1 and isinstance(solids[0], HalfSpace):
        return points.lowest(motion, solids[0].normal, ahead) - solids[0].height
    x = points.positions(motion)[0]
    places = [x, x + ahead * points.velocities(motion)[0]] if ahead else [x]
    return np.min([_clearance(solid, place) for solid in solids for place in places], axis=0)


def _on_plane(touch: Touch, which: Int[np.ndarray, " n"], motion: Any) -> Found:
    """Points that bend, followed above or below a plane."""
    chosen, plane = touch.points.points.take(which), touch.solid
    start = chosen.positions(motion)[0]
    normals, marks = np.ones((len(which), 1)) * plane.normal, np.zeros(len(which), dtype=np.int64)
    return Found(touch, which, normals, start @ plane.normal - plane.height, marks, None, chosen)


@compiled
def corner_bounds(corners, share, plane, y, rate, ahead, since):
    """Bounds for all points between corners ``(H, 8, 4)`` of what follows each frame, whose weights add up to at most
    ``share``: their least height above a plane now or ``ahead`` seconds later, and how far any is from where it was
    when the features ``(K, 3)`` were ``since``."""
    low, high, far = np.inf, -np.inf, 0.0
    for h in range(corners.shape[0]):
        for c in range(8 if corners[h, 0, 3] > 0.0 else 0):
            for moment in range(2 if ahead > 0.0 else 1):
                height, square = 0.0, 0.0
                for i in range(3):
                    place, before = 0.0, 0.0
                    for k in range(4):
                        value = y[4 * h + k, i]
                        if moment == 1:
                            value += ahead * rate[4 * h + k, i]
                        place += corners[h, c, k] * value
                        before += corners[h, c, k] * since[4 * h + k, i]
                    height += plane[i] * place
                    square += (place - before) ** 2
                low, high, far = min(low, height), max(high, height), max(far, square)
    return 0.5 * (low + high) - 0.5 * share * (high - low) - plane[3], share * np.sqrt(far)


@compiled
def mark_passing(start, end, radii, which, low, high, passes):
    """Mark which of some points pass each box on straight ways; whether any does."""
    found = np.zeros(low.shape[0], dtype=np.bool_)
    for n in range(which.shape[0]):
        p = which[n]
        for k in range(low.shape[0]):
            inside = True
            for i in range(3):
                a, b = start[p, i], end[p, i]
                inside &= min(a, b) - radii[p] < high[k, i] and max(a, b) + radii[p] > low[k, i]
            if inside:
                passes[k, n] = found[k] = True
    return found


def _foremost(points: PointSet, near: Int[np.ndarray, " n"], heights: Float[np.ndarray, " n"]) -> Int[np.ndarray, " m"]:
    """Of points that are near those that touch: of each patch the one that stands for it, and the lowest."""
    if points.patches is None:
        return near
    order = near[np.lexsort((heights, points.patches[near]))]
    patches = points.patches[order]
    is_lowest = np.append(True, patches[1:] != patches[:-1])[: len(order)]
    return order[is_lowest | (patches == order)]


def _way(points: PointSet, motions: Sequence[Any], dt: float) -> Way:
    motion = motions[points.owner]
    start = points.points.positions(motion)[0]
    return Way(start, start + dt * points.points.velocities(motion)[0])


def _frame_after(motion: Any, node: int, dt: float) -> Float[np.ndarray, "4 4"]:
    """Where a node will be."""
    frame = motion.node_frame(node)
    return frame + dt * motion.node_twist(node) @ frame


def _met_in_world(
    touch: Touch,
    met: Meeting,
    faces: Int[np.ndarray, " n"] | None,
    frame: Float[np.ndarray, "4 4"] | None,
    motion: Any,
    places: Float[np.ndarray, "n 3"],
    old: Found | None,
    begin: Sequence[Any],
) -> Found | None:
    """A meeting in the world, with the points that are touched; what was found before stays as it was."""
    if not len(met.which):
        return old
    normals = met.normals if frame is None else met.normals @ frame[:3, :3].T
    below = places - met.gaps[:, None] * normals
    gaps = met.gaps - touch.points.radii[met.which]
    feet = None
    if faces is not None:
        feet = touch.solid.feet(motion, below, faces)
    elif motion is not None and frame is not None:
        feet = motion.mechanics.node_points(apply(inverse(frame), below), np.full(len(below), touch.node))
    soles = _soles(touch.points, met.which, places, normals, begin)
    chosen = touch.points.points.take(met.which)
    found = Found(touch, met.which, normals, gaps, met.marks, feet, chosen, soles)
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
    columns = ("which", "normals", "gaps", "marks")
    joined = [np.concatenate([getattr(a, name), getattr(b, name)]) for name in columns]
    return Found(a.touch, *joined, feet, a.points.join([b.points]), soles)  # type: ignore[call-arg]
