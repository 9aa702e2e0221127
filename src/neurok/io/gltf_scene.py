"""The scene of a glTF file: its node tree, key frames, parts over time, and the handles behind a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.core import Bind, Skin
from neurok.core.surface import numbers
from neurok.geometry import lie
from neurok.io.gltf_document import Document, Record, natural
from neurok.io.gltf_geometry import Geometry, merge

Poses = Mapping[int, Mapping[str, np.ndarray]]
"""Animated ``translation``, ``rotation`` (x, y, z, w) and ``scale`` by node, each ``(T, n)``."""

REST = (("translation", (0.0, 0.0, 0.0)), ("rotation", (0.0, 0.0, 0.0, 1.0)), ("scale", (1.0, 1.0, 1.0)))
"""What a node is by default."""


@dataclass(frozen=True)
class Tree:
    """Who hangs on whom."""

    parents: dict[int, int]
    order: tuple[int, ...]
    """All nodes, parents first."""

    visible: tuple[int, ...]
    """Nodes of the scene, depth first, as the file lists them."""

    left_out: Mapping[int, str]
    """Nodes of the scene that are hidden (KHR_node_visibility) or coarser levels of detail (MSFT_lod), and which."""


def node_tree(doc: Document) -> Tree:
    """The tree of the file's nodes; a node with two parents or one that is its own ancestor is an error."""
    nodes = doc.items("nodes")
    children = [_children(doc, node) for node in nodes]
    parents: dict[int, int] = {}
    for index, below in enumerate(children):
        for child in below:
            if child in parents:
                raise doc.error(f"node {child} has two parents")
            parents[child] = index
    roots = [i for i in range(len(nodes)) if i not in parents]
    order = _depth_first(roots, children)
    if len(order) != len(nodes):
        raise doc.error("its nodes form a cycle")
    coarse = {index for node in nodes for index in node.get("extensions", {}).get("MSFT_lod", {}).get("ids", ())}
    why: dict[int, str] = {}
    for index in order:
        own = "hidden" if _is_hidden(nodes[index]) else "coarser" if index in coarse else ""
        if reason := own or why.get(parents.get(index, -1)):
            why[index] = reason
    scene = _depth_first(_scene_roots(doc, roots), children)
    left_out = {index: why[index] for index in scene if index in why}
    return Tree(parents, tuple(order), tuple(index for index in scene if index not in why), left_out)


def _is_hidden(node: Record) -> bool:
    """Whether a node, and all below it, is invisible at rest (KHR_node_visibility)."""
    return node.get("extensions", {}).get("KHR_node_visibility", {}).get("visible") is False


def _children(doc: Document, node: Record) -> list[int]:
    below = node.get("children", [])
    for child in below:
        doc.item("nodes", child)
    return list(below)


def _scene_roots(doc: Document, roots: list[int]) -> list[int]:
    if not doc.items("scenes"):
        return roots
    listed = doc.item("scenes", doc.json.get("scene", 0)).get("nodes", [])
    for index in listed:
        doc.item("nodes", index)
    return list(dict.fromkeys(listed))


def _depth_first(roots: list[int], children: list[list[int]]) -> list[int]:
    order: dict[int, None] = {}
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node not in order:
            order[node] = None
            stack.extend(reversed(children[node]))
    return list(order)


def local_matrices(doc: Document) -> list[np.ndarray]:
    """Parent-from-node transform of every node as the file stores it."""
    nodes = doc.items("nodes")
    if not nodes:
        return []
    placed = transform_matrices(*(np.stack([numbers(node, key, rest) for node in nodes]) for key, rest in REST))
    identity = tuple(np.eye(4).reshape(-1))
    return [
        numbers(node, "matrix", identity).reshape(4, 4).T if "matrix" in node else placed[index]
        for index, node in enumerate(nodes)
    ]


def posed_matrices(doc: Document, rest: list[np.ndarray], poses: Poses, frame_count: int) -> list[np.ndarray]:
    """The same over time: ``(T, 4, 4)`` for animated nodes; what their tracks leave out stays as stored."""
    if not poses:
        return rest
    nodes = doc.items("nodes")
    values = []
    for key, default in REST:
        rows = [poses[index].get(key, numbers(nodes[index], key, default)) for index in poses]
        values.append(np.stack([np.broadcast_to(row, (frame_count, len(default))) for row in rows]))
    posed = list(rest)
    for index, matrices in zip(poses, transform_matrices(*values), strict=True):
        posed[index] = matrices
    return posed


