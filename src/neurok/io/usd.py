"""USD stages: meshes and shapes become parts, time samples a clip, UsdPhysics joints an articulation."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from pxr import Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade, UsdSkel, UsdUtils

from neurok.core import Articulation, Asset, Authored, Clip, Mesh, Surface
from neurok.errors import FormatError, NeurokError, shown
from neurok.geometry import lie
from neurok.io.files import Trial, read_bytes, rehearse, resolve_inside
from neurok.io.parsing import split_corners, triangulate
from neurok.io.pieces import PlacedMesh, assemble, box, capsule
from neurok.io.usd_physics import read_inertial, read_joints
from neurok.io.usd_shading import read_field, surface_of

MAX_FRAMES = 20_000
MAX_POSITIONS = 300_000_000
Pose = Float[np.ndarray, "4 4"]


def read(path: Path) -> Asset:
    """Everything on the stage that has triangles, in the stage's own frame and unit."""
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
    hidden: dict[str, None] = field(default_factory=dict)

    def asset(self) -> Asset:
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
        pieces = [PlacedMesh(shape.part, shape.mesh, self._pose(shape.prim, time)) for shape in shapes]
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
            nodes=tuple(tuple(str(prim.GetPath()).strip("/").split("/")) for prim in bodies),
            left_out=tuple(self.hidden),
        )

    def _pose_skeletons(self) -> None:
        """Put what skeletons carry where it goes, frame by frame, in a layer over the file's own."""
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
        for prim in Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
            if prim.IsA(UsdGeom.PointInstancer):
                self.notes.append(f"'{prim.GetPath()}' is a {prim.GetTypeName()}, which is read without its effect.")
            if not prim.IsA(UsdGeom.Gprim):
                continue
            imageable = UsdGeom.Imageable(prim)
            is_shown = imageable.ComputeVisibility() != "invisible"
            if is_shown and imageable.ComputePurpose() in ("default", "render"):
                yield prim, _part_prim(prim, self.stage.GetDefaultPrim())
            elif not is_shown:
                self.hidden[f"{prim.GetName()} (hidden)"] = None

    def _bodies(self, geometry: list[tuple[Any, Any]]) -> list[Any]:
        """The prims that are parts, in the order of the stage; rigid bodies count even without geometry."""
        wanted = {str(body.GetPath()) for _, body in geometry}
        everything = Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())
        return [p for p in everything if str(p.GetPath()) in wanted or p.HasAPI(UsdPhysics.RigidBodyAPI)]

    def _surface(self, prim: Any) -> Surface | None:
        """The look bound to a prim, read once for each material."""
        material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        if not material:
            return None
        key = str(material.GetPath())
        if key not in self.surfaces:
            self.surfaces[key] = surface_of(material, self.path.parent, self.notes)
        return self.surfaces[key]

    def _pose(self, prim: Any, time: Any) -> Pose:
        """From a prim's frame to the stage's; USD's matrices act on rows."""
        matrix = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(time), dtype=np.float64).T
        if not np.isfinite(matrix).all():
            raise FormatError(f"'{prim.GetPath()}' in '{self.path}' has a transform with NaN or infinity.")
        return matrix

    def _moving(self, prim: Any) -> list[Any]:
        """The attributes with time samples that move a prim's vertices."""
        found = [prim.GetAttribute("points")] if prim.IsA(UsdGeom.Mesh) else []
        while prim and not prim.IsPseudoRoot():
            if prim.IsA(UsdGeom.Xformable):
                found += [op.GetAttr() for op in UsdGeom.Xformable(prim).GetOrderedXformOps()]
            prim = prim.GetParent()
        return [attribute for attribute in found if attribute.GetNumTimeSamples() > 0]

    def _has_rest(self, geometry: list[tuple[Any, Any]]) -> bool:
        """Whether all that moves also has a value outside of time."""
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
    return Usd.TraverseInstanceProxies()


Corners = Int[np.ndarray, "F 3"]
Read = tuple[Mesh, Int[np.ndarray, " V"]]
"""A mesh and the point of the prim behind each of its vertices."""


def read_shape(prim: Any, time: Any, surface_of: Callable[[Any], Surface | None], notes: list[str]) -> Read | None:
    """A mesh or simple shape at one time; ``None`` for what has no triangles."""
    if prim.IsA(UsdGeom.Mesh):
        return _mesh(prim, time, surface_of, notes)
    shape = _solid(prim, time)
    if shape is None:
        notes.append(f"'{prim.GetPath()}' is a {prim.GetTypeName()}, which is left out.")
        return None
    surface = surface_of(prim) or _display_surface(prim, time)
    placed = Mesh(shape.vertices, shape.faces, surfaces=(surface,) if surface else (), name=prim.GetName())
    return placed, np.arange(placed.vertex_count)


