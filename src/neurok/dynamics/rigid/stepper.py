"""Steps of MuJoCo, in the coordinates of the reduced engine.

A contact is foreseen: whatever could meet within a step is handed to MuJoCo's solver with the speed at which it would
just arrive. Nothing passes through a thin board then, and nothing sinks in.

Pins, drags and grabs are damped springs that are solved at the end of a step, however stiff they are. Many springs of
one stiffness on a rigid node act like four on the corners of a tetrahedron that has the same second moments: the energy
Σ ½ k |T p - y|² depends on nothing else while the places y are a rigid image of the points p.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.condition import World
from neurok.dynamics.reduced.build import Bound
from neurok.dynamics.reduced.collocation import Diverged
from neurok.dynamics.reduced.loads import Damping, Hold, Push, UniformField, WindLoad
from neurok.dynamics.reduced.system import State, System
from neurok.dynamics.rigid.model import MujocoConfig, Scene, build, compiled, joint_name, node_name
from neurok.geometry import lie
from neurok.geometry.joint_tree import BASE_DOF

TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.float64)
"""Four points with the mean 0 and the covariance 1."""

MOMENT = 1e-4
"""Half the time over which the speed of a moving place is measured [s]."""


@dataclass(eq=False)
class Springs:
    """One hold as MuJoCo's actuators."""

    hold: Hold
    names: list[str]
    """Of the actuators, three for each site."""

    places: Float[np.ndarray, "s 3"]
    """Where the sites were when they were seized [m]."""

    stiffness: Float[np.ndarray, " s"]
    """Of the springs on each site [N/m]."""

    first: Float[np.ndarray, "3"]
    """Where the first held point was then [mesh units]: how it shall move is how all shall."""

    unit: float
    ids: Int[np.ndarray, " n"]

    def find(self, model: Any) -> None:
        """Look up the actuators in a model that was just compiled, and make them act."""
        self.ids = np.array([model.actuator(name).id for name in self.names])
        strength = np.repeat(self.stiffness, 3)
        model.actuator_gainprm[self.ids, 0], model.actuator_biasprm[self.ids, 1] = strength, -strength

    def pull(self, model: Any, data: Any, time: float, step: float) -> None:
        """Aim at where the places will be at the end of a step."""
        hold = self.hold
        strength = np.repeat(self.stiffness, 3) * (time <= hold.end)
        ratio = hold.damping / hold.stiffness
        model.actuator_gainprm[self.ids, 0], model.actuator_biasprm[self.ids, 1] = strength, -strength
        model.actuator_biasprm[self.ids, 2] = -strength * (ratio + step)
        goal = [hold.targets(time + step + shift)[0] for shift in (-MOMENT, 0.0, MOMENT)]
        ahead = goal[1] - self.first + ratio * (goal[2] - goal[0]) / (2.0 * MOMENT)
        data.ctrl[self.ids] = (self.places + self.unit * ahead).reshape(-1)


def seize(scene: Scene, hold: Hold, index: int, frames: Float[np.ndarray, "N 4 4"], unit: float, name: str) -> Springs:
    """Add sites and actuators of a hold to a model; ``frames`` are where the nodes of the object are [mesh units]."""
    names, places, stiffness = [], [], []
    for node in np.unique(hold.points.nodes):
        points = hold.points.rest[hold.points.nodes == node]
        stand_ins = _stand_ins(points)
        for k, point in enumerate(stand_ins):
            site = f"{name} {index}/{node}/{k}"
            scene.spec.body(node_name(index, int(node))).add_site(name=site, pos=point * unit)
            for axis in range(3):
                _actuator(scene, f"{site}/{axis}", site, axis)
                names.append(f"{site}/{axis}")
            places.append(lie.apply(frames[node], point[None])[0] * unit)
            stiffness.append(hold.stiffness * len(points) / len(stand_ins))
    first = lie.apply(frames[hold.points.nodes[0]], hold.points.rest[:1])[0]
    return Springs(hold, names, np.array(places), np.array(stiffness), first, unit, np.zeros(0, dtype=np.int64))


def let_go(scene: Scene, springs: Springs) -> None:
    """Take the sites and actuators of a hold out of the model."""
    for name in springs.names:
        scene.spec.delete(scene.spec.actuator(name))
    for name in springs.names[::3]:
        scene.spec.delete(scene.spec.site(name.rsplit("/", 1)[0]))


def _stand_ins(points: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "m 3"]:
    """One point, or four of the same mean and covariance."""
    if len(points) == 1:
        return points
    middle = points.mean(axis=0)
    values, axes = np.linalg.eigh((points - middle).T @ (points - middle) / len(points))
    return middle + (TETRAHEDRON * np.sqrt(np.maximum(values, 0.0))) @ axes.T


