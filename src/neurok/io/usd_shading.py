"""Surfaces and physics materials of a USD stage, out and in: UsdPreviewSurface networks and UsdPhysics materials."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int
from pxr import Ar, Sdf, UsdGeom, UsdPhysics, UsdShade, Vt

from neurok.core import Finish, Lookup, Material, MaterialField, Mesh, Surface, Texture
from neurok.core.surface import CLAMP, MIRROR, REPEAT, TRANSFORM, Record, number, numbers, placed_finish
from neurok.errors import FormatError
from neurok.io.files import Files, resolve_inside, unique_names
from neurok.io.surfaces import CLEARCOAT, IOR, STRENGTH, SUFFIX_OF_MIME, texture_from_bytes


def identifier(name: str) -> str:
    """A name of letters, digits and underscores that does not start with a digit."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
    return plain if re.match(r"[A-Za-z_]", plain) else f"p_{plain}"


def unique_identifiers(names: Sequence[str]) -> list[str]:
    """Different identifiers, whatever the case of their letters."""
    return unique_names(map(identifier, names), ("looks", "joints"), str.lower)


WRAPS = {REPEAT: "repeat", CLAMP: "clamp", MIRROR: "mirror"}


@dataclass
class Network:
    """The shader of one material while it is being written."""

    stage: Any
    path: str
    file_of: Any
    """From a ``Texture`` to its place beside the stage."""

    nodes: dict[Any, Any] = field(default_factory=dict)

    def write(self, surface: Surface, finish: Finish) -> Any:
        """Define the shader and everything behind it; returns it."""
        self.shader = UsdShade.Shader.Define(self.stage, f"{self.path}/preview")
        self.shader.CreateIdAttr("UsdPreviewSurface")
        self.finish, record = finish, finish.record()
        metal = record.get("pbrMetallicRoughness", {})
        self._color(surface, metal)
        self._shine(surface, metal)
        glow = np.array(surface.emissive) * finish.emissive_strength
        self._put("emissiveColor", record.get("emissiveTexture"), "rgb", glow, is_color=True)
        info = record.get("normalTexture")
        if info is not None:
            scale = number(info, "scale", 1.0)
            self._put("normal", info, "rgb", (2 * scale, 2 * scale, 2.0), (-scale, -scale, -1.0), kind="Normal3f")
        info = record.get("occlusionTexture")
        if info is not None:
            strength = number(info, "strength", 1.0)
            self._put("occlusion", info, "r", (strength,) * 3, (1.0 - strength,) * 3)
        self._extensions(finish)
        return self.shader

    def _color(self, surface: Surface, metal: Record) -> None:
        gloss = (self.finish.extension("KHR_materials_pbrSpecularGlossiness") or {}).get("diffuseTexture")
        info = gloss if gloss is not None else metal.get("baseColorTexture")
        alpha = surface.base_color[3]
        self._put("diffuseColor", info, "rgb", surface.base_color[:3], is_color=True, alpha=alpha)
        opacity = self.shader.CreateInput("opacity", Sdf.ValueTypeNames.Float)
        if info is not None and surface.alpha_mode != "OPAQUE":
            opacity.ConnectToSource(self._lookup(info, surface.base_color[:3], (), True, alpha)["a"])
        else:
            opacity.Set(float(alpha))
        if surface.alpha_mode == "MASK":
            cutoff = self.shader.CreateInput("opacityThreshold", Sdf.ValueTypeNames.Float)
            cutoff.Set(max(self.finish.alpha_cutoff, 1e-6))

    def _shine(self, surface: Surface, metal: Record) -> None:
        info = metal.get("metallicRoughnessTexture")
        factors = (1.0, surface.roughness, surface.metallic)
        self._put("roughness", info, "g", factors)
        self._put("metallic", info, "b", factors)

    def _extensions(self, finish: Finish) -> None:
        coat = finish.extension(CLEARCOAT)
        if coat is not None:
            for name, channel in (("clearcoat", "r"), ("clearcoatRoughness", "g")):
                factor = number(coat, f"{name}Factor", 0.0)
                self._put(name, coat.get(f"{name}Texture"), channel, (factor,) * 3)
        if finish.extension(IOR) is not None:
            given = number(finish.extension(IOR) or {}, "ior", 1.5)
            self.shader.CreateInput("ior", Sdf.ValueTypeNames.Float).Set(given)

    def _put(
        self,
        name: str,
        info: Record | None,
        channel: str,
        factors: Any,
        bias: Any = (),
        *,
        is_color: bool = False,
        alpha: float = 1.0,
        kind: str | None = None,
    ) -> None:
        """One input: a number, or a picture times it."""
        kinds = Sdf.ValueTypeNames
        wide = channel == "rgb"
        given = self.shader.CreateInput(name, getattr(kinds, kind or ("Color3f" if wide else "Float")))
        if info is not None:
            given.ConnectToSource(self._lookup(info, factors, bias, is_color, alpha)[channel])
        elif wide:
            given.Set(tuple(map(float, factors)))
        else:
            given.Set(float(factors["rgb".index(channel)]))

    def _lookup(self, info: Record, factors: Any, bias: Any, is_color: bool, alpha: float = 1.0) -> dict[str, Any]:
        """The outputs of a node that looks a picture up."""
        lookup = self.finish.lookups[info["index"]]
        scale, shift = (*map(float, factors), float(alpha)), (*map(float, bias), 0.0)
        settings = info.get("extensions", {}).get(TRANSFORM)
        uv_set = int(number(settings or {}, "texCoord", number(info, "texCoord", 0.0)))
        key = (lookup, scale, shift, is_color, uv_set, repr(settings))
        if key not in self.nodes:
            kinds = Sdf.ValueTypeNames
            node = UsdShade.Shader.Define(self.stage, f"{self.path}/picture_{len(self.nodes)}")
            node.CreateIdAttr("UsdUVTexture")
            node.CreateInput("file", kinds.Asset).Set(f"./{self.file_of(lookup.texture)}")
            node.CreateInput("sourceColorSpace", kinds.Token).Set("sRGB" if is_color else "raw")
            for name, wrap in zip(("wrapS", "wrapT"), lookup.wrap, strict=True):
                node.CreateInput(name, kinds.Token).Set(WRAPS.get(wrap, "repeat"))
            node.CreateInput("scale", kinds.Float4).Set(scale)
            if bias:
                node.CreateInput("bias", kinds.Float4).Set(shift)
            node.CreateInput("st", kinds.Float2).ConnectToSource(self._coordinates(uv_set, settings))
            outputs = {c: node.CreateOutput(c, kinds.Float) for c in "rgba"}
            self.nodes[key] = outputs | {"rgb": node.CreateOutput("rgb", kinds.Float3)}
        return self.nodes[key]  # type: ignore[no-any-return]

    def _coordinates(self, uv_set: int, settings: Record | None) -> Any:
        kinds = Sdf.ValueTypeNames
        name = primvar_name(uv_set)
        if name not in self.nodes:
            reader = UsdShade.Shader.Define(self.stage, f"{self.path}/{name}")
            reader.CreateIdAttr("UsdPrimvarReader_float2")
            reader.CreateInput("varname", kinds.String).Set(name)
            self.nodes[name] = reader.CreateOutput("result", kinds.Float2)
        if settings is None:
            return self.nodes[name]
        scale, offset = numbers(settings, "scale", (1.0, 1.0)), numbers(settings, "offset", (0.0, 0.0))
        angle = number(settings, "rotation", 0.0)
        mover = UsdShade.Shader.Define(self.stage, f"{self.path}/placing_{len(self.nodes)}")
        mover.CreateIdAttr("UsdTransform2d")
        mover.CreateInput("in", kinds.Float2).ConnectToSource(self.nodes[name])
        mover.CreateInput("rotation", kinds.Float).Set(math.degrees(angle))
        mover.CreateInput("scale", kinds.Float2).Set(tuple(scale.tolist()))
        shift = up_shift(scale, angle) + offset * [1.0, -1.0]
        mover.CreateInput("translation", kinds.Float2).Set(tuple(shift.tolist()))
        return mover.CreateOutput("result", kinds.Float2)


