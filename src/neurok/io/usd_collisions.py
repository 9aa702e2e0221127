"""Convex shapes of parts as UsdPhysics colliders: primitives where they are, hulls where they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core import Joint
from neurok.geometry import lie
from neurok.geometry.decomposition import Solid
from neurok.io.urdf_bodies import Body
from neurok.io.usd_materials import Stuffs


def add_colliders(
    stage: Any, prim: Any, body: Body, joint: Joint, turn: Float[np.ndarray, "3 3"], unit: float, stuffs: Stuffs
) -> None:
    """The shapes of a body below its prim, unseen (purpose ``guide``) and made of what the body is made of.

    Args:
        stage: The stage.
        prim: The rigid body.
        body: The body, in metres with z up, in its own frame.
        joint: Its joint in the frame of the stage.
        turn: From the axes of the stage to those of the body.
        unit: Metres per unit of the stage.
        stuffs: The stage's physics materials.
    """
    from pxr import UsdGeom

    if not body.solids:
        return
    scope = UsdGeom.Scope.Define(stage, f"{prim.GetPath()}/collisions")
    UsdGeom.Imageable(scope).CreatePurposeAttr(UsdGeom.Tokens.guide)

    def placed(points: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        return points @ turn / unit + joint.origin

    for k, solid in enumerate(body.solids):
        shape = _shape(stage, f"{scope.GetPath()}/shape_{k}", solid, placed, turn, unit)
        if body.material is not None:
            stuffs.bind(shape.GetPrim(), body.material)


def _shape(
    stage: Any, path: str, solid: Solid, placed: Callable[[np.ndarray], np.ndarray], turn: np.ndarray, unit: float
) -> Any:
    from pxr import Gf, UsdGeom, UsdPhysics, Vt

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
