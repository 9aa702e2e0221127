"""Surfaces as UsdPreviewSurface materials, and back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from neurok.core import Material, Mesh, Surface, Texture
from neurok.errors import FormatError
from neurok.io.files import Files, resolve_inside
from neurok.io.mtl import SUFFIX_OF_MIME, texture_from_bytes
from neurok.io.usd_materials import Stuffs
from neurok.io.usd_names import unique_identifiers

Stuff = tuple[Stuffs, tuple[Material, ...], Int[np.ndarray, " F"]]
"""Where physics materials are written, those of an object, and which of them each face of a part is made of."""


@dataclass
class Looks:
    """The materials of a stage while it is being written."""

    stage: Any
    scope: str
    folder: str
    """Where pictures go, from the stage's own folder."""

    pictures: Files = field(default_factory=dict)
    materials: dict[Surface, Any] = field(default_factory=dict)
    files: dict[Texture, str] = field(default_factory=dict)

    def bind(self, shape: Any, part: Mesh, stuff: Stuff | None = None) -> None:
        """Give a mesh prim its surfaces and what it is made of: one for all faces, or a subset of faces for each."""
        from pxr import UsdGeom, UsdShade, Vt

        if not part.surfaces and stuff is None:
            return
        looks = np.zeros(part.face_count, dtype=np.int64) if part.face_surfaces is None else part.face_surfaces
        made_of = np.zeros(part.face_count, dtype=np.int64) if stuff is None else stuff[2]
        used, ids = np.unique(np.column_stack([looks, made_of]), axis=0, return_inverse=True)
        binding = UsdShade.MaterialBindingAPI.Apply(shape.GetPrim())
        if len(used) == 1:
            self._bind(shape.GetPrim(), part, used[0], stuff)
            return
        names = unique_identifiers([part.surfaces[look].name if part.surfaces else "faces" for look, _ in used])
        for i, name in enumerate(names):
            faces = Vt.IntArray.FromNumpy(np.flatnonzero(ids.reshape(-1) == i).astype(np.int32))
            subset = binding.CreateMaterialBindSubset(name, faces, UsdGeom.Tokens.face)
            self._bind(subset.GetPrim(), part, used[i], stuff)
        binding.SetMaterialBindSubsetsFamilyType(UsdGeom.Tokens.partition)

    def _bind(self, prim: Any, part: Mesh, pair: np.ndarray, stuff: Stuff | None) -> None:
        from pxr import UsdShade

        if part.surfaces:
            UsdShade.MaterialBindingAPI.Apply(prim).Bind(self.material(part.surfaces[pair[0]]))
        if stuff is not None:
            stuff[0].bind(prim, stuff[1][pair[1]])

    def material(self, surface: Surface) -> Any:
        """The material of a surface, defined once."""
        from pxr import Sdf, UsdGeom, UsdShade

        if surface in self.materials:
            return self.materials[surface]
        if not self.materials:
            UsdGeom.Scope.Define(self.stage, self.scope)
        taken = [material.GetPrim().GetName() for material in self.materials.values()]
        name = unique_identifiers([*taken, surface.name])[-1]
        material = UsdShade.Material.Define(self.stage, f"{self.scope}/{name}")
        material.GetPrim().SetDisplayName(surface.name)
        shader = UsdShade.Shader.Define(self.stage, f"{material.GetPath()}/preview")
        shader.CreateIdAttr("UsdPreviewSurface")
        kinds = Sdf.ValueTypeNames
        shader.CreateInput("roughness", kinds.Float).Set(float(surface.roughness))
        shader.CreateInput("metallic", kinds.Float).Set(float(surface.metallic))
        shader.CreateInput("emissiveColor", kinds.Color3f).Set(tuple(map(float, surface.emissive)))
        shader.CreateInput("opacity", kinds.Float).Set(float(surface.base_color[3]))
        if surface.alpha_mode == "MASK":
            shader.CreateInput("opacityThreshold", kinds.Float).Set(0.5)
        base = shader.CreateInput("diffuseColor", kinds.Color3f)
        if surface.texture is None:
            base.Set(tuple(map(float, surface.base_color[:3])))
        else:
            base.ConnectToSource(self._texture(material, surface.texture, surface.base_color[:3]))
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        self.materials[surface] = material
        return material

    def _texture(self, material: Any, texture: Texture, factor: tuple[float, ...]) -> Any:
        """The output of a node that looks the picture up at the mesh's texture coordinates."""
        from pxr import Sdf, UsdShade

        if texture not in self.files:
            suffix = SUFFIX_OF_MIME.get(texture.mime, ".png")
            self.files[texture] = f"{self.folder}/texture_{len(self.files)}{suffix}"
            self.pictures[self.files[texture]] = texture.data
        kinds = Sdf.ValueTypeNames
        reader = UsdShade.Shader.Define(self.stage, f"{material.GetPath()}/st")
        reader.CreateIdAttr("UsdPrimvarReader_float2")
        reader.CreateInput("varname", kinds.String).Set("st")
        lookup = UsdShade.Shader.Define(self.stage, f"{material.GetPath()}/picture")
        lookup.CreateIdAttr("UsdUVTexture")
        lookup.CreateInput("file", kinds.Asset).Set(f"./{self.files[texture]}")
        lookup.CreateInput("sourceColorSpace", kinds.Token).Set("sRGB")
        lookup.CreateInput("wrapS", kinds.Token).Set("repeat")
        lookup.CreateInput("wrapT", kinds.Token).Set("repeat")
        lookup.CreateInput("scale", kinds.Float4).Set((*map(float, factor), 1.0))
        result = reader.CreateOutput("result", kinds.Float2)
        lookup.CreateInput("st", kinds.Float2).ConnectToSource(result)
        return lookup.CreateOutput("rgb", kinds.Float3)


