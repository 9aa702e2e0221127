"""Which nodes of a scene are the object: levels of detail, collision shapes and other helpers are left out.

Readers make a part of every shown node; this is what all of them are sifted by. Names follow the conventions of game
engines and modelling programs, and copies without such a name are found by their surfaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Asset, Clip, Mesh
from neurok.errors import NeurokError
from neurok.geometry.distance import closest_point
from neurok.geometry.operators import face_areas, face_normals
from neurok.geometry.sampling import sample_surface

NodePath = tuple[str, ...]
"""Names of a node and those above it, the topmost first."""

LEVEL = re.compile(r"(?:^|(?<=[^A-Za-z0-9])|(?<=[a-z0-9])(?=LOD))lod[ _.-]?(\d{1,2})(?![A-Za-z0-9])", re.IGNORECASE)
"""``LOD0``, ``chair_lod1``, ``Chair-LOD_2``, ``LOD1_seat``: the convention of Unity, Unreal and Blender's exporters."""

COPY_NUMBER = re.compile(r"\.\d{3}$")
"""What Blender appends to a name that is taken."""

HELPERS = re.compile(
    r"^(?:UCX|UBX|USP|UCP|MCDCX)_"  # Unreal: convex, box, sphere, capsule
    r"|[-_$](?:colonly|convcolonly|navmesh|occonly|noimp)$"  # Godot; its -col and -convcol are shown as well
    r"|^WGT[-_]",  # Blender's Rigify: handles of bones
    re.IGNORECASE,
)
"""Names that nothing but a helper has."""

HELPER_WORDS = frozenset((
    "collision", "collisions", "collider", "colliders", "hitbox", "hitboxes", "phys", "proxy", "occluder", "navmesh",
    "bbox", "boundingbox", "bounds", "helper", "helpers", "gizmo",
))  # fmt: skip
"""Words of names that helpers have; what has one and lies within the rest of the object is a helper."""

FLAT_COPIES = frozenset(("billboard", "impostor", "imposter"))
"""The same, in a file with levels of detail: a picture of the object for far away."""

WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

COPY_ERROR = 0.01
"""How far a coarser copy strays, as a share of the diagonal: the error that meshoptimizer's simplifier aims at."""

SAME = 1e-4
"""The same for a copy of equal detail: what files round away."""

COARSER = 0.8
"""A coarser copy has at most this share of the faces."""

SAMPLES = 600
"""Points of a surface that are compared; with none of them astray, 99.5 % of it is near at 95 % confidence."""

MAX_NAMED = 4


def chosen(asset: Asset, patterns: Sequence[str] = ()) -> Asset:
    """The object without nodes that are no part of it, or with those that patterns choose.

    Args:
        asset: What was read. Without ``nodes``, as files that neurok wrote are, it is taken as it is by default.
        patterns: Globs of names or of paths with slashes. Those with ``!`` leave out; if there are any others, these
            alone are taken.

    Raises:
        NeurokError: If a pattern fits nothing, nothing remains, or parts are chosen that hang on joints.
    """
    mesh = asset.mesh
    paths = asset.nodes or [tuple(name.split("/")) for name in mesh.part_names]
    if patterns:
        dropped = _refused(asset, paths, patterns)
    elif not asset.nodes or asset.articulation is not None:
        return asset
    else:
        dropped = {}
    if not any(not pattern.startswith("!") for pattern in patterns):
        shown = [part for part in np.unique(mesh.face_parts).tolist() if part not in dropped]
        dropped |= _helpers(asset, paths, shown)
    if not dropped:
        return asset
    named = tuple(f"{mesh.part_names[part]} ({why})" for part, why in sorted(dropped.items()))
    left = _restricted(asset, [part for part in range(len(paths)) if part not in dropped])
    left = replace(left, left_out=(*asset.left_out, *named))
    # What a person chose is a change of the object; what is read by default is the file as it is.
    keeps = asset.origin is not None and not patterns
    return replace(left, origin=replace(asset.origin, read=left) if keeps and asset.origin else None)


def sentence(asset: Asset) -> str:
    """What was left out, in one line; nothing where all was taken."""
    count = len(asset.left_out)
    if not count:
        return ""
    more = f" and {count - MAX_NAMED} more" if count > MAX_NAMED else ""
    named = ", ".join(asset.left_out[:MAX_NAMED]) + more
    return f"{count} {'node is' if count == 1 else 'nodes are'} left out: {named}; give nodes to choose others."


