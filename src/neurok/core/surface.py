"""How a piece of a mesh looks, in the words of glTF; what it is made of physically is a ``Material``."""

from __future__ import annotations

import io
import json
import math
import struct
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, cast, get_args

import numpy as np
from jaxtyping import Float

from neurok.errors import FormatError, NeurokError

MAX_TEXTURE_PIXELS = 8192 * 8192
"""Larger pictures are refused before they are decoded."""

PICTURE_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "TGA", "TIFF", "GIF", "DDS")
"""What Pillow may take a picture for: others of its readers start programs, as that of EPS does."""

KTX2 = "image/ktx2"
SIGNATURES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"\xabKTX 20\xbb": KTX2}
"""First bytes of each kind of picture; WebP has its name at the ninth."""


def mime_of(data: bytes) -> str | None:
    """The kind of an encoded picture; none when no texture may be of it."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for signature, mime in SIGNATURES.items() if data.startswith(signature)), None)


def to_linear(srgb: Float[np.ndarray, "*S"]) -> Float[np.ndarray, "*S"]:
    """sRGB 0..1 to linear light."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def to_srgb(light: Float[np.ndarray, "*S"]) -> Float[np.ndarray, "*S"]:
    """Linear light 0..1 to sRGB."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)


@dataclass(frozen=True)
class Texture:
    """A picture, kept in its encoded form so that files pass through unchanged."""

    data: bytes = field(repr=False)
    """The encoded file."""

    mime: str = "image/png"
    """``image/png``, ``image/jpeg``, ``image/webp`` or ``image/ktx2``."""

    name: str = "texture"

    def __post_init__(self) -> None:
        width, height = self.size
        if width * height > MAX_TEXTURE_PIXELS:
            raise self._too_large(f"has {width}x{height} pixels")

    def _open(self):  # type: ignore[no-untyped-def]
        from PIL import Image

        try:
            with warnings.catch_warnings():
                # Pillow warns of pictures that we refuse, or that we allow.
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                return Image.open(io.BytesIO(self.data), formats=PICTURE_FORMATS)
        except Image.DecompressionBombError:
            raise self._too_large("is far too large") from None
        except Exception as error:
            raise FormatError(f"Texture '{self.name}' is not a picture that can be read: {error}.") from error

    @property
    def size(self) -> tuple[int, int]:
        """Width and height that its header tells [pixels]."""
        return self._ktx2_size() if self.mime == KTX2 else self._open().size

    def _ktx2_size(self) -> tuple[int, int]:
        """Width and height that the header of a KTX2 picture tells."""
        if len(self.data) < 80 or mime_of(self.data) != KTX2:
            raise FormatError(f"Texture '{self.name}' is not a KTX2 picture that can be read.")
        width, height = struct.unpack_from("<II", self.data, 20)
        return width, height

    @property
    def is_decodable(self) -> bool:
        """Whether ``pixels`` can be had; pictures for graphics cards alone are kept, but not looked at."""
        return self.mime != KTX2

    def _too_large(self, what: str) -> FormatError:
        limit = f"at most {MAX_TEXTURE_PIXELS} pixels are allowed"
        return FormatError(f"Texture '{self.name}' {what}; {limit}. Scale it down.")

    def pixels(self) -> np.ndarray:
        """Decoded RGBA, ``(H, W, 4)`` uint8, first row at the top."""
        if not self.is_decodable:
            raise FormatError(f"Texture '{self.name}' is a KTX2 picture, which is kept but cannot be decoded.")
        from PIL import Image

        try:
            image = self._open()
            if image.mode.startswith("I"):  # 16 bits of grey, which Pillow would clip
                image = Image.fromarray((np.asarray(image, dtype=np.uint32) >> 8).clip(0, 255).astype(np.uint8))
            return np.asarray(image.convert("RGBA"))
        except FormatError:
            raise
        except Exception as error:
            raise FormatError(f"Texture '{self.name}' is damaged: {error}.") from error

    @staticmethod
    def from_pixels(pixels: np.ndarray, name: str = "texture") -> Texture:
        """Encode ``(H, W, 3 or 4)`` uint8 as PNG."""
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, format="PNG", optimize=False)
        return Texture(buffer.getvalue(), "image/png", name)


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
class PlacedTexture:
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
    def maps(self) -> dict[Role, PlacedTexture]:
        """The pictures of the metallic-roughness model, by role."""
        record, found = self.record(), {}
        for role, path in ROLES.items():
            info: Any = record
            for key in path:
                info = info.get(key) if isinstance(info, dict) else None
            if isinstance(info, dict) and "index" in info:
                found[role] = self._placed(info, STRENGTHS.get(role, ""))
        return found

    def _placed(self, info: Record, strength: str = "") -> PlacedTexture:
        settings = info.get("extensions", {}).get(TRANSFORM)
        uv_set = int(number(settings or {}, "texCoord", number(info, "texCoord", 0.0)))
        transform = None if settings is None else transform_matrix(settings)
        return PlacedTexture(self.lookups[info["index"]], uv_set, transform, number(info, strength, 1.0))

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
