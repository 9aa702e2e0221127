"""FBX and COLLADA files, taken apart by ``ufbx``, ``trimesh`` and ``pycollada`` and put together as glTF."""

from __future__ import annotations

import ctypes
import gc
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Asset, Finish, Lookup, Texture
from neurok.core.mesh import UpAxis
from neurok.core.surface import CLAMP, REPEAT, Record, mime_of
from neurok.errors import FormatError, require
from neurok.io import xml
from neurok.io.files import DAMAGE, decoding_limits, read_bytes, resolve_inside
from neurok.io.gltf_build import ARRAY_BUFFER, ELEMENT_BUFFER, Builder
from neurok.io.parsing import triangulate
from neurok.sandbox import SANDBOX, Ended

MAX_CORNERS = 60_000_000
MAX_BONES = 8
RATIO = 256
"""Memory that a scene of objects in Python may take, in sizes of its file."""

BAKE_RATE = 30.0
"""Key frames a second where a curve is no straight line [1/s]."""


def read_fbx(path: Path) -> Asset:
    """The object in an ``.fbx`` file, y up and in metres; blend shapes are kept as they rest.

    The library that parses it runs in the sandbox: what breaks it breaks nothing else.

    Raises:
        FormatError: If it is damaged, too large, or refers to files outside its folder.
    """
    require("ufbx", "formats")
    from neurok.io.gltf_read import read_packed

    packed, said = _converted(path, "an FBX", "convert", "ufbx")
    asset = read_packed(packed.tobytes(), path)
    notes = tuple(json.loads(said.tobytes()))
    return replace(asset, notes=(*notes, *asset.notes)) if notes else asset


def _converted(path: Path, kind: str, function: str, library: str) -> list[np.ndarray]:
    """What one of the functions below makes of a file in the sandbox."""
    data = np.frombuffer(read_bytes(path), np.uint8)
    limits = decoding_limits(len(data), seconds=20.0 + len(data) / 2e5, ratio=RATIO)
    try:
        return SANDBOX.call(f"{__name__}:{function}", data, path=str(path), limits=limits, preload=(library,))
    except Ended as end:
        reason = end.text if end.cause == "fault" else DAMAGE.get(end.cause, "the parser broke off")
        raise FormatError(f"'{path}' is not {kind} file that can be read: {reason.rstrip('.')}.") from None


def convert(data: np.ndarray, path: str) -> tuple[np.ndarray, np.ndarray]:
    """The scene of an FBX file as GLB, and notes as JSON; pictures are looked for beside ``path``."""
    import ufbx

    gc.disable()
    scene = ufbx.load_memory(
        data.tobytes(),
        load_external_files=False,
        target_axes=ufbx.axes_right_handed_y_up,
        target_unit_meters=1.0,
        geometry_transform_handling=ufbx.GeometryTransformHandling.MODIFY_GEOMETRY,
        space_conversion=ufbx.SpaceConversion.MODIFY_GEOMETRY,
        node_depth_limit=500,
    )
    for element in scene.elements:
        _hold(element)
    writing = _Writing(scene, Path(path))
    target = Path("scene.glb")
    packed, said = writing.built().files(target)[target.name], json.dumps(list(writing.notes)).encode()
    return np.frombuffer(packed, np.uint8), np.frombuffer(said, np.uint8)


def _hold(thing: Any) -> None:
    """Count an object as used for ever: ufbx 0.0.5 hands elements out without counting, so that they die in use."""
    ctypes.c_ssize_t.from_address(id(thing)).value += 1 << 30