def _solid(prim: Any, time: Any) -> Mesh | None:
    """Cubes, spheres, cylinders and capsules."""
    kind = prim.GetTypeName()
    get = lambda name: float(prim.GetAttribute(name).Get(time))  # noqa: E731
    if kind == "Cube":
        return box(np.full(3, get("size") / 2))
    if kind == "Sphere":
        return capsule(get("radius"), 0.0)
    if kind not in ("Cylinder", "Capsule"):
        return None
    shape = capsule(get("radius"), get("height") / 2, rounded=kind == "Capsule")
    turns = {"X": 1, "Y": 2, "Z": 0}[prim.GetAttribute("axis").Get(time) or "Z"]
    return shape.with_vertices(np.roll(shape.vertices, turns, axis=1))


def _mesh(prim: Any, time: Any, surface_of: Callable[[Any], Surface | None], notes: list[str]) -> Read | None:
    where = f"'{prim.GetPath()}'"
    points = _array(prim, "points", time, (-1, 3))
    counts, indices = (_array(prim, n, time, (-1,), int) for n in ("faceVertexCounts", "faceVertexIndices"))
    if len(points) == 0 or len(counts) == 0:
        notes.append(f"{where} is an empty mesh and is left out.")
        return None
    if counts.min() < 0 or counts.sum() != len(indices) or indices.min(initial=0) < 0 or indices.max() >= len(points):
        raise FormatError(f"{where} is damaged: its faces name points that do not exist.")
    corners, polygon = triangulate(counts, indices, points)
    if len(corners) == 0:
        notes.append(f"{where} has no faces and is left out.")
        return None
    if prim.GetAttribute("orientation").Get(time) == "leftHanded":
        corners = corners[:, ::-1]
    faces = indices[corners]
    uv = _primvar(prim, ("st", "st0", "UVMap", "map1"), time, corners, faces, polygon, 2, where)
    second = None if uv is None else _primvar(prim, ("st1",), time, corners, faces, polygon, 2, where)
    uv = uv if second is None else np.concatenate([uv, second], axis=2)
    colors = _colors(prim, time, corners, faces, polygon, where)
    source, faces, uv, colors = _split(faces, uv, colors, len(points))
    surfaces, face_surfaces = _surfaces(prim, polygon, len(counts), surface_of)
    is_double = bool(prim.GetAttribute("doubleSided").Get(time))
    surfaces = tuple(replace(surface, double_sided=is_double) for surface in surfaces)
    sets = () if uv is None else tuple(_flipped(uv[:, k : k + 2]) for k in range(0, uv.shape[1], 2))
    vertices, normals = points[source], _normals(prim, time, source, len(points))
    authored = Authored(None if normals is None else vertices, normals, uv_sets=sets)
    if uv is not None:
        uv = _flipped(_base_coordinates(sets, surfaces, faces, face_surfaces))
    mesh = Mesh(
        vertices,
        faces,
        authored=authored if authored.count else None,
        uv=uv,
        vertex_colors=colors,
        surfaces=surfaces,
        face_surfaces=face_surfaces,
        name=prim.GetName(),
    )
    return mesh, source


def _array(prim: Any, name: str, time: Any, shape: tuple[int, ...], kind: type = float) -> np.ndarray:
    value = prim.GetAttribute(name).Get(time)
    return np.array([] if value is None else value, dtype=np.float64 if kind is float else np.int64).reshape(shape)


def _primvar(
    prim: Any,
    names: tuple[str, ...],
    time: Any,
    corners: Corners,
    faces: Corners,
    polygon: Int[np.ndarray, " F"],
    width: int,
    where: str,
) -> Float[np.ndarray, "F 3 C"] | None:
    """A value for each corner, whichever way the primvar is spread over the mesh."""
    api = UsdGeom.PrimvarsAPI(prim)
    found = next((api.GetPrimvar(name) for name in names if api.GetPrimvar(name).HasValue()), None)
    if found is None:
        return None
    flat = found.ComputeFlattened(time)
    if flat is None:
        return None
    values = np.array(flat, dtype=np.float64).reshape(-1, width)
    spread = found.GetInterpolation()
    at = {"faceVarying": corners, "vertex": faces, "varying": faces}.get(spread)
    if at is None:
        at = np.repeat(polygon[:, None], 3, axis=1) if spread == "uniform" else np.zeros_like(faces)
    if at.max() >= len(values) or not np.isfinite(values).all():
        raise FormatError(f"{where} has a primvar '{names[0]}' that does not fit its faces.")
    return values[at]


