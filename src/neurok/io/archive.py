"""NPZ: neurok's own compact file for any asset, and two plain layouts that are only read.

- **neurok**: arrays plus one JSON header (``neurok``, UTF-8 bytes); nothing is lost.
- **plain**: ``vertices`` (V, 3) and ``faces`` (F, 3), optionally ``face_part`` (F,) and ``part_name`` (P,).
- **articulated**: the plain layout with one entry per part in ``parent`` (-1 for a root), ``joint_type``
  (``fixed``, ``revolute``, ``prismatic``, ``continuous``), ``axis``, ``origin``, ``lower`` and ``upper``, and
  ``category``. PartNet-Mobility objects are passed around like this; y is up.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import (
    Articulation,
    Asset,
    Authored,
    Bind,
    Clip,
    Finish,
    Inertial,
    Joint,
    Lookup,
    Material,
    MaterialField,
    Mesh,
    Skin,
    Surface,
    Texture,
)
from neurok.core.material import VALUES
from neurok.core.mesh import frozen_array
from neurok.errors import FormatError, NeurokError
from neurok.geometry.topology import split_by_face_label
from neurok.io.files import Files, read_bytes, unique_names
from neurok.io.npz_arrays import pack, unpack

VERSION = 1
_MESH_ARRAYS = ("vertices", "faces", "uv", "vertex_colors", "part_ids", "face_surfaces")
_JOINT_NUMBERS = ("lower", "upper", "slide_lower", "slide_upper", "damping")


def read(path: Path) -> Asset:
    """An asset from any of the three layouts."""
    return from_arrays(unpack(read_bytes(path), path), path)


def from_arrays(arrays: Mapping[str, np.ndarray], path: Path) -> Asset:
    """The same for an archive that is unpacked already; ``path`` only names it in errors."""
    if "neurok" not in arrays:
        return read_plain(arrays, path)
    try:
        header = json.loads(arrays["neurok"].tobytes())
        if header["version"] != VERSION:
            raise FormatError(
                f"'{path}' has version {header['version']} of neurok's format; this neurok reads {VERSION}."
            )
        return _Reader(arrays, header).asset()
    except NeurokError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise FormatError(
            f"'{path}' is damaged: its header does not fit its arrays ({type(error).__name__})."
        ) from error


def write(asset: Asset, path: Path) -> Files:
    """The whole asset: mesh, clips, joints, materials, provenance; reading it gives it back."""
    writer = _Writer()
    header = writer.asset(asset)
    text = json.dumps(header, sort_keys=True, ensure_ascii=True, allow_nan=False).encode()
    return {path.name: pack({"neurok": np.frombuffer(text, dtype=np.uint8), **writer.arrays})}


@dataclass(eq=False)
class _Writer:
    """Collects arrays while the header is made; equal meshes and pictures are stored once."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    meshes: list[tuple[Mesh, dict[str, Any]]] = field(default_factory=list)
    textures: dict[bytes, int] = field(default_factory=dict)

    def asset(self, asset: Asset) -> dict[str, Any]:
        self.mesh(asset.mesh)
        clips = [self.clip(clip, i) for i, clip in enumerate(asset.clips)]
        joints = None if asset.articulation is None else self.articulation(asset.articulation)
        if asset.materials is not None:
            self.arrays["material_ids"] = asset.materials.ids
            self.arrays |= {f"material_{name}": value for name, value in asset.materials.values.items()}
        return {
            "version": VERSION,
            "clips": clips,
            "articulation": joints,
            "materials": None if asset.materials is None else [asdict(m) for m in asset.materials.materials],
            "provenance": {str(k): str(v) for k, v in asset.provenance.items()},
            "notes": list(asset.notes),
            "meshes": [entry for _, entry in self.meshes],
        }

    def mesh(self, mesh: Mesh) -> int:
        """The number of the mesh; the first one's arrays have the plain names."""
        for number, (known, _) in enumerate(self.meshes):
            if known is mesh:
                return number
        number = len(self.meshes)
        prefix = f"mesh{number}_" if number else ""
        for name in _MESH_ARRAYS:
            array = getattr(mesh, name)
            if array is not None:
                self.arrays[prefix + name] = array
        entry = {
            "part_names": list(mesh.part_names),
            "surfaces": [self.surface(surface) for surface in mesh.surfaces],
            "unit": float(mesh.unit),
            "up": mesh.up,
            "name": mesh.name,
        }
        if mesh.authored is not None:
            entry["authored"] = self.authored(mesh.authored, prefix)
        self.meshes.append((mesh, entry))
        return number

    def surface(self, surface: Surface) -> dict[str, Any]:
        kept = [f.name for f in fields(surface) if f.name not in ("texture", "finish")]
        entry = {name: _plain(getattr(surface, name)) for name in kept}
        entry["texture"] = surface.texture and self.texture(surface.texture)
        if surface.finish is not None:
            lookups = [
                {"texture": self.texture(one.texture), "wrap": one.wrap, "filters": [one.magnify, one.minify]}
                for one in surface.finish.lookups
            ]
            entry["finish"] = {"text": surface.finish.text, "lookups": lookups}
        return entry

    def texture(self, texture: Texture) -> dict[str, Any]:
        number = self.textures.setdefault(texture.data, len(self.textures))
        self.arrays[f"texture{number}"] = np.frombuffer(texture.data, dtype=np.uint8)
        return {"number": number, "mime": texture.mime, "name": texture.name}

    def authored(self, authored: Authored, prefix: str) -> dict[str, Any]:
        """What the author gave the vertices."""
        for name in ("vertices", "normals", "tangents"):
            if getattr(authored, name) is not None:
                self.arrays[f"{prefix}authored_{name}"] = getattr(authored, name)
        for number, uv in enumerate(authored.uv_sets):
            self.arrays[f"{prefix}authored_uv{number}"] = uv
        return {"uv_sets": len(authored.uv_sets)}

    def clip(self, clip: Clip, number: int) -> dict[str, Any]:
        self.arrays[f"clip{number}_positions"] = clip.positions
        if clip.skin is not None:
            self.arrays[f"clip{number}_weights"] = clip.skin.weights
            self.arrays[f"clip{number}_transforms"] = clip.skin.transforms
            if clip.skin.bind is not None:
                self.arrays[f"clip{number}_bind_vertices"] = clip.skin.bind.vertices
                self.arrays[f"clip{number}_bind_transforms"] = clip.skin.bind.transforms
        return {"rest": self.mesh(clip.rest), "fps": float(clip.fps), "name": clip.name}

    def articulation(self, articulation: Articulation) -> dict[str, Any]:
        joints = articulation.joints
        self.arrays["joint_axis"] = np.array([j.axis for j in joints]).reshape(-1, 3)
        self.arrays["joint_origin"] = np.array([j.origin for j in joints]).reshape(-1, 3)
        # Limits may be infinite, which JSON cannot say.
        numbers = [[getattr(j, name) for name in _JOINT_NUMBERS] for j in joints]
        self.arrays["joint_numbers"] = np.array(numbers, dtype=np.float64).reshape(-1, len(_JOINT_NUMBERS))
        inertials = articulation.inertials
        if inertials is not None:
            rows = [np.full(13, np.nan) if i is None else np.r_[i.mass, i.center, i.inertia.ravel()] for i in inertials]
            self.arrays["joint_inertials"] = np.array(rows).reshape(-1, 13)
        return {
            "mesh": self.mesh(articulation.mesh),
            "name": articulation.name,
            "joints": [{"kind": j.kind, "parent": int(j.parent), "name": j.name} for j in joints],
        }


