"""What lies behind a part that was cut out of a closed surface: thickness, a cavity, the box of a drawer.

A scan, or what an image-to-3D network makes, is one outer surface. A door that is cut out of it is a sheet of no
thickness and leaves a hole when it opens. Here both sides are closed: the part gets a back at the depth of a board, the
rest gets a cavity as deep as it has room for, and what slides out gets the box of a drawer. What bulges like a lid is
capped at its rim on both sides. New vertices take texture, colour and surface from the rim they continue. Parts that
are closed already, or that have a surface right behind them, stay as they are: their file has an inside.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Articulation, Joint, Mesh
from neurok.geometry.operators import face_areas, face_normals
from neurok.geometry.topology import row_ids

BOARD = 0.06
"""Thickness of a door or drawer front as a share of the shorter side of its outline: 18 mm boards of 30 cm drawers."""

FILLED = 0.85
"""Share of the room behind a part that its cavity takes; the rest is the back wall."""

FACING = 0.7
"""Length of the mean unit normal from which on a part is a front; below it bulges, and is capped at its rim."""

CUT = 0.5
"""Share of the rim that must have been cut: parts with open rims of their own are sheets on purpose."""

CLEARANCE = 0.03
"""Gap between a drawer's box and its cavity, as a share of the shorter side of the outline."""

RAYS = 96
"""Points of a front from which the room behind it is measured."""


def with_interiors(articulation: Articulation) -> Articulation:
    """The same object in which moving parts that were cut out of a surface have a back and something behind them."""
    builder = _Builder.of(articulation.mesh)
    for part, joint in enumerate(articulation.joints):
        if joint.dof and joint.parent >= 0:
            builder.close(part, joint)
    return articulation if not builder.faces else replace(articulation, mesh=builder.mesh(), inertials=None)


