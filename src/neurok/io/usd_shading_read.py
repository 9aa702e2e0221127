"""The network behind a UsdPreviewSurface as a whole material."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Finish, Lookup, Surface, Texture
from neurok.core.finish import REPEAT, TRANSFORM, Record
from neurok.errors import FormatError
from neurok.io.files import resolve_inside
from neurok.io.mtl import texture_from_bytes
from neurok.io.usd_shading import CLEARCOAT, IOR, STRENGTH, WRAPS, up_shift


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
        from pxr import UsdShade

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
        from pxr import UsdShade

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
