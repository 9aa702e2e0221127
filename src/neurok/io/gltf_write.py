"""Objects to GLB and glTF, with their look, motion and joints. The same object gives the same bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Asset, Clip, Mesh, Surface
from neurok.core.surface import extension_names, mime_of, placed_finish, texture_infos
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.geometry.operators import vertex_normals
from neurok.io.files import Files
from neurok.io.gltf_build import ARRAY_BUFFER, ELEMENT_BUFFER, Builder
from neurok.io.gltf_document import Document, Record
from neurok.io.gltf_geometry import material_attributes, scene_extras
from neurok.io.gltf_motion import BoneMotion, PartMotion, plan_motion
from neurok.io.gltf_read import DAMAGE, FORMAT
from neurok.io.gltf_scene import node_tree

NO_TURN = np.array([0.0, 0.0, 0.0, 1.0])
TOLERANCE = 1e-4
"""Largest distance of a written vertex from the true one in any frame, as a fraction of the object's size."""


def write(asset: Asset, path: Path, tolerance: float = TOLERANCE) -> Files:
    """A ``.glb``, or a ``.gltf`` with its buffer and pictures beside it; y up, in metres.

    An object that was read from glTF and has not changed is written as its file had it, with all it holds.
    Otherwise:
    Each part becomes a node and each clip an animation; vertices come out grouped by part. Motion is stored as
    moving nodes, bones or low-rank morph targets, whichever fits within ``tolerance`` of the object's size (the
    diagonal of its box). Joints, masses, materials and provenance travel in ``extras``; joints without
    a clip get an animation that plays them through their ranges.
    """
    if not 0.0 < tolerance < 1.0:
        raise NeurokError(f"tolerance must be a fraction of the object's size between 0 and 1, got {tolerance}.")
    if asset.materials is not None and len(asset.materials.ids) != asset.mesh.vertex_count:
        raise NeurokError(
            f"The materials are given for {len(asset.materials.ids)} vertices, the mesh has {asset.mesh.vertex_count}."
        )
    kept = _kept(asset, Path(path))
    if kept is not None:
        return kept
    source, path = asset.mesh, Path(path)
    asset = asset.in_frame()
    if asset.articulation is not None:
        asset = _with_joint_motion(asset)
    return _Writing(asset, source, tolerance).files(path)


def _kept(asset: Asset, path: Path) -> Files | None:
    """The file that the object came from, when it was glTF and nothing has changed since."""
    origin = asset.origin
    if origin is None or origin.format != FORMAT:
        return None
    numbers = origin.kept_clips(asset)
    if numbers is None:
        return None
    try:
        return kept_files(origin.content, None if numbers == origin.clip_numbers else numbers, path)
    except (NeurokError, *DAMAGE):  # parts of it that nothing shows are broken
        return None


def _with_joint_motion(asset: Asset) -> Asset:
    articulation = asset.articulation
    assert articulation is not None
    if len(articulation.joints) != asset.mesh.part_count:
        raise NeurokError(
            f"The object has {asset.mesh.part_count} parts, but {len(articulation.joints)} joints; they must match."
        )
    if asset.clips or not articulation.dof:
        return asset
    return replace(asset, clips=(articulation.clip(articulation.sweep(), name="joints"),))


