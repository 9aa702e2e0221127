"""Surfaces as UsdPreviewSurface materials, and back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from neurok.core import Material, Mesh, Surface, Texture
from neurok.core.finish import placed_finish
from neurok.io.files import Files
from neurok.io.mtl import SUFFIX_OF_MIME
from neurok.io.usd_materials import Stuffs
from neurok.io.usd_names import unique_identifiers
from neurok.io.usd_shading import Network
from neurok.io.usd_shading_read import read_surface

Stuff = tuple[Stuffs, tuple[Material, ...], Int[np.ndarray, " F"]]
"""Where physics materials are written, those of an object, and which of them each face of a part is made of."""


@dataclass
class Looks:
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
        from pxr import UsdGeom, UsdShade

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
