"""The meshes and materials of a glTF file as plain arrays and surfaces, and what glTF has no words for."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core import (
    Articulation,
    Asset,
    Finish,
    Inertial,
    Joint,
    Lookup,
    Material,
    MaterialField,
    Mesh,
    Surface,
    Texture,
)
from neurok.core.material import VALUES
from neurok.core.surface import (
    GLOSS,
    REPEAT,
    TRANSFORM,
    mime_of,
    number,
    texture_infos,
    transform_matrix,
    without_pictures,
)
from neurok.io.gltf_document import Document, Record, natural

VERSION = 1


UNSAID = -1.0
"""No number of a material is this; it stands for "as in the library", since accessors must not hold NaN."""

MATERIAL_ATTRIBUTES = ("_MATERIAL", *(f"_{name.upper()}" for name in VALUES))


def scene_extras(asset: Asset, source: Mesh, part_nodes: list[int]) -> dict[str, Any]:
    """What to store beside the scene."""
    extras: dict[str, Any] = {
        "version": VERSION,
        "name": asset.mesh.name,
        "parts": part_nodes,
        "source_up": source.up,
        "source_unit": source.unit,
    }
    if asset.provenance:
        extras["provenance"] = {str(k): str(v) for k, v in sorted(asset.provenance.items())}
    if asset.materials is not None:
        extras["materials"] = [asdict(material) for material in asset.materials.materials]
    if asset.articulation is not None:
        extras["articulation"] = _pack_articulation(asset.articulation)
    return extras


def _pack_articulation(articulation: Articulation) -> dict[str, Any]:
    joints = [
        {
            "kind": joint.kind,
            "name": joint.name,
            "parent": joint.parent,
            "axis": joint.axis.tolist(),
            "origin": joint.origin.tolist(),
            "limits": [_finite(v) for v in (joint.lower, joint.upper)],
            "slide_limits": [_finite(v) for v in (joint.slide_lower, joint.slide_upper)],
            "damping": joint.damping,
        }
        for joint in articulation.joints
    ]
    packed: dict[str, Any] = {"name": articulation.name, "joints": joints}
    if articulation.inertials is not None:
        packed["inertials"] = [
            i and {"mass": i.mass, "center": i.center.tolist(), "inertia": i.inertia.tolist()}
            for i in articulation.inertials
        ]
    return packed


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def material_attributes(field: MaterialField, chosen: Int[np.ndarray, " n"]) -> dict[str, np.ndarray]:
    """Custom attributes of some vertices: which material, and numbers that vary within it."""
    numbers = {"_MATERIAL": field.ids[chosen]} | {
        f"_{name.upper()}": np.where(np.isnan(value), UNSAID, value)[chosen] for name, value in field.values.items()
    }
    return {name: value.astype(np.float32) for name, value in numbers.items()}


def unpack_materials(packed: list[dict[str, Any]], columns: Float[np.ndarray, "V 8"]) -> MaterialField:
    """The materials that ``scene_extras`` and ``material_attributes`` stored; whatever is wrong with them raises."""
    numbers = zip(VALUES, np.where(columns[:, 1:] == UNSAID, np.nan, columns[:, 1:]).T, strict=True)
    values = {name: value for name, value in numbers if not np.isnan(value).all()}
    ids = np.maximum(columns[:, 0], 0.0).astype(np.int64)
    return MaterialField(tuple(Material(**record) for record in packed), ids, values)


def unpack_articulation(packed: dict[str, Any], mesh: Mesh) -> Articulation:
    """The joints that ``scene_extras`` stored; whatever is wrong with them raises."""
    joints = []
    for record in packed["joints"]:
        lower, upper = record["limits"]
        slide_lower, slide_upper = record["slide_limits"]
        joint = Joint(
            record["kind"],
            int(record["parent"]),
            record["axis"],
            record["origin"],
            -math.inf if lower is None else float(lower),
            math.inf if upper is None else float(upper),
            -math.inf if slide_lower is None else float(slide_lower),
            math.inf if slide_upper is None else float(slide_upper),
            str(record["name"]),
            float(record["damping"]),
        )
        axis = np.asarray(record["axis"], dtype=np.float64)
        axis.flags.writeable = False
        object.__setattr__(joint, "axis", axis)  # normalising twice would change the last bit
        joints.append(joint)
    inertials = packed.get("inertials")
    if inertials is not None:
        inertials = tuple(
            i and Inertial(float(i["mass"]), np.array(i["center"]), np.array(i["inertia"])) for i in inertials
        )
    return Articulation(mesh, tuple(joints), inertials, str(packed["name"]))


PICTURE_EXTENSIONS = {"EXT_texture_webp": "image/webp", "KHR_texture_basisu": "image/ktx2"}
"""Extensions of a texture that name a picture of another kind than PNG and JPEG."""


@dataclass(frozen=True, eq=False)
class Appearance:
    """A surface and how its base-colour picture lies on the texture coordinates."""

    surface: Surface
    coordinates: int = 0
    """Which set of texture coordinates the picture uses."""

    transform: Float[np.ndarray, "2 3"] | None = None

    def place(self, uv: Float[np.ndarray, "V 2"]) -> Float[np.ndarray, "V 2"]:
        """Texture coordinates after the picture's own shift, turn and scale (KHR_texture_transform)."""
        return uv if self.transform is None else uv @ self.transform[:, :2].T + self.transform[:, 2]


