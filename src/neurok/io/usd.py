"""USD stages: meshes and shapes become parts, time samples a clip, UsdPhysics joints an articulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Asset, Clip, Mesh, Surface
from neurok.errors import FormatError, NeurokError, require
from neurok.geometry import lie
from neurok.io.urdf_pieces import Piece, assemble
from neurok.io.usd_guard import check_layers, quiet, reason
from neurok.io.usd_look import surface_of
from neurok.io.usd_materials import read_field
from neurok.io.usd_physics import read_inertial, read_joints
from neurok.io.usd_shapes import read_shape

MAX_FRAMES = 20_000
MAX_POSITIONS = 300_000_000
Pose = Float[np.ndarray, "4 4"]


def read(path: Path) -> Asset:
    """Everything on the stage that has triangles, in the stage's own frame and unit."""
    require("pxr", "usd")
    from pxr import Tf, Usd

    try:
        with quiet():
            check_layers(path)
            stage = Usd.Stage.Open(str(path))
            return _Scene(stage, path).asset()
    except NeurokError:
        raise
    except (Tf.ErrorException, RuntimeError, TypeError, ValueError, OverflowError) as error:
        # USD does not check the type of an attribute's value until it is used.
        raise FormatError(f"'{path}' is not a USD stage that can be read: {reason(error)}.") from error


@dataclass(frozen=True, eq=False)
class _Shape:
    """A prim with geometry, and the part it belongs to."""

    prim: Any
    part: int
    mesh: Mesh
    source: np.ndarray
    """The point of the prim behind each vertex of ``mesh``."""