def _actuator(scene: Scene, name: str, site: str, axis: int) -> None:
    mujoco = scene.mujoco
    actuator = scene.spec.add_actuator(name=name, target=site, refsite="world")
    actuator.trntype = mujoco.mjtTrn.mjTRN_SITE
    actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    actuator.gear = np.eye(6)[axis]


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
        import mujoco

        q, qdot = data.qpos[self.values] / self.scales, data.qvel[self.rates] / self.scales
        if self.base is None:
            return self.bound.pose, q, qdot
        value, rate = self.base
        flat, pose = np.empty(9), np.eye(4)
        mujoco.mju_quat2Mat(flat, data.qpos[value + 3 : value + 7])
        turn = pose[:3, :3] = flat.reshape(3, 3)
        pose[:3, 3] = data.qpos[value : value + 3] / self.unit
        spin = turn @ data.qvel[rate + 3 : rate + 6]
        speed = data.qvel[rate : rate + 3] / self.unit + _cross(spin, turn @ self.bound.mechanics.center)
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


def _cross(a: Float[np.ndarray, "3"], b: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """What ``np.cross`` takes fifty times as long for."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


MARGINS = ("geom_margin", "body_margin", "pair_margin")
MOTION = ("cvel", "xipos", "subtree_com")


class Views(NamedTuple):
    """MuJoCo's arrays that every step looks at; asking for one by name takes as long as using it."""

    geom_margin: np.ndarray
    body_margin: np.ndarray
    pair_margin: np.ndarray
    cvel: np.ndarray
    xipos: np.ndarray
    subtree_com: np.ndarray


class MujocoStepper:
    """Advances MuJoCo's state; everything that acts is read from the loads of the system."""

    def __init__(
        self, bounds: Sequence[Bound], system: System, world: World, state: State, config: MujocoConfig, step: float
    ) -> None:
        self.config, self.system = config, system
        self.depth, self.touched = 0.0, False
        self.until_look, self.pieces = 0, 1
        self.data: Any = None
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
        kept = None if self.data is None else (self.data.qpos.copy(), self.data.qvel.copy())
        self.model = compiled(self.scene)
        self.data = self.mujoco.MjData(self.model)
        if kept is not None:
            self.data.qpos[:], self.data.qvel[:] = kept
        model, members = self.model, self.system.members
        self.seats = [_seat(model, k, bound, members[k].where) for k, bound in enumerate(self.bounds)]
        names = [model.geom(g).name for g in range(model.ngeom)]
        self.owners = np.array([self.scene.groups[name][0] for name in names], dtype=np.int64)
        lively = [self.scene.shapes[name].restitution if name in self.scene.shapes else 0.0 for name in names]
        self.still = self.owners < 0
        self.bounce = np.where(self.still, self.config.reduced.contact.hard, lively)
        self.bounces = bool((self.bounce[~self.still] > 0).any())
        self.roots = np.array(model.body_rootid)
        self.alone, self.geom_bodies = len(self.bounds) == 1, np.array(model.geom_bodyid)
        self.views = Views(*(getattr(model, name) for name in MARGINS), *(getattr(self.data, name) for name in MOTION))
        self.reach = np.zeros(model.nbody)
        arms = np.linalg.norm(model.geom_pos - model.body_ipos[model.geom_bodyid], axis=1)
        np.maximum.at(self.reach, model.geom_bodyid[~self.still], (arms + model.geom_rbound)[~self.still])
        for springs in self.springs.values():
            springs.find(model)

    def put(self, state: State) -> None:
        """Begin at another moment."""
        qdot = self.system.velocity(state)
        for seat, pose in zip(self.seats, state.poses, strict=True):
            seat.put(self.data, pose, state.q[seat.where], qdot[seat.where])
        self._refresh()

    def _refresh(self) -> None:
        """Bring up to date what follows from the state."""
        self.mujoco.mj_fwdPosition(self.model, self.data)
        self.mujoco.mj_fwdVelocity(self.model, self.data)
        self.until_look = 0

    def state(self, time: float) -> State:
        """The present moment; refused where MuJoCo has lost it."""
        if self.data.warning.number.any():
            raise Diverged("MuJoCo lost it (" + self._complaint() + ")")
        moments = [seat.moment(self.data) for seat in self.seats]
        poses = tuple(pose for pose, _, _ in moments)
        q = np.concatenate([q for _, q, _ in moments])
        qdot = np.concatenate([qdot for _, _, qdot in moments])
        if not (np.isfinite(q).all() and np.isfinite(qdot).all()):
            raise Diverged("a value is no longer finite")
        momentum = self.system.momentum(self.system.motions(poses, q[None], qdot[None]))[0]
        return State(poses, q, momentum, time, qdot)

    def kick(self) -> None:
        """Something got another speed: look anew."""
        self.until_look = 0

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
            self._refresh()
        rates = np.zeros(self.model.nv)
        for seat, member in zip(self.seats, system.members, strict=True):
            rate = sum(load.mass_rate for load in member.loads if isinstance(load, Damping))
            rates[seat.rates] = rate
            if seat.base is not None:
                rates[seat.base[1] : seat.base[1] + BASE_DOF] = rate
        self.mass_rates = rates if rates.any() else None
        self.weight, self.until_look = float(np.linalg.norm(self.model.opt.gravity)), 0
        everyone = zip(self.seats, system.members, strict=True)
        found = [(seat, [load for load in each.loads if isinstance(load, Push | WindLoad)]) for seat, each in everyone]
        self.pushes = [(seat, loads) for seat, loads in found if loads]
        self.data.qfrc_applied[:] = 0.0

    def _frames(self, index: int) -> Float[np.ndarray, "N 4 4"]:
        """Where the nodes of an object are now, in mesh units."""
        pose, q, _ = self.seats[index].moment(self.data)
        mechanics: Any = self.bounds[index].mechanics
        return np.asarray(mechanics.tree.transforms(pose, q[None])[0][0])

    def advance(self, time: float, step: float) -> None:
        """Go on by one step, in pieces where something moves fast."""
        if self.until_look == 0:
            self._look(step)
            self.until_look = self.config.look_steps
        self.until_look -= 1
        piece = step / self.pieces
        for k in range(self.pieces):
            self._load(time + k * piece, piece)
            self.mujoco.mj_step1(self.model, self.data)
            if self.data.ncon:
                self._foresee(piece)
            self.mujoco.mj_step2(self.model, self.data)
            if not self.touched and self.data.ncon:
                rows = self.data.contact.efc_address
                self.touched = bool(self.data.efc_force[rows[rows >= 0]].any())

    def _look(self, step: float) -> None:
        """How far ahead contacts are sought in the next steps, and into how many pieces these are cut."""
        speeds = self._speeds(self.config.look_steps * step)
        widest = float(speeds[0].max())
        travel = self.config.travel * self.size
        self.pieces = min(self.config.max_pieces, max(1, math.ceil(widest * step / travel)))
        self.model.opt.timestep = step / self.pieces
        far, near = self.config.sight * step / self.pieces * speeds
        # The farther-sighted of two shapes counts. What stands still looks out for all; parts of one object that flies
        # alone need not look out for each other farther than they move against each other.
        views = self.views
        views.body_margin[:] = near if self.alone else far
        views.body_margin[0] = views.pair_margin[:] = widest = far.max()
        views.geom_margin[:] = views.body_margin[self.geom_bodies]
        views.geom_margin[self.still] = widest

    def _speeds(self, time: float) -> Float[np.ndarray, "2 B"]:
        """Bounds on the speed of every body within a time, and on that against the base of its object [m/s]."""
        views, twists = self.views, self.views.cvel
        arms = views.xipos - views.subtree_com[self.roots]
        reach = np.sqrt(np.einsum("bi,bi->b", arms, arms)) + self.reach
        fall = time * self.weight
        both = np.concatenate([twists, twists - twists[self.roots]]).reshape(2, -1, 2, 3)
        size = np.sqrt(np.einsum("kbti,kbti->kbt", both, both))
        return size[..., 1] + size[..., 0] * reach + fall

    def _foresee(self, step: float) -> None:
        """Let foreseen contacts arrive at the end of the step and not stop before; deep ones come out; some bounce."""
        data, contact = self.data, self.data.contact
        rows, gaps = contact.efc_address, contact.dist
        if rows.min() < 0:
            live = rows >= 0
            if not live.any():
                return
            rows, gaps = rows[live], gaps[live]
        speeds = data.efc_vel[rows]
        goals = -np.where(gaps > 0.0, gaps, self.config.recovery * gaps) / step
        if self.bounces:
            slow = self.config.bounce_steps * step * self.weight
            hits = (speeds < -slow) & (gaps <= -speeds * step)
            kept = self._kept(contact.geom[contact.efc_address >= 0])
            goals = np.where(hits, np.maximum(goals, -kept * speeds), goals)
        data.efc_aref[rows] = (goals - speeds) / step
        self.depth = max(self.depth, -float(gaps.min()) / self.seats[0].unit)

    def _kept(self, geoms: Int[np.ndarray, "n 2"]) -> Float[np.ndarray, " n"]:
        """Speed kept in a bounce, as the reduced engine has it: the product of both; parts of one object keep none."""
        own = self.owners[geoms[:, 0]] == self.owners[geoms[:, 1]]
        return np.where(own, 0.0, self.bounce[geoms].prod(axis=1))

    def _load(self, time: float, step: float) -> None:
        """Pushes, wind, damping in proportion to mass, and springs."""
        model, data = self.model, self.data
        if self.mass_rates is not None or self.pushes:
            data.qfrc_applied[:] = 0.0
        if self.mass_rates is not None:
            self.mujoco.mj_mulM(model, data, data.qfrc_applied, np.array(data.qvel))
            data.qfrc_applied[:] *= -self.mass_rates / (1.0 + step * self.mass_rates)
        for seat, loads in self.pushes:
            acting = [load for load in loads if not isinstance(load, Push) or load.force_over_time.at(time).any()]
            if acting:
                pose, q, qdot = seat.moment(data)
                motion = seat.bound.mechanics.motion(pose, q[None], qdot[None])
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
    def quiet(self) -> Iterator[None]:
        """Warnings go into the status of the run, not to the screen or a file."""
        self.mujoco.set_mju_user_warning(lambda message: None)
        try:
            yield
        finally:
            self.mujoco.set_mju_user_warning(None)


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
