"""Soft simulations: elastic sheets and solids, jointed rods and colliders, run with MuJoCo; y is up, metres."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.errors import NeurokError, require
from neurok.geometry import lie
from neurok.geometry.twists import twists_about

GRAVITY = 9.81
DRIVEN_MASS = 1e4
"""How many times heavier a driven node is than its neighbours: the cloth cannot pull it off its path."""

MAX_INVERTED = (0.08, 0.02)
"""Share of a solid's tetrahedra that may be inside out for a moment, and at the end."""

NodeMotion = Callable[[float], Float[np.ndarray, "K 3"]]
"""Time [s] to the positions of the driven nodes [m]."""

BodyMotion = Callable[[float], Float[np.ndarray, "4 4"]]
"""Time [s] to the pose of a collider that moves on its own."""

Force = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
"""Time, positions and velocities of nodes (or rod links) to the force on each [N]."""


class DivergedError(NeurokError):
    """The simulation lost its way: its numbers are no longer finite, or a solid was turned inside out."""


@dataclass(frozen=True, eq=False)
class Flex:
    """An elastic sheet (triangles) or solid (tetrahedra) of point masses."""

    nodes: Float[np.ndarray, "N 3"]
    elements: Int[np.ndarray, "M K"]
    mass: float
    """Of the whole [kg]; shared by area or volume."""

    young: float
    """[Pa]."""

    thickness: float = 1e-3
    """Of a sheet [m]."""

    poisson: float = 0.3
    damping: float = 0.02
    """Rayleigh damping of the elastic forces [s]."""

    drag: float = 0.0
    """Air resistance of every node, as a share of its momentum lost per second [1/s]."""

    radius: float = 0.004
    """Distance kept from colliders [m]."""

    friction: float = 0.5
    driven: Int[np.ndarray, " K"] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Nodes that follow ``motion`` instead of the forces."""

    motion: NodeMotion | None = None
    """Where the driven nodes are; without it they stay."""

    force: Force | None = None
    self_collide: bool = False


@dataclass(frozen=True, eq=False)
class Rods:
    """Rigid links joined by springy ball joints into trees: stems, branches, ropes, leaves."""

    parents: Int[np.ndarray, " B"]
    """Link that carries each one, -1 for the ground; parents come first."""

    joints: Float[np.ndarray, "B 3"]
    """Where each link is joined to its parent [m]."""

    ends: Float[np.ndarray, "B 3"]
    """The far end of each link [m]."""

    mass: Float[np.ndarray, " B"]
    """[kg]."""

    stiffness: Float[np.ndarray, " B"]
    """Of the ball joints [N m/rad]; zero leaves them free."""

    damping: Float[np.ndarray, " B"]
    """[N m s/rad]."""

    radius: Float[np.ndarray, " B"]
    """For inertia and contact [m]."""

    carries_weight: bool = True
    """False for things designed in their state under gravity: the springs are taken to balance it already."""

    collides: bool = False
    force: Force | None = None
    base: BodyMotion | None = None
    """Pose of what the roots stand on or hang from, relative to its start."""

    ties: tuple[tuple[int, Float[np.ndarray, "3"]], ...] = ()
    """Links whose far end is held at a fixed point."""


@dataclass(frozen=True, eq=False)
class FlexCollider:
    """A rigid shape that others touch: ``sphere``, ``box``, ``plane``, ``cylinder`` or ``capsule`` (axis z)."""

    kind: str
    size: tuple[float, ...]
    """Radius, half sizes, or radius and half length [m]."""

    pose: Float[np.ndarray, "4 4"] = field(default_factory=lambda: np.eye(4))
    motion: BodyMotion | None = None
    """Moves it; overrides ``pose``."""

    friction: float = 0.6


@dataclass(frozen=True, eq=False)
class Frames:
    """What a run recorded."""

    nodes: tuple[Float[np.ndarray, "T N 3"], ...]
    """Positions of each flex's nodes."""

    links: Float[np.ndarray, "T B 4 4"]
    """Motion of each rod link from where it started."""


