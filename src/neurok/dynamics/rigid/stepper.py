"""Steps of MuJoCo, in the coordinates of the reduced engine.

A contact is foreseen: whatever could meet within a step is handed to MuJoCo's solver with the speed at which it would
just arrive. Nothing passes through a thin board then, and nothing sinks in.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.condition import World
from neurok.dynamics.reduced.build import Bound
from neurok.dynamics.reduced.collocation import Diverged
from neurok.dynamics.reduced.loads import Damping, Hold, Push, UniformField, WindLoad
from neurok.dynamics.reduced.system import State, System
from neurok.dynamics.rigid.config import MujocoConfig
from neurok.dynamics.rigid.model import Scene, build, compiled, joint_name
from neurok.dynamics.rigid.springs import Springs, let_go, seize
from neurok.geometry import lie
from neurok.geometry.joint_tree import BASE_DOF


@dataclass(eq=False)
class Seat:
    """Where the coordinates of one object stand in MuJoCo's arrays."""

    bound: Bound
    where: slice
    """Its coordinates among those of all objects."""

    values: Int[np.ndarray, " J"]
    rates: Int[np.ndarray, " J"]
    base: tuple[int, int] | None
    """First value and first rate of a free base."""

    scales: Float[np.ndarray, " J"]
    """From mesh units to metres where a joint slides; 1 where it turns."""

    @property
    def unit(self) -> float:
        return self.bound.body.mesh.unit

    def put(self, data: Any, pose: Float[np.ndarray, "4 4"], q: np.ndarray, qdot: np.ndarray) -> None:
        """Write a moment into MuJoCo's state."""
        free = 0 if self.base is None else BASE_DOF
        data.qpos[self.values], data.qvel[self.rates] = q[free:] * self.scales, qdot[free:] * self.scales
        if self.base is None:
            return
        value, rate = self.base
        turn, lever = pose[:3, :3], pose[:3, :3] @ self.bound.mechanics.center
        data.qpos[value : value + 3] = pose[:3, 3] * self.unit
        data.qpos[value + 3 : value + 7] = lie.matrix_to_quaternion(turn)
        data.qvel[rate : rate + 3] = (qdot[:3] - np.cross(qdot[3:6], lever)) * self.unit
        data.qvel[rate + 3 : rate + 6] = turn.T @ qdot[3:6]

    def moment(self, data: Any) -> tuple[Float[np.ndarray, "4 4"], np.ndarray, np.ndarray]:
        """Pose, coordinates and rates of MuJoCo's state."""
        q, qdot = data.qpos[self.values] / self.scales, data.qvel[self.rates] / self.scales
        if self.base is None:
            return self.bound.pose, q, qdot
        value, rate = self.base
        turn = lie.quaternion_to_matrix(np.array(data.qpos[value + 3 : value + 7]))
        pose = lie.compose(turn, data.qpos[value : value + 3] / self.unit)
        spin = turn @ data.qvel[rate + 3 : rate + 6]
        speed = data.qvel[rate : rate + 3] / self.unit + np.cross(spin, turn @ self.bound.mechanics.center)
        return pose, np.concatenate([np.zeros(BASE_DOF), q]), np.concatenate([speed, spin, qdot])

    def push(self, data: Any, pose: Float[np.ndarray, "4 4"], force: Float[np.ndarray, " D"]) -> None:
        """Add a generalised force of the reduced coordinates to MuJoCo's."""
        free = 0 if self.base is None else BASE_DOF
        data.qfrc_applied[self.rates] += force[free:] * self.unit**2 / self.scales
        if self.base is None:
            return
        rate, turn = self.base[1], pose[:3, :3]
        moment = force[3:6] + np.cross(turn @ self.bound.mechanics.center, force[:3])
        data.qfrc_applied[rate : rate + 3] += force[:3] * self.unit
        data.qfrc_applied[rate + 3 : rate + 6] += turn.T @ moment * self.unit**2