def world_matrices(tree: Tree, locals_: list[np.ndarray]) -> list[np.ndarray]:
    """World-from-node transform of every node: ``(T, 4, 4)`` where it or an ancestor moves, else ``(4, 4)``."""
    worlds = list(locals_)
    for index in tree.order:
        if index in tree.parents:
            worlds[index] = worlds[tree.parents[index]] @ worlds[index]
    return worlds


def transform_matrices(
    moved: Float[np.ndarray, "*T 3"], turned: Float[np.ndarray, "*T 4"], scaled: Float[np.ndarray, "*T 3"]
) -> Float[np.ndarray, "*T 4 4"]:
    """Translation, rotation (x, y, z, w) and scale as matrices; a quaternion of zeros turns nothing."""
    length = np.linalg.norm(turned, axis=-1, keepdims=True)
    turned = np.where(length > 1e-12, turned, np.array([0.0, 0.0, 0.0, 1.0]))
    return lie.compose(lie.quaternion_to_matrix(np.roll(turned, 1, axis=-1)) * scaled[..., None, :], moved)


INSTANCED = {"translation": "TRANSLATION", "rotation": "ROTATION", "scale": "SCALE"}


def instances(doc: Document, node: Record) -> Float[np.ndarray, "N 4 4"] | None:
    """Where a node shows its mesh, in its own frame; none when it shows it once, as usual."""
    found = node.get("extensions", {}).get("EXT_mesh_gpu_instancing")
    if found is None or "mesh" not in node:
        return None
    given = {name: doc.array(found["attributes"][key]) for name, key in INSTANCED.items() if key in found["attributes"]}
    counts = {len(values) for values in given.values()}
    if len(counts) != 1:
        raise doc.error(f"the instances of a node have {sorted(counts) or 'no'} places")
    count = counts.pop()
    columns = []
    for name, rest in REST:
        values = given.get(name, np.broadcast_to(np.array(rest), (count, len(rest)))).astype(np.float64)
        if values.shape != (count, len(rest)) or not np.isfinite(values).all():
            raise doc.error(f"the instances of a node have a damaged {name}")
        columns.append(values)
    return transform_matrices(*columns)


def repeated(shape: Geometry, places: Float[np.ndarray, "N 4 4"]) -> Geometry:
    """The mesh at every place, as one; copies have no normals of their own where they are stretched."""
    return merge([_placed(shape, place) for place in places])


def _placed(shape: Geometry, place: Float[np.ndarray, "4 4"]) -> Geometry:
    linear = place[:3, :3]
    scale = np.cbrt(abs(np.linalg.det(linear))) or 1.0
    is_even = np.allclose(linear @ linear.T, np.eye(3) * scale**2, atol=1e-5 * scale**2)
    normals = None if shape.normals is None or not is_even else shape.normals @ (linear / scale).T
    is_mirrored = np.linalg.det(linear) < 0
    return replace(
        shape,
        vertices=lie.apply(place, shape.vertices.astype(np.float64)),
        faces=shape.faces[:, ::-1] if is_mirrored else shape.faces,
        normals=normals,
        tangents=None,
        targets=None if shape.targets is None else shape.targets @ linear.T.astype(np.float32),
    )


DEFAULT_FPS = 24.0
"""Used when the key frames of a file follow no even rate."""

MAX_FPS = 120.0
MAX_FRAMES = 3000
WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
STEP_SLACK = 1e-5
"""Seconds by which a frame may come before a step and still see it; key times are stored in single precision."""


@dataclass(frozen=True, eq=False)
class Track:
    """One animated quantity of one node."""

    node: int
    path: str
    times: Float[np.ndarray, " N"]
    values: Float[np.ndarray, "N C"]
    """``(N, 3, C)`` for cubic splines: in-tangent, value, out-tangent."""

    interpolation: str

    def at(self, times: Float[np.ndarray, " T"]) -> Float[np.ndarray, "T C"]:
        """The value at each time; held before the first and after the last key."""
        if self.interpolation == "STEP" or len(self.times) == 1:
            keys = self.values[:, 1] if self.interpolation == "CUBICSPLINE" else self.values
            index = np.searchsorted(self.times, times + STEP_SLACK, side="right") - 1
            return keys[index.clip(0, len(self.times) - 1)]
        left = (np.searchsorted(self.times, times, side="right") - 1).clip(0, len(self.times) - 2)
        step = self.times[left + 1] - self.times[left]
        u = ((times - self.times[left]) / np.where(step > 0, step, 1.0)).clip(0.0, 1.0)[:, None]
        if self.interpolation == "CUBICSPLINE":
            return self._spline(left, step[:, None], u)
        if self.path == "rotation":
            return lie.slerp(self.values[left], self.values[left + 1], u)
        return (1.0 - u) * self.values[left] + u * self.values[left + 1]

    def _spline(self, left: np.ndarray, step: np.ndarray, u: np.ndarray) -> Float[np.ndarray, "T C"]:
        """Hermite cubic; a rotation is normalised by whoever uses it."""
        start, end = self.values[left, 1], self.values[left + 1, 1]
        leaving, arriving = step * self.values[left, 2], step * self.values[left + 1, 0]
        return (
            (2 * u**3 - 3 * u**2 + 1) * start
            + (u**3 - 2 * u**2 + u) * leaving
            + (-2 * u**3 + 3 * u**2) * end
            + (u**3 - u**2) * arriving
        )