def _plain(value: Any) -> Any:
    """Numbers and tuples of numbers as JSON knows them."""
    if isinstance(value, tuple):
        return [float(item) for item in value]
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


@dataclass(eq=False)
class _Reader:
    """Builds the nouns from the arrays and the header; a mesh that several share is built once."""

    arrays: Mapping[str, np.ndarray]
    header: dict[str, Any]

    def asset(self) -> Asset:
        meshes = [self.mesh(entry, f"mesh{i}_" if i else "") for i, entry in enumerate(self.header["meshes"])]
        articulation = self.header["articulation"]
        materials = self.header["materials"]
        return Asset(
            meshes[0],
            clips=tuple(self.clip(entry, i, meshes) for i, entry in enumerate(self.header["clips"])),
            articulation=None if articulation is None else self.articulation(articulation, meshes),
            materials=None if materials is None else self.materials(materials),
            provenance={str(k): str(v) for k, v in self.header["provenance"].items()},
            notes=tuple(map(str, self.header["notes"])),
        )

    def materials(self, library: list[dict[str, Any]]) -> MaterialField:
        values = {name: self.arrays[f"material_{name}"] for name in VALUES if f"material_{name}" in self.arrays}
        return MaterialField(tuple(Material(**m) for m in library), self.arrays["material_ids"], values)

    def mesh(self, entry: dict[str, Any], prefix: str) -> Mesh:
        arrays = {name: self.arrays[prefix + name] for name in _MESH_ARRAYS if prefix + name in self.arrays}
        return Mesh(
            **arrays,  # type: ignore[arg-type]
            part_names=tuple(map(str, entry["part_names"])),
            surfaces=tuple(self.surface(surface) for surface in entry["surfaces"]),
            unit=float(entry["unit"]),
            up=entry["up"],
            name=str(entry["name"]),
            authored=self.authored(entry["authored"], prefix) if "authored" in entry else None,
        )

    def authored(self, entry: dict[str, Any], prefix: str) -> Authored:
        vertices, normals, tangents = (
            self.arrays.get(f"{prefix}authored_{name}") for name in ("vertices", "normals", "tangents")
        )
        sets = tuple(self.arrays[f"{prefix}authored_uv{number}"] for number in range(int(entry["uv_sets"])))
        return Authored(vertices, normals, tangents, sets)

    def texture(self, entry: dict[str, Any]) -> Texture:
        data = self.arrays[f"texture{entry['number']}"].tobytes()
        return Texture(data, str(entry["mime"]), str(entry["name"]))

    def finish(self, entry: dict[str, Any]) -> Finish:
        lookups = []
        for one in entry["lookups"]:
            wrap_s, wrap_t = map(int, one["wrap"])
            magnify, minify = (None if number is None else int(number) for number in one["filters"])
            lookups.append(Lookup(self.texture(one["texture"]), (wrap_s, wrap_t), magnify, minify))
        return Finish(str(entry["text"]), tuple(lookups))

    def surface(self, entry: dict[str, Any]) -> Surface:
        texture = None if entry["texture"] is None else self.texture(entry["texture"])
        red, green, blue, alpha = map(float, entry["base_color"])
        glow_red, glow_green, glow_blue = map(float, entry["emissive"])
        if entry["alpha_mode"] not in ("OPAQUE", "MASK", "BLEND"):
            raise ValueError("unknown alpha mode")
        return Surface(
            name=str(entry["name"]),
            base_color=(red, green, blue, alpha),
            metallic=float(entry["metallic"]),
            roughness=float(entry["roughness"]),
            texture=texture,
            double_sided=bool(entry["double_sided"]),
            alpha_mode=entry["alpha_mode"],
            emissive=(glow_red, glow_green, glow_blue),
            finish=self.finish(entry["finish"]) if "finish" in entry else None,
        )

    def clip(self, entry: dict[str, Any], number: int, meshes: list[Mesh]) -> Clip:
        prefix = f"clip{number}_"
        skin = bind = None
        if prefix + "bind_vertices" in self.arrays:
            bind = Bind(self.arrays[prefix + "bind_vertices"], self.arrays[prefix + "bind_transforms"])
        if prefix + "weights" in self.arrays:
            skin = Skin(self.arrays[prefix + "weights"], self.arrays[prefix + "transforms"], bind)
        positions = self.arrays[prefix + "positions"]
        return Clip(meshes[entry["rest"]], positions, float(entry["fps"]), str(entry["name"]), skin)

    def articulation(self, entry: dict[str, Any], meshes: list[Mesh]) -> Articulation:
        joints = []
        for i, joint in enumerate(entry["joints"]):
            numbers = dict(zip(_JOINT_NUMBERS, map(float, self.arrays["joint_numbers"][i]), strict=True))
            axis, origin = self.arrays["joint_axis"][i], self.arrays["joint_origin"][i]
            parent = int(joint["parent"])
            joints.append(Joint(joint["kind"], parent, axis, origin, name=str(joint["name"]), **numbers))
        inertials = None
        if "joint_inertials" in self.arrays:
            rows = self.arrays["joint_inertials"].reshape(-1, 13)
            inertials = tuple(
                None if np.isnan(row[0]) else Inertial(float(row[0]), row[1:4], row[4:].reshape(3, 3)) for row in rows
            )
        return Articulation(meshes[entry["mesh"]], tuple(joints), inertials, str(entry["name"]))