class _Writing:
    """One pass over a scene."""

    def __init__(self, scene: Any, path: Path) -> None:
        self.scene, self.path = scene, path
        self.builder = Builder()
        self.notes: dict[str, None] = {}
        self.materials: dict[int, int] = {}
        self.meshes: dict[int, int] = {}
        self.node_of: dict[int, int] = {}

    def built(self) -> Builder:
        import ufbx

        builder, nodes = self.builder, list(self.scene.nodes)
        corners = sum(mesh.num_indices * len(list(mesh.instances)) for mesh in self.scene.meshes)
        if corners > MAX_CORNERS:
            raise FormatError(f"'{self.path}' shows {corners:,} corners; at most {MAX_CORNERS:,} are read.")
        self.node_of = {node.typed_id: index for index, node in enumerate(nodes)}
        for node in nodes:
            builder.add("nodes", self._node(node))
        for index, node in enumerate(nodes):
            if node.mesh is not None and node.mesh.num_triangles:
                self._show(index, node)
            if node.attrib_type == ufbx.ElementType.LOD_GROUP and len(node.children) > 1:
                first, *coarser = (self.node_of[child.typed_id] for child in node.children)
                builder.json["nodes"][first].setdefault("extensions", {})["MSFT_lod"] = {"ids": coarser}
        roots = [self.node_of[node.typed_id] for node in nodes if node.parent is None]
        builder.json["scene"] = builder.add("scenes", {"nodes": roots})
        for stack in self.scene.anim_stacks:
            self._animation(stack)
        return builder

    def _node(self, node: Any) -> Record:
        local = node.local_transform
        record: Record = {"name": node.name or "root"}
        for key, value, rest in (
            ("translation", local.translation, (0, 0, 0)),
            ("rotation", local.rotation, (0, 0, 0, 1)),
            ("scale", local.scale, (1, 1, 1)),
        ):
            if tuple(value) != rest:
                record[key] = [float(part) for part in value]
        if not node.visible:
            record["extensions"] = {"KHR_node_visibility": {"visible": False}}
        below = [self.node_of[child.typed_id] for child in node.children]
        return record | ({"children": below} if below else {})

    def _show(self, index: int, node: Any) -> None:
        mesh = node.mesh
        key = mesh.typed_id
        if key not in self.meshes:
            self.meshes[key] = self._mesh(mesh, node)
        record = self.builder.json["nodes"][index]
        record["mesh"] = self.meshes[key]
        skins = list(mesh.skin_deformers)
        if skins and len(list(skins[0].clusters)):
            record["skin"] = self._skin(skins[0])

    def _skin(self, deformer: Any) -> int:
        clusters = list(deformer.clusters)
        inverse = np.stack([_matrix(cluster.geometry_to_bone) for cluster in clusters])
        flat = inverse.transpose(0, 2, 1).reshape(-1, 16).astype(np.float32)
        joints = [self.node_of[cluster.bone_node.typed_id] for cluster in clusters]
        return self.builder.add("skins", {"joints": joints, "inverseBindMatrices": self.builder.array(flat)})

    def _mesh(self, mesh: Any, node: Any) -> int:
        points = _rows(mesh.vertex_position.values, 3)
        spots = _indices(mesh.vertex_position.indices)
        counts = np.array([face.num_indices for face in mesh.faces], dtype=np.int64)
        corners, polygon = triangulate(counts, spots, points)
        columns = [spots]
        layers = {
            "NORMAL": (mesh.vertex_normal, 3),
            "TEXCOORD_0": (mesh.vertex_uv, 2),
            "COLOR_0": (mesh.vertex_color, 4),
        }
        given = {name: layer for name, layer in layers.items() if layer[0].exists}
        columns += [_indices(layer.indices) for layer, _ in given.values()]
        used, corner_vertex = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        corner_vertex = corner_vertex.reshape(-1)
        put = self.builder.array
        attributes = {"POSITION": put(points[used[:, 0]].astype(np.float32), ARRAY_BUFFER, bounds=True)}
        for place, (name, (layer, width)) in enumerate(given.items(), start=1):
            values = _rows(layer.values, width)[used[:, place]]
            attributes[name] = put(_as_gltf(name, values).astype(np.float32), ARRAY_BUFFER)
        attributes |= self._influences(mesh, used[:, 0])
        faces = corner_vertex[corners]
        labels = _indices(mesh.face_material)[polygon] if len(mesh.face_material) else np.zeros(len(faces), np.int64)
        looks = list(node.materials) or list(mesh.materials)
        primitives = []
        for label in np.unique(labels):
            kind = np.uint16 if len(used) < 65535 else np.uint32
            indices = put(faces[labels == label].reshape(-1).astype(kind), ELEMENT_BUFFER)
            primitive: Record = {"attributes": attributes, "indices": indices}
            if label < len(looks):
                primitive["material"] = self._material(looks[label])
            primitives.append(primitive)
        if len(list(mesh.blend_deformers)):
            self.notes["Blend shapes are read as they rest; their animation is left out."] = None
        return self.builder.add("meshes", {"name": mesh.name or node.name or "mesh", "primitives": primitives})

    def _influences(self, mesh: Any, spots: Int[np.ndarray, " V"]) -> dict[str, int]:
        """The strongest bones of each vertex."""
        skins = list(mesh.skin_deformers)
        clusters = list(skins[0].clusters) if skins else []
        if not clusters:
            return {}
        from scipy.sparse import coo_matrix

        rows = [_indices(cluster.vertices) for cluster in clusters]
        weights = np.concatenate([np.array(list(cluster.weights), dtype=np.float64) for cluster in clusters])
        bones = np.repeat(np.arange(len(clusters)), [len(row) for row in rows])
        shape = (mesh.num_vertices, len(clusters))
        table = coo_matrix((weights, (np.concatenate(rows), bones)), shape=shape).tocsr()
        joints, shares = np.zeros((shape[0], MAX_BONES), np.uint16), np.zeros((shape[0], MAX_BONES), np.float32)
        for vertex in range(shape[0]):
            part = slice(table.indptr[vertex], table.indptr[vertex + 1])
            best = np.argsort(-table.data[part], kind="stable")[:MAX_BONES]
            joints[vertex, : len(best)] = table.indices[part][best]
            shares[vertex, : len(best)] = table.data[part][best].clip(0.0)
        shares[shares.sum(axis=1) <= 0, 0] = 1.0
        shares /= shares.sum(axis=1, keepdims=True)
        sets = 1 if not shares[:, 4:].any() else 2
        out = {}
        for number in range(sets):
            block = slice(4 * number, 4 * number + 4)
            out[f"JOINTS_{number}"] = self.builder.array(joints[spots, block], ARRAY_BUFFER)
            out[f"WEIGHTS_{number}"] = self.builder.array(shares[spots, block], ARRAY_BUFFER)
        return out

    def _material(self, material: Any) -> int:
        if material.typed_id not in self.materials:
            finish = self._finish(material)
            self.materials[material.typed_id] = self.builder.material(material.name or "material", finish)
        return self.materials[material.typed_id]

    def _finish(self, material: Any) -> Finish:
        look = material.pbr
        lookups: list[Lookup] = []
        color = np.array(look.base_color.value_vec4[:3]) * (
            look.base_factor.value_vec4[0] if look.base_factor.has_value else 1.0
        )
        opacity = look.opacity.value_vec4[0] if look.opacity.has_value else 1.0
        metal: Record = {
            "baseColorFactor": [*color.clip(0, 1).tolist(), float(np.clip(opacity, 0, 1))],
            "metallicFactor": float(np.clip(look.metalness.value_vec4[0], 0, 1)) if look.metalness.has_value else 0.0,
            "roughnessFactor": float(np.clip(look.roughness.value_vec4[0], 0, 1)) if look.roughness.has_value else 0.7,
        }
        record: Record = {"pbrMetallicRoughness": metal}
        if opacity < 1.0:
            record["alphaMode"] = "BLEND"
        if look.emission_color.has_value:
            factor = look.emission_factor.value_vec4[0] if look.emission_factor.has_value else 1.0
            glow = (np.array(look.emission_color.value_vec4[:3]) * factor).clip(0, 1)
            record |= {"emissiveFactor": glow.tolist()} if glow.any() else {}
        for holder, key, channel in (
            (metal, "baseColorTexture", look.base_color),
            (record, "normalTexture", look.normal_map),
            (record, "emissiveTexture", look.emission_color),
        ):
            found = self._lookup(channel.texture) if channel.texture is not None and channel.texture_enabled else None
            if found is not None:
                holder[key] = {"index": len(lookups)}
                lookups.append(found)
        if "baseColorTexture" in metal:
            metal["baseColorFactor"][:3] = [1.0, 1.0, 1.0]
        if "emissiveTexture" in record:
            record.setdefault("emissiveFactor", [1.0, 1.0, 1.0])
        return Finish.of(record, tuple(lookups))

    def _lookup(self, texture: Any) -> Lookup | None:
        """A picture in the file or beside it; noted when there is none."""
        data = bytes(texture.content)
        name = Path(str(texture.filename or texture.relative_filename).replace("\\", "/")).name
        if not data and name:
            for place in (str(texture.relative_filename).replace("\\", "/"), name):
                try:
                    target = resolve_inside(self.path.parent, place)
                except FormatError:
                    continue
                if target.is_file():
                    data = read_bytes(target)
                    break
        mime = mime_of(data)
        if mime is None:
            self.notes[f"The picture '{name}' is missing or of another kind than PNG, JPEG and WebP."] = None
            return None
        wraps = tuple(CLAMP if int(wrap) == 1 else REPEAT for wrap in (texture.wrap_u, texture.wrap_v))
        return Lookup(Texture(data, mime, name or "texture"), (wraps[0], wraps[1]))

    def _animation(self, stack: Any) -> None:
        import ufbx

        baked = ufbx.bake_anim(self.scene, stack.anim, trim_start_time=True, resample_rate=BAKE_RATE)
        channels: list[Record] = []
        samplers: list[Record] = []
        for node in baked.nodes:
            for path, keys, is_constant in (
                ("translation", node.translation_keys, node.constant_translation),
                ("rotation", node.rotation_keys, node.constant_rotation),
                ("scale", node.scale_keys, node.constant_scale),
            ):
                if is_constant and path == "scale":
                    continue
                rows = [(key.time, *key.value) for key in keys]
                if not rows:
                    continue
                table = np.array(rows, dtype=np.float32)
                table = table[np.concatenate([[True], np.diff(table[:, 0]) > 0])]
                times = self.builder.array(np.ascontiguousarray(table[:, 0]), bounds=True)
                samplers.append({"input": times, "output": self.builder.array(np.ascontiguousarray(table[:, 1:]))})
                target = {"node": self.node_of[node.typed_id], "path": path}
                channels.append({"sampler": len(samplers) - 1, "target": target})
        if channels:
            record = {"name": stack.name or "animation", "channels": channels, "samplers": samplers}
            self.builder.add("animations", record)


