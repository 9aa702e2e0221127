"""USD out: a prim for each part, preview surfaces with pictures, time samples for motion, physics for joints."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from pxr import Gf, Kind, Sdf, Usd, UsdGeom, UsdUtils, Vt

from neurok.core import Articulation, Asset, Clip, Mesh, Surface
from neurok.errors import NeurokError
from neurok.io.files import Files
from neurok.io.materials_file import face_materials
from neurok.io.physics import Physics, as_articulation, safe_stem
from neurok.io.usd_physics import add_physics
from neurok.io.usd_shading import FaceMaterials, PhysicsMaterials, StageSurfaces, primvar_name, unique_identifiers
from neurok.staging import scratch

Transforms = Float[np.ndarray, "T 4 4"]


DOS_EPOCH = struct.pack("<HH", 0, 0x21)
"""Midnight of the first day that zip archives know."""


def write(asset: Asset, path: Path, *, clip: int = 0, **options: Any) -> Files:
    """The object as a USD stage; USD has one timeline, so one ``clip`` is kept.

    Args:
        asset: The object; joints become UsdPhysics joints.
        path: Target: .usda is text, .usdc and .usd are binary, .usdz holds everything in one file.
        clip: Which motion to keep.
        options: Fields of ``Physics``.
    """
    physics = Physics(**options)
    if asset.clips and not 0 <= clip < len(asset.clips):
        raise NeurokError(f"The object has {len(asset.clips)} clips, numbered from 0; there is no clip {clip}.")
    asset = _with_usable_axis(asset)
    is_package = path.suffix.lower() == ".usdz"
    stem = safe_stem(path.stem)
    inner = f"{stem}.usdc" if is_package else path.name
    with scratch() as folder:
        pictures = _build(asset, folder / inner, clip, physics, f"{stem}_textures")
        if is_package:
            return {path.name: _package(folder / inner, folder / "package.usdz")}
        return {path.name: (folder / inner).read_bytes(), **pictures}


def _with_usable_axis(asset: Asset) -> Asset:
    """USD knows y up and z up; what has x up is turned."""
    if asset.mesh.up != "x":
        return asset
    return asset.in_frame("z", asset.mesh.unit)


def _package(stage: Path, target: Path) -> bytes:
    if not UsdUtils.CreateNewUsdzPackage(str(stage), str(target)):
        raise NeurokError("USD could not pack the stage into a .usdz file; write .usdc instead.")
    return _without_times(target.read_bytes())


def _without_times(data: bytes) -> bytes:
    """A zip archive with the same members, whose clock times all say the first day of 1980: same object, same bytes."""
    out = bytearray(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entry = archive.start_dir
        for member in archive.infolist():
            out[member.header_offset + 10 : member.header_offset + 14] = DOS_EPOCH
            out[entry + 12 : entry + 16] = DOS_EPOCH
            name, extra, comment = struct.unpack_from("<HHH", data, entry + 28)
            entry += 46 + name + extra + comment
    return bytes(out)


def _build(asset: Asset, target: Path, which: int, physics: Physics, picture_folder: str) -> Files:
    """Save the stage and its pictures beside it; returns the pictures."""
    articulation = as_articulation(asset)
    mesh = articulation.mesh
    clip = asset.clips[which] if asset.clips else None
    stage = Usd.Stage.CreateNew(str(target))
    UsdGeom.SetStageUpAxis(stage, mesh.up.upper())
    UsdGeom.SetStageMetersPerUnit(stage, mesh.unit)
    root, *parts = unique_identifiers([mesh.name, *articulation.part_names])
    top = UsdGeom.Xform.Define(stage, f"/{root}")
    top.GetPrim().SetDisplayName(mesh.name)
    Usd.ModelAPI(top).SetKind(Kind.Tokens.component)
    stage.SetDefaultPrim(top.GetPrim())
    if clip is not None:
        stage.SetStartTimeCode(0)
        stage.SetEndTimeCode(clip.frame_count - 1)
        stage.SetTimeCodesPerSecond(clip.fps)
        stage.SetFramesPerSecond(clip.fps)
    has_sets = mesh.authored is not None and mesh.uv is not None and len(mesh.authored.uv_sets) > 0
    surfaces = StageSurfaces(stage, f"/{root}/looks", picture_folder, has_sets)
    physics_materials = PhysicsMaterials(stage, f"/{root}/physics_materials", mesh.unit)
    materials, of_face = ((), None) if asset.materials is None else face_materials(asset.materials, mesh)
    motion = None if clip is None else _rigid_motion(clip, articulation)
    bodies = []
    for i, (name, label) in enumerate(zip(parts, articulation.part_names, strict=True)):
        body = UsdGeom.Xform.Define(stage, f"/{root}/{name}")
        body.GetPrim().SetDisplayName(label)
        bodies.append(body.GetPrim())
        if motion is not None:
            _animate_frame(body, motion[:, i])
        mask = mesh.face_parts == i
        if mask.any():
            shape = _mesh_prim(
                stage,
                f"{body.GetPath()}/mesh",
                mesh.submesh(mask),
                surfaces,
                None if of_face is None else (physics_materials, materials, of_face[mask]),
            )
            if clip is not None and motion is None:
                used = np.unique(mesh.faces[mask])
                _animate_points(shape, clip.positions[:, used])
    if asset.articulation is not None:
        add_physics(stage, f"/{root}", bodies, asset, physics, physics_materials, is_animated=clip is not None)
    for name, data in surfaces.pictures.items():
        file = target.parent / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    stage.Save()
    return surfaces.pictures


def _mesh_prim(
    stage: Any, path: str, part: Mesh, surfaces: StageSurfaces, physical: FaceMaterials | None = None
) -> Any:
    shape = UsdGeom.Mesh.Define(stage, path)
    shape.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    shape.CreatePointsAttr(_points(part.vertices))
    shape.CreateExtentAttr(_points(np.stack([part.vertices.min(axis=0), part.vertices.max(axis=0)])))
    shape.CreateFaceVertexCountsAttr(Vt.IntArray([3] * part.face_count))
    shape.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(part.faces.astype(np.int32).reshape(-1)))
    used = np.unique(part.face_surfaces) if part.face_surfaces is not None else [0]
    seen = [part.surfaces[number] for number in used] if part.surfaces else [Surface()]
    shape.CreateDoubleSidedAttr(any(surface.double_sided for surface in seen))
    primvars = UsdGeom.PrimvarsAPI(shape)
    uv_sets = [] if part.uv is None else [part.uv]
    if part.authored is not None and surfaces.has_sets:
        uv_sets = [np.column_stack([uv[:, 0], 1.0 - uv[:, 1]]) for uv in part.authored.uv_sets]
    for number, uv in enumerate(uv_sets):
        st = primvars.CreatePrimvar(primvar_name(number), Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex)
        st.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(uv, dtype=np.float32)))
    if part.normals is not None and part.normals.any(axis=1).all():
        shape.CreateNormalsAttr(_points(part.normals))
        shape.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    if part.vertex_colors is not None:
        colors = part.vertex_colors.astype(np.float32)
        shape.CreateDisplayColorPrimvar(UsdGeom.Tokens.vertex).Set(
            Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(colors[:, :3]))
        )
        shape.CreateDisplayOpacityPrimvar(UsdGeom.Tokens.vertex).Set(
            Vt.FloatArray.FromNumpy(np.ascontiguousarray(colors[:, 3]))
        )
    surfaces.bind(shape, part, physical)
    return shape


def _points(positions: Float[np.ndarray, "N 3"]) -> Any:
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(positions, dtype=np.float32))


def _rigid_motion(clip: Clip, articulation: Articulation) -> Float[np.ndarray, "T P 4 4"] | None:
    """One transform for each part and frame, when every part follows a single handle."""
    if clip.skin is None:
        return None
    handles = clip.skin.weights.argmax(axis=1)
    if not np.allclose(clip.skin.weights[np.arange(len(handles)), handles], 1.0, atol=1e-6):
        return None
    out = np.tile(np.eye(4), (clip.frame_count, len(articulation.joints), 1, 1))
    for part in range(len(articulation.joints)):
        own = np.unique(handles[articulation.vertex_parts == part])
        if len(own) > 1:
            return None
        if len(own):
            out[:, part] = clip.skin.transforms[:, own[0]]
    return out


def _animate_frame(body: Any, motion: Transforms) -> None:
    if np.allclose(motion, np.eye(4), atol=1e-12):
        return
    op = body.AddTransformOp()
    op.Set(Gf.Matrix4d(1.0))  # the rest pose; samples below win at any time code
    _sample(op.Set, [Gf.Matrix4d(*m.T.reshape(-1).tolist()) for m in motion])


def _animate_points(shape: Any, positions: Float[np.ndarray, "T V 3"]) -> None:
    if not np.ptp(positions, axis=0).any() and np.allclose(positions[0], shape.GetPointsAttr().Get()):
        return
    _sample(shape.GetPointsAttr().Set, [_points(frame) for frame in positions])
    boxes = [_points(np.stack([frame.min(axis=0), frame.max(axis=0)])) for frame in positions]
    _sample(shape.GetExtentAttr().Set, boxes)


def _sample(put: Callable[..., Any], values: list[Any]) -> None:
    for frame, value in enumerate(values):
        put(value, frame)