PLAIN = Appearance(Surface("default", (1.0, 1.0, 1.0, 1.0)))


def read_appearances(doc: Document, notes: dict[str, None]) -> list[Appearance]:
    """One appearance per material, with all that it says; pictures that cannot be read are noted."""
    textures = _Textures(doc, notes)
    return [_appearance(textures, index, record) for index, record in enumerate(doc.items("materials"))]


def _appearance(textures: _Textures, index: int, original: Record) -> Appearance:
    record = json.loads(json.dumps({key: value for key, value in original.items() if key != "name"}, allow_nan=False))
    without_pictures(record, lambda info: textures.lookup(info["index"]) is not None)
    lookups: dict[int, int] = {}
    for info in texture_infos(record):
        info["index"] = lookups.setdefault(info["index"], len(lookups))
    found = tuple(found for index in lookups if (found := textures.lookup(index)) is not None)
    surface = Surface.of(str(original.get("name") or f"surface_{index}"), Finish.of(record, found))
    base = _base_info(record)
    if base is None:
        return Appearance(surface)
    settings = base.get("extensions", {}).get(TRANSFORM)
    coordinates = int(number(settings or {}, "texCoord", number(base, "texCoord", 0.0)))
    return Appearance(surface, coordinates, None if settings is None else transform_matrix(settings))


def _base_info(record: Record) -> Record | None:
    """The base-colour picture's place in a record."""
    gloss = record.get("extensions", {}).get(GLOSS)
    found = record.get("pbrMetallicRoughness", {}).get("baseColorTexture") if gloss is None else None
    return gloss.get("diffuseTexture") if gloss is not None else found


class _Textures:
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


