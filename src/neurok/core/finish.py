"""The whole material of a surface, as its author made it: every map, factor and extension in the words of glTF."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from neurok.core.texture import Texture
from neurok.errors import FormatError

Record = dict[str, Any]
Role = Literal["base_color", "metallic_roughness", "normal", "occlusion", "emissive"]

ROLES: dict[Role, tuple[str, ...]] = {
    "base_color": ("pbrMetallicRoughness", "baseColorTexture"),
    "metallic_roughness": ("pbrMetallicRoughness", "metallicRoughnessTexture"),
    "normal": ("normalTexture",),
    "occlusion": ("occlusionTexture",),
    "emissive": ("emissiveTexture",),
}
"""Where the record of a material names the picture of each role."""

STRENGTHS = {"normal": "scale", "occlusion": "strength"}
TRANSFORM = "KHR_texture_transform"
MAX_RECORD = 1_000_000
"""Characters of a material's record; larger ones are refused."""

REPEAT, CLAMP, MIRROR = 10497, 33071, 33648
NEAREST, LINEAR = 9728, 9729


@dataclass(frozen=True)
class Lookup:
    """A picture and how it is read beyond its border and between its pixels (numbers of OpenGL, as in glTF)."""

    texture: Texture
    wrap: tuple[int, int] = (REPEAT, REPEAT)
    magnify: int | None = None
    minify: int | None = None

    @property
    def is_plain(self) -> bool:
        return self.wrap == (REPEAT, REPEAT) and self.magnify is None and self.minify is None


@dataclass(frozen=True, eq=False)
class Placed:
    """A picture in one role: which coordinates it is read at, moved how, and how strongly it counts."""

    lookup: Lookup
    uv_set: int = 0
    transform: Float[np.ndarray, "2 3"] | None = None
    """From the set's coordinates (origin at the top left) to the picture's."""

    strength: float = 1.0

    @property
    def placing(self) -> tuple[int, bytes]:
        """Equal for pictures that lie on a surface in the same way."""
        return self.uv_set, b"" if self.transform is None else self.transform.tobytes()


@dataclass(frozen=True)
class Finish:
    """A material of glTF: its record as JSON, in which every texture counts in ``lookups``."""

    text: str
    lookups: tuple[Lookup, ...] = ()

    def __post_init__(self) -> None:
        if len(self.text) > MAX_RECORD:
            raise FormatError(f"A material has {len(self.text):,} characters; at most {MAX_RECORD:,} are read.")
        for info in texture_infos(self.record()):
            if not 0 <= info["index"] < len(self.lookups):
                raise FormatError(f"A material names picture {info['index']} of {len(self.lookups)}.")

    @staticmethod
    def of(record: Record, lookups: tuple[Lookup, ...] = ()) -> Finish:
        """The finish of a record; numbers that are not finite raise ``ValueError``."""
        return Finish(json.dumps(record, sort_keys=True, allow_nan=False), lookups)

    def record(self) -> Record:
        """The record, to be changed freely."""
        found = json.loads(self.text)
        if not isinstance(found, dict):
            raise FormatError("The record of a material is not an object.")
        return found

    @cached_property
    def maps(self) -> dict[Role, Placed]:
        """The pictures of the metallic-roughness model, by role."""
        record, found = self.record(), {}
        for role, path in ROLES.items():
            info: Any = record
            for key in path:
                info = info.get(key) if isinstance(info, dict) else None
            if isinstance(info, dict) and "index" in info:
                found[role] = self._placed(info, STRENGTHS.get(role, ""))
        return found

    def _placed(self, info: Record, strength: str = "") -> Placed:
        settings = info.get("extensions", {}).get(TRANSFORM)
        uv_set = int(number(settings or {}, "texCoord", number(info, "texCoord", 0.0)))
        transform = None if settings is None else transform_matrix(settings)
        return Placed(self.lookups[info["index"]], uv_set, transform, number(info, strength, 1.0))

    def extension(self, name: str) -> Record | None:
        """The settings of an extension; none when the material does not use it."""
        found = self.record().get("extensions", {}).get(name)
        return found if isinstance(found, dict) else None

    @property
    def base_placing(self) -> tuple[int, bytes]:
        """How the base-colour picture lies on the surface; plainly where there is none."""
        found = self.maps.get("base_color")
        gloss = (self.extension("KHR_materials_pbrSpecularGlossiness") or {}).get("diffuseTexture")
        if isinstance(gloss, dict):
            found = self._placed(gloss)
        return (0, b"") if found is None else found.placing

    @property
    def alpha_cutoff(self) -> float:
        return number(self.record(), "alphaCutoff", 0.5)

    @property
    def emissive_strength(self) -> float:
        return number(self.extension("KHR_materials_emissive_strength") or {}, "emissiveStrength", 1.0)

    @property
    def is_unlit(self) -> bool:
        return self.extension("KHR_materials_unlit") is not None

    @property
    def transmission(self) -> float:
        """Share of light that passes through, as through glass."""
        return number(self.extension("KHR_materials_transmission") or {}, "transmissionFactor", 0.0)


