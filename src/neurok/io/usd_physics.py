"""Joints, masses and colliders in the terms of UsdPhysics, out and in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, Vt

from neurok.core import Asset, Inertial, Joint
from neurok.core.assembly import JointLosses
from neurok.core.mesh import frame_change
from neurok.geometry import lie
from neurok.geometry.decomposition import CollisionSolid
from neurok.io.physics import (
    UNBOUNDED,
    ExportBody,
    Physics,
    as_articulation,
    bodies,
    is_base,
    servo_gains,
    untouching_bodies,
)
from neurok.io.usd_shading import PhysicsMaterials

LOCKED = (1.0, -1.0)
"""A limit with low above high locks a degree of freedom of a general joint."""

ANGULAR = math.pi / 180
"""Angular drives count per degree, and in the stage's unit of length."""


def add_physics(
    stage: Any,
    root: str,
    prims: list[Any],
    asset: Asset,
    physics: Physics,
    physics_materials: PhysicsMaterials,
    is_animated: bool,
) -> None:
    """Make the parts rigid bodies with mass and shapes, and tie them by joints.

    Parts that follow time samples are kinematic and their joints switched off, so that motion and physics do not
    fight; the joints stay in the file.
    """
    articulation = as_articulation(asset)
    unit = articulation.mesh.unit
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(root))
    UsdGeom.Scope.Define(stage, f"{root}/joints")
    turn = frame_change(asset.mesh.up, "z")  # bodies come in metres with z up
    parts = bodies(asset, physics)
    for prim, body, joint in zip(prims, parts, articulation.joints, strict=True):
        rigid_body = UsdPhysics.RigidBodyAPI.Apply(prim)
        if is_animated:
            rigid_body.CreateKinematicEnabledAttr(True)
        center = joint.origin + turn.T @ body.inertial.center / unit
        _add_mass(prim, Inertial(body.inertial.mass, center, turn.T @ body.inertial.inertia @ turn), unit)
        add_colliders(stage, prim, body, joint, turn, unit, physics_materials)
        if physics.free_base and is_base(joint):
            continue
        tie = _add_joint(stage, f"{root}/joints/{prim.GetName()}", joint)
        if joint.dof:
            assert body.losses is not None
            _add_losses(tie.GetPrim(), joint, body.losses, unit, physics.servo)
        tie.GetPrim().SetDisplayName(joint.name)
        if joint.parent >= 0:
            tie.CreateBody0Rel().SetTargets([prims[joint.parent].GetPath()])
        tie.CreateBody1Rel().SetTargets([prim.GetPath()])
        if is_animated:
            tie.CreateJointEnabledAttr(False)
    for one, two in untouching_bodies(asset, parts):
        pairs = UsdPhysics.FilteredPairsAPI.Apply(prims[one])
        pairs.CreateFilteredPairsRel().AddTarget(prims[two].GetPath())


def _add_losses(prim: Any, joint: Joint, losses: JointLosses, unit: float, servo: bool) -> None:
    """Damping as a drive; dry friction and armature under the names by which Newton and PhysX know them."""
    stiffness, gain = servo_gains(losses, joint.limits)
    names = {"prismatic": ["linear"], "cylindrical": ["rotX", "transX"]}.get(joint.kind, ["angular"])
    for k, name in enumerate(names):
        turns = name in ("angular", "rotX")
        scale = ANGULAR / unit**2 if turns else 1.0
        drive = UsdPhysics.DriveAPI.Apply(prim, name)
        drive.CreateTypeAttr(UsdPhysics.Tokens.force)
        drive.CreateDampingAttr(float(losses.damping[k] + (gain[k] if servo else 0.0)) * scale)
        drive.CreateStiffnessAttr(float(stiffness[k]) * scale if servo else 0.0)
        if servo:
            drive.CreateTargetPositionAttr(0.0)
            drive.CreateMaxForceAttr(float(losses.effort[k]) / (unit**2 if turns else unit))
    if joint.dof > 1:
        return
    turns, values = names[0] == "angular", {}
    values["newton:armature"] = values["physxJoint:armature"] = losses.armature[0] / (unit**2 if turns else 1.0)
    values["newton:friction"] = losses.friction[0] / (unit**2 if turns else unit)
    for key, value in values.items():
        prim.CreateAttribute(key, Sdf.ValueTypeNames.Float, custom=True).Set(float(value))