@dataclass(frozen=True, eq=False)
class FlexScene:
    """Everything that takes part in one simulation."""

    flexes: tuple[Flex, ...] = ()
    rods: Rods | None = None
    colliders: tuple[FlexCollider, ...] = ()

    def run(self, frame_count: int, fps: float = 24.0, substeps: int = 10) -> Frames:
        """Simulate from rest; the first frame is the start.

        Raises:
            DivergedError: If a frame is not finite, the engine gave up, or a solid was turned inside out.
        """
        return _FlexRun(self, fps, substeps).record(frame_count)


def ground() -> FlexCollider:
    """The floor at y = 0, facing up."""
    pose = lie.rotation_about(np.array([1.0, 0.0, 0.0]), np.zeros(3), -math.pi / 2)
    return FlexCollider("plane", (5.0, 5.0, 1.0), pose, friction=0.8)


def node_masses(flex: Flex) -> Float[np.ndarray, " N"]:
    """The mass of a flex shared among its nodes by area or volume, driven ones made heavy."""
    corners = flex.nodes[flex.elements]
    sides = corners[:, 1:] - corners[:, :1]
    if flex.elements.shape[1] == 3:
        content = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    else:
        content = np.abs(np.linalg.det(sides))
    k = flex.elements.shape[1]
    shares = np.bincount(flex.elements.reshape(-1), np.repeat(content / k, k), minlength=len(flex.nodes))
    masses = flex.mass * shares / shares.sum()
    masses = np.maximum(masses, 0.2 * masses.mean())
    masses[flex.driven] = DRIVEN_MASS * masses.mean()
    return masses


def inverted_share(elements: Int[np.ndarray, "M K"], frames: Float[np.ndarray, "T N 3"]) -> Float[np.ndarray, " T"]:
    """Share of tetrahedra that are inside out in each frame; zero for sheets."""
    if elements.shape[1] != 4:
        return np.zeros(len(frames))
    corners = frames[:, elements]
    return np.asarray((np.linalg.det(corners[:, :, 1:] - corners[:, :, :1]) < 0).mean(axis=1))