@dataclass(eq=False)
class _Builder:
    """The mesh with what has been added to it so far."""

    rest: Mesh
    places: Int[np.ndarray, " V"]
    """One number for all vertices at one place."""

    vertices: list[np.ndarray] = field(default_factory=list)
    sources: list[np.ndarray] = field(default_factory=list)
    """The vertex whose texture, colour and part each new one has."""

    faces: list[np.ndarray] = field(default_factory=list)
    parents: list[np.ndarray] = field(default_factory=list)
    """The face whose surface each new one has."""

    count: int = 0

    @staticmethod
    def of(mesh: Mesh) -> _Builder:
        return _Builder(mesh, row_ids(mesh.vertices), count=mesh.vertex_count)

    def add(self, points: Float[np.ndarray, "n 3"], sources: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        """New vertices like others, and their numbers."""
        self.vertices.append(points)
        self.sources.append(sources)
        self.count += len(points)
        return np.arange(self.count - len(points), self.count)

    def join(self, faces: Int[np.ndarray, "n 3"], parents: Int[np.ndarray, " n"]) -> None:
        self.faces.append(faces)
        self.parents.append(parents)

    def mesh(self) -> Mesh:
        """Everything as one mesh."""
        rest, source = self.rest, np.concatenate([np.arange(self.rest.vertex_count), *self.sources])
        owner = np.concatenate([np.arange(rest.face_count), *self.parents])
        return replace(
            rest,
            vertices=np.concatenate([rest.vertices, *self.vertices]),
            faces=np.concatenate([rest.faces, *self.faces]),
            uv=None if rest.uv is None else rest.uv[source],
            vertex_colors=None if rest.vertex_colors is None else rest.vertex_colors[source],
            part_ids=None if rest.part_ids is None else rest.part_ids[source],
            face_surfaces=None if rest.face_surfaces is None else rest.face_surfaces[owner],
            authored=None,
        )

    def close(self, part: int, joint: Joint) -> None:
        """Close one part and the hole that it leaves."""
        front = _Front.of(self, part)
        if front is None:
            return
        inward = _inward(front, joint)
        if inward is None:
            self._cap(front)
            return
        outline = front.outline(inward)
        room = _room_behind(self.rest, front.faces, inward)
        board = min(BOARD * outline, 0.25 * room)
        if board < 1e-4 * self.rest.size:  # a surface lies right behind it: there is an inside
            return
        deep = FILLED * room
        self._back(front, inward, board)
        self._cavity(front, inward, deep)
        if joint.kind == "prismatic" and deep > 2.0 * outline * CLEARANCE + 2.0 * board:
            self._drawer(front, inward, board, deep, CLEARANCE * outline)

    def _back(self, front: _Front, inward: Float[np.ndarray, "3"], board: float) -> None:
        """A flat back behind the front and the sides between them; they belong to the part."""
        used = np.unique(self.rest.faces[front.faces])
        back = self.add(_flattened(self.rest.vertices[used], inward, board), used)
        number = np.zeros(self.rest.vertex_count, dtype=np.int64)
        number[used] = back
        self.join(number[self.rest.faces[front.faces]][:, ::-1], front.faces)
        a, b = front.rim.T
        self.join(np.concatenate([np.stack([b, a, number[a]], 1), np.stack([b, number[a], number[b]], 1)]),
                  np.tile(front.rim_faces, 2))  # fmt: skip

    def _cavity(self, front: _Front, inward: Float[np.ndarray, "3"], deep: float) -> None:
        """Walls from the rim into the object and a floor at their end; they belong to what is left behind."""
        used = np.unique(self.rest.faces[front.faces])
        like, owners = front.outside_of(used), np.full(len(front.rim), front.other_face)
        number, near = (np.zeros(self.rest.vertex_count, dtype=np.int64) for _ in range(2))
        number[used] = self.add(_flattened(self.rest.vertices[used], inward, deep), like)
        near[used] = self.add(self.rest.vertices[used], like)
        self.join(number[self.rest.faces[front.faces]], np.full(len(front.faces), front.other_face))
        a, b = front.rim.T
        walls = [np.stack([near[a], near[b], number[a]], 1), np.stack([near[b], number[b], number[a]], 1)]
        self.join(np.concatenate(walls), np.tile(owners, 2))

    def _drawer(self, front: _Front, inward: Float[np.ndarray, "3"], board: float, deep: float, gap: float) -> None:
        """A box without a lid behind the front, in the cavity."""
        up = _upright(self.rest, inward)
        side = np.cross(up, inward)
        frame = np.stack([side, up, inward])
        local = self.rest.vertices[front.faces_vertices] @ frame.T
        low, high = local.min(axis=0) + gap, local.max(axis=0) - gap
        start = float(local[:, 2].max()) + board
        end = float(local[:, 2].max()) + deep - gap
        top = high[1] - 0.25 * (high[1] - low[1])  # sides are lower than the front
        wall = 0.5 * board
        slabs = [
            ((low[0], low[1], start), (high[0], low[1] + wall, end)),
            ((low[0], low[1], start), (low[0] + wall, top, end)),
            ((high[0] - wall, low[1], start), (high[0], top, end)),
            ((low[0], low[1], end - wall), (high[0], top, end)),
        ]
        for one, other in slabs:
            corners = np.array(
                [[x, y, z] for x in (one[0], other[0]) for y in (one[1], other[1]) for z in (one[2], other[2])]
            )
            source = np.full(8, front.faces_vertices[0])
            number = self.add(corners @ frame, source)
            self.join(number[BOX], np.full(12, front.faces[0]))

    def _cap(self, front: _Front) -> None:
        """Fans from the middle of every loop of the rim, one for each side."""
        for loop in _loops(self.places[front.rim]):
            edges = front.rim[loop]
            middle = self.rest.vertices[edges[:, 0]].mean(axis=0)[None]
            own = self.add(middle, edges[:1, 0])[0]
            self.join(np.column_stack([edges[:, ::-1], np.full(len(edges), own)]), front.rim_faces[loop])
            like = front.outside_of(edges.reshape(-1))
            theirs = self.add(self.rest.vertices[edges.reshape(-1)], like).reshape(-1, 2)
            center = np.full(len(edges), self.add(middle, like[:1])[0])
            self.join(np.column_stack([theirs, center]), np.full(len(edges), front.other_face))


BOX = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip
"""Faces of a box whose corners count up in z first, then y, then x; outward where the frame is right-handed."""


@dataclass(frozen=True, eq=False)
class _Front:
    """The faces of a part and the rim along which it was cut."""

    mesh: Mesh
    faces: Int[np.ndarray, " n"]
    rim: Int[np.ndarray, "m 2"]
    """Edges of the part, as its faces run through them ..."""

    rim_faces: Int[np.ndarray, " m"]
    other_rim: Int[np.ndarray, " k"]
    """Vertices at the rim of the part that it was mostly cut out of ..."""

    other_face: int
    """... and one of its faces there."""

    @property
    def faces_vertices(self) -> Int[np.ndarray, " k"]:
        return np.unique(self.mesh.faces[self.faces])

    @staticmethod
    def of(builder: _Builder, part: int) -> _Front | None:
        """The front of a part; ``None`` if it was not cut out of a surface."""
        mesh, welded = builder.rest, builder.places[builder.rest.faces]
        mine = np.flatnonzero(mesh.face_parts == part)
        corner = np.arange(3)
        width = int(welded.max()) + 1
        start, end = welded, welded[:, (corner + 1) % 3]
        keys, back = start * width + end, end * width + start
        own = np.unique(keys[mine])
        where = np.argwhere(~np.isin(back[mine], own))
        if not len(where):
            return None
        face, at = mine[where[:, 0]], where[:, 1]
        others = np.flatnonzero(mesh.face_parts != part)
        flat = keys[others].reshape(-1)
        order = np.argsort(flat, kind="stable")
        place = np.searchsorted(flat[order], back[face, at])
        place = np.minimum(place, len(order) - 1)
        met = flat[order][place] == back[face, at] if len(order) else np.zeros(len(face), dtype=bool)
        ends = np.stack([mesh.faces[face, at], mesh.faces[face, (at + 1) % 3]], axis=1)
        lengths = np.linalg.norm(mesh.vertices[ends[:, 1]] - mesh.vertices[ends[:, 0]], axis=1)
        if not len(order) or (lengths * met).sum() < CUT * lengths.sum():
            return None
        twin = order[place[met]]
        other, other_at = others[twin // 3], twin % 3
        neighbour = np.bincount(mesh.face_parts[other], lengths[met]).argmax()
        here = mesh.face_parts[other] == neighbour
        across = np.unique([mesh.faces[other, (other_at + 1) % 3][here], mesh.faces[other, other_at][here]])
        return _Front(mesh, mine, ends[met], face[met], across, int(other[here][0]))

    def outline(self, inward: Float[np.ndarray, "3"]) -> float:
        """The shorter side of its outline, seen along a direction."""
        up = _upright(self.mesh, inward)
        local = self.mesh.vertices[self.faces_vertices] @ np.stack([up, np.cross(up, inward)], axis=1)
        return float(np.ptp(local, axis=0).min())

    def outside_of(self, vertices: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
        """The vertex of the rest at the rim that is nearest to each."""
        from scipy.spatial import cKDTree

        near = cKDTree(self.mesh.vertices[self.other_rim]).query(self.mesh.vertices[vertices])[1]
        return self.other_rim[near]


def _inward(front: _Front, joint: Joint) -> Float[np.ndarray, "3"] | None:
    """Into the object, away from where the part opens to; ``None`` where it has no one direction to face."""
    mesh = front.mesh
    areas = face_areas(mesh.vertices, mesh.faces)[front.faces]
    normals = face_normals(mesh.vertices, mesh.faces)[front.faces]
    mean = (areas[:, None] * normals).sum(axis=0) / max(float(areas.sum()), 1e-300)
    if joint.kind == "prismatic":
        out = joint.axis * (1.0 if abs(joint.upper) >= abs(joint.lower) else -1.0)
        return -out if float(mean @ out) > 0.5 * FACING else None
    length = float(np.linalg.norm(mean))
    return -mean / length if length > FACING else None


def _flattened(
    points: Float[np.ndarray, "n 3"], inward: Float[np.ndarray, "3"], depth: float
) -> Float[np.ndarray, "n 3"]:
    """Points moved along a direction into one plane, so deep behind the deepest of them."""
    along = points @ inward
    return points + (float(along.max()) + depth - along)[:, None] * inward


def _upright(mesh: Mesh, inward: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """The direction across another that is nearest to up."""
    for axis in (mesh.up, *"xyz"):
        up = np.eye(3)["xyz".index(axis)]
        up = up - (up @ inward) * inward
        if np.linalg.norm(up) > 0.3:
            return up / np.linalg.norm(up)
    raise AssertionError("one of three axes lies across")


def _room_behind(mesh: Mesh, faces: Int[np.ndarray, " n"], inward: Float[np.ndarray, "3"]) -> float:
    """How far it is from a front into the object until something comes: a low percentile over its surface."""
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    rest: Bool[np.ndarray, " F"] = np.ones(mesh.face_count, dtype=bool)
    rest[faces] = False
    if not rest.any():
        return 0.0
    scene = EmbreeScene()
    TriangleMesh(scene, mesh.vertices[mesh.faces[rest]].astype(np.float32))
    middles = mesh.vertices[mesh.faces[faces]].mean(axis=1)
    areas = np.cumsum(face_areas(mesh.vertices, mesh.faces)[faces])
    picked = np.searchsorted(areas, np.linspace(0.0, areas[-1], RAYS + 2)[1:-1])
    start = _flattened(middles, inward, 0.0)[np.minimum(picked, len(middles) - 1)]
    ways = np.tile(inward, (len(start), 1))
    found = scene.run(start.astype(np.float32), ways.astype(np.float32), query="DISTANCE")
    hit = np.where((found > 0) & (found < 1e30), found, 0.0)
    return float(np.percentile(hit, 20))


def _loops(rim: Int[np.ndarray, "m 2"]) -> list[Int[np.ndarray, " k"]]:
    """Edges of a rim by the loop they belong to."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ends, number = np.unique(rim, return_inverse=True)
    number = number.reshape(rim.shape)
    graph = coo_matrix((np.ones(len(rim)), (number[:, 0], number[:, 1])), shape=(len(ends), len(ends)))
    label = connected_components(graph, directed=False)[1][number[:, 0]]
    return [np.flatnonzero(label == one) for one in np.unique(label)]