def _colors(
    prim: Any, time: Any, corners: Corners, faces: Corners, polygon: Int[np.ndarray, " F"], where: str
) -> Float[np.ndarray, "F 3 4"] | None:
    rgb = _primvar(prim, ("displayColor",), time, corners, faces, polygon, 3, where)
    if rgb is None:
        return None
    alpha = _primvar(prim, ("displayOpacity",), time, corners, faces, polygon, 1, where)
    return np.clip(np.concatenate([rgb, np.ones((*rgb.shape[:2], 1)) if alpha is None else alpha], axis=2), 0.0, 1.0)


def _split(
    faces: Corners, uv: np.ndarray | None, colors: np.ndarray | None, count: int
) -> tuple[Int[np.ndarray, " V"], Corners, np.ndarray | None, np.ndarray | None]:
    """Copy points whose corners differ in texture coordinates or colour."""
    given = [array for array in (uv, colors) if array is not None]
    if not given:
        return np.arange(count), faces, None, None
    rows = np.concatenate(given, axis=2).reshape(len(faces) * 3, -1)
    table, code = np.unique(rows, axis=0, return_inverse=True)
    source, faces, kept = split_corners(faces, code.reshape(faces.shape), count)
    values = table[kept]
    width = 0 if uv is None else uv.shape[2]
    return (
        source,
        faces,
        values[:, :width] if uv is not None else None,
        values[:, width:] if colors is not None else None,
    )


def _flipped(uv: Float[np.ndarray, "V 2"]) -> Float[np.ndarray, "V 2"]:
    """Texture coordinates with v counted from the other side."""
    return np.column_stack([uv[:, 0], 1.0 - uv[:, 1]])


def _normals(prim: Any, time: Any, source: Int[np.ndarray, " V"], count: int) -> Float[np.ndarray, "V 3"] | None:
    """Unit normals of the vertices, if the prim has one for each point."""
    shape = UsdGeom.Mesh(prim)
    if shape.GetNormalsInterpolation() not in ("vertex", "varying"):
        return None
    normals = _array(prim, "normals", time, (-1, 3))
    if len(normals) != count or not np.isfinite(normals).all():
        return None
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, size, out=np.zeros_like(normals), where=size > 1e-12)[source]


def _base_coordinates(
    sets: tuple[np.ndarray, ...],
    surfaces: tuple[Surface, ...],
    faces: Corners,
    face_surfaces: Int[np.ndarray, " F"] | None,
) -> Float[np.ndarray, "V 2"]:
    """Where each surface looks its base colour up: its own set of coordinates, moved as its picture asks."""
    out = np.array(sets[0], dtype=np.float64)
    for number, surface in enumerate(surfaces):
        placed = surface.finish and surface.finish.maps.get("base_color")
        if not placed or placed.placing == (0, b""):
            continue
        own = faces if face_surfaces is None else faces[face_surfaces == number]
        uv = sets[min(placed.uv_set, len(sets) - 1)][own]
        out[own] = uv if placed.transform is None else uv @ placed.transform[:, :2].T + placed.transform[:, 2]
    return out


def _surfaces(
    prim: Any, polygon: Int[np.ndarray, " F"], polygon_count: int, surface_of: Callable[[Any], Surface | None]
) -> tuple[tuple[Surface, ...], Int[np.ndarray, " F"] | None]:
    """The look of the prim, and of the subsets of faces that have their own."""
    whole = surface_of(prim)
    subsets = UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()
    if not subsets:
        return ((whole,) if whole else ()), None
    surfaces = [whole or Surface()]
    of_polygon = np.zeros(polygon_count, dtype=np.int64)
    for subset in subsets:
        own = surface_of(subset.GetPrim())
        indices = np.array(subset.GetIndicesAttr().Get() or [], dtype=np.int64)
        if own is None or len(indices) == 0:
            continue
        if indices.min() < 0 or indices.max() >= polygon_count:
            raise FormatError(f"'{subset.GetPath()}' names faces that do not exist.")
        of_polygon[indices] = len(surfaces)
        surfaces.append(own)
    return tuple(surfaces), of_polygon[polygon]