def primvar_name(uv_set: int) -> str:
    """How a set of texture coordinates is called on a mesh prim."""
    return "st" if uv_set == 0 else f"st{uv_set}"


def up_shift(scale: np.ndarray, angle: float) -> np.ndarray:
    """What turning v upside down, as USD has it, adds to the shift of a transform."""
    up = np.array([0.0, 1.0])
    return up - np.array([-math.sin(angle), math.cos(angle)]) * scale[1]


def read_surface(name: str, shader: Any, folder: Path, notes: list[str]) -> Surface:
    """The surface that a UsdPreviewSurface shows."""
    return Surface.of(name, _Reading(shader, folder, notes).finish())


class _Reading:
    """One preview surface while it is being read."""

    def __init__(self, shader: Any, folder: Path, notes: list[str]) -> None:
        self.shader, self.folder, self.notes = shader, folder, notes
        self.lookups: list[Lookup] = []

    def finish(self) -> Finish:
        record: Record = {"pbrMetallicRoughness": {}, "doubleSided": True}
        metal = record["pbrMetallicRoughness"]
        info, color, _ = self._input("diffuseColor", (0.18, 0.18, 0.18))
        opacity_info, opacity, _ = self._input("opacity", (1.0,))
        alpha = float(opacity[-1])
        metal["baseColorFactor"] = [*color[:3].clip(0.0, 1.0).tolist(), min(max(alpha, 0.0), 1.0)]
        if info is not None:
            metal["baseColorTexture"] = info
        cutoff = float(self._input("opacityThreshold", (0.0,))[1][0])
        if cutoff > 0:
            record |= {"alphaMode": "MASK"} | ({"alphaCutoff": cutoff} if cutoff != 0.5 else {})
        elif alpha < 1 or opacity_info is not None:
            record["alphaMode"] = "BLEND"
        self._shine(metal)
        self._glow(record)
        info, scale, _ = self._input("normal", (0.0, 0.0, 1.0))
        if info is not None:
            record["normalTexture"] = info | _unless(float(scale[0]) / 2.0, 1.0, "scale")
        info, scale, _ = self._input("occlusion", (1.0,))
        if info is not None:
            record["occlusionTexture"] = info | _unless(float(scale[0]), 1.0, "strength")
        self._extensions(record)
        return Finish.of(record, tuple(self.lookups))

    def _shine(self, metal: Record) -> None:
        rough_info, rough, rough_channel = self._input("roughness", (0.5,))
        metal_info, metallic, metal_channel = self._input("metallic", (0.0,))
        info = rough_info or metal_info
        if info is not None and (rough_channel or "g", metal_channel or "b") == ("g", "b"):
            metal["metallicRoughnessTexture"] = info
        elif info is not None:
            self.notes.append("Pictures of metal and roughness are left out: they do not lie in one as glTF has them.")
        metal["roughnessFactor"] = _share(rough[1] if rough_info is not None else rough[0])
        metal["metallicFactor"] = _share(metallic[2] if metal_info is not None else metallic[0])

    def _glow(self, record: Record) -> None:
        info, glow, _ = self._input("emissiveColor", (0.0, 0.0, 0.0))
        if not glow[:3].any():
            return
        strength = max(1.0, float(glow[:3].max()))
        record["emissiveFactor"] = (glow[:3].clip(0.0) / strength).tolist()
        if info is not None:
            record["emissiveTexture"] = info
        if strength > 1.0:
            record.setdefault("extensions", {})[STRENGTH] = {"emissiveStrength": strength}

    def _extensions(self, record: Record) -> None:
        coat: Record = {}
        for name, place in (("clearcoat", 0), ("clearcoatRoughness", 1)):
            given = self.shader.GetInput(name)
            if not given:
                continue
            info, factor, _ = self._input(name, (0.0,))
            coat[f"{name}Factor"] = _share(factor[place] if info is not None else factor[0])
            coat |= {f"{name}Texture": info} if info is not None else {}
        if coat.get("clearcoatFactor"):
            record.setdefault("extensions", {})[CLEARCOAT] = coat
        ior = self.shader.GetInput("ior")
        if ior and ior.Get() is not None and math.isfinite(ior.Get()) and float(ior.Get()) >= 1.0:
            record.setdefault("extensions", {})[IOR] = {"ior": round(float(ior.Get()), 6)}

    def _input(self, name: str, default: tuple[float, ...]) -> tuple[Record | None, np.ndarray, str | None]:
        """The picture behind an input, the numbers or the factors on it, and the channel that is read."""
        given = self.shader.GetInput(name)
        rest = np.array(default)
        if not given:
            return None, rest, None
        sources = given.GetConnectedSources()[0] if given.HasConnectedSource() else []
        if not sources:
            return None, _floats(given.Get(), rest), None
        node = UsdShade.Shader(sources[0].source.GetPrim())
        if node.GetShaderId() != "UsdUVTexture":
            return None, rest, None
        factors = _floats(_value(node, "scale"), np.ones(4))
        info = self._info(node)
        return info, factors if info is not None or len(rest) > 1 else rest, str(sources[0].sourceName)

    def _info(self, node: Any) -> Record | None:
        picture = _picture(node, self.folder, self.notes)
        if picture is None:
            return None
        wraps = {name: number for number, name in WRAPS.items()}
        wrap = tuple(wraps.get(str(_value(node, name)), REPEAT) for name in ("wrapS", "wrapT"))
        lookup = Lookup(picture, (wrap[0], wrap[1]))
        if lookup not in self.lookups:
            self.lookups.append(lookup)
        return {"index": self.lookups.index(lookup)} | self._placing(node)

    def _placing(self, node: Any) -> Record:
        """Which coordinates the picture is read at, and how they are moved."""
        found: Record = {}
        given = node.GetInput("st")
        for _ in range(2):
            sources = given.GetConnectedSources()[0] if given and given.HasConnectedSource() else []
            if not sources:
                return found
            source = UsdShade.Shader(sources[0].source.GetPrim())
            if source.GetShaderId() == "UsdTransform2d":
                scale = _floats(_value(source, "scale"), np.ones(2))
                angle = math.radians(float(_floats(_value(source, "rotation"), np.zeros(1))[0]))
                shift = _floats(_value(source, "translation"), np.zeros(2)) - up_shift(scale, angle)
                settings = {"offset": (shift * [1.0, -1.0]).round(7).tolist(), "scale": scale.tolist()}
                found["extensions"] = {TRANSFORM: settings | ({"rotation": angle} if angle else {})}
                given = source.GetInput("in")
                continue
            name = str(_value(source, "varname") or "st")
            if name.startswith("st") and name[2:].isdigit() and 0 < int(name[2:]) < 8:
                found["texCoord"] = int(name[2:])
            return found
        return found


