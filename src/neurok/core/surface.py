"""How a piece of a mesh looks; what it is made of physically is a ``Material``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from neurok.core.finish import Finish, Lookup, Record, number, numbers
from neurok.core.texture import Texture
from neurok.errors import NeurokError

AlphaMode = Literal["OPAQUE", "MASK", "BLEND"]
GLOSS = "KHR_materials_pbrSpecularGlossiness"


@dataclass(frozen=True)
class Surface:
    """The look of some faces, in the terms of glTF's metallic-roughness model."""

    name: str = "surface"
    base_color: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    """Linear-light RGBA, each 0..1; multiplies the texture."""

    metallic: float = 0.0
    roughness: float = 0.7
    texture: Texture | None = None
    """Base-colour picture, sampled at the mesh's ``uv``."""

    double_sided: bool = True
    alpha_mode: AlphaMode = "OPAQUE"
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    finish: Finish | None = None
    """All that the material's author said; the fields above win where they differ from it."""

    def __post_init__(self) -> None:
        numbers = {"base_color": self.base_color, "emissive": self.emissive}
        numbers |= {"metallic": (self.metallic,), "roughness": (self.roughness,)}
        for name, values in numbers.items():
            if not all(math.isfinite(value) and value >= 0 for value in values):
                raise NeurokError(f"{name} of surface '{self.name}' must be finite and not negative, got {values}.")
        if len(self.base_color) != 4 or len(self.emissive) != 3:
            raise NeurokError(f"Surface '{self.name}' needs an RGBA base_color and an RGB emissive.")
        if self.alpha_mode not in get_args(AlphaMode):
            raise NeurokError(f"alpha_mode must be one of {', '.join(get_args(AlphaMode))}, got {self.alpha_mode!r}.")

    @staticmethod
    def of(name: str, finish: Finish) -> Surface:
        """The surface that a finish gives; one that its plain fields say alone is left without."""
        record = finish.record()
        metal = record.get("pbrMetallicRoughness", {})
        gloss = record.get("extensions", {}).get(GLOSS)
        if gloss is not None:
            color, info = numbers(gloss, "diffuseFactor", (1.0,) * 4), gloss.get("diffuseTexture")
            metallic, roughness = 0.0, 1.0 - _share(gloss, "glossinessFactor")
        else:
            color, info = numbers(metal, "baseColorFactor", (1.0,) * 4), metal.get("baseColorTexture")
            metallic, roughness = _share(metal, "metallicFactor"), _share(metal, "roughnessFactor")
        mode = record.get("alphaMode", "OPAQUE")
        glow = numbers(record, "emissiveFactor", (0.0,) * 3)
        bare = Surface(
            name,
            cast(Any, tuple(color.clip(0.0, 1.0).tolist())),
            metallic,
            roughness,
            finish.lookups[info["index"]].texture if isinstance(info, dict) and "index" in info else None,
            bool(record.get("doubleSided", False)),
            mode if mode in get_args(AlphaMode) else "OPAQUE",
            cast(Any, tuple(glow.clip(0.0, 1.0).tolist())),
        )
        return bare if bare._plain_finish() == finish else replace(bare, finish=finish)

    def whole_finish(self) -> Finish:
        """The finish with the surface's own fields: what a file that holds everything should say."""
        if self.finish is None:
            return self._plain_finish()
        said = Surface.of(self.name, self.finish)
        if said == self:
            return self.finish
        record, lookups = self.finish.record(), self.finish.lookups
        own = self._plain_finish().record()
        for key in ("doubleSided", "alphaMode", "emissiveFactor"):
            record.pop(key, None)
            record |= {key: own[key]} if key in own else {}
        shine = ("base_color", "metallic", "roughness", "texture")
        if any(getattr(said, name) != getattr(self, name) for name in shine):
            record.get("extensions", {}).pop(GLOSS, None)
            metal = record.setdefault("pbrMetallicRoughness", {})
            picture = metal.get("baseColorTexture") if self.texture == said.texture else None
            metal |= own["pbrMetallicRoughness"]
            if picture is not None:
                metal["baseColorTexture"] = picture
            elif self.texture is not None:
                metal["baseColorTexture"] = {"index": len(lookups)}
                lookups = (*lookups, Lookup(self.texture))
            else:
                metal.pop("baseColorTexture", None)
        return Finish.of(record, lookups)

    @property
    def even_glow(self) -> tuple[float, float, float]:
        """The light that the whole surface gives; none where a picture says where it glows."""
        is_pictured = self.finish is not None and "emissive" in self.finish.maps
        return (0.0, 0.0, 0.0) if is_pictured else self.emissive

    def _plain_finish(self) -> Finish:
        metal: Record = {
            "baseColorFactor": list(self.base_color),
            "metallicFactor": self.metallic,
            "roughnessFactor": self.roughness,
        }
        record: Record = {"pbrMetallicRoughness": metal}
        if self.texture is not None:
            metal["baseColorTexture"] = {"index": 0}
        if self.double_sided:
            record["doubleSided"] = True
        if self.alpha_mode != "OPAQUE":
            record["alphaMode"] = self.alpha_mode
        if any(self.emissive):
            record["emissiveFactor"] = list(self.emissive)
        return Finish.of(record, () if self.texture is None else (Lookup(self.texture),))


def _share(record: Record, key: str) -> float:
    return min(max(number(record, key, 1.0), 0.0), 1.0)