@dataclass
class _Scene:
    """A stage while it is being read."""

    stage: Any
    path: Path
    notes: list[str] = field(default_factory=list)
    surfaces: dict[str, Surface] = field(default_factory=dict)

    def asset(self) -> Asset:
        from pxr import Usd, UsdGeom

        self._pose_skeletons()
        up = UsdGeom.GetStageUpAxis(self.stage).lower()
        unit = float(UsdGeom.GetStageMetersPerUnit(self.stage))
        if not (np.isfinite(unit) and unit > 0):
            raise FormatError(f"'{self.path}' has metersPerUnit={unit}; a positive number is needed.")
        geometry = list(self._geometry())
        bodies = self._bodies(geometry)
        time = Usd.TimeCode.Default() if self._has_rest(geometry) else Usd.TimeCode(self._range()[0])
        part_of = {str(prim.GetPath()): i for i, prim in enumerate(bodies)}
        shapes = [
            _Shape(prim, part_of[str(body.GetPath())], *read) for prim, body in geometry
            if (read := read_shape(prim, time, lambda p: self._surface(p), self.notes)) is not None
        ]  # fmt: skip
        pieces = [Piece(shape.part, shape.mesh, self._pose(shape.prim, time)) for shape in shapes]
        names = [prim.GetDisplayName() or prim.GetName() for prim in bodies]
        root = self.stage.GetDefaultPrim()
        name = (root.GetDisplayName() or root.GetName()) if root else self.path.stem
        mesh = assemble(pieces, names, f"'{self.path}'", up=up, unit=unit, name=name)
        joints = read_joints(
            self.stage, part_of, lambda p: self._pose(self.stage.GetPrimAtPath(p), time), len(names), self.notes
        )
        articulation = None
        if joints is not None:
            inertials = tuple(read_inertial(prim, self._pose(prim, time), unit) for prim in bodies)
            articulation = Articulation(mesh, tuple(joints), inertials, name=name)
        clip = self._clip(mesh, shapes)
        return Asset(
            mesh,
            clips=() if clip is None else (clip,),
            articulation=articulation,
            materials=read_field([(shape.prim, shape.source) for shape in shapes], unit, self.notes),
            provenance={"source": self.path.name},
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _pose_skeletons(self) -> None:
        """Put what skeletons carry where it goes, frame by frame, in a layer over the file's own."""
        from pxr import Tf, Usd, UsdGeom, UsdSkel

        everything = list(Usd.PrimRange(self.stage.GetPseudoRoot()))
        roots = [prim for prim in everything if prim.IsA(UsdSkel.Root)]
        if not roots:
            return
        times: set[float] = set()
        for prim in everything:
            if prim.IsA(UsdSkel.Animation):
                times.update(t for a in prim.GetAttributes() for t in a.GetTimeSamples())
        points = sum(len(UsdGeom.Mesh(p).GetPointsAttr().Get() or ()) for p in everything if p.IsA(UsdGeom.Mesh))
        if len(times) > MAX_FRAMES or len(times) * points > MAX_POSITIONS:
            raise FormatError(f"'{self.path}' has {len(times)} frames of {points} vertices, which cannot be read.")
        self.stage.SetEditTarget(self.stage.GetSessionLayer())
        try:
            failed = [root for root in roots if not UsdSkel.BakeSkinning(UsdSkel.Root(root))]
        except (Tf.ErrorException, RuntimeError):
            failed = roots
        if failed:
            self.notes.append("Some of what skeletons carry could not be posed; it is read as it was bound.")

    def _geometry(self) -> Any:
        """Visible prims with geometry, each with the prim that stands for its part."""
        from pxr import Usd, UsdGeom

        for prim in Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
            if prim.IsA(UsdGeom.PointInstancer):
                self.notes.append(f"'{prim.GetPath()}' is a {prim.GetTypeName()}, which is read without its effect.")
            if not prim.IsA(UsdGeom.Gprim):
                continue
            imageable = UsdGeom.Imageable(prim)
            is_shown = imageable.ComputeVisibility() != "invisible"
            if is_shown and imageable.ComputePurpose() in ("default", "render"):
                yield prim, _part_prim(prim, self.stage.GetDefaultPrim())

    def _bodies(self, geometry: list[tuple[Any, Any]]) -> list[Any]:
        """The prims that are parts, in the order of the stage; rigid bodies count even without geometry."""
        from pxr import Usd, UsdPhysics

        wanted = {str(body.GetPath()) for _, body in geometry}
        everything = Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())
        return [p for p in everything if str(p.GetPath()) in wanted or p.HasAPI(UsdPhysics.RigidBodyAPI)]

    def _surface(self, prim: Any) -> Surface | None:
        """The look bound to a prim, read once for each material."""
        from pxr import UsdShade

        material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        if not material:
            return None
        key = str(material.GetPath())
        if key not in self.surfaces:
            self.surfaces[key] = surface_of(material, self.path.parent, self.notes)
        return self.surfaces[key]

    def _pose(self, prim: Any, time: Any) -> Pose:
        """From a prim's frame to the stage's; USD's matrices act on rows."""
        from pxr import UsdGeom

        matrix = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(time), dtype=np.float64).T
        if not np.isfinite(matrix).all():
            raise FormatError(f"'{prim.GetPath()}' in '{self.path}' has a transform with NaN or infinity.")
        return matrix

    def _moving(self, prim: Any) -> list[Any]:
        """The attributes with time samples that move a prim's vertices."""
        from pxr import UsdGeom

        found = [prim.GetAttribute("points")] if prim.IsA(UsdGeom.Mesh) else []
        while prim and not prim.IsPseudoRoot():
            if prim.IsA(UsdGeom.Xformable):
                found += [op.GetAttr() for op in UsdGeom.Xformable(prim).GetOrderedXformOps()]
            prim = prim.GetParent()
        return [attribute for attribute in found if attribute.GetNumTimeSamples() > 0]

    def _has_rest(self, geometry: list[tuple[Any, Any]]) -> bool:
        """Whether all that moves also has a value outside of time."""
        from pxr import Usd

        moving = [attribute for prim, _ in geometry for attribute in self._moving(prim)]
        return all(attribute.Get(Usd.TimeCode.Default()) is not None for attribute in moving)

    def _range(self) -> tuple[float, float]:
        """First and last time code: as the stage says, or as its samples do."""
        if self.stage.HasAuthoredTimeCodeRange():
            return self.stage.GetStartTimeCode(), self.stage.GetEndTimeCode()
        times = [t for prim, _ in self._geometry() for a in self._moving(prim) for t in a.GetTimeSamples()]
        return (min(times), max(times)) if times else (0.0, 0.0)

    def _clip(self, mesh: Mesh, shapes: list[_Shape]) -> Clip | None:
        """Positions at every whole time code; ``None`` when nothing moves."""
        from pxr import Usd

        if not any(attribute.GetNumTimeSamples() > 1 for shape in shapes for attribute in self._moving(shape.prim)):
            return None
        start, end = self._range()
        count = int(np.floor(end - start + 1e-6)) + 1
        if not 0 < count <= MAX_FRAMES or count * mesh.vertex_count > MAX_POSITIONS:
            raise FormatError(
                f"'{self.path}' has {count} frames of {mesh.vertex_count} vertices, which cannot be read."
            )
        fps = float(self.stage.GetTimeCodesPerSecond())
        frames = []
        for k in range(count):
            time = Usd.TimeCode(start + k)
            frames.append(np.concatenate([self._positions(shape, time) for shape in shapes]))
        return Clip(mesh, np.stack(frames), fps if np.isfinite(fps) and fps > 0 else 24.0)

    def _positions(self, shape: _Shape, time: Any) -> Float[np.ndarray, "V 3"]:
        from pxr import UsdGeom

        local = shape.mesh.vertices
        if shape.prim.IsA(UsdGeom.Mesh):
            points = np.array(shape.prim.GetAttribute("points").Get(time), dtype=np.float64).reshape(-1, 3)
            if len(points) <= shape.source.max(initial=-1):
                raise FormatError(f"'{shape.prim.GetPath()}' in '{self.path}' changes its number of points over time.")
            local = points[shape.source]
        pose = self._pose(shape.prim, time)
        return lie.apply(pose, local)


def _part_prim(prim: Any, default: Any) -> Any:
    """What a shape belongs to: its rigid body, else a frame that holds nothing else, else itself."""
    from pxr import UsdGeom, UsdPhysics

    above = prim
    while above and not above.IsPseudoRoot():
        if above.HasAPI(UsdPhysics.RigidBodyAPI):
            return above
        above = above.GetParent()
    parent = prim.GetParent()
    if not parent or parent.IsPseudoRoot() or parent == default or not parent.IsA(UsdGeom.Xform):
        return prim
    siblings = [child for child in parent.GetFilteredChildren(_all_prims()) if child.IsA(UsdGeom.Imageable)]
    return parent if len(siblings) == 1 else prim


def _all_prims() -> Any:
    from pxr import Usd

    return Usd.TraverseInstanceProxies()