def surface_of(material: Any, folder: Path, notes: list[str]) -> Surface:
    """The base colour, picture and shine of a bound material; plain where it has no preview surface."""
    name = material.GetPrim().GetDisplayName() or material.GetPrim().GetName()
    shader = material.ComputeSurfaceSource()[0]
    if not shader or shader.GetShaderId() != "UsdPreviewSurface":
        notes.append(f"Material '{name}' has no UsdPreviewSurface; it is shown plain.")
        return Surface(name)
    color, texture = (0.18, 0.18, 0.18), None
    base = shader.GetInput("diffuseColor")
    if base:
        source = base.GetConnectedSources()[0] if base.HasConnectedSource() else []
        if source:
            texture, color = _picture(source[0].source, folder, notes)
        else:
            color = _triple(base.Get(), color)
    opacity = _unit(shader, "opacity", 1.0)
    mode = "MASK" if _unit(shader, "opacityThreshold", 0.0) > 0 else "BLEND" if opacity < 1 else "OPAQUE"
    emissive = shader.GetInput("emissiveColor")
    return Surface(
        name,
        (*color, opacity),
        metallic=_unit(shader, "metallic", 0.0),
        roughness=_unit(shader, "roughness", 0.5),
        texture=texture,
        alpha_mode=mode,  # type: ignore[arg-type]
        emissive=_triple(emissive.Get() if emissive else None, (0.0, 0.0, 0.0)),
    )


def _triple(value: Any, default: tuple[float, float, float]) -> tuple[float, float, float]:
    if value is None or len(value) < 3 or not all(np.isfinite(list(value)[:3])):
        return default
    return (float(value[0]), float(value[1]), float(value[2]))


def _unit(shader: Any, name: str, default: float) -> float:
    given = shader.GetInput(name)
    value = given.Get() if given else None
    return min(max(float(value), 0.0), 1.0) if value is not None and np.isfinite(value) else default


def _picture(source: Any, folder: Path, notes: list[str]) -> tuple[Texture | None, tuple[float, float, float]]:
    """The picture behind a texture node, and the factor on it."""
    from pxr import UsdShade

    shader = UsdShade.Shader(source.GetPrim())
    file = shader.GetInput("file")
    value = file.Get() if file else None
    scale = shader.GetInput("scale")
    factor = _triple(scale.Get() if scale else None, (1.0, 1.0, 1.0))
    if value is None or not value.path:
        return None, factor
    if "<UDIM>" in value.path:
        notes.append(f"The tiled texture '{value.path}' was left out.")
        return None, factor
    return texture_from_bytes(_asset_bytes(value, folder), Path(value.path).name), factor


def _asset_bytes(value: Any, folder: Path) -> bytes:
    """The contents of an asset path, from a file below ``folder`` or a package there."""
    from pxr import Ar

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
