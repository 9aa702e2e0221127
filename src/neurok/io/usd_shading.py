"""Whole materials written as networks of UsdPreviewSurface; how coordinates and wraps are called in USD."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neurok.core import Finish, Surface
from neurok.core.finish import CLAMP, MIRROR, REPEAT, TRANSFORM, Record, number, numbers

WRAPS = {REPEAT: "repeat", CLAMP: "clamp", MIRROR: "mirror"}
CLEARCOAT, IOR, STRENGTH = (f"KHR_materials_{name}" for name in ("clearcoat", "ior", "emissive_strength"))
TOLD = (CLEARCOAT, IOR, STRENGTH)
"""Extensions of a material that a preview surface can say."""


def untold(finish: Finish) -> list[str]:
    """Extensions of a material that a preview surface cannot say."""
    return sorted(set(finish.record().get("extensions", {})) - set(TOLD))


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
        from pxr import UsdShade

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
        from pxr import Sdf

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
        from pxr import Sdf

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
        from pxr import Sdf

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
        from pxr import Sdf, UsdShade

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
        from pxr import Sdf, UsdShade

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