class MujocoStepper:
    """Advances MuJoCo's state; everything that acts is read from the loads of the system."""

    def __init__(
        self, bounds: Sequence[Bound], system: System, world: World, state: State, config: MujocoConfig, step: float
    ) -> None:
        self.config, self.system, self.max_penetration = config, system, 0.0
        self.scene: Scene = build(bounds, world, config, step)
        self.mujoco = self.scene.mujoco
        self.springs: dict[tuple[int, int], Springs] = {}
        self.bounds = list(bounds)
        self.size = min(bound.body.mesh.size * bound.body.mesh.unit for bound in bounds)
        self._compile()
        self.put(state)
        self.change(system)

    def _compile(self) -> None:
        """Make the model anew, with its state kept."""
        kept = None if not hasattr(self, "data") else (self.data.qpos.copy(), self.data.qvel.copy())
        self.model = compiled(self.scene)
        self.data = self.mujoco.MjData(self.model)
        if kept is not None:
            self.data.qpos[:], self.data.qvel[:] = kept
        model, index = self.model, 0
        self.seats = []
        for index, (bound, member) in enumerate(zip(self.bounds, self.system.members, strict=True)):
            self.seats.append(_seat(model, index, bound, member.where))
        shapes = [self.scene.shapes.get(model.geom(g).name) for g in range(model.ngeom)]
        self.bounce = np.array([np.nan if s is None or s.friction is None else s.restitution for s in shapes])
        self.bounces = bool((self.bounce > 0).any())
        self.reach = np.zeros(model.nbody)
        np.maximum.at(self.reach, model.geom_bodyid, np.linalg.norm(model.geom_pos, axis=1) + model.geom_rbound)
        np.maximum.at(self.reach, np.arange(model.nbody), 2.0 * np.linalg.norm(model.body_ipos, axis=1))
        self.reach[~np.isfinite(self.reach)] = 0.0
        for springs in self.springs.values():
            springs.find(model)

    def put(self, state: State) -> None:
        """Begin at another moment."""
        qdot = self.system.velocity(state)
        for seat, pose in zip(self.seats, state.poses, strict=True):
            seat.put(self.data, pose, state.q[seat.where], qdot[seat.where])
        self.mujoco.mj_kinematics(self.model, self.data)

    def state(self, time: float) -> State:
        """The present moment."""
        moments = [seat.moment(self.data) for seat in self.seats]
        poses = tuple(pose for pose, _, _ in moments)
        q = np.concatenate([q for _, q, _ in moments])
        qdot = np.concatenate([qdot for _, _, qdot in moments])
        if not (np.isfinite(q).all() and np.isfinite(qdot).all()):
            raise Diverged("a value is no longer finite")
        momentum = self.system.momentum(self.system.motions(poses, q[None], qdot[None]))[0]
        return State(poses, q, momentum, time)

    def kick(self) -> None:
        """Nothing is remembered that a kick could make wrong."""

    def change(self, system: System) -> None:
        """Other loads act from now on."""
        self.system = system
        gravity = [load for member in system.members for load in member.loads if isinstance(load, UniformField)]
        self.model.opt.gravity[:] = gravity[0].acceleration * self.seats[0].unit if gravity else 0.0
        holds = {
            (index, id(load)): (index, load)
            for index, member in enumerate(system.members)
            for load in member.loads
            if isinstance(load, Hold)
        }
        gone = [key for key in self.springs if key not in holds]
        new = [key for key in holds if key not in self.springs]
        for key in gone:
            let_go(self.scene, self.springs.pop(key))
        for number, key in enumerate(new):
            index, load = holds[key]
            frames = self._frames(index)
            name = f"{load.name} {len(self.springs)}.{number}"
            self.springs[key] = seize(self.scene, load, index, frames, self.seats[index].unit, name)
        if gone or new:
            acceleration = np.array(self.model.opt.gravity)
            self._compile()
            self.model.opt.gravity[:] = acceleration
        rates = np.zeros(self.model.nv)
        for seat, member in zip(self.seats, system.members, strict=True):
            rate = sum(load.mass_rate for load in member.loads if isinstance(load, Damping))
            rates[seat.rates] = rate
            if seat.base is not None:
                rates[seat.base[1] : seat.base[1] + BASE_DOF] = rate
        self.mass_rates = rates if rates.any() else None

    def _frames(self, index: int) -> Float[np.ndarray, "N 4 4"]:
        """Where the nodes of an object are now, in mesh units."""
        pose, q, _ = self.seats[index].moment(self.data)
        mechanics: Any = self.bounds[index].mechanics
        return np.asarray(mechanics.tree.transforms(pose, q[None])[0][0])

    def advance(self, time: float, step: float) -> None:
        """Go on by one step, in pieces where something moves fast."""
        with self._quiet():
            speed = self._speed(step)
            pieces = min(self.config.max_pieces, max(1, math.ceil(speed * step / (self.config.travel * self.size))))
            self.model.opt.timestep = piece = step / pieces
            for k in range(pieces):
                self._piece(time + k * piece, piece, self._speed(piece) if k else speed)
        if self.data.warning.number.any():
            raise Diverged("MuJoCo lost it (" + self._complaint() + ")")

    def _piece(self, time: float, step: float, speed: float) -> None:
        model, data = self.model, self.data
        sight = self.config.sight * speed * step
        model.geom_margin[:] = model.body_margin[:] = sight
        if model.npair:
            model.pair_margin[:] = sight
        self._load(time, step)
        self.mujoco.mj_step1(model, data)
        if data.ncon:
            self._foresee(step)
        self.mujoco.mj_step2(model, data)

    def _speed(self, step: float) -> float:
        """A bound on the speed of anything at the end of a step [m/s]."""
        velocity = self.data.cvel
        turning = np.sqrt((velocity[:, :3] ** 2).sum(axis=1))
        arms = self.data.xipos - self.data.subtree_com[self.model.body_rootid]
        moving = velocity[:, 3:] + np.cross(velocity[:, :3], arms)
        fall = step * float(np.linalg.norm(self.model.opt.gravity))
        return float((np.sqrt((moving**2).sum(axis=1)) + turning * self.reach).max()) + fall

    def _foresee(self, step: float) -> None:
        """Let foreseen contacts arrive at the end of the step and not stop before; deep ones come out; some bounce."""
        data, contact = self.data, self.data.contact
        rows = contact.efc_address
        live = rows >= 0
        rows, gaps = rows[live], contact.dist[live]
        speeds = data.efc_vel[rows]
        goals = np.where(gaps > 0.0, -gaps, -self.config.recovery * gaps) / step
        if self.bounces:
            pairs = self.bounce[contact.geom[live]]
            kept = np.nan_to_num(np.sqrt(np.nanprod(pairs, axis=1) ** (2.0 / np.maximum(1, (~np.isnan(pairs)).sum(axis=1)))))
            kept[np.isnan(pairs).all(axis=1)] = 0.0
            slow = self.config.bounce_steps * step * float(np.linalg.norm(self.model.opt.gravity))
            hits = (speeds < -slow) & (gaps <= -speeds * step)
            goals = np.where(hits, np.maximum(goals, -kept * speeds), goals)
        data.efc_aref[rows] = (goals - speeds) / step
        self.max_penetration = max(self.max_penetration, -float(gaps.min(initial=0.0)) / self.seats[0].unit)

    def _load(self, time: float, step: float) -> None:
        """Pushes, wind, damping in proportion to mass, and springs."""
        model, data = self.model, self.data
        data.qfrc_applied[:] = 0.0
        if self.mass_rates is not None:
            self.mujoco.mj_mulM(model, data, data.qfrc_applied, np.array(data.qvel))
            data.qfrc_applied[:] *= -self.mass_rates / (1.0 + step * self.mass_rates)
        for seat, member in zip(self.seats, self.system.members, strict=True):
            acting = [load for load in member.loads if _acts(load, time)]
            if acting:
                pose, q, qdot = seat.moment(data)
                motion = member.mechanics.motion(pose, q[None], qdot[None])
                for load in acting:
                    seat.push(data, pose, load.force(motion, np.array([time]))[0])
        for springs in self.springs.values():
            springs.pull(model, data, time, step)

    def _complaint(self) -> str:
        number = self.data.warning.number
        kinds = self.mujoco.mjtWarning
        words = {kinds.mjWARN_BADQPOS: "position", kinds.mjWARN_BADQVEL: "speed", kinds.mjWARN_BADQACC: "acceleration"}
        found = [f"a {word} that is no number or huge" for kind, word in words.items() if number[int(kind)]]
        return ", ".join(found) or "its memory is full"

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """Warnings go into the status of the run, not to the screen or a file."""
        self.mujoco.set_mju_user_warning(lambda message: None)
        try:
            yield
        finally:
            self.mujoco.set_mju_user_warning(None)


def _acts(load: Any, time: float) -> bool:
    if isinstance(load, Push):
        return bool(load.force_over_time.at(time).any())
    return isinstance(load, WindLoad)


def _seat(model: Any, index: int, bound: Bound, where: slice) -> Seat:
    mechanics: Any = bound.mechanics
    ids = [model.joint(joint_name(index, node)).id for node in range(1, mechanics.tree.joint_count + 1)]
    base = None
    if bound.body.free:
        first = model.joint(joint_name(index, 0)).id
        base = int(model.jnt_qposadr[first]), int(model.jnt_dofadr[first])
    chosen = np.array(ids, dtype=np.int64)
    scales = np.where(bound.body.poses.is_length, bound.body.mesh.unit, 1.0)
    return Seat(bound, where, model.jnt_qposadr[chosen], model.jnt_dofadr[chosen], base, scales)