def _unless(value: float, usual: float, key: str) -> Record:
    value = round(value, 6)
    return {} if value == usual else {key: value}


def _share(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)


def _value(node: Any, name: str) -> Any:
    given = node.GetInput(name)
    return given.Get() if given else None


def _floats(value: Any, default: np.ndarray) -> np.ndarray:
    """Finite numbers, as many as the default has."""
    try:
        found = np.atleast_1d(np.array(value, dtype=np.float64)) if value is not None else default
    except (TypeError, ValueError):
        return default
    return found if found.shape == default.shape and np.isfinite(found).all() else default


def _picture(node: Any, folder: Path, notes: list[str]) -> Texture | None:
    """The picture behind a texture node."""
    value = _value(node, "file")
    if value is None or not value.path:
        return None
    if "<UDIM>" in value.path:
        notes.append(f"The tiled texture '{value.path}' was left out.")
        return None
    return texture_from_bytes(_asset_bytes(value, folder), Path(value.path).name)


def _asset_bytes(value: Any, folder: Path) -> bytes:
    """The contents of an asset path, from a file below ``folder`` or a package there."""
    outer = value.resolvedPath.split("[")[0]
    if not outer:
        resolve_inside(folder, value.path)
        raise FormatError(f"The texture '{value.path}' is missing.")
    if not Path(outer).resolve().is_relative_to(folder.resolve()):
        raise FormatError(
            f"The file refers to '{value.path}', which lies outside its folder; only files below are read."
        )
    asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(value.resolvedPath))
    if not asset:
        raise FormatError(f"The texture '{value.path}' cannot be read.")
    return bytes(asset.GetBuffer())


