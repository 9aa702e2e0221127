"""Materials and pictures of a glTF file as surfaces."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.core import Finish, Lookup, Surface, Texture
from neurok.core.finish import REPEAT, TRANSFORM, Record, number, texture_infos, transform_matrix, without_pictures
from neurok.core.surface import GLOSS
from neurok.core.texture import mime_of
from neurok.io.gltf_document import Document

PICTURE_EXTENSIONS = {"EXT_texture_webp": "image/webp", "KHR_texture_basisu": "image/ktx2"}
"""Extensions of a texture that name a picture of another kind than PNG and JPEG."""


@dataclass(frozen=True, eq=False)
class Look:
    """A surface and how its base-colour picture lies on the texture coordinates."""

    surface: Surface
    coordinates: int = 0
    """Which set of texture coordinates the picture uses."""

    transform: Float[np.ndarray, "2 3"] | None = None

    def place(self, uv: Float[np.ndarray, "V 2"]) -> Float[np.ndarray, "V 2"]:
        """Texture coordinates after the picture's own shift, turn and scale (KHR_texture_transform)."""
        return uv if self.transform is None else uv @ self.transform[:, :2].T + self.transform[:, 2]


PLAIN = Look(Surface("default", (1.0, 1.0, 1.0, 1.0)))


def read_looks(doc: Document, notes: dict[str, None]) -> list[Look]:
    """One look per material, with all that it says; pictures that cannot be read are noted."""
    shelf = _Shelf(doc, notes)
    return [_look(shelf, index, record) for index, record in enumerate(doc.items("materials"))]


def _look(shelf: _Shelf, index: int, original: Record) -> Look:
    record = json.loads(json.dumps({key: value for key, value in original.items() if key != "name"}, allow_nan=False))
    without_pictures(record, lambda info: shelf.lookup(info["index"]) is not None)
    lookups: dict[int, int] = {}
    for info in texture_infos(record):
        info["index"] = lookups.setdefault(info["index"], len(lookups))
    found = tuple(found for index in lookups if (found := shelf.lookup(index)) is not None)
    surface = Surface.of(str(original.get("name") or f"surface_{index}"), Finish.of(record, found))
    base = _base_info(record)
    if base is None:
        return Look(surface)
    settings = base.get("extensions", {}).get(TRANSFORM)
    coordinates = int(number(settings or {}, "texCoord", number(base, "texCoord", 0.0)))
    return Look(surface, coordinates, None if settings is None else transform_matrix(settings))


def _base_info(record: Record) -> Record | None:
    """The base-colour picture's place in a record."""
    gloss = record.get("extensions", {}).get(GLOSS)
    found = record.get("pbrMetallicRoughness", {}).get("baseColorTexture") if gloss is None else None
    return gloss.get("diffuseTexture") if gloss is not None else found


class _Shelf:
    """The textures of a file, each read once."""

    def __init__(self, doc: Document, notes: dict[str, None]) -> None:
        self.doc, self.notes = doc, notes
        self._lookups: dict[int, Lookup | None] = {}
        self._pictures: dict[int, Texture | None] = {}

    def lookup(self, index: int) -> Lookup | None:
        """A texture with its sampler; none (noted) when no picture of it can be read."""
        if index not in self._lookups:
            record = self.doc.item("textures", index)
            picture = self._picture(record)
            self._lookups[index] = None if picture is None else self._sampled(record, picture)
        return self._lookups[index]

    def _sampled(self, record: Record, picture: Texture) -> Lookup:
        if "sampler" not in record:
            return Lookup(picture)
        sampler = self.doc.item("samplers", record["sampler"])
        wrap = (int(sampler.get("wrapS", REPEAT)), int(sampler.get("wrapT", REPEAT)))
        return Lookup(picture, wrap, sampler.get("magFilter"), sampler.get("minFilter"))

    def _picture(self, record: Record) -> Texture | None:
        extensions = record.get("extensions", {})
        named = [extensions[name]["source"] for name in PICTURE_EXTENSIONS if name in extensions]
        for source in (*named, *([record["source"]] if "source" in record else [])):
            if source not in self._pictures:
                self._pictures[source] = self._read(source)
            if self._pictures[source] is not None:
                return self._pictures[source]
        if not named and "source" not in record:
            self.notes["A texture has no picture that can be read; its factors are used alone."] = None
        return None

    def _read(self, source: int) -> Texture | None:
        record = self.doc.item("images", source)
        data = self.doc.uri_bytes(record["uri"]) if "uri" in record else self.doc.view_bytes(record["bufferView"])
        uri = str(record.get("uri", ""))
        name = str(record.get("name") or (uri if uri and not uri.startswith("data:") else f"texture_{source}"))
        mime = mime_of(data)
        if mime is None:
            self.notes[f"Texture '{name}' is no PNG, JPEG, WebP or KTX2 picture; its factors are used alone."] = None
        return None if mime is None else Texture(data, mime, name)
