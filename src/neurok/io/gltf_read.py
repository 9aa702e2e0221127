"""GLB and glTF files to an object: every node that shows a mesh is a part, every animation is a clip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Articulation, Asset, Authored, Clip, MaterialField, Mesh
from neurok.core.asset import Origin
from neurok.errors import FormatError, NeurokError
from neurok.io.files import unique_names
from neurok.io.gltf_document import Document, Record, open_document, unpack_meshes, unpack_views
from neurok.io.gltf_geometry import (
    PLAIN,
    POINTS_AND_LINES,
    UNSAID,
    VERSION,
    Appearance,
    GeometryReader,
    filled,
    filled_sets,
    joined,
    merge,
    read_appearances,
    shifted,
    unpack_articulation,
    unpack_materials,
)
from neurok.io.gltf_scene import (
    MAX_FRAMES,
    PartSource,
    Track,
    Tree,
    Worlds,
    bake,
    find_skin,
    frame_times,
    instances,
    local_matrices,
    node_tree,
    part_source,
    posed_matrices,
    read_tracks,
    repeated,
    world_matrices,
)

FORMAT = "glTF"
UNDERSTOOD = ("KHR_mesh_quantization", "EXT_texture_webp", "EXT_mesh_gpu_instancing", "KHR_node_visibility", "MSFT_lod")
"""Extensions that change what is read, beside those of materials, which are kept as they are."""

MAX_CORNERS = 60_000_000
"""Vertices, or corners of faces, that all parts of a scene may have together."""

COPIED_CORNERS = 12_000_000
"""The same for files that hold fewer bytes than that: their corners are copies of few, shown by many nodes."""

FRAME_BUDGET = 40_000_000
"""Vertices times frames that all clips of a file may have together; longer clips get a lower rate."""

DAMAGE = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError)
"""What a JSON value of the wrong kind can cause anywhere below."""


def read(path: Path) -> Asset:
    """The object in a ``.glb`` or ``.gltf`` file; y is up and the unit is the metre, as glTF says.

    The mesh is the file's default pose. Clips run at the even rate of their key frames, or at 24 frames a second.

    Raises:
        FormatError: If the file is damaged, refers to a missing file or one outside its folder.
        MeshError: If it holds no triangle, NaN positions or indices out of range.
    """
    return _guarded(Path(path), None)


def read_packed(data: bytes, path: Path) -> Asset:
    """The object in the bytes of a GLB that another reader made of the file at ``path``."""
    return _guarded(Path(path), data)


def _guarded(path: Path, data: bytes | None) -> Asset:
    try:
        with np.errstate(all="ignore"):
            doc = open_document(path, data)
            unpack_views(doc)
            unpack_meshes(doc)
            return _Reading(doc).asset()
    except NeurokError:
        raise
    except DAMAGE as error:
        reason = f"the entry {error} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise FormatError(f"'{path}' is not valid glTF: {reason.rstrip('.')}. Export it again.") from error


class _Reading:
    """One pass over a document."""

    def __init__(self, doc: Document) -> None:
        self.doc = doc
        self.notes: dict[str, None] = {}
        self.extras = self._neurok_extras()
        self.locals = local_matrices(doc)
        self.clip_numbers: list[int] = []

    def asset(self) -> Asset:
        tree, nodes = node_tree(self.doc), self.doc.items("nodes")
        appearances = read_appearances(self.doc, self.notes)
        parts = self._parts(tree, appearances)
        worlds = world_matrices(tree, self.locals)
        mesh = self._mesh(parts, worlds, appearances)
        clips = self._clips(parts, tree, worlds, mesh)
        articulation = self._articulation(mesh)
        provenance = self.extras.get("provenance", {})
        if not isinstance(provenance, dict):
            provenance = {}
        for name in self.doc.json.get("extensionsRequired", []):
            if name not in UNDERSTOOD and not str(name).startswith(("KHR_materials_", "KHR_texture_")):
                self.notes[f"The file asks for the extension '{name}', which is ignored."] = None
        asset = Asset(
            mesh,
            clips,
            articulation,
            self._materials(parts),
            provenance={str(k): str(v) for k, v in provenance.items()},
            notes=tuple(self.notes),
            nodes=() if self.extras else tuple(self._names_above(tree, part.node, part.name) for part in parts),
            left_out=tuple(
                f"{self._part_name(nodes[index], index)} ({why})"
                for index, why in tree.left_out.items()
                if "mesh" in nodes[index]
            ),
        )
        return replace(asset, origin=Origin(FORMAT, self.doc, asset, tuple(self.clip_numbers), self._more(tree)))

    def _names_above(self, tree: Tree, node: int, name: str) -> tuple[str, ...]:
        """The names of a node and those above it; its own is that of its part where the file gives none."""
        nodes, found = self.doc.items("nodes"), [str(self.doc.items("nodes")[node].get("name") or name)]
        while node in tree.parents:
            node = tree.parents[node]
            found.append(str(nodes[node].get("name") or f"node_{node}"))
        return tuple(reversed(found))

    def _more(self, tree: Tree) -> tuple[str, ...]:
        """What the file has and a mesh with clips does not say."""
        nodes, json = self.doc.items("nodes"), self.doc.json
        extensions = {*json.get("extensionsUsed", ())}
        found = {
            "cameras": "cameras" in json,
            "lights": "KHR_lights_punctual" in extensions,
            "material variants": "KHR_materials_variants" in extensions,
            "the node hierarchy": any("mesh" in nodes[child] for child in tree.parents),
            "other scenes": len(self.doc.items("scenes")) > 1,
            "instances": "EXT_mesh_gpu_instancing" in extensions,
            "animations of properties": "KHR_animation_pointer" in extensions,
            "points and lines": POINTS_AND_LINES in self.notes,
        }
        return tuple(name for name, is_there in found.items() if is_there)

    def _neurok_extras(self) -> Record:
        scenes = self.doc.items("scenes")
        extras = self.doc.item("scenes", self.doc.json.get("scene", 0)).get("extras") if scenes else None
        found = extras.get("neurok") if isinstance(extras, dict) else None
        if found is None:
            return {}
        if not isinstance(found, dict) or found.get("version") != VERSION:
            self.notes["The file has neurok data of another version, which is ignored."] = None
            return {}
        return found

    def _parts(self, tree: Tree, appearances: list[Appearance]) -> list[PartSource]:
        reader = GeometryReader(self.doc, appearances, self.notes)
        nodes = self.doc.items("nodes")
        shown = [n for n in tree.visible if "mesh" in nodes[n]]
        listed: Any = self.extras.get("parts")
        is_list = isinstance(listed, list) and all(isinstance(entry, int) for entry in listed)
        if is_list and set(shown) <= set(listed) <= set(range(len(nodes))):
            shown = list(dict.fromkeys(listed))
        names = unique_names(self._part_name(nodes[index], place) for place, index in enumerate(shown))
        shapes = [reader.mesh(nodes[index]["mesh"]) if "mesh" in nodes[index] else merge([]) for index in shown]
        copies = [instances(self.doc, nodes[index]) for index in shown]
        corners = sum(
            max(len(shape.vertices), 3 * len(shape.faces)) * (1 if places is None else len(places))
            for shape, places in zip(shapes, copies, strict=True)
        )
        room = min(MAX_CORNERS, max(COPIED_CORNERS, self.doc.byte_count))
        if corners > room:
            raise FormatError(
                f"'{self.doc.path}' shows {corners:,} corners; at most {room:,} are read. Simplify it first."
            )
        shapes = [shape if places is None else repeated(shape, places) for shape, places in zip(shapes, copies)]
        return [part_source(self.doc, *entry) for entry in zip(shown, names, shapes, strict=True)]

    def _part_name(self, node: Record, place: int) -> str:
        fallback = self.doc.item("meshes", node["mesh"]).get("name") if "mesh" in node else None
        return str(node.get("name") or fallback or f"part_{place}")

    def _mesh(self, parts: list[PartSource], worlds: Worlds, appearances: list[Appearance]) -> Mesh:
        blocks = [part.geometry for part in parts] or [merge([])]
        counts = [len(block.vertices) for block in blocks]
        placed = [part.positions(worlds, {})[0] for part in parts] or [blocks[0].vertices]
        faces = [
            part.geometry.faces[:, ::-1] if part.is_mirrored(worlds) else part.geometry.faces for part in parts
        ] or [blocks[0].faces]
        runs = [run for block in blocks for run in block.appearances]
        used = sorted({appearance for appearance, _ in runs})
        labels = (
            np.repeat([used.index(appearance) for appearance, _ in runs], [n for _, n in runs])
            if len(used) > 1
            else None
        )
        name = self.extras.get("name")
        vertices = np.ascontiguousarray(joined(placed), dtype=np.float64)
        return Mesh(
            vertices,
            shifted(faces, counts),
            filled([block.uv for block in blocks], counts, 0.0),
            filled([block.colors for block in blocks], counts, 1.0),
            np.repeat(np.arange(len(blocks)), counts),
            tuple(part.name for part in parts) or ("part_0",),
            tuple((*appearances, PLAIN)[appearance].surface for appearance in used),
            labels,
            name=name if isinstance(name, str) else self.doc.path.stem,
            authored=self._authored(parts, worlds, vertices, counts),
        )

    def _authored(self, parts: list[PartSource], worlds: Worlds, vertices: np.ndarray, counts: list[int]) -> Authored:
        """What the file says of each vertex beyond its place."""
        given = [part.authored(worlds) for part in parts] or [(None, None)]
        return Authored(
            vertices,
            filled([normals for normals, _ in given], counts, 0.0),
            filled([tangents for _, tangents in given], counts, 0.0),
            filled_sets([part.geometry.uv_sets for part in parts] or [()], counts),
        )

    def _clips(self, parts: list[PartSource], tree: Tree, worlds: Worlds, mesh: Mesh) -> tuple[Clip, ...]:
        animations = self._animations()
        if not animations:
            return ()
        room = FRAME_BUDGET // (mesh.vertex_count + 8 * len(worlds))
        if len(animations) > room // 2:
            self.notes[f"Only {room // 2} of {len(animations)} animations are read: they hold too many frames."] = None
            animations = dict(list(animations.items())[: room // 2])
            del self.clip_numbers[len(animations) :]
        wanted = sum(len(frame_times(tracks, MAX_FRAMES, stored)[0]) for tracks, stored in animations.values())
        limit = MAX_FRAMES if wanted <= room else min(MAX_FRAMES, room // len(animations))
        size = float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
        clips = []
        for name, (tracks, stored) in animations.items():
            times, fps, lowered = frame_times(tracks, limit, stored)
            if lowered:
                self.notes[f"Clip '{name}' is very long; it is read at {fps:.3g} frames a second."] = None
            clips.append(self._clip(name, tracks, times, fps, parts, tree, worlds, mesh, size))
        return tuple(clips)

    def _animations(self) -> dict[str, tuple[list[Track], tuple[float, int] | None]]:
        """Tracks and stored rate of every animation that moves something, by a name of its own."""
        found: dict[str, tuple[list[Track], tuple[float, int] | None]] = {}
        self.clip_numbers.clear()
        animations = self.doc.items("animations")
        names = unique_names(str(a.get("name") or f"animation_{index}") for index, a in enumerate(animations))
        for number, (name, animation) in enumerate(zip(names, animations, strict=True)):
            tracks = read_tracks(self.doc, animation)
            if tracks:
                self.clip_numbers.append(number)
                found[name] = (tracks, _stored_rate(animation))
            else:
                self.notes[f"Animation '{name}' moves no node and is left out."] = None
        return found

    def _clip(
        self,
        name: str,
        tracks: list[Track],
        times: np.ndarray,
        fps: float,
        parts: list[PartSource],
        tree: Tree,
        rest_worlds: Worlds,
        mesh: Mesh,
        size: float,
    ) -> Clip:
        poses: dict[int, dict[str, np.ndarray]] = {}
        morph: dict[int, np.ndarray] = {}
        for track in tracks:
            if track.path == "weights":
                morph[track.node] = track.at(times)
            else:
                poses.setdefault(track.node, {})[track.path] = track.at(times)
        worlds = world_matrices(tree, posed_matrices(self.doc, self.locals, poses, len(times)))
        if not all(np.isfinite(moving).all() for moving in (*worlds, *morph.values())):
            raise FormatError(f"Animation '{name}' of '{self.doc.path}' has NaN or infinite values. Export it again.")
        skin = find_skin(parts, mesh.vertices, rest_worlds, worlds, len(times), morph, size)
        return Clip.deferred(mesh, lambda: bake(parts, worlds, len(times), morph), len(times), fps, name, skin)

    def _materials(self, parts: list[PartSource]) -> MaterialField | None:
        packed = self.extras.get("materials")
        blocks = [part.geometry for part in parts]
        columns = filled([block.materials for block in blocks], [len(block.vertices) for block in blocks], UNSAID)
        if packed is None or columns is None:
            return None
        try:
            return unpack_materials(packed, columns)
        except (NeurokError, *DAMAGE) as error:
            self.notes[f"The materials stored in the file are damaged and are ignored ({error})."] = None
            return None

    def _articulation(self, mesh: Mesh) -> Articulation | None:
        packed = self.extras.get("articulation")
        if packed is None:
            return None
        try:
            return unpack_articulation(packed, mesh)
        except (NeurokError, *DAMAGE) as error:
            self.notes[f"The joints stored in the file are damaged and are ignored ({error})."] = None
            return None


def _stored_rate(animation: Record) -> tuple[float, int] | None:
    """Rate and frame count that neurok stored, if they make sense."""
    extras: Any = animation.get("extras")
    found = extras.get("neurok") if isinstance(extras, dict) else None
    if not isinstance(found, dict):
        return None
    fps, frames = found.get("fps"), found.get("frames")
    if not isinstance(fps, int | float) or not isinstance(frames, int):
        return None
    return (float(fps), frames) if 1e-3 < fps < 1e6 and 1 <= frames <= MAX_FRAMES else None