PREFIX = "neurok:"
PURPOSE = "physics"


@dataclass
class PhysicsMaterials:
    """The physics materials of a stage while it is being written."""

    stage: Any
    scope: str
    unit: float
    """Metres per unit of the stage, whose unit of density follows from it."""

    prims: dict[Material, Any] = field(default_factory=dict)

    def bind(self, prim: Any, material: Material) -> None:
        """Say what a prim is made of."""
        binding = UsdShade.MaterialBindingAPI.Apply(prim)
        binding.Bind(self.prim(material), UsdShade.Tokens.fallbackStrength, PURPOSE)

    def prim(self, material: Material) -> Any:
        """The prim of a material, defined once."""
        if material in self.prims:
            return self.prims[material]
        if not self.prims:
            UsdGeom.Scope.Define(self.stage, self.scope)
        taken = [each.GetPrim().GetName() for each in self.prims.values()]
        prim = UsdShade.Material.Define(self.stage, f"{self.scope}/{unique_identifiers([*taken, material.name])[-1]}")
        api = UsdPhysics.MaterialAPI.Apply(prim.GetPrim())
        api.CreateDensityAttr(material.density * self.unit**3)
        api.CreateStaticFrictionAttr(material.friction)
        api.CreateDynamicFrictionAttr(material.friction)
        api.CreateRestitutionAttr(material.restitution)
        for name, value in asdict(material).items():
            if value is not None:
                kind = Sdf.ValueTypeNames.String if isinstance(value, str) else Sdf.ValueTypeNames.Double
                prim.GetPrim().CreateAttribute(f"{PREFIX}{name}", kind, custom=True).Set(value)
        self.prims[material] = prim
        return prim


