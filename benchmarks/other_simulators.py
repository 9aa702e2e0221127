"""The same object in other simulators: URDF in PyBullet and Drake, USD in Pixar's validators and in Newton."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 1.0
FALL = 0.8 * 0.5 * 9.81 * SECONDS**2
"""A ball that comes down this far has met nothing [m]; no object here is as tall."""


def have(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def in_pybullet(path: Path, place: np.ndarray | None, radius: float, joints: dict[str, float]) -> dict[str, Any]:
    """Load, hold the joints at values by motors, drop a ball at a place; what became of both."""
    import pybullet

    world = pybullet.connect(pybullet.DIRECT)
    try:
        pybullet.setGravity(0, 0, -9.81, physicsClientId=world)
        robot = pybullet.loadURDF(str(path), useFixedBase=True, physicsClientId=world)
        count = pybullet.getNumJoints(robot, physicsClientId=world)
        infos = [pybullet.getJointInfo(robot, j, physicsClientId=world) for j in range(count)]
        moving = [(j, info) for j, info in enumerate(infos) if info[2] != pybullet.JOINT_FIXED]
        for j, info in moving:
            value = joints.get(info[1].decode(), 0.0)
            pybullet.resetJointState(robot, j, value, physicsClientId=world)
            pybullet.setJointMotorControl2(
                robot, j, pybullet.POSITION_CONTROL, targetPosition=value, force=info[10], physicsClientId=world
            )
        ball = None
        if place is not None:
            shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=radius, physicsClientId=world)
            mass = 300.0 * 4.19 * radius**3
            ball = pybullet.createMultiBody(mass, shape, basePosition=place.tolist(), physicsClientId=world)
            pybullet.changeDynamics(ball, -1, rollingFriction=0.02 * radius, physicsClientId=world)
        boxes = [pybullet.getAABB(robot, k, physicsClientId=world) for k in range(-1, count)]
        low, high = np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)
        for _ in range(round(SECONDS * 240)):
            pybullet.stepSimulation(physicsClientId=world)
        values = [pybullet.getJointState(robot, j, physicsClientId=world)[0] for j, _ in moving]
        wanted = [joints.get(info[1].decode(), 0.0) for _, info in moving]
        off = max((abs(v - w) for v, w in zip(values, wanted, strict=True)), default=0.0)
        middle = None if ball is None else pybullet.getBasePositionAndOrientation(ball, physicsClientId=world)[0]
        return {"joints": len(moving), "off": float(off), "ball": _verdict(middle, low, high, radius)}
    finally:
        pybullet.disconnect(world)


def in_drake(path: Path, place: np.ndarray | None, radius: float, joints: dict[str, float]) -> dict[str, Any]:
    """The same in Drake, whose joints are free: they start at the values and rub."""
    import logging

    from pydrake import all as drake

    logging.getLogger("drake").setLevel(logging.ERROR)
    builder = drake.DiagramBuilder()
    plant, _ = drake.AddMultibodyPlantSceneGraph(builder, 0.002)
    [model] = drake.Parser(plant).AddModels(str(path))
    bodies = [plant.get_body(i) for i in plant.GetBodyIndices(model)]
    root = next(body for body in bodies if not _carried(plant, body))
    plant.WeldFrames(plant.world_frame(), root.body_frame())
    if place is not None:
        inertia = drake.SpatialInertia.SolidSphereWithDensity(300.0, radius)
        ball = plant.AddRigidBody("the_ball", plant.AddModelInstance("ball"), inertia)
        plant.RegisterCollisionGeometry(
            ball, drake.RigidTransform(), drake.Sphere(radius), "ball", drake.CoulombFriction(0.8, 0.8)
        )
    plant.Finalize()
    diagram = builder.Build()
    simulator = drake.Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    for index in plant.GetJointIndices(model):
        joint = plant.get_joint(index)
        if joint.num_positions() == 1:
            start = joint.position_start()
            q = plant.GetPositions(context)
            q[start] = joints.get(joint.name(), 0.0)
            plant.SetPositions(context, q)
    if place is not None:
        plant.SetFreeBodyPose(context, ball, drake.RigidTransform(place))
    simulator.AdvanceTo(SECONDS)
    q = plant.GetPositions(context)
    middle = None if place is None else plant.EvalBodyPoseInWorld(context, ball).translation()
    return {
        "joints": int(plant.num_positions(model)),
        "finite": bool(np.isfinite(q).all()),
        "height": None if middle is None else float(middle[2]),
    }


def _carried(plant: Any, body: Any) -> bool:
    """Whether a joint of its model ends at a body."""
    return any(plant.get_joint(i).child_body() is body for i in plant.GetJointIndices(body.model_instance()))


def _verdict(middle: Any, low: np.ndarray, high: np.ndarray, radius: float) -> str:
    if middle is None:
        return "not tried"
    middle = np.asarray(middle)
    over = ((low[:2] - radius < middle[:2]) & (middle[:2] < high[:2] + radius)).all()
    return "kept" if over and middle[2] > low[2] else "lost"


def usd_errors(path: Path) -> list[str]:
    """What Pixar's validators say."""
    from pxr import Usd, UsdValidation

    context = UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators())
    return [f"{error.GetName()}: {error.GetMessage()}" for error in context.Validate(Usd.Stage.Open(str(path)))]


def in_newton(path: Path, steps: int = 50) -> dict[str, Any]:
    """Bodies, joints and shapes that Newton reads, and whether they stay calm for some steps of its XPBD solver."""
    import newton
    import warp

    warp.config.quiet = True
    warp.set_device("cpu")
    builder = newton.ModelBuilder()
    builder.add_usd(str(path))
    model = builder.finalize(device="cpu")
    solver = newton.solvers.SolverXPBD(model)
    state, after, control = model.state(), model.state(), model.control()
    newton.eval_fk(model, model.joint_q, model.joint_qd, state)
    for _ in range(steps):
        state.clear_forces()
        solver.step(state, after, control, model.collide(state), 1 / 500)
        state, after = after, state
    speed = float(np.abs(state.body_qd.numpy()).max(initial=0.0))
    return {
        "bodies": int(builder.body_count),
        "shapes": int(builder.shape_count),
        "joints": int(model.joint_dof_count),
        "speed": speed,
        "finite": bool(np.isfinite(state.body_q.numpy()).all()),
    }