def _display_surface(prim: Any, time: Any) -> Surface | None:
    """A simple shape's display colour as its surface."""
    value = prim.GetAttribute("primvars:displayColor").Get(time)
    if not value:
        return None
    red, green, blue = (min(max(float(x), 0.0), 1.0) for x in value[0])
    return Surface("display", (red, green, blue, 1.0))


MAX_LAYERS = 500
LAYER_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


def check_layers(path: Path) -> None:
    """Refuse layers and pictures outside the folder of ``path``, and files that are no layers at all."""
    folder = path.parent.resolve()
    read_bytes(path)
    waiting, seen = [str(path)], set()
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        if len(seen) > MAX_LAYERS:
            raise FormatError(f"'{path}' is made of more than {MAX_LAYERS} layers.")
        _rehearse(Path(here.split("[")[0]), "try_layer")
        try:
            layer = Sdf.Layer.FindOrOpen(here)
        except Tf.ErrorException as error:
            raise FormatError(f"'{here}' is not a USD file: {reason(error)}.") from error
        if layer is None:
            if here == str(path):
                raise FormatError(f"'{path}' is not a USD file, or it is damaged; export it again.")
            raise FormatError(f"'{path}' refers to the layer '{here}', which cannot be read.")
        for group in UsdUtils.ExtractExternalReferences(here):
            for reference in group:
                anchored = Sdf.ComputeAssetPathRelativeToLayer(layer, reference)
                if not Path(anchored).is_absolute():  # USD would look for it in the working folder
                    anchored = str(folder / anchored)
                _check_inside(anchored, reference, folder)
                if anchored.split("[")[-1].rstrip("]").lower().endswith(LAYER_SUFFIXES):
                    waiting.append(anchored)
    _rehearse(path, "try_stage")


def _rehearse(path: Path, decoder: str) -> None:
    """Open a layer or stage in a process of its own first: damage can make USD hang, fill memory or crash."""
    trial = rehearse(path, f"{__name__}:{decoder}", "pxr.UsdUtils") if path.is_file() else Trial()
    if trial.damage:
        raise FormatError(f"'{path}' is damaged: {trial.damage}; write it again.")
    if trial.refusal is not None:
        why = f": {in_words(trial.refusal)}" if trial.refusal else ", or it is damaged; export it again"
        raise FormatError(f"'{path}' is not a USD file{why}.")


def try_layer(path: str) -> None:
    """Open one layer and leave it, in the sandbox."""
    if not Sdf.Layer.FindOrOpen(path):
        raise ValueError
    UsdUtils.ExtractExternalReferences(path)


def try_stage(path: str) -> None:
    """Compose a stage and look at every attribute, in the sandbox."""
    stage = Usd.Stage.Open(path)
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        for attribute in prim.GetAttributes():
            attribute.Get()


def _check_inside(anchored: str, reference: str, folder: Path) -> None:
    """A reference must stay in the folder; inside a package it must stay in the package."""
    outer, _, inner = anchored.partition("[")
    if ".." in inner.split("/"):
        resolve_inside(folder, "../" + reference)
    target = Path(outer)
    if "://" in reference or not (folder / target).resolve().is_relative_to(folder):
        raise FormatError(
            f"The file refers to {shown(reference)}, which lies outside its folder; only files in or below it are read."
        )
    if outer.lower().endswith(LAYER_SUFFIXES) and not target.is_file():
        raise FormatError(f"The file refers to the layer {shown(reference)}, which is not in its folder; put it there.")


def reason(error: Exception) -> str:
    """What USD says, on one line and without the places in its own source; it may quote bytes that are no text."""
    try:
        return in_words(str(error))
    except UnicodeDecodeError:
        return "it holds bytes that are no text"


def in_words(said: str) -> str:
    """The last thing that USD says of an error, without the places in its own source."""
    return " ".join(said.split()).rsplit(" : '", 1)[-1].strip(" .'")[-160:]


@contextmanager
def quiet() -> Iterator[None]:
    """Keep USD's own warnings from stderr; what matters of them is said by the reader."""
    listener = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        with redirect_stderr(io.StringIO()), _nothing_on(2):  # Python's words about texts that are none, and C++'s own
            yield
    finally:
        del listener


@contextmanager
def _nothing_on(handle: int) -> Iterator[None]:
    """What C++ code writes to a file handle of the process goes nowhere."""
    try:
        kept = os.dup(handle)
    except OSError:  # it is closed
        yield
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, handle)
        yield
    finally:
        os.dup2(kept, handle)
        os.close(kept)
        os.close(nothing)