TRIANGLES, STRIP, FAN = 4, 5, 6
POINTS_AND_LINES = "Points and lines are left out; only triangles are kept."
MAX_UV_SETS = 8
OUT_OF_RANGE = -1
"""Stands for a vertex that does not exist, so that the fault survives joining several meshes."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """One glTF mesh, or one of its blocks of vertices: all arrays count the same vertices."""

    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    appearances: tuple[tuple[int, int], ...] = ()
    """Material of the faces, as runs of (material, face count); the number of materials stands for "none"."""

    uv: Float[np.ndarray, "V 2"] | None = None
    colors: Float[np.ndarray, "V 4"] | None = None
    targets: Float[np.ndarray, "K V 3"] | None = None
    """Displacements of the morph targets."""

    joints: Int[np.ndarray, "V J"] | None = None
    weights: Float[np.ndarray, "V J"] | None = None
    materials: Float[np.ndarray, "V 8"] | None = None
    """What each vertex is made of, as neurok stores it; see ``MATERIAL_ATTRIBUTES``."""

    normals: Float[np.ndarray, "V 3"] | None = None
    tangents: Float[np.ndarray, "V 4"] | None = None
    uv_sets: tuple[Float[np.ndarray, "V 2"], ...] = ()
    """All texture coordinates as they are stored."""


class GeometryReader:
    """Reads each mesh once, however many nodes show it."""

    def __init__(self, doc: Document, appearances: list[Appearance], notes: dict[str, None]) -> None:
        self.doc, self.appearances, self.notes = doc, appearances, notes
        self._known: dict[int, Geometry] = {}

    def mesh(self, index: int) -> Geometry:
        if index not in self._known:
            record = self.doc.item("meshes", index)
            blocks: dict[str, tuple[Record, list[tuple[Record, int]]]] = {}
            for primitive in record["primitives"]:
                appearance = natural(primitive, "material", len(self.appearances))
                if appearance != len(self.appearances):
                    self.doc.item("materials", appearance)
                if natural(primitive, "mode", TRIANGLES) not in (TRIANGLES, STRIP, FAN):
                    self.notes[POINTS_AND_LINES] = None
                elif "POSITION" in primitive["attributes"]:
                    key = json.dumps([primitive["attributes"], primitive.get("targets"), self._placing(appearance)])
                    blocks.setdefault(key, (primitive, []))[1].append((primitive, appearance))
            self._known[index] = merge([self._block(first, uses) for first, uses in blocks.values()])
        return self._known[index]

    def _placing(self, appearance: int) -> list[object]:
        """What of a material changes texture coordinates."""
        used = PLAIN if appearance == len(self.appearances) else self.appearances[appearance]
        return [used.coordinates, None if used.transform is None else used.transform.tolist()]

    def _block(self, first: Record, uses: list[tuple[Record, int]]) -> Geometry:
        """Primitives that share their vertices."""
        attributes = first["attributes"]
        vertices = self._attribute(attributes["POSITION"], 3)
        count = len(vertices)
        faces = [self._faces(primitive, count) for primitive, _ in uses]
        appearance = PLAIN if uses[0][1] == len(self.appearances) else self.appearances[uses[0][1]]
        joints, weights = self._influences(attributes, count)
        return Geometry(
            vertices,
            joined(faces),
            tuple((number, len(f)) for (_, number), f in zip(uses, faces, strict=True)),
            self._uv(attributes, appearance, count),
            self._colors(attributes, count),
            self._targets(first.get("targets", []), count),
            joints,
            weights,
            self._materials(attributes, count),
            self._attribute(attributes["NORMAL"], 3, count) if "NORMAL" in attributes else None,
            self._attribute(attributes["TANGENT"], 4, count) if "TANGENT" in attributes else None,
            self._uv_sets(attributes, count),
        )

    def _materials(self, attributes: Record, count: int) -> Float[np.ndarray, "V 8"] | None:
        if "_MATERIAL" not in attributes:
            return None
        columns = np.full((count, len(MATERIAL_ATTRIBUTES)), UNSAID)
        for k, name in enumerate(MATERIAL_ATTRIBUTES):
            if name in attributes:
                columns[:, k] = self._attribute(attributes[name], 1, count)[:, 0]
        return columns

    def _attribute(self, accessor: int, width: int, count: int | None = None) -> np.ndarray:
        array = self.doc.array(accessor)
        if array.shape[1] != width or (count is not None and len(array) != count):
            wanted = f"{'any' if count is None else count} x {width}"
            raise self.doc.error(f"accessor {accessor} should be {wanted} numbers, but is {array.shape}")
        return array

    def _faces(self, primitive: Record, vertex_count: int) -> Int[np.ndarray, "F 3"]:
        if "indices" in primitive:
            raw = self._attribute(primitive["indices"], 1)[:, 0]
            if raw.dtype.kind != "u":
                raise self.doc.error("vertex indices must be unsigned whole numbers")
            corners = raw.astype(np.int64)
            if len(corners) and raw.max() >= vertex_count:
                corners[raw >= vertex_count] = OUT_OF_RANGE
        else:
            corners = np.arange(vertex_count)
        mode = primitive.get("mode", TRIANGLES)
        if mode == TRIANGLES:
            if len(corners) % 3:
                self.notes["A list of triangles ends in the middle of one; the rest is left out."] = None
            return corners[: len(corners) // 3 * 3].reshape(-1, 3)
        steps = np.arange(max(0, len(corners) - 2))
        odd = steps % 2
        if mode == STRIP:
            return corners[np.column_stack([steps, steps + 1 + odd, steps + 2 - odd])]
        return corners[np.column_stack([steps + 1, steps + 2, np.zeros_like(steps)])]

    def _uv(self, attributes: Record, appearance: Appearance, count: int) -> Float[np.ndarray, "V 2"] | None:
        name = (
            f"TEXCOORD_{appearance.coordinates}" if f"TEXCOORD_{appearance.coordinates}" in attributes else "TEXCOORD_0"
        )
        if name not in attributes:
            return None
        placed = appearance.place(self._attribute(attributes[name], 2, count).astype(np.float64))
        if not np.isfinite(placed).all():
            self.notes["Texture coordinates that are not numbers are read as zero."] = None
            placed = np.nan_to_num(placed, posinf=0.0, neginf=0.0)
        return np.column_stack([placed[:, 0], 1.0 - placed[:, 1]])

    def _uv_sets(self, attributes: Record, count: int) -> tuple[Float[np.ndarray, "V 2"], ...]:
        names = [f"TEXCOORD_{n}" for n in range(MAX_UV_SETS)]
        last = max((n for n, name in enumerate(names) if name in attributes), default=-1)
        if f"TEXCOORD_{MAX_UV_SETS}" in attributes:
            self.notes[f"Only the first {MAX_UV_SETS} sets of texture coordinates are read."] = None
        nothing = np.zeros((count, 2), dtype=np.float32)
        sets = (self._attribute(attributes[n], 2, count) if n in attributes else nothing for n in names[: last + 1])
        return tuple(np.nan_to_num(uv.astype(np.float32, copy=False), posinf=0.0, neginf=0.0) for uv in sets)

    def _colors(self, attributes: Record, count: int) -> Float[np.ndarray, "V 4"] | None:
        if "COLOR_0" not in attributes:
            return None
        array = self.doc.array(attributes["COLOR_0"])
        if array.shape not in ((count, 3), (count, 4)):
            raise self.doc.error(f"vertex colours should be {count} x 3 or 4 numbers, but are {array.shape}")
        scale = np.iinfo(array.dtype).max if array.dtype.kind == "u" else 1.0
        colors = np.ones((count, 4))
        colors[:, : array.shape[1]] = array.astype(np.float64) / scale
        return colors.clip(0.0, 1.0)

    def _targets(self, targets: list[Record], count: int) -> Float[np.ndarray, "K V 3"] | None:
        if not targets:
            return None
        if len(targets) * count * 3 > max(50_000_000, 4 * len(self.doc.binary or b"")):
            raise self.doc.error(f"{len(targets)} morph targets of {count} vertices are too many to read")
        still = np.zeros((count, 3), dtype=np.float32)
        moves = [self._attribute(t["POSITION"], 3, count) if "POSITION" in t else still for t in targets]
        return np.stack(moves).astype(np.float32)

    def _influences(self, attributes: Record, count: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        if "JOINTS_0" not in attributes or "WEIGHTS_0" not in attributes:
            return None, None
        sets = [n for n in (0, 1) if f"JOINTS_{n}" in attributes and f"WEIGHTS_{n}" in attributes]
        joints = np.concatenate([self._attribute(attributes[f"JOINTS_{n}"], 4, count) for n in sets], axis=1)
        weights = np.concatenate([self._attribute(attributes[f"WEIGHTS_{n}"], 4, count) for n in sets], axis=1)
        weights = np.nan_to_num(weights.astype(np.float64), posinf=0.0).clip(0.0)
        total = weights.sum(axis=1, keepdims=True)
        weights[:, :1] += total <= 0.0
        return joints.astype(np.int64), weights / weights.sum(axis=1, keepdims=True)


def merge(blocks: list[Geometry]) -> Geometry:
    """Several blocks of vertices as one; what only some have is filled with its neutral value."""
    if not blocks:
        return Geometry(np.zeros((0, 3)), np.zeros((0, 3), np.int64))
    if len(blocks) == 1:
        return blocks[0]
    counts = [len(b.vertices) for b in blocks]
    width = max((b.joints.shape[1] for b in blocks if b.joints is not None), default=0)
    has_skin = all(b.joints is not None for b in blocks)
    target_count = max((len(b.targets) for b in blocks if b.targets is not None), default=0)
    return Geometry(
        joined([b.vertices for b in blocks]),
        shifted([b.faces for b in blocks], counts),
        tuple(run for b in blocks for run in b.appearances),
        filled([b.uv for b in blocks], counts, 0.0),
        filled([b.colors for b in blocks], counts, 1.0),
        joined([_padded_targets(b, target_count) for b in blocks], axis=1) if target_count else None,
        joined([_padded(b.joints, width) for b in blocks]) if has_skin else None,
        joined([_padded(b.weights, width) for b in blocks]) if has_skin else None,
        filled([b.materials for b in blocks], counts, UNSAID),
        filled([b.normals for b in blocks], counts, 0.0),
        filled([b.tangents for b in blocks], counts, 0.0),
        filled_sets([b.uv_sets for b in blocks], counts),
    )


def joined(arrays: list[np.ndarray], axis: int = 0) -> np.ndarray:
    """All in one array; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=axis)


