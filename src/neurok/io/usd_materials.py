"""Materials of a stage: UsdPhysics for what it knows (density, friction, restitution), our attributes for the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Int

from neurok.core import Material, MaterialField
from neurok.io.usd_names import unique_identifiers

PREFIX = "neurok:"
PURPOSE = "physics"


@dataclass
class Stuffs:
    """The physics materials of a stage while it is being written."""

    stage: Any
    scope: str
    unit: float
    """Metres per unit of the stage, whose unit of density follows from it."""

    prims: dict[Material, Any] = field(default_factory=dict)

    def bind(self, prim: Any, stuff: Material) -> None:
        """Say what a prim is made of."""
        from pxr import UsdShade

        binding = UsdShade.MaterialBindingAPI.Apply(prim)
        binding.Bind(self.prim(stuff), UsdShade.Tokens.fallbackStrength, PURPOSE)

    def prim(self, stuff: Material) -> Any:
        """The prim of a material, defined once."""
        from pxr import Sdf, UsdGeom, UsdPhysics, UsdShade

        if stuff in self.prims:
            return self.prims[stuff]
        if not self.prims:
            UsdGeom.Scope.Define(self.stage, self.scope)
        taken = [each.GetPrim().GetName() for each in self.prims.values()]
        prim = UsdShade.Material.Define(self.stage, f"{self.scope}/{unique_identifiers([*taken, stuff.name])[-1]}")
        api = UsdPhysics.MaterialAPI.Apply(prim.GetPrim())
        api.CreateDensityAttr(stuff.density * self.unit**3)
        api.CreateStaticFrictionAttr(stuff.friction)
        api.CreateDynamicFrictionAttr(stuff.friction)
        api.CreateRestitutionAttr(stuff.restitution)
        for name, value in asdict(stuff).items():
            if value is not None:
                kind = Sdf.ValueTypeNames.String if isinstance(value, str) else Sdf.ValueTypeNames.Double
                prim.GetPrim().CreateAttribute(f"{PREFIX}{name}", kind, custom=True).Set(value)
        self.prims[stuff] = prim
        return prim


def read_stuff(prim: Any, unit: float, notes: list[str]) -> Material | None:
    """The physics material that is bound to a prim."""
    from pxr import UsdPhysics, UsdShade

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
    from pxr import UsdPhysics

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
        for stuff, points in _stuffs(prim, unit, notes):
            # The whole prim comes first, so that its subsets count over it.
            own[points if points is ... else points[points < len(own)]] = library.setdefault(stuff, len(library))
        ids.append(own[source])
    if not library:
        return None
    every = np.concatenate(ids)
    if (every < 0).any():
        every[every < 0] = library.setdefault(Material(), len(library))
    return MaterialField(tuple(library), every)


def _stuffs(prim: Any, unit: float, notes: list[str]) -> list[tuple[Material, Any]]:
    """What a prim is made of, and its subsets of faces with their points; ``...`` stands for all points."""
    from pxr import UsdGeom, UsdShade

    whole = read_stuff(prim, unit, notes)
    out: list[tuple[Material, Any]] = [] if whole is None else [(whole, ...)]
    if not prim.IsA(UsdGeom.Mesh):
        return out
    counts = np.array(prim.GetAttribute("faceVertexCounts").Get() or [], dtype=np.int64)
    corners = np.array(prim.GetAttribute("faceVertexIndices").Get() or [], dtype=np.int64)
    owner = np.repeat(np.arange(len(counts)), counts)
    for subset in reversed(UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()):
        stuff = read_stuff(subset.GetPrim(), unit, notes)
        if stuff is not None:
            polygons = np.array(subset.GetIndicesAttr().Get() or [], dtype=np.int64)
            out.append((stuff, np.unique(corners[np.isin(owner, polygons)])))
    return out