def read_tracks(doc: Document, animation: Record) -> list[Track]:
    """All tracks that move a node of the file."""
    samplers = animation.get("samplers", [])
    tracks = []
    for channel in animation.get("channels", []):
        target = channel["target"]
        if "node" not in target or target["path"] not in (*WIDTHS, "weights"):
            continue
        index = natural(channel, "sampler")
        if index >= len(samplers):
            raise doc.error(f"an animation refers to sampler {index} of {len(samplers)}")
        doc.item("nodes", target["node"])
        tracks.append(_track(doc, target["node"], target["path"], samplers[index]))
    return tracks


def _track(doc: Document, node: int, path: str, sampler: Record) -> Track:
    times = doc.array(sampler["input"])[:, 0].astype(np.float64)
    values = doc.array(sampler["output"]).astype(np.float64)
    kind = sampler.get("interpolation", "LINEAR")
    if kind not in ("STEP", "LINEAR", "CUBICSPLINE"):
        raise doc.error(f"an animation has the unknown interpolation {kind!r}")
    if not len(times) or not np.isfinite(times).all() or (np.diff(times) < 0).any():
        raise doc.error("the key times of an animation must be finite and must not go back")
    keys = (len(times), 3) if kind == "CUBICSPLINE" else (len(times),)
    width = WIDTHS.get(path) or values.size // int(np.prod(keys))
    if values.size != int(np.prod(keys)) * width or not width:
        raise doc.error(f"an animation has {values.size} numbers for {len(times)} keys of a {path}")
    return Track(node, path, times, values.reshape(*keys, width), kind)


def frame_times(
    tracks: list[Track], max_frames: int, stored: tuple[float, int] | None = None
) -> tuple[Float[np.ndarray, " T"], float, bool]:
    """Even times from the first key to the last, their rate, and whether the rate had to be lowered.

    Where all keys lie on an even grid, the rate is that of the grid (or its smallest multiple from 24 on), so every
    key is met exactly; otherwise it is 24. ``stored`` (rate and frame count) is what neurok wrote itself.
    """
    keys = np.unique(np.concatenate([track.times for track in tracks]))
    if stored is not None and stored[1] <= max_frames:
        return keys[0] + np.arange(stored[1]) / stored[0], stored[0], False
    span = float(keys[-1] - keys[0])
    if span <= 0.0:
        return keys[:1], DEFAULT_FPS, False
    fps = _even_rate(keys)
    count = int(np.ceil(min(span * fps, 1e9) - 1e-3)) + 1
    if count > max_frames:
        count = max(2, max_frames)
        return np.linspace(keys[0], keys[-1], count), (count - 1) / span, True
    return keys[0] + np.arange(count) / fps, fps, False


def _even_rate(keys: Float[np.ndarray, " N"]) -> float:
    steps = np.diff(keys)
    steps = steps[steps > 1e-4]
    if not len(steps):
        return DEFAULT_FPS
    rate = 1.0 / float(steps.min())
    rate *= max(1.0, float(np.ceil(DEFAULT_FPS / rate - 1e-3)))
    if abs(rate - round(rate)) < 1e-2 * rate:
        rate = float(round(rate))
    ticks = (keys - keys[0]) * rate
    return rate if rate <= MAX_FPS and np.abs(ticks - np.round(ticks)).max() < 0.01 else DEFAULT_FPS


Worlds = list[np.ndarray]
"""World-from-node transforms, ``(4, 4)`` or ``(T, 4, 4)``."""

BLOCK_ROWS = 1_000_000
"""Vertices times frames that are placed at once in double precision."""