def _add_mass(prim: Any, inertial: Inertial, unit: float) -> None:
    moments, axes = np.linalg.eigh(inertial.inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    mass = UsdPhysics.MassAPI.Apply(prim)
    mass.CreateMassAttr(float(inertial.mass))
    mass.CreateCenterOfMassAttr(Gf.Vec3f(*map(float, inertial.center)))
    mass.CreateDiagonalInertiaAttr(Gf.Vec3f(*map(float, moments / unit**2)))
    mass.CreatePrincipalAxesAttr(_quatf(axes))


def _quatf(rotation: np.ndarray) -> Any:
    return Gf.Quatf(*map(float, lie.matrix_to_quaternion(rotation)))


def _add_joint(stage: Any, path: str, joint: Joint) -> Any:
    """A joint whose x axis is ours, at our origin, in the frames of both bodies (which are the object's at rest)."""
    kinds = {
        "fixed": UsdPhysics.FixedJoint,
        "revolute": UsdPhysics.RevoluteJoint,
        "continuous": UsdPhysics.RevoluteJoint,
        "prismatic": UsdPhysics.PrismaticJoint,
        "cylindrical": UsdPhysics.Joint,
    }
    tie = kinds[joint.kind].Define(stage, path)
    origin, turn = Gf.Vec3f(*map(float, joint.origin)), _quatf(np.stack([joint.axis, *lie.across(joint.axis)], axis=1))
    tie.CreateLocalPos0Attr(origin)
    tie.CreateLocalPos1Attr(origin)
    tie.CreateLocalRot0Attr(turn)
    tie.CreateLocalRot1Attr(turn)
    if joint.kind in ("revolute", "prismatic", "continuous"):
        tie.CreateAxisAttr("X")
    if joint.kind in ("revolute", "prismatic"):
        degrees = math.degrees if joint.kind == "revolute" else float
        tie.CreateLowerLimitAttr(degrees(joint.lower))
        tie.CreateUpperLimitAttr(degrees(joint.upper))
    if joint.kind == "cylindrical":
        limits = {"transX": (joint.slide_lower, joint.slide_upper), "transY": LOCKED, "transZ": LOCKED}
        limits |= {"rotX": (math.degrees(joint.lower), math.degrees(joint.upper)), "rotY": LOCKED, "rotZ": LOCKED}
        for name, (low, high) in limits.items():
            limit = UsdPhysics.LimitAPI.Apply(tie.GetPrim(), name)
            limit.CreateLowAttr(float(low))
            limit.CreateHighAttr(float(high))
    return tie


def read_joints(
    stage: Any, part_of: dict[str, int], world_from_prim: Any, part_count: int, notes: list[str]
) -> list[Joint] | None:
    """One joint for each part in the frame of the stage, or ``None`` when the stage has no joints."""
    joints: dict[int, Joint] = {}
    found = False
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        tie = UsdPhysics.Joint(prim)
        if not prim.IsA(UsdPhysics.Joint):
            continue
        found = True
        first, second = (_target(rel, part_of) for rel in (tie.GetBody0Rel(), tie.GetBody1Rel()))
        name = prim.GetDisplayName() or prim.GetName()
        if second is None or second in joints:
            if first is None or first in joints:
                notes.append(f"Joint '{name}' closes a loop or ties nothing, and was left out.")
                continue
            joints[first] = _read_joint(prim, tie, second, name, world_from_prim, is_flipped=True, notes=notes)
        else:
            joints[second] = _read_joint(prim, tie, first, name, world_from_prim, is_flipped=False, notes=notes)
    return [joints.get(i, Joint()) for i in range(part_count)] if found else None


def _target(relationship: Any, part_of: dict[str, int]) -> int | None:
    targets = relationship.GetTargets()
    return part_of.get(str(targets[0])) if targets else None


def _read_joint(
    prim: Any, tie: Any, parent: int | None, name: str, world_from_prim: Any, is_flipped: bool, notes: list[str]
) -> Joint:
    """A joint placed by its frame in the second body, or in the first when that one is the child."""
    child = (tie.GetBody0Rel() if is_flipped else tie.GetBody1Rel()).GetTargets()[0]
    frame = world_from_prim(child)
    place = (tie.GetLocalPos0Attr() if is_flipped else tie.GetLocalPos1Attr()).Get() or (0.0, 0.0, 0.0)
    quat = (tie.GetLocalRot0Attr() if is_flipped else tie.GetLocalRot1Attr()).Get()
    local = np.eye(3)
    if quat is not None and quat.GetLength() > 0:
        local = lie.quaternion_to_matrix(np.array([quat.GetReal(), *quat.GetImaginary()]))
    sign = -1.0 if is_flipped else 1.0
    fields: dict[str, Any] = {
        "parent": -1 if parent is None else parent,
        "origin": lie.apply_each(frame, np.array(place, dtype=np.float64)),
        "name": name,
    }
    turn = frame[:3, :3] / np.cbrt(abs(np.linalg.det(frame[:3, :3]))) @ local
    if prim.IsA(UsdPhysics.RevoluteJoint) or prim.IsA(UsdPhysics.PrismaticJoint):
        is_hinge = prim.IsA(UsdPhysics.RevoluteJoint)
        typed = UsdPhysics.RevoluteJoint(prim) if is_hinge else UsdPhysics.PrismaticJoint(prim)
        axis = turn[:, "XYZ".index(typed.GetAxisAttr().Get() or "X")]
        low, high = (_bound(a.Get(), e) for a, e in ((typed.GetLowerLimitAttr(), -1), (typed.GetUpperLimitAttr(), 1)))
        if is_hinge:
            low, high = math.radians(low), math.radians(high)
        unlimited = math.isinf(low) and math.isinf(high)
        kind = ("continuous" if unlimited else "revolute") if is_hinge else "prismatic"
        damping = _damping(prim, is_hinge, UsdGeom.GetStageMetersPerUnit(prim.GetStage()))
        return Joint(kind, axis=sign * axis, lower=low, upper=high, damping=damping, **fields)  # type: ignore[arg-type]
    if prim.GetTypeName() == "PhysicsJoint":
        limits = {key: _limit(prim, key) for key in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")}
        free = {key for key, (low, high) in limits.items() if low <= high}
        if free == {"transX", "rotX"}:
            low, high = (math.radians(x) for x in limits["rotX"])
            slide_low, slide_high = limits["transX"]
            return Joint("cylindrical", axis=sign * turn[:, 0], lower=low, upper=high,
                         slide_lower=slide_low, slide_upper=slide_high, **fields)  # fmt: skip
    if not prim.IsA(UsdPhysics.FixedJoint):
        notes.append(f"Joint '{name}' is a {prim.GetTypeName()}, which is not known here; its part is fixed.")
    return Joint(**fields)


def _bound(value: float | None, sign: int) -> float:
    return sign * math.inf if value is None or not abs(value) < UNBOUNDED else float(value)


def _limit(prim: Any, key: str) -> tuple[float, float]:
    limit = UsdPhysics.LimitAPI(prim, key)
    return _bound(limit.GetLowAttr().Get(), -1), _bound(limit.GetHighAttr().Get(), 1)


def _damping(prim: Any, is_hinge: bool, unit: float) -> float:
    value = UsdPhysics.DriveAPI(prim, "angular" if is_hinge else "linear").GetDampingAttr().Get()
    return 0.0 if value is None or not value > 0 else float(value) * (unit**2 / ANGULAR if is_hinge else 1.0)


def read_inertial(prim: Any, frame: np.ndarray, unit: float) -> Inertial | None:
    """Mass properties of a body in the frame of the stage, when it states mass, centre and inertia."""
    api = UsdPhysics.MassAPI(prim)
    mass = api.GetMassAttr().Get() if api else None
    moments = api.GetDiagonalInertiaAttr().Get() if api else None
    if not mass or moments is None or not any(moments):
        return None
    center, quat = api.GetCenterOfMassAttr().Get(), api.GetPrincipalAxesAttr().Get()
    if center is None or not np.isfinite(list(center)).all():
        return None
    axes = np.eye(3)
    if quat is not None and quat.GetLength() > 0:
        axes = lie.quaternion_to_matrix(np.array([quat.GetReal(), *quat.GetImaginary()]))
    turn = frame[:3, :3] / np.cbrt(abs(np.linalg.det(frame[:3, :3]))) @ axes
    tensor = (turn * np.array(moments, dtype=np.float64) * unit**2) @ turn.T
    return Inertial(float(mass), lie.apply_each(frame, np.array(center, dtype=np.float64)), tensor)


def add_colliders(
    stage: Any,
    prim: Any,
    body: ExportBody,
    joint: Joint,
    turn: Float[np.ndarray, "3 3"],
    unit: float,
    physics_materials: PhysicsMaterials,
) -> None:
    """The shapes of a body below its prim, unseen (purpose ``guide``) and made of what the body is made of.

    Args:
        stage: The stage.
        prim: The rigid body.
        body: The body, in metres with z up, in its own frame.
        joint: Its joint in the frame of the stage.
        turn: From the axes of the stage to those of the body.
        unit: Metres per unit of the stage.
        physics_materials: The stage's physics materials.
    """
    if not body.solids:
        return
    scope = UsdGeom.Scope.Define(stage, f"{prim.GetPath()}/collisions")
    UsdGeom.Imageable(scope).CreatePurposeAttr(UsdGeom.Tokens.guide)

    def placed(points: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        return points @ turn / unit + joint.origin

    for k, solid in enumerate(body.solids):
        shape = _shape(stage, f"{scope.GetPath()}/shape_{k}", solid, placed, turn, unit)
        if body.material is not None:
            physics_materials.bind(shape.GetPrim(), body.material)


def _shape(
    stage: Any,
    path: str,
    solid: CollisionSolid,
    placed: Callable[[np.ndarray], np.ndarray],
    turn: np.ndarray,
    unit: float,
) -> Any:
    primitive = solid.primitive
    if primitive is None:
        vertices, faces = solid.piece
        points = placed(vertices).astype(np.float32)
        shape = UsdGeom.Mesh.Define(stage, path)
        shape.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        shape.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points)))
        shape.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.stack([points.min(axis=0), points.max(axis=0)])))
        shape.CreateFaceVertexCountsAttr(Vt.IntArray([3] * len(faces)))
        shape.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(faces.astype(np.int32).reshape(-1)))
        UsdPhysics.MeshCollisionAPI.Apply(shape.GetPrim()).CreateApproximationAttr(UsdPhysics.Tokens.convexHull)
    else:
        kinds = {"box": UsdGeom.Cube, "cylinder": UsdGeom.Cylinder, "sphere": UsdGeom.Sphere}
        shape = kinds[primitive.kind].Define(stage, path)
        size = primitive.size / unit
        shape.AddTranslateOp().Set(Gf.Vec3d(*map(float, placed(primitive.pose[None, :3, 3])[0])))
        quat = lie.matrix_to_quaternion(turn.T @ primitive.pose[:3, :3])
        shape.AddOrientOp().Set(Gf.Quatf(*map(float, quat)))
        half = 0.5 * size
        if primitive.kind == "box":
            shape.CreateSizeAttr(2.0)
            shape.AddScaleOp().Set(Gf.Vec3f(*map(float, half)))
            half = np.ones(3)
        elif primitive.kind == "cylinder":
            shape.CreateAxisAttr("Z")
            shape.CreateRadiusAttr(float(half[0]))
            shape.CreateHeightAttr(float(size[2]))
        else:
            shape.CreateRadiusAttr(float(half[0]))
        shape.CreateExtentAttr([Gf.Vec3f(*map(float, -half)), Gf.Vec3f(*map(float, half))])
    UsdPhysics.CollisionAPI.Apply(shape.GetPrim())
    return shape