class _Writing:
    """One pass over an object."""

    def __init__(self, asset: Asset, source: Mesh, tolerance: float) -> None:
        self.asset, self.source, self.mesh = asset, source, asset.mesh
        self.builder = Builder()
        ids = np.zeros(self.mesh.vertex_count, np.int64) if self.mesh.part_ids is None else self.mesh.part_ids
        order = np.argsort(ids, kind="stable")
        self.part_vertices = np.split(order, np.searchsorted(ids[order], np.arange(1, self.mesh.part_count)))
        self.rank = np.empty(len(order), np.int64)  # of each vertex inside its part
        for chosen in self.part_vertices:
            self.rank[chosen] = np.arange(len(chosen))
        face_order = np.argsort(self.mesh.face_parts, kind="stable")
        ends = np.searchsorted(self.mesh.face_parts[face_order], np.arange(1, self.mesh.part_count))
        self.part_faces = np.split(face_order, ends)
        allowed = tolerance * self.mesh.size if asset.clips else 0.0
        self.motions, self.bones = plan_motion(self.mesh, asset.clips, self.part_vertices, allowed, asset.articulation)
        self.vertices = self.mesh.vertices if self.bones is None else self.bones.vertices
        authored = self.mesh.authored
        self.uv_sets = () if authored is None or self.mesh.uv is None else authored.uv_sets
        self.normals, self.tangents = self._directions()

    def _directions(self) -> tuple[Float[np.ndarray, "V 3"] | None, Float[np.ndarray, "V 4"] | None]:
        """Normals and tangents as the author gave them, else smooth normals; none where the author gave none."""
        smooth = vertex_normals(self.vertices, self.mesh.faces).astype(np.float32)
        authored = self.mesh.authored
        if authored is None or not authored.belongs_to(self.mesh.vertices):
            return smooth, None
        if authored.normals is None:
            return None, None
        normals, tangents = authored.normals, authored.tangents
        if self.bones is not None:
            back = np.linalg.pinv(self.bones.resting_turns())
            normals = _unit(np.einsum("vij,vj->vi", back, normals))
            if tangents is not None:
                tangents = np.column_stack([_unit(np.einsum("vij,vj->vi", back, tangents[:, :3])), tangents[:, 3]])
        is_missing = np.abs(authored.normals).max(axis=1, keepdims=True) == 0
        return np.where(is_missing, smooth, normals).astype(np.float32), tangents

    def files(self, path: Path) -> Files:
        builder = self.builder
        materials = [self._material(surface) for surface in self._surfaces()]
        skin = 0 if self.bones is not None else None
        nodes = [self._part_node(part, materials, skin) for part in range(self.mesh.part_count)]
        roots = list(nodes)
        bone_nodes: list[int] = []
        if self.bones is not None:
            root, bone_nodes = self._skeleton(self.bones)
            roots.append(root)
        for number, clip in enumerate(self.asset.clips):
            self._animation(number, clip, nodes, bone_nodes)
        extras = {"neurok": scene_extras(self.asset, self.source, nodes)}
        builder.json["scene"] = builder.add("scenes", {"name": self.mesh.name, "nodes": roots, "extras": extras})
        return builder.files(path)

    def _surfaces(self) -> tuple[Surface, ...]:
        plain = Surface() if self.mesh.vertex_colors is None else Surface(base_color=(1.0, 1.0, 1.0, 1.0))
        return self.mesh.surfaces or (plain,)

    def _material(self, surface: Surface) -> int:
        finish = surface.whole_finish()
        if self.mesh.uv is None:
            finish = placed_finish(finish, None)
        elif not self.uv_sets:
            finish = placed_finish(finish, finish.base_placing)
        return self.builder.material(surface.name, finish)

    def _part_node(self, part: int, materials: list[int], skin: int | None) -> int:
        motion, chosen = self.motions[part], self.part_vertices[part]
        name = self.mesh.part_names[part] if self.mesh.part_names else self.mesh.name
        node: dict[str, Any] = {"name": name}
        if motion.pivot.any():
            node["translation"] = motion.pivot.tolist()
        primitives = self._primitives(part, chosen, motion, materials)
        if primitives:
            mesh: dict[str, Any] = {"name": name, "primitives": primitives}
            if motion.targets is not None:
                mesh["weights"] = [0.0] * len(motion.targets)
            node["mesh"] = self.builder.add("meshes", mesh)
            if skin is not None:
                node["skin"] = skin
        return self.builder.add("nodes", node)

    def _primitives(
        self, part: int, chosen: Int[np.ndarray, " N"], motion: PartMotion, materials: list[int]
    ) -> list[dict[str, Any]]:
        """The part's faces by surface, all over the same vertices."""
        mine = self.part_faces[part]
        if not len(mine):
            return []
        faces = self.rank[self.mesh.faces[mine]]
        kind = np.uint16 if len(chosen) < 65535 else np.uint32
        labels = np.zeros(len(mine), np.int64) if self.mesh.face_surfaces is None else self.mesh.face_surfaces[mine]
        attributes = self._attributes(chosen, motion)
        shapes = () if motion.targets is None else motion.targets
        targets = [{"POSITION": self.builder.morph_target(shape)} for shape in shapes]
        primitives = []
        for label in np.unique(labels):
            indices = self.builder.array(faces[labels == label].reshape(-1).astype(kind), ELEMENT_BUFFER)
            primitive: dict[str, Any] = {"attributes": attributes, "indices": indices, "material": materials[label]}
            primitives.append(primitive | ({"targets": targets} if targets else {}))
        return primitives

    def _attributes(self, chosen: Int[np.ndarray, " N"], motion: PartMotion) -> dict[str, int]:
        mesh, put = self.mesh, self.builder.array
        positions = (self.vertices[chosen] - motion.pivot).astype(np.float32)
        attributes = {"POSITION": put(positions, ARRAY_BUFFER, bounds=True)}
        if self.normals is not None:
            attributes["NORMAL"] = put(self.normals[chosen], ARRAY_BUFFER)
        if self.tangents is not None and self.tangents[chosen, 3].all():
            attributes["TANGENT"] = put(self.tangents[chosen].astype(np.float32), ARRAY_BUFFER)
        for number, uv_set in enumerate(self.uv_sets):
            attributes[f"TEXCOORD_{number}"] = put(uv_set[chosen], ARRAY_BUFFER)
        if mesh.uv is not None and not self.uv_sets:
            uv = np.column_stack([mesh.uv[chosen, 0], 1.0 - mesh.uv[chosen, 1]])
            attributes["TEXCOORD_0"] = put(uv.astype(np.float32), ARRAY_BUFFER)
        if mesh.vertex_colors is not None:
            attributes["COLOR_0"] = put(mesh.vertex_colors[chosen].clip(0.0, 1.0).astype(np.float32), ARRAY_BUFFER)
        if self.asset.materials is not None:
            for name, values in material_attributes(self.asset.materials, chosen).items():
                attributes[name] = put(values, ARRAY_BUFFER)
        if self.bones is not None:
            kind = np.uint8 if len(self.bones.pivots) <= 256 else np.uint16
            for start in range(0, self.bones.joints.shape[1], 4):
                block = (chosen, slice(start, start + 4))
                attributes[f"JOINTS_{start // 4}"] = put(self.bones.joints[block].astype(kind), ARRAY_BUFFER)
                attributes[f"WEIGHTS_{start // 4}"] = put(self.bones.weights[block], ARRAY_BUFFER)
        return attributes

    def _skeleton(self, bones: BoneMotion) -> tuple[int, list[int]]:
        """The bones' nodes, at rest, each under the one that carries it or the root, and the skin that binds them."""
        builder = self.builder
        turned, moved = rotation_and_place(bones.against_carriers(bones.rest[None])[0])
        nodes: dict[int, int] = {}
        for bone in reversed(bones.order()):
            node: dict[str, Any] = {"name": bones.names[bone], "translation": moved[bone].tolist()}
            if not np.array_equal(turned[bone], NO_TURN):
                node["rotation"] = turned[bone].tolist()
            if held := np.flatnonzero(bones.parents == bone).tolist():
                node["children"] = [nodes[other] for other in held]
            nodes[bone] = builder.add("nodes", node)
        tops = [nodes[bone] for bone in np.flatnonzero(bones.parents < 0).tolist()]
        root = builder.add("nodes", {"name": "bones", "children": tops})
        joints = [nodes[bone] for bone in range(len(bones.names))]
        bind = lie.translation(-bones.pivots).swapaxes(1, 2).reshape(-1, 16).astype(np.float32)
        builder.add("skins", {"joints": joints, "inverseBindMatrices": builder.array(bind), "skeleton": root})
        return root, joints

    def _animation(self, number: int, clip: Clip, nodes: list[int], bone_nodes: list[int]) -> None:
        tracks = _Tracks(self.builder, clip)
        for node, motion in zip(nodes, self.motions, strict=True):
            if motion.transforms:
                tracks.rigid(node, motion.transforms[number], motion.pivot)
            if motion.targets is not None:
                tracks.put(node, "weights", motion.weights[number], np.zeros(len(motion.targets)))
        if self.bones is not None:
            rest = self.bones.against_carriers(self.bones.rest[None])[0]
            stands = self.bones.against_carriers(self.bones.transforms[number])
            for handle, node in enumerate(bone_nodes):
                tracks.placed(node, stands[:, handle], rest[handle])
        tracks.finish(nodes[0])