def read_physics_material(prim: Any, unit: float, notes: list[str]) -> Material | None:
    """The physics material that is bound to a prim."""
    bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial(PURPOSE)[0]
    if not bound or not bound.GetPrim().HasAPI(UsdPhysics.MaterialAPI):
        return None
    own = bound.GetPrim()
    told = {
        attribute.GetName().removeprefix(PREFIX): attribute.Get()
        for attribute in own.GetAttributes()
        if attribute.GetName().startswith(PREFIX)
    }
    try:
        return Material(**told) if told else _plain(own, unit)
    except Exception as error:
        notes.append(f"The physics material '{own.GetName()}' is left out: {error}")
        return None


def _plain(prim: Any, unit: float) -> Material:
    """A physics material of somebody else's: what it says, and the defaults for the rest."""
    api = UsdPhysics.MaterialAPI(prim)
    density, friction = api.GetDensityAttr().Get(), api.GetDynamicFrictionAttr().Get()
    bounce = api.GetRestitutionAttr().Get()
    figures: dict[str, Any] = {"friction": float(friction)} if friction else {}
    if density:
        figures["density"] = float(density) / unit**3
    if bounce and 0 < bounce <= 1:
        figures["damping_ratio"] = -math.log(bounce) / math.hypot(math.pi, math.log(bounce))
    return Material(prim.GetDisplayName() or prim.GetName(), **figures)


def read_field(
    shapes: Sequence[tuple[Any, Int[np.ndarray, " v"]]], unit: float, notes: list[str]
) -> MaterialField | None:
    """Materials over a mesh that was joined from prims, each with the point behind each of its vertices."""
    library: dict[Material, int] = {}
    ids = []
    for prim, source in shapes:
        own = np.full(int(source.max(initial=0)) + 1, -1)
        for material, points in _physics_materials(prim, unit, notes):
            # The whole prim comes first, so that its subsets count over it.
            own[points if points is ... else points[points < len(own)]] = library.setdefault(material, len(library))
        ids.append(own[source])
    if not library:
        return None
    every = np.concatenate(ids)
    if (every < 0).any():
        every[every < 0] = library.setdefault(Material(), len(library))
    return MaterialField(tuple(library), every)


def _physics_materials(prim: Any, unit: float, notes: list[str]) -> list[tuple[Material, Any]]:
    """What a prim is made of, and its subsets of faces with their points; ``...`` stands for all points."""
    whole = read_physics_material(prim, unit, notes)
    out: list[tuple[Material, Any]] = [] if whole is None else [(whole, ...)]
    if not prim.IsA(UsdGeom.Mesh):
        return out
    counts = np.array(prim.GetAttribute("faceVertexCounts").Get() or [], dtype=np.int64)
    corners = np.array(prim.GetAttribute("faceVertexIndices").Get() or [], dtype=np.int64)
    owner = np.repeat(np.arange(len(counts)), counts)
    for subset in reversed(UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()):
        material = read_physics_material(subset.GetPrim(), unit, notes)
        if material is not None:
            polygons = np.array(subset.GetIndicesAttr().Get() or [], dtype=np.int64)
            out.append((material, np.unique(corners[np.isin(owner, polygons)])))
    return out