LICENSE = "PartNet-Mobility terms of use: research only, no redistribution"
_JOINT_KEYS = ("parent", "joint_type", "axis", "origin", "lower", "upper")


def read_plain(arrays: Mapping[str, np.ndarray], path: Path) -> Asset:
    """A mesh, its parts and joints as far as the arrays are there."""
    if "vertices" not in arrays or "faces" not in arrays:
        raise FormatError(
            f"'{path}' holds no mesh: it needs the arrays 'vertices' and 'faces', but has {sorted(arrays)[:8]}."
        )
    vertices = frozen_array(arrays["vertices"], np.float64, (None, 3), "vertices")
    faces = frozen_array(arrays["faces"], np.int64, (None, 3), "faces")
    mesh = Mesh(vertices, faces, name=path.stem)
    if "face_part" not in arrays:
        return Asset(mesh)
    labels = frozen_array(arrays["face_part"], np.int64, (len(faces),), "face_part")
    names = tuple(map(str, np.atleast_1d(arrays["part_name"]))) if "part_name" in arrays else ()
    names = names or tuple(f"part_{i}" for i in range(int(labels.max()) + 1))
    if labels.min() < 0 or labels.max() >= len(names):
        raise FormatError(f"'{path}' is damaged: face_part must lie in 0..{len(names) - 1}.")
    source, new_faces, part_ids = split_by_face_label(faces, labels)
    mesh = Mesh(vertices[source], new_faces, part_ids=part_ids, part_names=tuple(unique_names(names)), name=path.stem)
    given = [key for key in _JOINT_KEYS if key in arrays]
    if not given:
        return Asset(mesh)
    if len(given) < len(_JOINT_KEYS):
        raise FormatError(f"'{path}' has joints without {', '.join(sorted(set(_JOINT_KEYS) - set(given)))}.")
    provenance = {"license": LICENSE}
    if "category" in arrays:
        provenance["category"] = str(arrays["category"].reshape(-1)[0]) if arrays["category"].size else ""
    joints, notes = _joints(arrays, names, path)
    return Asset(mesh, articulation=Articulation(mesh, joints, name=path.stem), provenance=provenance, notes=notes)