class _Tracks:
    """The animated quantities of one clip; what never leaves its rest value is left out."""

    def __init__(self, builder: Builder, clip: Clip) -> None:
        self.builder, self.clip = builder, clip
        self.times = (np.arange(clip.frame_count) / clip.fps).astype(np.float32)
        self.channels: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self.is_full = False

    def rigid(self, node: int, transforms: Float[np.ndarray, "T 4 4"], pivot: Float[np.ndarray, "3"]) -> None:
        """A node at ``pivot`` that follows ``transforms``."""
        there = lie.translation(pivot)
        self.placed(node, transforms @ there, there)

    def placed(self, node: int, frames: Float[np.ndarray, "T 4 4"], rest: Float[np.ndarray, "4 4"]) -> None:
        """A node that stands at ``frames``, and at ``rest`` when no animation plays."""
        turned, moved = rotation_and_place(frames)
        rest_turned, rest_moved = rotation_and_place(rest[None])
        flips = np.cumprod(np.where((turned[1:] * turned[:-1]).sum(axis=1) < 0, -1.0, 1.0))
        turned[1:] *= flips[:, None]
        self.put(node, "rotation", turned, rest_turned[0])
        self.put(node, "translation", moved, rest_moved[0])

    def put(self, node: int, path: str, values: Float[np.ndarray, "T C"], rest: Float[np.ndarray, " C"]) -> None:
        """One channel, if it does anything."""
        size = np.abs(rest).max(initial=1.0)
        if np.abs(values - rest).max() <= 1e-7 * size:
            return
        constant = np.abs(values - values[0]).max() <= 1e-7 * size
        self.is_full |= not constant
        self._channel(node, path, self.times[:1] if constant else self.times, values[:1] if constant else values)

    def _channel(self, node: int, path: str, times: np.ndarray, values: np.ndarray) -> None:
        flat = values.astype(np.float32)
        output = self.builder.array(flat.reshape(-1) if path == "weights" else flat)
        self.samplers.append({"input": self.builder.array(times, bounds=True), "output": output})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    def finish(self, node: int) -> None:
        """Add the animation to the file; one in which nothing moves still lasts as long as its clip."""
        if not self.is_full:
            times = self.times[[0, -1]] if len(self.times) > 1 else self.times
            self._channel(node, "scale", times, np.ones((len(times), 3)))
        timing = {"fps": self.clip.fps, "frames": self.clip.frame_count}
        record = {"name": self.clip.name, "channels": self.channels, "samplers": self.samplers}
        self.builder.add("animations", record | {"extras": {"neurok": timing}})


