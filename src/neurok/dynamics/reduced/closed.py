"""Objects whose poses have a closed form, side by side, as the compiled steps take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.compiled import steps
from neurok.compiled.bodies import Bodies, Place
from neurok.dynamics.reduced.bearings import Bearings, Rolling
from neurok.dynamics.reduced.collocation import Diverged
from neurok.dynamics.reduced.config import ImplicitConfig
from neurok.dynamics.reduced.contact import Rows
from neurok.dynamics.reduced.own import OwnLoads
from neurok.dynamics.reduced.system import State, System
from neurok.geometry.twists import SERIES


@dataclass(eq=False)
class Moment:
    """A moment of all objects, at the start or the end of a step."""

    place: Place
    rate: Float[np.ndarray, "K 3"]
    """How features move."""

    q: Float[np.ndarray, " D"]
    qdot: Float[np.ndarray, " D"]
    kinetic: float
    stored: float
    """Energy of all loads."""


@dataclass(eq=False)
class ClosedSystem:
    """Takes the costly parts of a step for objects in closed form, under loads in closed form."""

    system: System
    bodies: Bodies
    columns: tuple[np.ndarray, ...]
    """Of the loads on coordinates."""

    limits: steps.Limits
    slope_at: np.ndarray
    slope_count: int
    _mass: Float[np.ndarray, "D D"] = field(init=False)
    _slopes: Float[np.ndarray, "C 3 D"] = field(init=False)
    _widths: list[int] = field(init=False)
    _rows: Rows | None = field(default=None, init=False)
    """For which masses and slopes of the points are known."""

    @staticmethod
    def of(system: System, loads: Sequence[OwnLoads], size: float, config: ImplicitConfig) -> ClosedSystem | None:
        """``None`` where something has no closed form."""
        forms = [form for member in system.members if (form := member.mechanics.closed) is not None]
        if len(forms) < len(system.members) or any(own.others for own in loads) or not system.dim:
            return None
        dim, count = system.dim, len(forms)
        frames = np.concatenate([[0], np.cumsum([len(form.handles) for form in forms])])
        first = np.array([member.where.start for member in system.members] + [dim])
        moves = np.zeros((int(frames[-1]), dim))
        for form, start, member in zip(forms, frames, system.members, strict=False):
            moves[start : start + len(form.handles), member.where] = form.moves
        mechanics = [member.mechanics for member in system.members]
        bodies = Bodies(
            np.array([int(form.is_tree) for form in forms]),
            first,
            frames,
            np.array([6 if each.free else 0 for each in mechanics]),
            np.stack([np.asarray(each.center, dtype=np.float64) for each in mechanics]),
            np.concatenate([form.parents + start for form, start in zip(forms, frames, strict=False)]),
            np.concatenate([form.order + start for form, start in zip(forms, frames, strict=False)]),
            np.concatenate([form.curves for form in forms]),
            np.concatenate([form.generators for form in forms]),
            moves,
            np.concatenate([form.handles for form in forms]),
            np.concatenate([form.twists.reshape(-1) for form in forms]),
            _begins([form.twists for form in forms]),
            np.concatenate([form.masses.reshape(-1) for form in forms]),
            _begins([form.masses for form in forms]),
            np.concatenate([form.weights for form in forms]),
            np.stack([own.gravity for own in loads]),
            SERIES,
        )
        sizes = [12 * len(form.handles) * each.dim for form, each in zip(forms, mechanics, strict=True)]
        limits = steps.Limits(
            config.tolerance * size,
            config.last_change * size,
            config.last_share,
            config.inner,
            config.lost * size,
            config.same_mass,
            config.max_newton,
            config.max_search,
        )
        columns = [np.concatenate([own.columns[k] for own in loads]) for k in range(1, 6)]
        stiffness = np.zeros((dim, dim))
        for own, member in zip(loads, system.members, strict=True):
            stiffness[member.where, member.where] = own.columns[0]
        slope_at = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        assert count == len(bodies.trees)
        vectors = [_wide(own.columns[6], each.where, dim) for own, each in zip(loads, system.members, strict=True)]
        columns += [np.concatenate(vectors), np.concatenate([own.columns[7] for own in loads])]
        return ClosedSystem(system, bodies, (stiffness, *columns), limits, slope_at, int(sum(sizes)))

    def __post_init__(self) -> None:
        self._mass, self._slopes = np.empty((self.system.dim,) * 2), np.empty((0, 3, self.system.dim))
        self._widths = (4 * np.diff(self.bodies.frames)).tolist()

    def place(self) -> Place:
        """Room for where all frames are."""
        count, dim = len(self.bodies.weights), self.system.dim
        return Place(np.empty((count, 3)), np.empty(self.slope_count), self.slope_at, np.zeros((dim, 4, 4)))

    def own(self, bearings: Sequence[Bearings | None], rolling: Sequence[Rolling | None]) -> steps.Own:
        """Loads on coordinates with the friction of joints and of rolling as it is now."""
        dim, members = self.system.dim, self.system.members
        rub, roll, slips = np.zeros((3, dim)), np.zeros(len(members)), np.zeros((len(members), 3))
        steep = 0.0
        for k, (member, bearing, ball) in enumerate(zip(members, bearings, rolling, strict=True)):
            if bearing is not None:
                rub[:, member.where] = bearing.limits, bearing.stiffness, bearing.slips
            if ball is not None:
                roll[k], slips[k], steep = ball.share * ball.radius * ball.load, ball.slips, ball.stiffness
        stiffness, lower, upper, steepness, buffer, viscosity, vectors, wells = self.columns
        return steps.Own(
            stiffness, lower, upper, steepness, buffer, viscosity, vectors, wells,
            rub[0], rub[1], rub[2], roll, steep, slips,
        )  # fmt: skip

    def begin(self, state: State, own: steps.Own) -> tuple[Moment, Float[np.ndarray, " D"]]:
        """The start of a step, and the inertia of each coordinate."""
        place, dim = self.place(), self.system.dim
        rate, qdot, mass = np.empty_like(place.y), np.empty(dim), np.empty((dim, dim))
        found = steps.begin(self.bodies, own, self._poses(state), state.q, state.p, place, rate, qdot, mass)
        return Moment(place, rate, state.q, qdot, *found), mass.diagonal()

    def gravity(self, moment: Moment) -> Float[np.ndarray, " D"]:
        """Generalised force of gravity."""
        out = np.empty(self.system.dim)
        steps.field_force(self.bodies, moment.place, out)
        return out

    def minimise(
        self, state: State, q: np.ndarray, dt: float, targets: np.ndarray, rows: Rows, own: steps.Own, is_first: bool
    ) -> tuple[np.ndarray, Place]:
        """Coordinates that minimise the incremental potential, and the place there; rows know how far they moved."""
        is_known = not is_first and rows is self._rows
        if not is_known:
            self._slopes = np.empty((len(rows), 3, self.system.dim))
        self._rows = rows
        q, place = q.copy(), self.place()
        rows.moved = np.empty((len(rows), 3))
        found = steps.Found(place, rows.moved, np.zeros((len(rows), 3)), np.zeros((len(rows), 6)), np.empty(len(q)))
        ended = steps.minimise(
            self.bodies, own, rows.packed(self._widths), self.limits, self._poses(state), state.q, q, dt, targets,
            self._mass, self._slopes, is_known, found,
        )  # fmt: skip
        if ended == steps.NOT_FINITE:
            raise Diverged("a value is no longer finite")
        if ended == steps.NOT_CONVERGED:
            raise Diverged("the minimisation of a step did not converge")
        return q, place

    def ended(
        self, state: State, q: np.ndarray, dt: float, place: Place, own: steps.Own
    ) -> tuple[Moment, Float[np.ndarray, " D"]]:
        """The end of a step, and the momenta there."""
        rate, p = np.empty_like(place.y), np.empty(self.system.dim)
        found = steps.end(self.bodies, own, place, state.q, q, dt, rate, p)
        return Moment(place, rate, q, (q - state.q) / dt, *found), p

    def rebase(self, state: State) -> State:
        """The same moment with all free bases back at the origin of their charts."""
        q, p, new = state.q.copy(), state.p.copy(), np.empty((len(state.poses), 4, 4))
        steps.rebase(self.bodies, self._poses(state), q, p, new)
        return State(tuple(new), q, p, state.time)

    def motions(self, state: State, moment: Moment) -> list[Any]:
        """The same moment as others ask for it."""
        out = []
        for k, (member, pose) in enumerate(zip(self.system.members, state.poses, strict=True)):
            mine, rows = member.where, slice(4 * self.bodies.frames[k], 4 * self.bodies.frames[k + 1])
            found = moment.place.y[rows], moment.rate[rows], moment.place.screws[mine]
            out.append(member.mechanics.found(pose, moment.q[mine], moment.qdot[mine], *found))
        return out

    def _poses(self, state: State) -> Float[np.ndarray, "M 4 4"]:
        return state.poses[0][None] if len(state.poses) == 1 else np.stack(state.poses)


def _wide(vectors: Float[np.ndarray, "R 3 d"], where: slice, dim: int) -> Float[np.ndarray, "R 3 D"]:
    """Vectors of one object among the coordinates of all."""
    out = np.zeros((len(vectors), 3, dim))
    out[:, :, where] = vectors
    return out


def _begins(pieces: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([piece.size for piece in pieces])[:-1]]).astype(np.int64)
