"""Materials and pictures of a glTF file as surfaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from jaxtyping import Float

from neurok.core import Surface, Texture
from neurok.io.gltf_document import Document, Record, numbers

SIGNATURES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}
ONLY_BASE_COLOR = "Only base-colour textures are kept; normal, roughness, occlusion and emission ones are left out."
OTHER_PICTURES = ("normalTexture", "occlusionTexture", "emissiveTexture")


@dataclass(frozen=True, eq=False)
class Look:
    """A surface and how its picture lies on the texture coordinates."""

    surface: Surface
    coordinates: int = 0
    """Which set of texture coordinates the picture uses."""

    transform: Float[np.ndarray, "2 3"] | None = None

    def place(self, uv: Float[np.ndarray, "V 2"]) -> Float[np.ndarray, "V 2"]:
        """Texture coordinates after the picture's own shift, turn and scale (KHR_texture_transform)."""
        return uv if self.transform is None else uv @ self.transform[:, :2].T + self.transform[:, 2]


PLAIN = Look(Surface("default", (1.0, 1.0, 1.0, 1.0)))


def read_looks(doc: Document, notes: dict[str, None]) -> list[Look]:
    """One look per material; what a surface cannot hold is noted."""
    pictures: dict[int, Texture | None] = {}
    return [_look(doc, index, record, pictures, notes) for index, record in enumerate(doc.items("materials"))]


def _look(
    doc: Document, index: int, record: Record, pictures: dict[int, Texture | None], notes: dict[str, None]
) -> Look:
    metal = record.get("pbrMetallicRoughness", {})
    gloss = record.get("extensions", {}).get("KHR_materials_pbrSpecularGlossiness")
    if gloss is not None:
        color, picture = numbers(gloss, "diffuseFactor", (1.0, 1.0, 1.0, 1.0)), gloss.get("diffuseTexture")
        metallic, roughness = 0.0, 1.0 - _factor(gloss, "glossinessFactor")
    else:
        color, picture = numbers(metal, "baseColorFactor", (1.0, 1.0, 1.0, 1.0)), metal.get("baseColorTexture")
        metallic, roughness = _factor(metal, "metallicFactor"), _factor(metal, "roughnessFactor")
    if any(key in record for key in OTHER_PICTURES) or "metallicRoughnessTexture" in metal:
        notes[ONLY_BASE_COLOR] = None
    texture, transform, coordinates = None, None, 0
    if picture is not None:
        texture = _texture(doc, picture["index"], pictures, notes)
        settings = picture.get("extensions", {}).get("KHR_texture_transform")
        transform = None if settings is None else _transform(settings)
        coordinates = int((settings or {}).get("texCoord", picture.get("texCoord", 0)))
    alpha = record.get("alphaMode", "OPAQUE")
    surface = Surface(
        name=str(record.get("name") or f"surface_{index}"),
        base_color=cast(Any, tuple(color.clip(0.0, 1.0).tolist())),
        metallic=metallic,
        roughness=roughness,
        texture=texture,
        double_sided=bool(record.get("doubleSided", False)),
        alpha_mode=alpha if alpha in ("OPAQUE", "MASK", "BLEND") else "OPAQUE",
        emissive=cast(Any, tuple(numbers(record, "emissiveFactor", (0.0, 0.0, 0.0)).clip(0.0, 1.0).tolist())),
    )
    return Look(surface, coordinates, transform)


def _factor(record: Record, key: str) -> float:
    return float(np.clip(np.nan_to_num(float(record.get(key, 1.0))), 0.0, 1.0))


def _transform(settings: Record) -> Float[np.ndarray, "2 3"]:
    offset, scale = numbers(settings, "offset", (0.0, 0.0)), numbers(settings, "scale", (1.0, 1.0))
    cos, sin = np.cos(float(settings.get("rotation", 0.0))), np.sin(float(settings.get("rotation", 0.0)))
    return np.column_stack([np.array([[cos, sin], [-sin, cos]]) * scale, offset])


def _texture(doc: Document, index: int, pictures: dict[int, Texture | None], notes: dict[str, None]) -> Texture | None:
    """The picture of a texture, or none (noted) when it is neither PNG nor JPEG."""
    source = doc.item("textures", index).get("source")
    if source is None:
        notes["A texture has no PNG or JPEG picture; its base colour is used alone."] = None
        return None
    if source not in pictures:
        record = doc.item("images", source)
        data = doc.uri_bytes(record["uri"]) if "uri" in record else doc.view_bytes(record["bufferView"])
        mime = next((m for signature, m in SIGNATURES.items() if data.startswith(signature)), None)
        uri = str(record.get("uri", ""))
        name = str(record.get("name") or (uri if uri and not uri.startswith("data:") else f"texture_{source}"))
        if mime is None:
            notes[f"Texture '{name}' is neither PNG nor JPEG; its base colour is used alone."] = None
        pictures[source] = None if mime is None else Texture(data, mime, name)
    return pictures[source]
