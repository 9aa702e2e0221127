"""Contact between objects, with planes and obstacles; rigid parts and held particles on the grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.colliders import DistanceField
from neurok.dynamics.particles.grid import Layout, base_cells, tight_box
from neurok.dynamics.particles.machine import Buffer, Machine, load_kernels
from neurok.dynamics.particles.rigid_parts import Holder, RigidParts
from neurok.dynamics.particles.state import Row, SoftSkin, Surroundings

RIGID_SHARE = 0.5
"""A node moves with a rigid part that has at least this share of its mass. Measured: steel on foam sinks within 2.5 %
of what it should."""

HELD_SHARE = 0.05
"""A node stays with held particles that have at least this share of its mass. A face of them that lies on nodes must
keep these while what it holds is squeezed."""

CONTACT_GAP = 0.05
"""Cells between two things below which they touch."""

CONTACT_ROUNDS = 10
"""Sweeps over the contacts of rigid parts in one step."""

PUSH_SHARE = 0.05
"""Share of an overlap that is undone in one step ..."""

PUSH_SPEED = 0.5
"""... at no more than so many times √(gravity · cell), so that nothing is shot out."""

SLOP = 0.02
"""Overlap of rigid parts that is left alone, in cells."""

SOFT_SLOP = 0.25
"""Overlap of what is soft that is left alone, in cells: stress pushes it out."""

SKIN_NEAR = 1.5
"""Points on what bends are looked at where they are lower than this above the first plane [cells]: as far as the grid
reaches ..."""

SKIN_REACH = 1.0
"""... and are at most so far from the particle that they follow [cells]: a surface that is farther off has torn."""

CORNERS = 48
"""Points at most where one rigid part touches one plane or obstacle."""

PINS = 12
"""Points at most at which one rigid part is held."""

HOLDS = ("separate", "slip", "stick")
FAR = 1e30


@dataclass(frozen=True)
class Solids:
    """All planes, then all obstacles, in the solver's own coordinates."""

    rows: Float[np.ndarray, "S 16"]
    """Plane: point, normal, friction. Obstacle: origin, spacing, two unused, friction, one unused, nodes along i j k,
    where its distances begin."""

    kinds: tuple[int, ...]
    """0 for a plane, 1 for an obstacle."""

    holds: tuple[int, ...]
    field: Float[np.ndarray, " n"]
    """Distances of all obstacles, one after the other, behind an unused first."""

    obstacles: tuple[DistanceField, ...]

    @classmethod
    def of(cls, surroundings: Surroundings, origin: Float[np.ndarray, " 3"]) -> Solids:
        """With ``origin`` taken off every place."""
        rows, kinds, fields, at = [], [], [np.zeros(1, dtype=np.float32)], 1
        for plane in surroundings.planes:
            normal = np.asarray(plane.normal, dtype=float)
            rows.append([*(np.asarray(plane.point) - origin), *(normal / np.linalg.norm(normal)), plane.friction])
            kinds.append(0)
        for item in surroundings.obstacles:
            rows.append(
                [*(np.asarray(item.origin) - origin), item.spacing, 0, 0, item.friction, 0, *item.distances.shape, at]
            )
            kinds.append(1)
            fields.append(item.distances.astype(np.float32).ravel())
            at += item.distances.size
        table = np.zeros((len(rows), 16))
        for row, values in zip(table, rows):
            row[: len(values)] = values
        holds = [HOLDS.index(plane.hold) for plane in surroundings.planes]
        holds += [HOLDS.index(item.hold) for item in surroundings.obstacles]
        known = [DistanceField(o.distances, np.asarray(o.origin) - origin, o.spacing) for o in surroundings.obstacles]
        return cls(table, tuple(kinds), tuple(holds), np.concatenate(fields), tuple(known))

    def distance(
        self, which: int, x: Float[np.ndarray, "n 3"]
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 3"]]:
        """Signed distance [m] and outward normal; ``FAR`` beyond an obstacle's grid."""
        row = self.rows[which]
        if self.kinds[which] == 0:
            return (x - row[:3]) @ row[3:6], np.broadcast_to(row[3:6], x.shape)
        found, normal = self.obstacles[which - self.kinds.count(0)].distance(x)
        return np.where(normal.any(axis=1), found, FAR), normal


PAIR = 2
RIGID, HELD, NEAR = 2, 8, 9
"""Places among the limits: shares of nodes that rigid and held parts own, how near solids are looked at [m]."""

FLOATS = ("solids", "field", "densities", "limits", "marks", "places", "speeds", "shares", "aims")
INTS = ("meets", "owners", "contacts", "counts", "owned", "shared", "holders", "members")
"""Arrays that the kernels share."""

INPUTS = {
    "own": "table grid numbers boxes holders members aims owners owned speeds shared shares counts limits",
    "mark": "table grid numbers boxes runs meets solids field marks densities owners contacts places counts limits",
    "resolve": "grid numbers contacts places counts limits owned speeds shared shares",
}
"""What each kernel reads, in its order."""

SLIP = 1
"""A contact that holds along its normal, in and out, and has no friction."""


class Contact:
    """The serial part of a substep, between adding up and gathering; idle where nothing touches or is rigid."""

    def __init__(
        self,
        machine: Machine,
        solids: Solids,
        densities: Float[np.ndarray, " B"],
        friction: float,
        say: Callable[[str], None] | None,
    ) -> None:
        self._machine, self._solids = machine, solids
        wp = machine.wp
        self._held = {name: Buffer(wp, wp.float32) for name in FLOATS} | {name: Buffer(wp, wp.int32) for name in INTS}
        self._put("solids", solids.rows.astype(np.float32))
        self._put("field", solids.field.astype(np.float32))
        self._put("densities", densities.astype(np.float32))
        limits = [CONTACT_GAP, friction, RIGID_SHARE, CONTACT_ROUNDS, PUSH_SHARE, self._push_speed(), SLOP, SOFT_SLOP]
        self._put("limits", np.asarray([*limits, HELD_SHARE, 0.0], np.float32))
        self._room(4096, 4096)
        self._meets = np.zeros((0, 16), dtype=np.int32)
        self._holders: list[Holder] = []
        self._pins: list[tuple[int, Holder]] = []
        self._kernels: Any = None
        self._say = say
        self._jobs: dict[str, Any] = {}

    def set_surface(self, soft: SoftSkin | None) -> None:
        """Points on what bends touch the first plane; without any, particles do."""
        planes = [which for which, kind in enumerate(self._solids.kinds) if kind == 0]
        self._soft = soft if soft is not None and len(soft.leader) and planes else None
        self._plane = planes[0] if planes else -1
        self._placed = self._soft

    def place(self, rank: Int[np.ndarray, " P"]) -> None:
        """Particles were sorted: ``rank`` is the column of each."""
        if self._soft is not None:
            weights = self._soft.weights.copy()
            weights.indices = rank[weights.indices].astype(weights.indices.dtype)
            self._placed = SoftSkin(weights, rank[self._soft.leader])

    def _look_below(self) -> None:
        """How far what is drawn reaches from each particle towards the first plane."""
        if self._placed is None:
            return
        table, count = self._machine.table, self._placed.weights.shape[1]
        cell, row = float(self._machine.numbers[0]), self._solids.rows[self._plane]
        heights = row[3:6] @ table[Row.place, :count] - row[:3] @ row[3:6]
        near, most = SKIN_NEAR * cell, SKIN_REACH * cell
        table[Row.REACH, :count] = self._placed.reaches(heights, table[Row.RADIUS, :count], near, most)

    def _push_speed(self) -> float:
        """At which overlaps are undone at most [cells/s]."""
        cell, *gravity = self._machine.numbers[[0, 2, 3, 4]].astype(float)
        return max(PUSH_SPEED * float(np.sqrt(np.linalg.norm(gravity) / cell)), 1.0)

    def _put(self, name: str, values: np.ndarray) -> None:
        if self._held[name].put(values):
            self._jobs = {}

    def _room(self, contacts: int, owned: int) -> None:
        sizes = {"contacts": 8 * contacts, "places": 16 * contacts, "owned": 2 * owned, "speeds": 6 * owned}
        sizes |= {"shared": 2 * owned, "shares": 4 * owned}
        moved = [self._held[name].hold(size) for name, size in sizes.items()]
        if any(moved):
            self._jobs = {}

    @property
    def active(self) -> bool:
        """Whether there is anything to do between the transfers."""
        return bool(len(self._meets) or self._holders)

    def boxes(self, holders: list[Holder], padding: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Grids that the holders need beside the objects'."""
        table, cell = self._machine.table, float(self._machine.numbers[0])
        place = table[Row.place]
        return [tight_box(base_cells(place[:, h.columns], cell), padding) for h in holders]

    def prepare(
        self, layout: Layout, holders: list[Holder], first_box: int, parts: RigidParts, pins: list[tuple[int, Holder]]
    ) -> None:
        """New boxes: find which objects may meet what. ``first_box`` is where the holders' own grids begin."""
        self._holders, self._parts, self._pins = holders, parts, pins
        self._meets = self._find_meets(layout)
        if not self.active:
            return
        if self._kernels is None:
            from neurok.dynamics.particles import kernels_contact

            self._kernels = kernels_contact
            load_kernels(kernels_contact.MODULE, self._say)
        sizes = self._meets[:, 8:11].astype(np.int64).prod(axis=1)
        if len(self._meets):
            self._meets[:, 4] = np.cumsum(sizes) - sizes
        self._put("meets", self._meets)
        if self._held["marks"].hold(20 * int(sizes.sum())):
            self._jobs = {}
        if self._held["owners"].hold(layout.nodes if holders else 1):
            self._jobs = {}
        self._nodes = layout.nodes
        starts = np.cumsum([0, *(len(h.columns) for h in holders)])
        grids = layout.grids
        table = [
            [h.part, first_box + i, grids[h.body], *starts[i : i + 2], RIGID if h.free else HELD, int(h.free), 0]
            for i, h in enumerate(holders)
        ]
        self._put("holders", np.asarray(table, dtype=np.int32))
        self._put("members", np.concatenate([h.columns for h in holders] or [np.zeros(0)]).astype(np.int32))

    def _find_meets(self, layout: Layout) -> Int[np.ndarray, "M 16"]:
        """Objects whose grids overlap, and objects near a plane or obstacle."""
        cell = float(self._machine.numbers[0])
        body_of = layout.runs[:, 5]
        runs = {b: np.flatnonzero(body_of == b)[[0, -1]] + [0, 1] for b in layout.grids}
        found = []
        for body, box in layout.grids.items():
            low, shape = layout.boxes[box, 1:4], layout.boxes[box, 4:7]
            nodes = (low + np.stack(np.meshgrid(*[[0, s - 1] for s in shape], indexing="ij"), -1).reshape(-1, 3)) * cell
            for which, kind in enumerate(self._solids.kinds):
                if kind == 0 and self._solids.distance(which, nodes.astype(float))[0].min() > 0:
                    continue
                found.append([kind, box, -1, which, 0, *low, *shape, *runs[body], 0, 0, self._solids.holds[which]])
        boxes = list(layout.grids.items())
        for i, (a, box_a) in enumerate(boxes):
            for b, box_b in boxes[i + 1 :]:
                low = np.maximum(layout.boxes[box_a, 1:4], layout.boxes[box_b, 1:4])
                high = np.minimum(*(layout.boxes[box, 1:7].reshape(2, 3).sum(0) for box in (box_a, box_b)))
                if (high > low).all():
                    found.append([PAIR, box_a, box_b, -1, 0, *low, *(high - low), *runs[a], *runs[b], 0])
        return np.asarray(found, dtype=np.int32).reshape(-1, 16)

    def refresh(self, steps: int, reach: float) -> None:
        """Look again who touches whom and which nodes move with a part; good for ``steps`` substeps in which nothing
        goes farther than ``reach`` [m]."""
        near = CONTACT_GAP * float(self._machine.numbers[0]) + reach
        self._held["limits"].view[NEAR] = near
        while True:
            counts = self._held["counts"].view
            counts[:] = 0
            if self._holders:
                self._held["owners"].view[: self._nodes] = -1
                self._put("aims", np.concatenate([h.aims(self._machine, steps) for h in self._holders]))
                self._job("own")()
            if len(self._meets):
                self._look_below()
                self._job("mark")()
            self._touch_solids(near)
            self._hold_rigid_parts(steps)
            if counts[1] == 0 and counts[3] == 0 and counts[5] == 0:
                return
            self._room(2 * int(counts[0] + counts[1]), 2 * int(max(counts[2] + counts[3], counts[4] + counts[5])))

    def _touch_solids(self, near: float) -> None:
        """Points of rigid parts that touch planes and obstacles, or are about to."""
        for h in self._holders:
            if not h.free:
                continue
            for which, kind in enumerate(self._solids.kinds):
                x, radius = self._surface(h, kind)
                distance, normal = self._solids.distance(which, x)
                gap = distance - radius
                touching = np.flatnonzero(gap <= near)
                if not len(touching):
                    continue
                chosen = touching[h.corners(x[touching], gap[touching], CORNERS)]
                self._append(
                    h.part, which, x[chosen] - radius[chosen, None] * normal[chosen], normal[chosen], gap[chosen]
                )

    def _surface(self, holder: Holder, kind: int) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, " n"]]:
        """Points of a rigid part that may touch, and how far it reaches around each.

        A plane meets the part's own corners. An obstacle may reach between these, where particles are.
        """
        table, skin = self._machine.table, self._parts.skin(holder.part)
        if skin is not None and kind == 0:
            return skin, np.zeros(len(skin))
        x = table[Row.place, holder.columns].T.astype(float)
        radius = table[Row.RADIUS, holder.columns].astype(float)
        if skin is None:
            return x, radius
        return np.concatenate([skin, x]), np.concatenate([np.zeros(len(skin)), radius])

    def _hold_rigid_parts(self, steps: int) -> None:
        """Held points of rigid parts: three slots that neither give nor take, and have a speed to keep."""
        table = self._machine.table
        for part, pin in self._pins:
            x = table[Row.place, pin.columns].T.astype(float)
            few = pin.corners(x, np.zeros(len(x)), PINS)
            speeds = pin.aims(self._machine, steps)[few]
            for axis in np.eye(3):
                normals = np.broadcast_to(axis, (len(few), 3))
                self._write(part, x[few], normals, np.zeros(len(few)), SLIP, 0.0, speeds @ axis)

    def _append(self, part: int, which: int, x: np.ndarray, normal: np.ndarray, gap: np.ndarray) -> None:
        self._write(part, x, normal, gap, self._solids.holds[which], self._solids.rows[which, 6], np.zeros(len(x)))

    def _write(
        self,
        part: int,
        x: np.ndarray,
        normal: np.ndarray,
        gap: np.ndarray,
        hold: int,
        friction: float,
        speed: np.ndarray,
    ) -> None:
        counts = self._held["counts"].view
        start, count = int(counts[0]), len(x)
        room = min(self._held["contacts"].array.shape[0] // 8, self._held["places"].array.shape[0] // 16)
        if start + count > room:
            counts[1] += count
            return
        ints = self._held["contacts"].view[8 * start : 8 * (start + count)].reshape(-1, 8)
        ints[:] = [-1, -1, part, -1, hold, 0, 0, 0]
        floats = self._held["places"].view[16 * start : 16 * (start + count)].reshape(-1, 16)
        floats[:, :3], floats[:, 3], floats[:, 4], floats[:, 5:8], floats[:, 12] = normal, friction, gap, x, speed
        counts[0] += count

    def resolve(self) -> None:
        """Impulses of one substep, and velocities of the nodes that parts own."""
        if self._held["counts"].view[0] or self._holders:
            self._job("resolve")()

    def _job(self, name: str) -> Any:
        machine, counts = self._machine, (len(self._meets), len(self._holders))
        key = (id(machine.grid.array), id(machine.array("boxes")), id(machine.array("runs")), *counts)
        if self._jobs.get(name, (None,))[0] == key:
            return self._jobs[name][1]
        known = {kind: held.array for kind, held in self._held.items()}
        known |= {"table": machine.table_array, "grid": machine.grid.array, "numbers": machine.numbers_array}
        known |= {kind: machine.array(kind) for kind in ("boxes", "runs")}
        last = {"own": [counts[1]], "mark": [0, counts[0]], "resolve": [self._parts.states, self._parts.shifts]}
        inputs = [*(known[kind] for kind in INPUTS[name].split()), *last[name]]
        job = machine.record(getattr(self._kernels, name), inputs)
        self._jobs[name] = (key, job)
        return job