def _refused(asset: Asset, paths: Sequence[NodePath], patterns: Sequence[str]) -> dict[int, str]:
    """The parts that patterns leave out."""
    name = asset.mesh.name
    if asset.articulation is not None:
        raise NeurokError(f"Nodes of '{name}' cannot be chosen: its joints hang on them. Give no nodes.")
    if not paths:
        raise NeurokError(f"'{name}' has no named nodes to choose from; give no nodes.")
    wanted, kept = {pattern: _fitting(paths, pattern.removeprefix("!")) for pattern in patterns}, set(range(len(paths)))
    for pattern, parts in wanted.items():
        if not parts:
            known = ", ".join(asset.mesh.part_names[:12]) + (" ..." if len(paths) > 12 else "")
            raise NeurokError(f"No node of '{name}' is called {pattern.removeprefix('!')!r}; it has {known}.")
    positive = [parts for pattern, parts in wanted.items() if not pattern.startswith("!")]
    kept = set().union(*positive) if positive else kept
    kept -= set().union(*(parts for pattern, parts in wanted.items() if pattern.startswith("!")))
    if not kept & set(asset.mesh.face_parts.tolist()):
        raise NeurokError(f"The chosen nodes leave nothing of '{name}'; choose others.")
    return {part: "not chosen" for part in range(len(paths)) if part not in kept}


def _fitting(paths: Sequence[NodePath], pattern: str) -> set[int]:
    """The parts whose node, or one above it, has a name or path that fits."""
    return {
        part
        for part, path in enumerate(paths)
        if fnmatchcase("/".join(path), pattern) or any(fnmatchcase(name, pattern) for name in path)
    }


def _helpers(asset: Asset, paths: Sequence[NodePath], shown: Sequence[int]) -> dict[int, str]:
    """Parts that are no part of the object, and why; never all of those that are shown."""
    own = _below_all(paths, shown)
    found = {part: "for collision or rigging" for part in shown if any(map(_is_helper_name, own[part]))}
    found |= dict.fromkeys(_coarser_levels(paths, [part for part in shown if part not in found]), "coarser")
    rest = [part for part in shown if part not in found]
    if not rest:
        return {}
    words = HELPER_WORDS | (FLAT_COPIES if any(LEVEL.search(name) for path in paths for name in path) else frozenset())
    loosely = [part for part in rest if any(words & _words(name) for name in own[part])]
    if solid := [part for part in rest if part not in loosely]:
        found |= {part: "a helper" for part in loosely if _lies_within(asset.mesh, part, solid)}
    if not asset.clips:
        found |= dict.fromkeys(_copies(asset.mesh, [part for part in shown if part not in found]), "a copy")
    return found


def _below_all(paths: Sequence[NodePath], shown: Sequence[int]) -> dict[int, NodePath]:
    """The names of each node and those above it, without those that all nodes are below of."""
    shared = 0
    while len({path[: shared + 1] for path in (paths[part][:-1] for part in shown)}) == 1 and (
        all(len(paths[part]) > shared + 1 for part in shown)
    ):
        shared += 1
    return {part: paths[part][shared:] for part in shown}


def _is_helper_name(name: str) -> bool:
    return HELPERS.search(COPY_NUMBER.sub("", name)) is not None


def _words(name: str) -> set[str]:
    return {word.lower() for word in WORDS.findall(name)} | {word.lower() for word in re.split(r"[^A-Za-z]+", name)}


def _coarser_levels(paths: Sequence[NodePath], shown: Sequence[int]) -> list[int]:
    """Parts that are, or lie below, a level of detail where a finer one of the same name stands beside it.

    A name without a level is finer than all with one.
    """
    finest: dict[NodePath, int] = {}
    levels: dict[int, list[tuple[NodePath, int]]] = {}
    for part in shown:
        above: NodePath = ()
        for name in paths[part]:
            stem, level = _level(name)
            key = (*above, stem)
            finest[key] = min(level, finest.get(key, level))
            levels.setdefault(part, []).append((key, level))
            above = (*above, name)
    return [part for part, own in levels.items() if any(level > finest[key] for key, level in own)]


def _level(name: str) -> tuple[str, int]:
    """A name without its level of detail, and that level, -1 where it has none."""
    found = LEVEL.search(name)
    if found is None:
        return name, -1
    stem = COPY_NUMBER.sub("", name[: found.start()] + name[found.end() :])
    return re.sub(r"[ _.-]{2,}", "_", stem).strip(" _.-"), int(found.group(1))


def _box(mesh: Mesh, parts: Iterable[int]) -> Float[np.ndarray, "2 3"]:
    corners = mesh.vertices[mesh.faces[np.isin(mesh.face_parts, list(parts))].reshape(-1)]
    return np.stack([corners.min(axis=0), corners.max(axis=0)])


