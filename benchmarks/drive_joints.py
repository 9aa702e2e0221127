"""Drive every joint of a robot file through its range in MuJoCo, and watch whether it behaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from neurok.core import Articulation
from neurok.geometry.topology import degenerate_faces
from neurok.io.xml import unique_names

STIFFNESS = 120.0
"""Of the servos, as a frequency [rad/s]: the spring is the joint's own inertia times its square."""

TIME_STEP = 0.001
LEG = 0.4
"""Seconds to go from one end to the other."""

SETTLE = 0.3
"""Seconds in which the servos take up the weight of the parts before anything is driven."""

LOOKS = 12
"""How often per leg the gap to the parent is measured."""

REACHED = 0.03
"""How far from its end a joint may stop, as a share of its range; a vertical slide sags under its own weight."""

LOOSE = 0.02
"""How much farther from its parent than at rest a part may get, as a share of the object's diagonal."""

RUNAWAY = 4.0
"""Nothing may move faster than this many times the speed that was asked for."""


@dataclass(frozen=True)
class Driven:
    """What happened to the joints of one file."""

    joints: int
    faults: tuple[str, ...] = ()
    gaps: tuple[float, ...] = field(default=())
    """For each joint, how much wider than at rest the gap to the parent became, over the diagonal."""


def drive(path: Path, articulation: Articulation) -> Driven:
    """Servos on all joints; one after the other goes to both ends while the others hold still, under gravity."""
    model = _with_servos(path)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    touch = _Touch(model, data, articulation)
    rest_gaps = [touch.gap(data, body) for body in range(model.nbody)]
    for _ in range(round(SETTLE / TIME_STEP)):
        mujoco.mj_step(model, data)
    settled = data.qpos.copy()
    faults: list[str] = []
    gaps: list[float] = []
    for servo in range(model.nu):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = settled
        mujoco.mj_forward(model, data)
        _drive_one(model, data, servo, rest_gaps, touch, faults, gaps)
    return Driven(int(model.nu), tuple(faults), tuple(gaps))


def _with_servos(path: Path) -> Any:
    """The model with a critically damped position servo on every joint."""
    spec = mujoco.MjSpec.from_file(str(path))
    spec.option.timestep = TIME_STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    inertia = np.zeros((model.nv, model.nv))
    if model.nv:
        mujoco.mj_fullM(model, data, inertia)
    for joint in range(model.njnt):
        weight = float(inertia[model.jnt_dofadr[joint], model.jnt_dofadr[joint]])
        servo = spec.add_actuator(name=f"servo_{joint}", target=model.joint(joint).name)
        servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
        servo.set_to_position(kp=weight * STIFFNESS**2, kv=2.0 * weight * STIFFNESS)
    return spec.compile()


def _drive_one(
    model: Any, data: Any, servo: int, rest_gaps: list[float], touch: _Touch, faults: list[str], gaps: list[float]
) -> None:
    joint = int(model.actuator_trnid[servo, 0])
    name = model.joint(joint).name
    low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.pi, np.pi)
    if low > 1e-9 or high < -1e-9:
        faults.append(f"{name}: rest is outside of the limits")
    address, body = int(model.jnt_qposadr[joint]), int(model.jnt_bodyid[joint])
    widest = touch.gap(data, body)
    fastest, reached = 0.0, []
    steps = round(LEG / TIME_STEP)
    ramp = 0.5 - 0.5 * np.cos(np.pi * np.minimum(np.arange(1, steps + steps // 4 + 1) / steps, 1.0))
    here = 0.0
    for end in (low, high, 0.0):
        for k, share in enumerate(ramp):
            data.ctrl[servo] = here + (end - here) * share
            mujoco.mj_step(model, data)
            fastest = max(fastest, float(np.abs(data.qvel).max()))
            if k % (len(ramp) // LOOKS) == 0:
                widest = max(widest, touch.gap(data, body))
        widest = max(widest, touch.gap(data, body))
        here = float(end)
        reached.append(abs(float(data.qpos[address]) - here))
    gaps.append((widest - rest_gaps[body]) / touch.diagonal)
    wanted = 0.5 * np.pi * max(high - low, 1e-3) / LEG
    if not np.isfinite(data.qpos).all() or any(warning.number for warning in data.warning):
        faults.append(f"{name}: MuJoCo warns of instability")
    elif fastest > RUNAWAY * wanted:
        faults.append(f"{name}: something moves at {fastest:.3g}, {wanted:.3g} were asked for")
    elif max(reached) > max(REACHED * (high - low), 1e-3):
        faults.append(f"{name}: stops {max(reached):.3g} from an end of ({low:.3g}, {high:.3g})")
    if gaps[-1] > LOOSE:
        faults.append(f"{name}: comes loose by {gaps[-1]:.3f} of the diagonal")


class _Touch:
    """Exact distances between the surface of a body and that of what carries it."""

    def __init__(self, model: Any, data: Any, articulation: Articulation) -> None:
        import fcl

        whole = articulation.in_frame("z", 1.0)
        mesh = whole.mesh
        self.diagonal = float(mesh.size)
        self.models: dict[int, Any] = {}
        self.parents: dict[int, int] = {}
        bodies = [int(model.body(name).id) for name in unique_names(whole.part_names, ("world",))]
        solid = ~degenerate_faces(mesh.vertices, mesh.faces)
        for part, body in enumerate(bodies):
            faces = mesh.faces[(mesh.face_parts == part) & solid]
            if len(faces) == 0:
                continue
            local = (mesh.vertices - data.xpos[body]) @ data.xmat[body].reshape(3, 3)
            used, corners = np.unique(faces, return_inverse=True)
            shape = fcl.BVHModel()
            shape.beginModel(len(used), len(faces))
            shape.addSubModel(local[used], corners.reshape(-1, 3))
            shape.endModel()
            self.models[body] = shape
        for part, joint in enumerate(whole.joints):
            above = joint.parent
            while above >= 0 and bodies[above] not in self.models:
                above = whole.joints[above].parent
            if above >= 0:
                self.parents[bodies[part]] = bodies[above]

    def gap(self, data: Any, body: int) -> float:
        import fcl

        if body not in self.models or body not in self.parents:
            return 0.0
        placed = [
            fcl.CollisionObject(self.models[b], fcl.Transform(data.xmat[b].reshape(3, 3), data.xpos[b]))
            for b in (body, self.parents[body])
        ]
        if not np.isfinite(data.xpos[body]).all():
            return float("inf")
        return max(0.0, float(fcl.distance(*placed, fcl.DistanceRequest(), fcl.DistanceResult())))