UNIT_SLACK = 5e-4
"""Vectors this near to unit length are kept as they are: files store rounded numbers."""


@dataclass(frozen=True, eq=False)
class PartSource:
    """A node that shows a mesh."""

    node: int
    name: str
    geometry: Geometry
    morph: Float[np.ndarray, " K"]
    """Morph weights at rest."""

    joints: tuple[int, ...] = ()
    """Nodes of the skin."""

    bind: Float[np.ndarray, "J 4 4"] | None = None
    """Inverse bind matrices."""

    def positions(self, worlds: Worlds, morph: Mapping[int, np.ndarray]) -> Float[np.ndarray, "T V 3"]:
        """World positions of the part's vertices; one frame when nothing about it moves."""
        weights = morph.get(self.node, self.morph[None])
        shape = self.geometry.vertices.astype(np.float64)[None]
        if self.geometry.targets is not None and weights.any():
            targets = self.geometry.targets
            used = min(len(targets), weights.shape[1])
            shape = shape + np.tensordot(weights[:, :used], targets[:used], axes=1)
        if self.joints:
            return self._skinned(shape, self.joint_matrices(worlds))
        world = worlds[self.node]
        if world.ndim == 2 and np.array_equal(world, np.eye(4)):
            return shape
        return lie.apply(world, shape)

    def authored(self, worlds: Worlds) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Normals and tangents at rest in the scene, rows of zeros where none are known; none if there are none."""
        normals, tangents = self.geometry.normals, self.geometry.tangents
        if normals is None or (self.geometry.targets is not None and self.morph.any()):
            return None, None
        if self.joints:
            linear = self.joint_matrices(worlds)[0][:, :3, :3].reshape(-1, 9)
            each = (self.weight_matrix() @ linear).reshape(-1, 3, 3)
        else:
            each = worlds[self.node][:3, :3]
        turned = None
        if tangents is not None:
            turned = np.column_stack([_directions(each, tangents[:, :3]), tangents[:, 3]])
            turned[~turned[:, :3].any(axis=1)] = 0.0
        with np.errstate(all="ignore"):
            upright = np.linalg.pinv(each).swapaxes(-1, -2) if np.abs(np.linalg.det(each)).min() > 0 else each
        return _directions(upright, normals), turned

    def joint_matrices(self, worlds: Worlds) -> Float[np.ndarray, "T J 4 4"]:
        """World-from-mesh transform of each joint."""
        assert self.bind is not None
        moving = [worlds[j] @ self.bind[k] for k, j in enumerate(self.joints)]
        frames = max((len(m) for m in moving if m.ndim == 3), default=1)
        return np.stack([np.broadcast_to(m, (frames, 4, 4)) for m in moving], axis=1)

    def _skinned(
        self, shape: Float[np.ndarray, "S V 3"], matrices: Float[np.ndarray, "T J 4 4"]
    ) -> Float[np.ndarray, "N V 3"]:
        weights = self.weight_matrix()
        frames, joint_count = matrices.shape[:2]
        columns = matrices[:, :, :3].transpose(1, 3, 0, 2).reshape(joint_count, 4, frames * 3)
        count = len(shape[0])
        if len(shape) == 1:
            lifted = np.concatenate([shape[0], np.ones((count, 1))], axis=1)
            out = _times_points(weights, lifted) @ columns.reshape(joint_count * 4, -1)
            return out.reshape(count, frames, 3).transpose(1, 0, 2)
        blended = (weights @ columns.reshape(joint_count, -1)).reshape(count, 4, frames, 3)
        linear = np.einsum("vktc,tvk->tvc", blended[:, :3], np.broadcast_to(shape, (max(frames, len(shape)), count, 3)))
        return linear + blended[:, 3].transpose(1, 0, 2)

    def weight_matrix(self):  # type: ignore[no-untyped-def]
        """Vertices by joints, sparse."""
        from scipy.sparse import csr_matrix

        joints, weights = self.geometry.joints, self.geometry.weights
        assert joints is not None
        assert weights is not None
        rows = np.repeat(np.arange(len(joints)), joints.shape[1])
        keep = weights.reshape(-1) > 0
        entries = (weights.reshape(-1)[keep], (rows[keep], joints.reshape(-1)[keep]))
        return csr_matrix(entries, shape=(len(joints), len(self.joints)))

    def is_mirrored(self, worlds: Worlds) -> bool:
        """The part is turned inside out by a negative scale."""
        matrices = self.joint_matrices(worlds)[0] if self.joints else worlds[self.node][None]
        return float(np.median(np.linalg.det(matrices[:, :3, :3]))) < 0


def _directions(matrices: np.ndarray, vectors: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
    """Unit vectors after one matrix, or one for each; untouched by an identity, zero where they were not unit."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if matrices.ndim == 2 and np.array_equal(matrices, np.eye(3)):
        moved = np.asarray(vectors)
    elif matrices.ndim == 2:
        moved = vectors @ matrices.T
    else:
        moved = np.einsum("vij,vj->vi", matrices, vectors)
    size = np.linalg.norm(moved, axis=1, keepdims=True)
    is_given = np.isfinite(moved).all(axis=1, keepdims=True) & (np.abs(lengths - 1.0) < 0.1) & (size > 1e-12)
    is_unit = np.abs(size - 1.0) < UNIT_SLACK
    return np.where(is_given, np.where(is_unit, moved, moved / np.where(is_given, size, 1.0)), 0.0)