def shifted(faces: list[np.ndarray], counts: list[int]) -> Int[np.ndarray, "F 3"]:
    """Faces of several blocks in the numbering of their joined vertices."""
    starts = np.cumsum([0, *counts[:-1]])
    return joined([f if not s else np.where(f < 0, OUT_OF_RANGE, f + s) for f, s in zip(faces, starts)])


def filled(arrays: list[np.ndarray | None], counts: list[int], value: float) -> np.ndarray | None:
    """Joined arrays with ``value`` where a block has none; none when no block has any."""
    width = next((a.shape[1] for a in arrays if a is not None), None)
    if width is None:
        return None
    return joined([np.full((n, width), value) if a is None else a for a, n in zip(arrays, counts)])


def filled_sets(sets: list[tuple[np.ndarray, ...]], counts: list[int]) -> tuple[np.ndarray, ...]:
    """The same for several arrays of each block."""
    columns = [[own[k] if k < len(own) else None for own in sets] for k in range(max(map(len, sets)))]
    return tuple(found for column in columns if (found := filled(column, counts, 0.0)) is not None)


def _padded(array: np.ndarray | None, width: int) -> np.ndarray:
    assert array is not None
    return np.pad(array, ((0, 0), (0, width - array.shape[1])))


def _padded_targets(block: Geometry, count: int) -> Float[np.ndarray, "K V 3"]:
    if block.targets is None:
        return np.zeros((count, len(block.vertices), 3), dtype=np.float32)
    return np.pad(block.targets, ((0, count - len(block.targets)), (0, 0), (0, 0)))