def texture_infos(record: Any) -> Iterator[Record]:
    """Every reference to a texture in a record, at any depth."""
    if isinstance(record, list):
        for value in record:
            yield from texture_infos(value)
    if not isinstance(record, dict):
        return
    for key, value in record.items():
        if key == "extras":
            continue
        is_reference = key.endswith("Texture") and isinstance(value, dict)
        if is_reference and isinstance(value.get("index"), int):
            yield value
        yield from texture_infos(value)


def extension_names(record: Any) -> set[str]:
    """The extensions that a record uses, at any depth."""
    if isinstance(record, list):
        return set().union(*map(extension_names, record)) if record else set()
    if not isinstance(record, dict):
        return set()
    own = record.get("extensions")
    found = set(own) if isinstance(own, dict) else set()
    return found.union(*(extension_names(value) for key, value in record.items() if key != "extras"))


def without_pictures(record: Any, is_kept: Callable[[Record], bool]) -> int:
    """Take references to textures for which ``is_kept`` is false out of a record; tells how many that were."""
    count = 0
    for key in list(record) if isinstance(record, dict) else []:
        value = record[key]
        if key == "extras":
            continue
        is_reference = key.endswith("Texture") and isinstance(value, dict) and isinstance(value.get("index"), int)
        if is_reference and not is_kept(value):
            del record[key]
            count += 1
        else:
            count += without_pictures(value, is_kept)
    return count


def placed_finish(finish: Finish, placing: tuple[int, bytes] | None) -> Finish:
    """The finish on a mesh whose only coordinates are those of one ``placing``; pictures that lie otherwise go."""
    record = finish.record()
    without_pictures(record, lambda info: placing is not None and finish._placed(info).placing == placing)
    for info in texture_infos(record):
        info.pop("texCoord", None)
        info.get("extensions", {}).pop(TRANSFORM, None)
        if not info.get("extensions", True):
            del info["extensions"]
    return Finish.of(record, finish.lookups)


def transform_matrix(settings: Record) -> Float[np.ndarray, "2 3"]:
    """The shift, turn and scale of KHR_texture_transform."""
    offset, scale = (numbers(settings, key, (rest, rest)) for key, rest in (("offset", 0.0), ("scale", 1.0)))
    angle = number(settings, "rotation", 0.0)
    cos, sin = math.cos(angle), math.sin(angle)
    return np.column_stack([np.array([[cos, sin], [-sin, cos]]) * scale, offset])


def number(record: Record, key: str, default: float) -> float:
    """A finite number of a record."""
    value = record.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"'{key}' must be a finite number")
    return float(value)


def numbers(record: Record, key: str, default: tuple[float, ...]) -> Float[np.ndarray, " N"]:
    """A list of finite numbers, as long as ``default``."""
    if key not in record:
        return np.array(default)
    value = np.asarray(record[key], dtype=np.float64)
    if value.shape != (len(default),) or not np.isfinite(value).all():
        raise ValueError(f"'{key}' must be {len(default)} finite numbers")
    return value
