"""Keeps the frames of a run and tells the truth about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core.clip import Rollout, RolloutStatus, Skin
from neurok.dynamics.reduced.build import Bound
from neurok.dynamics.reduced.collocation import Diverged
from neurok.dynamics.reduced.config import ReducedConfig
from neurok.dynamics.reduced.contact import Touch
from neurok.dynamics.reduced.loads import Damping, WindLoad
from neurok.dynamics.reduced.search import ContactSearch, Extent, solid_boxes
from neurok.dynamics.reduced.shapes import BendingSurface
from neurok.dynamics.reduced.system import State, System
from neurok.geometry.joint_tree import BASE_DOF
from neurok.geometry.lie import apply, rotation_vector, seen_from

CHECKED_POINTS = 2000
"""Vertices of each object that are looked at for how deep they are in something."""


class Recorder:
    """Frames, energies and figures of one run."""

    def __init__(
        self,
        bounds: Sequence[Bound],
        system: System,
        stepper: Any,
        dt: float,
        config: ReducedConfig,
        keeps_all: bool = True,
    ) -> None:
        self.bounds, self.system, self.stepper, self.dt = bounds, system, stepper, dt
        self.config, self.keeps_all = config, keeps_all
        self.handles: list[list[np.ndarray]] = [[] for _ in bounds]
        self.poses: list[list[np.ndarray]] = [[] for _ in bounds]
        self.q: list[list[np.ndarray]] = [[] for _ in bounds]
        self.qdot: list[list[np.ndarray]] = [[] for _ in bounds]
        self.energies: list[dict[str, float]] = []
        self.first_energies: dict[str, float] = {}
        self.frame_count, self.largest_kinetic = 0, 0.0
        self.depth, self.depth_share = 0.0, 0.0
        self.steps, self.stepping = 0, 0.0
        self._state: State | None = None
        self.status: RolloutStatus = "ok"
        self.message = ""
        rests = [bound.body.mesh for bound in bounds]
        self.extents = [Extent.of(bound.mechanics) for bound in bounds]
        self.reaches = [config.runaway_size * (rest.size + float(np.abs(rest.vertices).max())) for rest in rests]
        self.causes = _causes(bounds)
        self.is_driven = bool({"pushes", "impulses", "drags", "wind"} & set(self.causes))

    def frame(self, state: State) -> None:
        """Keep one frame, as coordinates; refuse it when it is not a sensible one.

        Vertices are placed when somebody asks for them, so that a step costs the same however many are drawn.
        """
        if self._is_asleep(state):
            for frames in (*self.handles, *self.poses, *self.q, *self.qdot):
                frames += frames[-1:]
            self.energies += self.energies[-1:]
            self._count()
            return
        self._state = state
        qdot = self.system.velocity(state) if state.qdot is None else state.qdot
        energies = self.system.energies(state, qdot)
        if not (np.isfinite(state.q).all() and np.isfinite(qdot).all() and np.isfinite(list(energies.values())).all()):
            raise Diverged("a value is no longer finite")
        self._check_energy(energies)
        placed = []
        motions = self.system.motions(state.poses, state.q[None], qdot[None])
        everyone = zip(self.bounds, self.system.members, state.poses, motions, self.extents, self.reaches, strict=True)
        for bound, member, pose, motion, extent, reach in everyone:
            if not np.abs(extent.box(motion.y) if extent.corners is not None else motion.y).max() < reach:
                raise Diverged(f"'{bound.body.name}' has left the scene")
            q = state.q[member.where].copy()
            placed.append((bound.mechanics.handles(pose, q), pose, q))
        self._measure(motions)
        for index, ((handles, pose, q), member) in enumerate(zip(placed, self.system.members, strict=True)):
            self.poses[index].append(pose)
            self.q[index].append(q)
            self.qdot[index].append(qdot[member.where])
            if handles is not None:
                self.handles[index].append(handles)
        self.energies.append(energies)
        self.first_energies = self.first_energies or energies
        self.largest_kinetic = max(self.largest_kinetic, energies["kinetic"])
        self._count()

    def _is_asleep(self, state: State) -> bool:
        """Whether nothing has moved since the last frame and nothing moves."""
        last = self._state
        if last is None or last.q is not state.q or last.poses is not state.poses:
            return False
        return not (last.p.any() or state.p.any())

    def _count(self) -> None:
        """One frame more."""
        self.frame_count += 1
        if not self.keeps_all:
            del self.energies[:-1]
            for frames in (*self.handles, *self.poses, *self.q, *self.qdot):
                del frames[:-1]

    def last_positions(self) -> tuple[Float[np.ndarray, "V 3"], ...]:
        """Vertices of each body at the last frame."""
        everyone = zip(self.bounds, self.poses, self.q, strict=True)
        return tuple(bound.mechanics.positions(poses[-1], q[-1]) for bound, poses, q in everyone)

    def _positions(self, index: int) -> Float[np.ndarray, "T V 3"]:
        """Vertices of a body at all frames; what stood still is placed once."""
        mechanics, out = self.bounds[index].mechanics, np.empty((0, 0, 3))
        for frame, (pose, q) in enumerate(zip(self.poses[index], self.q[index], strict=True)):
            if frame and q is self.q[index][frame - 1] and pose is self.poses[index][frame - 1]:
                out[frame] = out[frame - 1]
                continue
            placed = mechanics.positions(pose, q)
            out = out if frame else np.empty((len(self.q[index]), *placed.shape))
            out[frame] = placed
        return out

    def _measure(self, motions: Sequence[Any]) -> None:
        """Take note of how deep things are in each other."""
        gauge: DepthGauge | None = getattr(self.stepper, "gauge", None)
        if gauge is not None:
            self._deeper(*gauge.deepest(motions))

    def _deeper(self, depth: float, share: float) -> None:
        self.depth, self.depth_share = max(self.depth, depth), max(self.depth_share, share)

    def changed(self, bounds: Sequence[Bound], system: System, cause: str) -> None:
        """From now on other loads act; their energy comes from outside."""
        self.bounds, self.system, self.is_driven, self._state = bounds, system, True, None
        self.causes = list(dict.fromkeys([*self.causes, f"a change of the {cause}"]))

    def _check_energy(self, energies: dict[str, float]) -> None:
        """Where nothing feeds energy in, it must not grow."""
        if not self.energies or self.is_driven:
            return
        start = self.first_energies
        scale = self.largest_kinetic + sum(
            abs(value - start.get(name, 0.0)) for name, value in energies.items() if name != "kinetic"
        )
        if sum(energies.values()) - sum(start.values()) > self.config.runaway_energy * max(
            scale, 1e-12 * energies["kinetic"], self.config.still_energy
        ):
            raise Diverged("energy appeared from nowhere")

    def fail(self, reason: str) -> None:
        self.status = "diverged"
        good = self.frame_count
        shortest = getattr(self.stepper, "shortest", None)
        if shortest is None:
            advice = f"Try a shorter time step, for instance dt={self.dt / 4:.2g} s, or the integrator 'implicit'."
        else:
            advice = (
                f"Steps down to {shortest:.2g} s were tried. Try more damping, a stiffer material or a weaker action, "
                "or see what 'neurok inspect' says about the mesh."
            )
        self.message = f"The motion diverged after {good} good frame{'s' * (good != 1)}: {reason}. {advice}"

    def stop(self) -> None:
        self.status, self.message = "stopped", f"Stopped on request after {self.frame_count} frames."

    def rollouts(self, frame_dt: float, integrator: str) -> tuple[Rollout, ...]:
        """One rollout for each object; energies and report are of the whole scene."""
        unit = self.bounds[0].body.mesh.unit
        names = list(dict.fromkeys(name for frame in self.energies for name in frame))
        energies = {name: np.array([frame.get(name, 0.0) for frame in self.energies]) * unit**2 for name in names}
        energies["total"] = np.sum(list(energies.values()), axis=0)
        positions = [self._positions(index) for index in range(len(self.bounds))]
        gauge: DepthGauge | None = getattr(self.stepper, "gauge", None)
        if gauge is not None:
            self._deeper(*gauge.below_ground(positions))
        report = self._report(energies, integrator, unit)
        return tuple(
            Rollout(
                rest=bound.body.mesh,
                dt=frame_dt,
                positions=positions[index],
                q=self._coordinates(index, bound),
                qdot=np.stack(self.qdot[index]),
                status=self.status,
                message=self.message,
                energies=energies,
                report=report,
                skin=self._skin(index, bound),
            )
            for index, bound in enumerate(self.bounds)
        )

    def _coordinates(self, index: int, bound: Bound) -> Float[np.ndarray, "T D"]:
        """Coordinates as they are kept: those of a free base count from the rest pose, not from the last step."""
        q = np.stack(self.q[index])
        if bound.mechanics.free:
            poses, center = np.stack(self.poses[index]), bound.mechanics.center
            q[:, :3] = apply(poses, center[None])[:, 0] - center
            q[:, 3:BASE_DOF] = rotation_vector(poses[:, :3, :3])
        return q

    def _skin(self, index: int, bound: Bound) -> Skin | None:
        weights = bound.mechanics.handle_weights()
        if weights is None or not self.handles[index]:
            return None
        return Skin(weights, np.stack(self.handles[index]))

    def _report(self, energies: dict[str, Float[np.ndarray, " T"]], integrator: str, unit: float) -> dict[str, Any]:
        total = energies["total"]
        drift, note = self._drift(total, float(energies["kinetic"].max()))
        stepping = max(self.stepping, 1e-9)
        spent = self.system.clock.seconds
        known = sum(spent.values())
        report: dict[str, Any] = {
            "integrator": integrator,
            "dof": self.system.dim,
            "dt": self.dt,
            "steps": self.steps,
            "steps_per_second": self.steps / stepping,
            "real_time_factor": self.steps * self.dt / stepping,
            "energy_start": float(total[0]),
            "energy_end": float(total[-1]),
            "energy_drift": drift,
            "energy_note": note,
            "max_penetration": self.depth * unit,
            "max_penetration_share": self.depth_share,
        }
        for name, seconds in spent.items():
            report[f"time_{name}"] = seconds / stepping
        report["time_other"] = max(0.0, 1.0 - known / stepping)
        return report

    def _drift(self, total: Float[np.ndarray, " T"], kinetic: float) -> tuple[float | None, str]:
        """How far the energy strayed by mistake; unknown where something changed it by right."""
        causes = [*self.causes, *(["contact"] if getattr(self.stepper, "touched", False) else [])]
        if any(each is not None and not each.lever.all() for each in getattr(self.stepper, "frictions", ())):
            causes.append("friction of joints")
        if causes:
            names = " and ".join(filter(None, [", ".join(causes[:-1]), causes[-1]]))
            return None, f"Not conservative: {names} changed the energy, so its drift tells nothing."
        strayed = float(np.abs(total - total[0]).max())
        if kinetic <= self.config.still_share * max(abs(float(total[0])), strayed):
            return None, "Nothing moved, so there is no motion to compare a drift of the energy with."
        return (strayed / kinetic if kinetic > 0 else 0.0), ""


def _causes(bounds: Sequence[Bound]) -> list[str]:
    """What changes the energy of these objects besides contact, in words."""
    conditions = [bound.body.condition for bound in bounds]
    loads = [load for bound in bounds for load in bound.loads]
    found = {
        "pushes": any(condition.forces for condition in conditions),
        "impulses": any(condition.impulses for condition in conditions),
        "drags": any(condition.drags for condition in conditions),
        "pins (which are damped)": any(condition.pins for condition in conditions),
        "wind": any(isinstance(load, WindLoad) for load in loads),
        "damping": any(isinstance(load, Damping) for load in loads),
    }
    return [name for name, is_there in found.items() if is_there]


@dataclass(frozen=True, eq=False)
class DepthGauge:
    """How deep things are in each other at a recorded frame, on many more points than contact itself looks at."""

    search: ContactSearch
    points: tuple[Any, ...]
    """Of each object, those that are looked at in obstacles and other objects."""

    sizes: tuple[float, ...]

    @staticmethod
    def of(bounds: Sequence[Bound], search: ContactSearch) -> DepthGauge:
        points = []
        for bound in bounds:
            used = np.unique(bound.body.mesh.faces)
            points.append(bound.mechanics.points(used[:: max(1, -(-len(used) // CHECKED_POINTS))]))
        return DepthGauge(search, tuple(points), tuple(bound.body.mesh.size for bound in bounds))

    def deepest(self, motions: Sequence[Any]) -> tuple[float, float]:
        """Largest depth in obstacles and other objects, in mesh units and as a share of the object's size."""
        search = self.search
        near = search.walls_near(*search.boxes([motion.y for motion in motions])) if search.has_walls else []
        if not near:
            return 0.0, 0.0
        owners = {touch.points.owner for touch in near} | {touch.other for touch in near if touch.other is not None}
        placed = {owner: self.points[owner].positions(motions[owner])[0] for owner in owners}
        boxes = np.zeros((2, len(motions), 3))
        for owner, x in placed.items():
            boxes[:, owner] = x.min(axis=0), x.max(axis=0)
        (low, high), found = solid_boxes(near, motions, boxes), [(0.0, 0)]
        for touch, bottom, top in zip(near, low, high, strict=True):
            owner = touch.points.owner
            if (bottom <= boxes[1, owner]).all() and (top >= boxes[0, owner]).all():
                found.append((_depth(touch, placed[owner], motions), owner))
        return max(depth for depth, _ in found), max(depth / self.sizes[owner] for depth, owner in found)

    def below_ground(self, positions: Sequence[Float[np.ndarray, "_ _ 3"]]) -> tuple[float, float]:
        """Largest depth of any vertex in a plane over all frames, in the same two measures."""
        found = [(0.0, 0)]
        for touch in self.search.floors:
            owner, plane = touch.points.owner, touch.solid
            lowest = min(float((frame @ plane.normal).min()) for frame in positions[owner])
            found.append((plane.height - lowest, owner))
        return max(depth for depth, _ in found), max(depth / self.sizes[owner] for depth, owner in found)


def _depth(touch: Touch, x: Float[np.ndarray, "n 3"], motions: Sequence[Any]) -> float:
    """How deep the deepest of some points is in the solid of a touch."""
    motion = None if touch.other is None else motions[touch.other]
    if isinstance(touch.solid, BendingSurface):
        gaps = touch.solid.meet(motion, x, x, np.full(len(x), -1), 0.0, np.zeros(len(x)))[0].gaps
    else:
        gaps = touch.solid.distance(x if motion is None else seen_from(motion.node_frame(touch.node), x))[0]
    return max(0.0, -float(gaps.min(initial=0.0)))