def rotation_and_place(frames: Float[np.ndarray, "N 4 4"]) -> tuple[Float[np.ndarray, "N 4"], Float[np.ndarray, "N 3"]]:
    """Rotation (x, y, z, w) and translation of nodes that stand so."""
    return np.roll(lie.matrix_to_quaternion(frames[:, :3, :3]), -1, axis=1), frames[:, :3, 3]


def _unit(vectors: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def kept_files(doc: Document, animations: tuple[int, ...] | None, path: Path) -> Files:
    """The file as ``path``, with all animations or those numbered."""
    record: Record = json.loads(json.dumps(doc.json, allow_nan=False))
    if animations is not None:
        record["animations"] = [record["animations"][number] for number in animations]
        if not animations:
            del record["animations"]
    record.pop("buffers", None)
    builder = Builder(record)
    views = record.pop("bufferViews", [])
    for index, view in enumerate(views):
        builder.keep_view(bytes(_view_data(doc, index)), view)
    for index, image in enumerate(record.get("images", [])):
        uri = image.pop("uri", None)
        if uri is not None:
            data = doc.uri_bytes(uri)
            image |= {"bufferView": builder.keep_view(data, {}), "mimeType": mime_of(data) or image.get("mimeType")}
            image.setdefault("name", f"image_{index}" if uri.startswith("data:") else uri)
    _mend_skeletons(doc, record)
    _mend_coordinates(record)
    _mend_extensions(record)
    return builder.files(path)


def _view_data(doc: Document, index: int) -> memoryview:
    data, start, length, _ = doc.view(index)
    return memoryview(data)[start : start + length]


def _mend_skeletons(doc: Document, record: Record) -> None:
    """Leave out the root of a skin where it is none; the format needs it nowhere."""
    parents = node_tree(doc).parents
    for skin in record.get("skins", []):
        root = skin.get("skeleton")
        if root is not None and not all(_hangs_on(joint, root, parents) for joint in skin.get("joints", [])):
            del skin["skeleton"]


def _hangs_on(node: int, root: int, parents: dict[int, int]) -> bool:
    while node != root:
        if node not in parents:
            return False
        node = parents[node]
    return True


def _mend_coordinates(record: Record) -> None:
    """Give primitives the texture coordinates that their material asks for and they lack: zeros, without data."""
    materials = record.get("materials", [])
    wanted = [{_uv_set(info) for info in texture_infos(material)} for material in materials]
    for mesh in record.get("meshes", []):
        for primitive in mesh.get("primitives", []):
            attributes = primitive.get("attributes", {})
            missing = {
                f"TEXCOORD_{number}"
                for used in ([wanted[primitive["material"]]] if "material" in primitive else [])
                for number in range(max(used, default=-1) + 1)
            } - set(attributes)
            if not missing or "POSITION" not in attributes:
                continue
            count = record["accessors"][attributes["POSITION"]]["count"]
            zeros: dict[str, Any] = {"componentType": 5126, "count": count, "type": "VEC2"}
            record["accessors"].append(zeros)
            attributes |= dict.fromkeys(sorted(missing), len(record["accessors"]) - 1)


def _uv_set(info: Record) -> int:
    settings = info.get("extensions", {}).get("KHR_texture_transform", {})
    return int(settings.get("texCoord", info.get("texCoord", 0)))


def _mend_extensions(record: Record) -> None:
    """Name every extension that is used."""
    used = {*record.get("extensionsUsed", ()), *extension_names(record), *record.get("extensionsRequired", ())}
    record["extensionsUsed"] = sorted(used)
    if not used:
        del record["extensionsUsed"]