def _times_points(weights, lifted: Float[np.ndarray, "V 4"]):  # type: ignore[no-untyped-def]
    """Weights times homogeneous points, sparse: what multiplies the stacked rows of all joint matrices."""
    from scipy.sparse import csr_matrix

    rows = np.repeat(np.arange(len(lifted)), np.diff(weights.indptr))
    data = (weights.data[:, None] * lifted[rows]).reshape(-1)
    indices = (weights.indices[:, None] * 4 + np.arange(4)).reshape(-1)
    return csr_matrix((data, indices, weights.indptr * 4), shape=(len(lifted), weights.shape[1] * 4))


def part_source(doc: Document, node_index: int, name: str, geometry: Geometry) -> PartSource:
    """A node with its mesh, morph weights and skin."""
    node = doc.item("nodes", node_index)
    count = 0 if geometry.targets is None else len(geometry.targets)
    default = doc.item("meshes", node["mesh"]).get("weights", [0.0] * count) if "mesh" in node else [0.0] * count
    morph = np.zeros(count)
    stored = np.asarray(node.get("weights", default), dtype=np.float64)[:count]
    morph[: len(stored)] = stored
    if "skin" not in node or geometry.joints is None or not geometry.joints.size:
        return PartSource(node_index, name, geometry, morph)
    skin = doc.item("skins", node["skin"])
    joints = tuple(skin["joints"])
    for joint in joints:
        doc.item("nodes", joint)
    weights = geometry.weights
    if weights is None or geometry.joints[weights > 0].max(initial=0) >= len(joints):
        raise doc.error(f"the mesh '{name}' names joints outside 0..{len(joints) - 1}")
    bind = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
    if "inverseBindMatrices" in skin:
        stored = doc.array(skin["inverseBindMatrices"])
        if stored.shape[1] != 16 or len(stored) < len(joints):
            raise doc.error(f"a skin has {len(stored)} bind matrices for {len(joints)} joints")
        bind = stored[: len(joints)].astype(np.float64).reshape(-1, 4, 4).swapaxes(1, 2)
    return PartSource(node_index, name, geometry, morph, joints, bind)