class _FlexRun:
    """One simulation: the compiled model, its state, and which numbers belong to whom."""

    def __init__(self, scene: FlexScene, fps: float, substeps: int) -> None:
        require("mujoco", "sim")
        import mujoco

        self.mujoco, self.scene, self.fps, self.substeps = mujoco, scene, fps, substeps
        self.dt = 1.0 / (fps * substeps)
        self.masses = [node_masses(flex) for flex in scene.flexes]
        spec = mujoco.MjSpec()
        option, spec.memory = spec.option, 64 << 20
        option.timestep, option.gravity, option.iterations, option.tolerance = self.dt, (0, -GRAVITY, 0), 40, 1e-6
        # The discrete integrator is implicit in the elastic forces, so that steps of 4 ms stay stable.
        option.integrator, option.solver = mujoco.mjtIntegrator.mjINT_DISCRETE, mujoco.mjtSolver.mjSOL_CG
        nodes = [self._add_flex(spec, k) for k in range(len(scene.flexes))]
        colliders = [self._add_collider(spec, collider) for collider in scene.colliders]
        base, links = (None, []) if scene.rods is None else self._add_rods(spec, scene.rods)
        with self._quiet():
            self.model = spec.compile()
            self.data = mujoco.MjData(self.model)
            mujoco.mj_forward(self.model, self.data)
        places = [np.array([body.id for body in bodies]) for bodies in nodes]
        self.node_dofs = [self.model.body_dofadr[ids][:, None] + np.arange(3) for ids in places]
        self.node_qpos = [self.model.jnt_qposadr[self.model.body_jntadr[ids]][:, None] + np.arange(3) for ids in places]
        self.link_bodies = np.array([body.id for body in links], dtype=np.int64)
        self.base_mocap = -1 if base is None else self.model.body_mocapid[base.id]
        self.collider_mocap = [self.model.body_mocapid[body.id] for body in colliders]

    def _add_flex(self, spec: Any, number: int) -> list[Any]:
        """A body that slides in three directions for each node, and the elements between them."""
        flex, slide = self.scene.flexes[number], self.mujoco.mjtJoint.mjJNT_SLIDE
        held, bodies = set(flex.driven.tolist()), []
        for k, (place, mass) in enumerate(zip(flex.nodes, self.masses[number], strict=True)):
            body = spec.worldbody.add_body(
                name=f"n{number}_{k}", pos=place, mass=mass, inertia=(1e-6,) * 3, gravcomp=float(k in held)
            )
            body.explicitinertial = True
            for axis in np.eye(3):
                body.add_joint(type=slide, axis=axis)
            bodies.append(body)
        dim = flex.elements.shape[1] - 1
        made = spec.add_flex(
            name=f"f{number}", dim=dim, radius=flex.radius, young=flex.young, poisson=flex.poisson, damping=flex.damping
        )
        if dim == 2:
            made.thickness, made.elastic2d = flex.thickness, 3  # it resists both stretching and bending
        made.vertbody, made.elem = [body.name for body in bodies], flex.elements.reshape(-1).tolist()
        collide = self.mujoco.mjtFlexSelf
        made.selfcollide = collide.mjFLEXSELF_AUTO if flex.self_collide else collide.mjFLEXSELF_NONE
        made.friction[0], made.solref[:2], made.solimp[:3] = flex.friction, (0.01, 1.0), (0.95, 0.99, 0.001)
        return bodies

    def _add_collider(self, spec: Any, collider: FlexCollider) -> Any:
        pose = collider.pose if collider.motion is None else collider.motion(0.0)
        quat = lie.matrix_to_quaternion(pose[:3, :3])
        body = spec.worldbody.add_body(pos=pose[:3, 3], quat=quat, mocap=collider.motion is not None)
        size = [*collider.size, 0.0, 0.0][:3]
        geom = body.add_geom(type=getattr(self.mujoco.mjtGeom, f"mjGEOM_{collider.kind.upper()}"), size=size)
        geom.friction[0] = collider.friction
        return body

    def _add_rods(self, spec: Any, rods: Rods) -> tuple[Any, list[Any]]:
        """The base and one body for each link, children inside their parents."""
        base = spec.worldbody.add_body(name="base", mocap=True)
        links: list[Any] = []
        for k, parent in enumerate(rods.parents.tolist()):
            along = rods.ends[k] - rods.joints[k]
            length, radius, mass = float(np.linalg.norm(along)), float(rods.radius[k]), float(rods.mass[k])
            inertia = mass * (radius**2 / 2 + length**2 / 12) + 1e-9
            body = (links[parent] if parent >= 0 else base).add_body(
                name=f"l{k}",
                pos=rods.joints[k] - (rods.joints[parent] if parent >= 0 else 0.0),
                gravcomp=float(not rods.carries_weight),
                mass=mass,
                ipos=along / 2,
                inertia=(inertia,) * 3,
            )
            body.explicitinertial = True
            joint = body.add_joint(type=self.mujoco.mjtJoint.mjJNT_BALL)
            joint.stiffness[0], joint.damping[0] = rods.stiffness[k], rods.damping[k]
            body.add_geom(
                type=self.mujoco.mjtGeom.mjGEOM_CAPSULE,
                fromto=[0.0, 0.0, 0.0, *along],
                size=[radius, 0, 0],
                contype=int(rods.collides),
                conaffinity=0,
                mass=0,
            )
            links.append(body)
        for k, (link, point) in enumerate(rods.ties):
            spec.worldbody.add_body(name=f"t{k}", pos=point)
            tie = spec.add_equality(type=self.mujoco.mjtEq.mjEQ_CONNECT, name1=f"l{link}", name2=f"t{k}")
            tie.objtype, tie.data[:3] = self.mujoco.mjtObj.mjOBJ_BODY, rods.ends[link] - rods.joints[link]
        return base, links

    def record(self, frame_count: int) -> Frames:
        """Positions at the start and after every ``substeps`` steps."""
        nodes: list[list[np.ndarray]] = [[] for _ in self.scene.flexes]
        links: list[np.ndarray] = []
        with self._quiet():
            for frame in range(frame_count):
                for _ in range(self.substeps if frame else 0):
                    self._step()
                for i, flex in enumerate(self.scene.flexes):
                    nodes[i].append(flex.nodes + self.data.qpos[self.node_qpos[i]])
                links.append(self._link_motion())
                # The engine resets a diverged state to the start, which would look like a jump.
                lost = self.data.time < (frame - 0.5) / self.fps
                if lost or not np.isfinite(self.data.qpos).all():
                    raise DivergedError(f"The simulation diverged in frame {frame}; try a smaller step or load.")
        recorded = tuple(np.array(n) for n in nodes)
        for flex, positions in zip(self.scene.flexes, recorded, strict=True):
            inverted = inverted_share(flex.elements, positions)
            if inverted.max() > MAX_INVERTED[0] or inverted[-1] > MAX_INVERTED[1]:
                raise DivergedError("A solid was turned inside out; make it firmer or the load weaker.")
        return Frames(recorded, np.array(links))

    def _step(self) -> None:
        data, after = self.data, self.data.time + self.dt
        for i, flex in enumerate(self.scene.flexes):
            self._drive(i, flex)
            self._push(i, flex)
        for collider, slot in zip(self.scene.colliders, self.collider_mocap, strict=True):
            if collider.motion is not None:
                self._place(slot, collider.motion(after))
        rods = self.scene.rods
        if rods is not None:
            if rods.base is not None:
                self._place(self.base_mocap, rods.base(after))
            if rods.force is not None:
                self._push_links(rods.force)
        self.mujoco.mj_step(self.model, data)

    def _drive(self, i: int, flex: Flex) -> None:
        if not len(flex.driven):
            return
        qpos, dofs = self.node_qpos[i][flex.driven], self.node_dofs[i][flex.driven]
        if flex.motion is None:
            self.data.qpos[qpos] = 0.0
            self.data.qvel[dofs] = 0.0
            return
        now, after = flex.motion(self.data.time), flex.motion(self.data.time + self.dt)
        self.data.qpos[qpos] = now - flex.nodes[flex.driven]
        self.data.qvel[dofs] = (after - now) / self.dt

    def _push(self, i: int, flex: Flex) -> None:
        velocities = self.data.qvel[self.node_dofs[i]]
        force = -flex.drag * self.masses[i][:, None] * velocities
        if flex.force is not None:
            force = force + flex.force(self.data.time, flex.nodes + self.data.qpos[self.node_qpos[i]], velocities)
        force[flex.driven] = 0.0
        self.data.qfrc_applied[self.node_dofs[i]] = force

    def _push_links(self, force: Force) -> None:
        centers = self.data.xipos[self.link_bodies]
        velocities = self.data.cvel[self.link_bodies]
        offsets = centers - self.data.subtree_com[self.model.body_rootid[self.link_bodies]]
        linear = twists_about(velocities, offsets)[:, 3:]
        self.data.xfrc_applied[self.link_bodies, :3] = force(self.data.time, centers, linear)

    def _place(self, slot: int, pose: np.ndarray) -> None:
        self.data.mocap_pos[slot] = pose[:3, 3]
        self.data.mocap_quat[slot] = lie.matrix_to_quaternion(pose[:3, :3])

    def _link_motion(self) -> np.ndarray:
        if self.scene.rods is None:
            return np.zeros((0, 4, 4))
        rotation = self.data.xmat[self.link_bodies].reshape(-1, 3, 3)
        offset = self.data.xpos[self.link_bodies] - np.einsum("bij,bj->bi", rotation, self.scene.rods.joints)
        return lie.compose(rotation, offset)

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """Warnings of the engine go nowhere: the checks of the clip judge what came out."""
        self.mujoco.set_mju_user_warning(lambda message: None)
        try:
            yield
        finally:
            self.mujoco.set_mju_user_warning(None)