def _rows(values: Any, width: int) -> Float[np.ndarray, "N W"]:
    found = np.array([tuple(value) for value in values], dtype=np.float64).reshape(-1, width)
    return np.nan_to_num(found)


def _indices(values: Any) -> Int[np.ndarray, " N"]:
    return np.array(list(values), dtype=np.int64)


def _as_gltf(name: str, values: np.ndarray) -> np.ndarray:
    """Values as glTF stores them: v from the top, unit normals, colours from 0 to 1."""
    if name == "TEXCOORD_0":
        return np.column_stack([values[:, 0], 1.0 - values[:, 1]])
    if name == "NORMAL":
        size = np.linalg.norm(values, axis=1, keepdims=True)
        return np.where(size > 1e-9, values / np.maximum(size, 1e-9), [0.0, 1.0, 0.0])
    return values.clip(0.0, 1.0)


def _matrix(value: Any) -> Float[np.ndarray, "4 4"]:
    out = np.eye(4)
    out[:3] = np.array([tuple(column) for column in value]).T
    return out


UPS: dict[str, UpAxis] = {"X_UP": "x", "Y_UP": "y", "Z_UP": "z"}


def read_collada(path: Path) -> Asset:
    """The nodes, meshes and materials of a ``.dae`` file in its own unit and axes; animations are not read.

    Raises:
        FormatError: If it is damaged or refers to files outside its folder.
    """
    require("collada", "formats")
    from neurok.io.gltf_read import read_packed

    root = xml.parse(read_bytes(path), f"'{path}'")  # the reader's own parser would follow entities
    (packed,) = _converted(path, "a COLLADA", "convert_collada", "trimesh")
    asset = read_packed(packed.tobytes(), path)
    up, unit = _frame(root)
    return asset.relabelled(up, unit) if (up, unit) != ("y", 1.0) else asset


def convert_collada(data: np.ndarray, path: str) -> tuple[np.ndarray]:
    """The scene of a COLLADA file as GLB: nodes that show nodes may grow without end, so it is made in the sandbox."""
    import trimesh

    beside = cast(Any, _Beside(Path(path).parent))
    scene = trimesh.load_scene(io.BytesIO(data.tobytes()), file_type="dae", resolver=beside)
    return (np.frombuffer(scene.export(file_type="glb"), np.uint8),)


def _frame(root: Any) -> tuple[UpAxis, float]:
    """The up axis and unit [m] that a file states."""
    up, unit = "Y_UP", 1.0
    for element in root.iter():
        name = str(element.tag).rpartition("}")[2]
        if name == "up_axis":
            up = (element.text or up).strip()
        elif name == "unit":
            unit = float(xml.numbers(element, "meter", (1.0,), "The unit of the file")[0])
        elif name.startswith("library_"):
            break
    return UPS.get(up, "y"), unit if unit > 0 else 1.0


class _Beside:
    """Gives the files in or below a folder, and no others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> bytes:
        return read_bytes(resolve_inside(self.folder, name.removeprefix("./")))

    def keys(self) -> list[str]:
        return []