FaceMaterials = tuple[PhysicsMaterials, tuple[Material, ...], Int[np.ndarray, " F"]]
"""Where physics materials are written, those of an object, and which of them each face of a part is made of."""


@dataclass
class StageSurfaces:
    """The materials of a stage while it is being written."""

    stage: Any
    scope: str
    folder: str
    """Where pictures go, from the stage's own folder."""

    has_sets: bool = False
    """Meshes keep all their texture coordinates as the file had them; else they have those of the base colour."""

    pictures: Files = field(default_factory=dict)
    materials: dict[Surface, Any] = field(default_factory=dict)
    files: dict[Texture, str] = field(default_factory=dict)

    def bind(self, shape: Any, part: Mesh, physical: FaceMaterials | None = None) -> None:
        """Give a mesh prim its surfaces and what it is made of: one for all faces, or a subset of faces for each."""
        if not part.surfaces and physical is None:
            return
        surfaces = np.zeros(part.face_count, dtype=np.int64) if part.face_surfaces is None else part.face_surfaces
        made_of = np.zeros(part.face_count, dtype=np.int64) if physical is None else physical[2]
        used, ids = np.unique(np.column_stack([surfaces, made_of]), axis=0, return_inverse=True)
        binding = UsdShade.MaterialBindingAPI.Apply(shape.GetPrim())
        if len(used) == 1:
            self._bind(shape.GetPrim(), part, used[0], physical)
            return
        names = unique_identifiers([part.surfaces[look].name if part.surfaces else "faces" for look, _ in used])
        for i, name in enumerate(names):
            faces = Vt.IntArray.FromNumpy(np.flatnonzero(ids.reshape(-1) == i).astype(np.int32))
            subset = binding.CreateMaterialBindSubset(name, faces, UsdGeom.Tokens.face)
            self._bind(subset.GetPrim(), part, used[i], physical)
        binding.SetMaterialBindSubsetsFamilyType(UsdGeom.Tokens.partition)

    def _bind(self, prim: Any, part: Mesh, pair: np.ndarray, physical: FaceMaterials | None) -> None:
        if part.surfaces:
            UsdShade.MaterialBindingAPI.Apply(prim).Bind(self.material(part.surfaces[pair[0]]))
        if physical is not None:
            physical[0].bind(prim, physical[1][pair[1]])

    def material(self, surface: Surface) -> Any:
        """The material of a surface, defined once."""
        if surface in self.materials:
            return self.materials[surface]
        if not self.materials:
            UsdGeom.Scope.Define(self.stage, self.scope)
        taken = [material.GetPrim().GetName() for material in self.materials.values()]
        name = unique_identifiers([*taken, surface.name])[-1]
        material = UsdShade.Material.Define(self.stage, f"{self.scope}/{name}")
        material.GetPrim().SetDisplayName(surface.name)
        finish = surface.whole_finish()
        if not self.has_sets:
            finish = placed_finish(finish, finish.base_placing)
        shader = Network(self.stage, str(material.GetPath()), self._file).write(surface, finish)
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        self.materials[surface] = material
        return material

    def _file(self, texture: Texture) -> str:
        """Where a picture lies, from the stage's own folder."""
        if texture not in self.files:
            suffix = SUFFIX_OF_MIME.get(texture.mime, ".png")
            self.files[texture] = f"{self.folder}/texture_{len(self.files)}{suffix}"
            self.pictures[self.files[texture]] = texture.data
        return self.files[texture]


def surface_of(material: Any, folder: Path, notes: list[str]) -> Surface:
    """The look of a bound material; plain where it has no preview surface."""
    name = material.GetPrim().GetDisplayName() or material.GetPrim().GetName()
    shader = material.ComputeSurfaceSource()[0]
    if not shader or shader.GetShaderId() != "UsdPreviewSurface":
        notes.append(f"Material '{name}' has no UsdPreviewSurface; it is shown plain.")
        return Surface(name)
    return read_surface(name, shader, folder, notes)