def _lies_within(mesh: Mesh, part: int, others: Sequence[int]) -> bool:
    """Whether a part's box lies within that of others, give or take a tenth of their diagonal."""
    own, around = _box(mesh, [part]), _box(mesh, others)
    slack = 0.1 * float(np.linalg.norm(around[1] - around[0]))
    return bool((own[0] >= around[0] - slack).all() and (own[1] <= around[1] + slack).all())


def _copies(mesh: Mesh, parts: Sequence[int]) -> list[int]:
    """Parts whose surface is that of finer ones again; the coarsest are asked first."""
    faces_of = {part: mesh.faces[mesh.face_parts == part] for part in parts}
    parts = [part for part in parts if face_areas(mesh.vertices, faces_of[part]).sum() > 0]
    boxes = {part: _box(mesh, [part]) for part in parts}
    looks = {part: _looks(mesh, part) for part in parts}
    found: list[int] = []
    for part in sorted(parts, key=lambda part: (len(faces_of[part]), -part)):
        left = [other for other in parts if other != part and other not in found]
        if not left:
            break
        size = float(np.linalg.norm(boxes[part][1] - boxes[part][0]))
        corners = np.stack([boxes[other] for other in left])
        inside = (corners[:, 0] >= boxes[part][0] - COPY_ERROR * size) & (
            corners[:, 1] <= boxes[part][1] + COPY_ERROR * size
        )
        others = [left[k] for k in np.flatnonzero(inside.all(axis=1)) if looks[left[k]] <= looks[part]]
        if others and _is_copy(mesh, faces_of[part], [faces_of[other] for other in others], size):
            found.append(part)
    return found


def _looks(mesh: Mesh, part: int) -> set[int]:
    return set() if mesh.face_surfaces is None else set(mesh.face_surfaces[mesh.face_parts == part].tolist())


def _is_copy(mesh: Mesh, own: np.ndarray, others: list[np.ndarray], size: float) -> bool:
    """Whether all of a surface lies on those of others that lie on it, at a detail that is no finer."""
    near = [faces for faces in others if _strays(mesh, faces, own) <= COPY_ERROR * size]
    if not near:
        return False
    finer = np.concatenate(near)
    allowed = COPY_ERROR if len(own) <= COARSER * len(finer) else SAME if len(own) <= len(finer) else 0.0
    return _strays(mesh, own, finer) <= allowed * size and (
        allowed == COPY_ERROR or all(_strays(mesh, faces, own) <= SAME * size for faces in near)
    )


def _strays(mesh: Mesh, faces: Int[np.ndarray, "F 3"], surface: Int[np.ndarray, "G 3"]) -> float:
    """How far samples of some faces are from a surface at most; infinite where it is their back side."""
    samples = sample_surface(mesh.vertices, faces, SAMPLES, np.random.default_rng(0))
    found = closest_point(samples.interpolate(mesh.vertices), mesh.vertices, surface)
    facing = face_normals(mesh.vertices, samples.faces) * face_normals(mesh.vertices, surface[found.face_ids])
    return float(found.distances.max()) if np.median(facing.sum(axis=1)) > 0 else np.inf


def _restricted(asset: Asset, parts: Sequence[int]) -> Asset:
    """The object with some of its parts, in their order."""
    mesh = asset.mesh
    faces = np.isin(mesh.face_parts, parts)
    used = np.unique(mesh.faces[faces])
    cut = mesh.submesh(faces)
    numbers = np.full(len(mesh.part_names), -1)
    numbers[list(parts)] = np.arange(len(parts))
    looks, ids = mesh.surfaces, cut.face_surfaces
    if ids is not None:
        kept, ids = np.unique(ids, return_inverse=True)
        looks = tuple(mesh.surfaces[k] for k in kept)
        ids = None if len(kept) == 1 else ids.reshape(-1)
    cut = replace(
        cut,
        part_ids=None if cut.part_ids is None else numbers[cut.part_ids],
        part_names=tuple(mesh.part_names[part] for part in parts),
        surfaces=looks,
        face_surfaces=ids,
    )
    materials = asset.materials and asset.materials.take(used)
    return replace(asset, mesh=cut, clips=tuple(_cut(clip, cut, used) for clip in asset.clips), materials=materials)


def _cut(clip: Clip, rest: Mesh, used: Int[np.ndarray, " n"]) -> Clip:
    skin = clip.skin and clip.skin.at_vertices(used)
    return Clip.deferred(rest, lambda: clip.positions[:, used], clip.frame_count, clip.fps, clip.name, skin)