def bake(
    parts: list[PartSource], worlds: Worlds, frame_count: int, morph: Mapping[int, np.ndarray]
) -> Float[np.ndarray, "T V 3"]:
    """Positions of all parts in every frame, in single precision."""
    out = np.empty((frame_count, sum(len(p.geometry.vertices) for p in parts), 3), dtype=np.float32)
    start = 0
    for part in parts:
        stop = start + len(part.geometry.vertices)
        room = max(1, BLOCK_ROWS // max(1, stop - start))
        for first in range(0, frame_count, room):
            block = slice(first, first + room)
            there = [world[block] if world.ndim == 3 else world for world in worlds]
            out[block, start:stop] = part.positions(there, {node: weights[block] for node, weights in morph.items()})
        start = stop
    return out


MAX_HANDLES = 256
SKIN_TOLERANCE = 1e-5
"""Handles rest where they are bound when that gives the rest positions to this fraction of the object's size."""

STRETCH = 1e-4
"""Bones may stretch by this fraction and still count as rigid: files store rounded numbers."""


def find_skin(
    parts: list[PartSource],
    rest: Float[np.ndarray, "V 3"],
    rest_worlds: Worlds,
    worlds: Worlds,
    frame_count: int,
    morph: Mapping[int, np.ndarray],
    size: float,
) -> Skin | None:
    """Bones and nodes as rigid handles that give the baked positions; none for morphing or stretching objects."""
    rig = _Rig(rest)
    for part in parts:
        count = len(part.geometry.vertices)
        if not count:
            continue
        if part.node in morph or part.morph.any():
            return None
        own = _handles(part, rest[rig.filled : rig.filled + count], rest_worlds)
        if own is None:
            return None
        rig.add(own)
    if not rig.nodes or len(rig.nodes) > MAX_HANDLES:
        return None
    offsets = np.stack(rig.offsets)
    moving = np.stack([np.broadcast_to(worlds[node], (frame_count, 4, 4)) for node in rig.nodes], axis=1) @ offsets
    resting = np.stack([rest_worlds[node] for node in rig.nodes]) @ offsets
    if not (_is_rigid(moving) and _is_rigid(resting)):
        return None
    if rig.rests_bound(resting, rest, SKIN_TOLERANCE * size):
        return Skin(rig.weights(), moving @ np.linalg.inv(resting))
    return Skin(rig.weights(), moving, Bind(rig.vertices, resting))


class _Rig:
    """The handles of all parts together; parts that hang on the same node in the same way share one."""

    def __init__(self, rest: Float[np.ndarray, "V 3"]) -> None:
        self.vertices = np.array(rest)
        self.filled = 0
        self.nodes: list[int] = []
        self.offsets: list[np.ndarray] = []
        self._known: dict[tuple[int, bytes], int] = {}
        self._entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, part: _Handles) -> None:
        numbers = np.array([self._number(n, o) for n, o in zip(part.nodes, part.offsets, strict=True)])
        self._entries.append((part.rows + self.filled, numbers[part.columns], part.weights))
        stop = self.filled + len(part.vertices)
        self.vertices[self.filled : stop] = part.vertices
        self.filled = stop

    def _number(self, node: int, offset: Float[np.ndarray, "4 4"]) -> int:
        key = (node, np.round(offset, 5).tobytes())
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(node)
            self.offsets.append(offset)
        return self._known[key]

    def weights(self) -> Float[np.ndarray, "V H"]:
        dense = np.zeros((len(self.vertices), len(self.nodes)), dtype=np.float32)
        for rows, columns, values in self._entries:
            np.add.at(dense, (rows, columns), values)
        return dense

    def rests_bound(
        self, resting: Float[np.ndarray, "H 4 4"], rest: Float[np.ndarray, "V 3"], tolerance: float
    ) -> bool:
        """Each handle, on its own, puts its vertices at rest: that pose is as good as the one they were bound in."""
        for rows, columns, _ in self._entries:
            placed = lie.apply_each(resting[columns], self.vertices[rows])
            if np.abs(placed - rest[rows]).max(initial=0.0) > tolerance:
                return False
        return True


@dataclass(frozen=True, eq=False)
class _Handles:
    """How one part hangs on nodes: its vertices where the nodes took hold of them, and who carries whom."""

    vertices: Float[np.ndarray, "V 3"]
    nodes: tuple[int, ...]
    offsets: Float[np.ndarray, "H 4 4"]
    """From the space of the vertices to that of each node."""

    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray


def _handles(part: PartSource, rest: Float[np.ndarray, "V 3"], rest_worlds: Worlds) -> _Handles | None:
    """The handles of one part; none if it rests flattened, so that there is no way back from there."""
    # The first joint puts the vertices of a skin into the size and place they have in the scene.
    placed = part.joint_matrices(rest_worlds)[0][0] if part.joints else rest_worlds[part.node]
    if abs(np.linalg.det(placed[:3, :3])) < 1e-12:
        return None
    back = np.linalg.inv(placed)
    if not part.joints:
        count = len(rest)
        return _Handles(rest, (part.node,), back[None], np.arange(count), np.zeros(count, np.int64), np.ones(count))
    assert part.bind is not None
    vertices = lie.apply(placed, part.geometry.vertices)
    weights = part.weight_matrix().tocoo()
    used, columns = np.unique(weights.col, return_inverse=True)
    nodes = tuple(part.joints[joint] for joint in used)
    return _Handles(vertices, nodes, part.bind[used] @ back, weights.row, columns, weights.data)


def _is_rigid(transforms: Float[np.ndarray, "*B 4 4"]) -> bool:
    linear = transforms[..., :3, :3]
    is_orthogonal = np.abs(linear @ np.swapaxes(linear, -1, -2) - np.eye(3)).max() <= STRETCH
    return bool(is_orthogonal and (np.linalg.det(linear) > 0).all())
