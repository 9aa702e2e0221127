"""The pictures of a surface on the graphics card: which shader they need and where they are looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core import Finish, Mesh, Surface
from neurok.core.finish import CLAMP, MIRROR, NEAREST, Lookup, Placed, Role, number, numbers, placed_finish
from neurok.rendering.context import Stage, put

SRGB8_ALPHA8 = 0x8C43
MAX_TEXTURE_SIDE = 8192
"""Larger textures are thinned out: graphics cards refuse them."""

UNITS: dict[Role, int] = {"base_color": 0, "metallic_roughness": 6, "normal": 7, "occlusion": 8, "emissive": 9}
"""Texture unit of each role; those between belong to the light."""

COLORS = ("base_color", "emissive")
"""Roles whose pictures hold sRGB colours; the others hold numbers."""

LEAST_SHEEN = 0.1
"""Roughness of a velvet below which its light is no longer fitted."""

NARROWEST_NEAREST = 8
"""Pictures of at most this many pixels a side are shown as squares."""


@dataclass(frozen=True, eq=False)
class Map:
    """A texture on the card and where it is looked up."""

    texture: Any
    rows: Float[np.ndarray, "2 3"] | None = None
    """From the stored texture coordinates to the card's; none where the mesh's own ``uv`` is meant."""

    uv_set: int = 0


@dataclass(frozen=True, eq=False)
class Coat:
    """Everything a shader needs to know of one surface."""

    surface: Surface
    maps: dict[Role, Map]
    values: dict[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    """Switches of the shader that are on."""

    cutoff: float = 0.5
    see_through: float = 0.0
    """Share of light that passes, as through glass."""

    @property
    def constants(self) -> str:
        """Defines of the shader that draws it."""
        on = {*self.flags, *(f"MAP_{role.upper()}" for role in self.maps)}
        on |= {f"PLACED_{role.upper()}" for role, map_ in self.maps.items() if map_.rows is not None}
        return "".join(f"#define {name} 1\n" for name in sorted(on))

    @property
    def base_constants(self) -> str:
        """The same for shaders that look at the base colour alone."""
        on = ["MAP_BASE_COLOR"] if "base_color" in self.maps else []
        on += ["PLACED_BASE_COLOR"] if on and self.maps["base_color"].rows is not None else []
        return "".join(f"#define {name} 1\n" for name in on)

    def bind(self, program: Any) -> None:
        """Give a program the textures, their places and the numbers."""
        for role, map_ in self.maps.items():
            if f"{role}_map" in program:
                map_.texture.use(UNITS[role])
                put(program, **{f"{role}_map": UNITS[role]})
                if map_.rows is not None:
                    put(program, **{f"{role}_rows": map_.rows.astype("f4"), f"{role}_set": map_.uv_set})
        put(program, **self.values)


class Wardrobe:
    """Makes the coats of a mesh; a picture that several share is uploaded once."""

    def __init__(self, stage: Stage, mesh: Mesh) -> None:
        self.stage, self.mesh = stage, mesh
        self.has_sets = mesh.authored is not None and len(mesh.authored.uv_sets) > 0
        self._known: dict[tuple[Lookup, bool], Any] = {}

    @property
    def textures(self) -> list[Any]:
        return list(self._known.values())

    def coat(self, surface: Surface) -> Coat:
        finish = surface.whole_finish()
        if self.mesh.uv is None:
            finish = placed_finish(finish, None)
        elif not self.has_sets:
            finish = placed_finish(finish, finish.base_placing)
        base = finish.base_placing
        found = dict(finish.maps)
        if surface.texture is not None and "base_color" not in found and self.mesh.uv is not None:
            found["base_color"] = Placed(Lookup(surface.texture), *_unpack(base))
        maps = {r: self._map(r, p, base) for r, p in found.items() if p.lookup.texture.is_decodable}
        values, flags = _numbers(finish)
        for role in ("normal", "occlusion"):
            if role in maps:
                values[f"{role}_strength"] = found[role].strength
        values["emissive"] = tuple(finish.emissive_strength * part for part in surface.emissive)
        return Coat(surface, maps, values, flags, finish.alpha_cutoff, finish.transmission)

    def _map(self, role: Role, placed: Placed, base: tuple[int, bytes]) -> Map:
        lookup = placed.lookup
        key = (lookup, role in COLORS)
        if key not in self._known:
            self._known[key] = self._upload(lookup, role in COLORS)
        if placed.placing == base and MIRROR not in lookup.wrap:
            return Map(self._known[key])
        rows = np.eye(2, 3) if placed.transform is None else placed.transform
        rows = rows * np.array([[1.0], [-1.0]]) + np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # the card's v goes up
        return Map(self._known[key], rows / np.where(np.equal(lookup.wrap, MIRROR), 2.0, 1.0)[:, None], placed.uv_set)

    def _upload(self, lookup: Lookup, is_color: bool) -> Any:
        pixels = lookup.texture.pixels()
        step = -(-max(pixels.shape[:2]) // MAX_TEXTURE_SIDE)
        pixels = pixels[::-step, ::step]
        if lookup.wrap[0] == MIRROR:
            pixels = np.concatenate([pixels, pixels[:, ::-1]], axis=1)
        if lookup.wrap[1] == MIRROR:
            pixels = np.concatenate([pixels, pixels[::-1]], axis=0)
        height, width = pixels.shape[:2]
        gl = self.stage.context
        kind = {"internal_format": SRGB8_ALPHA8} if is_color else {}
        texture = gl.texture((width, height), 4, np.ascontiguousarray(pixels).tobytes(), **kind)
        texture.build_mipmaps()
        is_square = max(width, height) <= NARROWEST_NEAREST if lookup.magnify is None else lookup.magnify == NEAREST
        texture.filter = (gl.NEAREST, gl.NEAREST) if is_square else (gl.LINEAR_MIPMAP_NEAREST, gl.LINEAR)
        texture.repeat_x, texture.repeat_y = (wrap != CLAMP for wrap in lookup.wrap)
        return texture


def _unpack(placing: tuple[int, bytes]) -> tuple[int, np.ndarray | None]:
    uv_set, packed = placing
    return uv_set, np.frombuffer(packed).reshape(2, 3) if packed else None


def _numbers(finish: Finish) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What extensions of the material ask of the shader, as far as it can show them."""
    values: dict[str, Any] = {}
    flags = ["UNLIT"] if finish.is_unlit else []
    ior = number(finish.extension("KHR_materials_ior") or {}, "ior", 1.5)
    mirrored = finish.extension("KHR_materials_specular") or {}
    tint = float(numbers(mirrored, "specularColorFactor", (1.0, 1.0, 1.0)).mean())  # shown as a grey
    specular = number(mirrored, "specularFactor", 1.0)
    values["dielectric"] = specular * min(tint * ((ior - 1.0) / (ior + 1.0)) ** 2, 1.0) if ior > 0 else 1.0
    coat = finish.extension("KHR_materials_clearcoat") or {}
    if number(coat, "clearcoatFactor", 0.0) > 0.0:
        flags.append("CLEARCOAT")
        values["coat"] = number(coat, "clearcoatFactor", 0.0)
        values["coat_roughness"] = number(coat, "clearcoatRoughnessFactor", 0.0)
    velvet = finish.extension("KHR_materials_sheen") or {}
    sheen = numbers(velvet, "sheenColorFactor", (0.0, 0.0, 0.0))
    if sheen.any():
        flags.append("SHEEN")
        values["sheen"] = tuple(sheen.tolist())
        values["sheen_roughness"] = max(number(velvet, "sheenRoughnessFactor", 0.0), LEAST_SHEEN)
    return values, tuple(flags)


def stored_coordinates(mesh: Mesh) -> Float[np.ndarray, "V 4"] | None:
    """The first two sets of texture coordinates as the file has them."""
    sets = () if mesh.authored is None else mesh.authored.uv_sets
    if mesh.uv is None:
        return None
    first = sets[0] if sets else np.column_stack([mesh.uv[:, 0], 1.0 - mesh.uv[:, 1]])
    return np.column_stack([first, sets[1] if len(sets) > 1 else first])