def _joints(
    arrays: Mapping[str, np.ndarray], names: tuple[str, ...], path: Path
) -> tuple[tuple[Joint, ...], tuple[str, ...]]:
    count = len(names)
    parent = frozen_array(arrays["parent"], np.int64, (count,), "parent")
    axis = frozen_array(arrays["axis"], np.float64, (count, 3), "axis")
    origin = frozen_array(arrays["origin"], np.float64, (count, 3), "origin")
    lower = frozen_array(arrays["lower"], np.float64, (count,), "lower")
    upper = frozen_array(arrays["upper"], np.float64, (count,), "upper")
    kinds = [str(kind) for kind in np.atleast_1d(arrays["joint_type"])]
    if len(kinds) != count:
        raise FormatError(f"'{path}' is damaged: it has {len(kinds)} joint types for {count} parts.")
    joints, notes = [], []
    for i, kind in enumerate(kinds):
        if kind == "fixed":
            joints.append(Joint("fixed", int(parent[i]), name=names[i]))
            continue
        low, high = sorted((float(lower[i]), float(upper[i])))
        if lower[i] > upper[i]:
            notes.append(f"The limits of joint '{names[i]}' were reversed and have been swapped.")
        if kind == "continuous":
            low, high = -math.inf, math.inf
        joints.append(Joint(kind, int(parent[i]), axis[i], origin[i], low, high, name=names[i]))  # type: ignore[arg-type]
    return tuple(joints), tuple(notes)
