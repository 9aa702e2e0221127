"""Drawing an object with viser: parts as nodes that move as wholes, vertices only where something bends.

Everything is shown with its diagonal scaled to 1, its middle at the origin and y up, so that cameras, gizmos and near
planes fit objects of any unit and frame.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset, MaterialField, Mesh
from neurok.core.mesh import frame_change
from neurok.geometry import lie
from neurok.io.gltf_write import write as write_glb
from neurok.rendering.markers import Arrow, Ball, joint_markers
from neurok.rendering.palette import CLAY, part_color
from neurok.studio.config import StudioConfig
from neurok.studio.motion import BendingPart, Color, by_color, groups_of, mean_color, part_motions

Coloring = Literal["object", "bodies", "materials"]
"""What colours mean: how the object looks, which body it is, what it is made of."""

EYE = np.array([0.55, 0.4, 1.05])
"""From the middle of the object to the eye of the first picture [diagonals of the object]."""

UP = np.array([0.0, 1.0, 0.0])
"""Of every picture."""


class StudioView:
    """One object in one viser scene, of a client or of a page."""

    def __init__(self, scene: Any, config: StudioConfig) -> None:
        self.scene, self.config = scene, config
        scene.configure_default_lights(cast_shadow=False)  # shadows cost weak graphics most of their frames
        scene.add_light_ambient("/light", intensity=1.0)
        self.mesh: Mesh | None = None
        self.center, self.scale, self.turn = np.zeros(3), 1.0, np.eye(3)
        self.nodes: dict[int, Any] = {}
        self.drawings = 0
        """How often an object was drawn: part of the names of nodes, since browsers keep the pose of a name."""

        self.bending: dict[int, BendingPart] = {}
        self.stills: dict[int, Any] = {}
        """Parts that have bent and stand still, with their textures."""

        self.extras: list[Any] = []
        self.sent = 0
        """Messages of motion sent so far: poses of parts and arrays of vertices."""

    # Between the object and the picture.

    def shown(self, points: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        return (points - self.center) @ self.turn.T * self.scale

    def meant(self, points: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        return np.asarray(points) @ self.turn / self.scale + self.center

    # The object.

    def show(self, mesh: Mesh, colors: list[Color] | None = None, *, centred: Mesh | None = None) -> None:
        """Draw a mesh at rest; ``colors`` holds one for each part, without it the object looks as it does."""
        self.clear()
        self.drawings += 1
        about = mesh if centred is None else centred
        self.mesh, self.center, self.scale = mesh, about.bounds.mean(axis=0), 1.0 / about.size
        self.turn = frame_change(mesh.up, "y")
        labels = np.zeros(mesh.vertex_count, dtype=np.int64) if mesh.part_ids is None else mesh.part_ids
        used = np.zeros(mesh.vertex_count, dtype=bool)
        used[mesh.faces.reshape(-1)] = True
        self.groups = [group[used[group]] for group in groups_of(labels, mesh.part_count)]
        self.face_parts = mesh.face_parts
        self.at_rest = self.shown(mesh.vertices)
        self.colors = colors
        self.plain = colors is not None or _texture_bytes(mesh) * mesh.part_count > self.config.textures_bytes
        for part in range(mesh.part_count):
            if len(self.groups[part]):
                self.nodes[part] = self._add(part)

    def _piece(self, part: int) -> Mesh:
        """A part as it is shown at rest."""
        assert self.mesh is not None
        whole = replace(self.mesh, vertices=self.at_rest, up="y", unit=1.0)
        return replace(whole.submesh(self.face_parts == part, f"part {part}"), part_ids=None, part_names=())

    def _add(self, part: int) -> Any:
        """The node of a part that moves as a whole."""
        name, piece = f"/object_{self.drawings}/{part}", self._piece(part)
        if self.plain:
            color = tuple(round(255 * c) for c in self._color(part, piece))
            return self.scene.add_mesh_simple(name, piece.vertices, piece.faces, color=color, side="double")
        return self._add_textured(name, piece)

    def _add_textured(self, name: str, piece: Mesh) -> Any:
        """A node that cannot bend, with all that its surfaces show."""
        return self.scene.add_glb(name, write_glb(Asset(_with_used_surfaces(piece)), Path("part.glb"))["part.glb"])

    def _color(self, part: int, piece: Mesh) -> Color:
        return self.colors[part] if self.colors is not None else mean_color(piece)

    def move(self, positions: Float[np.ndarray, "V 3"]) -> None:
        """Show the object in another pose: parts that stay rigid by six numbers, others by their vertices."""
        if self.mesh is None or len(positions) != self.mesh.vertex_count:
            return
        now = self.shown(positions)
        parts = list(self.nodes)
        motions, rigid = part_motions(self.at_rest, now, [self.groups[part] for part in parts], self.config.stiff)
        turns = lie.matrix_to_quaternion(motions[:, :3, :3])
        for k, part in enumerate(parts):
            if not rigid[k]:
                self._bend(part)
                continue
            node = self.nodes[part]
            if not np.allclose(node.position, motions[k, :3, 3], atol=1e-6):
                node.position = motions[k, :3, 3]
                self.sent += 1
            if not np.allclose(node.wxyz, turns[k], atol=1e-6):
                node.wxyz = turns[k]
                self.sent += 1
        for part, bending in self.bending.items():
            self._move_bent(part, bending, now[self.groups[part]])

    def _move_bent(self, part: int, bending: BendingPart, now: Float[np.ndarray, "n 3"]) -> None:
        if bending.shown is not None and np.abs(now - bending.shown).max() < 1e-6:
            return
        before = bending.nodes
        self.sent += bending.move(now)
        if bending.nodes is not before:
            self._tell(part, bending.nodes)
        if part in self.stills:
            bending.hide(False)
            self.stills.pop(part).remove()

    def _bend(self, part: int) -> None:
        """Exchange the node of a part for nodes that bend."""
        self.nodes.pop(part).remove()
        piece = self._piece(part)
        colored = [(piece, self._color(part, piece))] if self.plain else by_color(piece, self.config.colors)
        share = piece.vertex_count / len(self.at_rest)
        name = f"/object_{self.drawings}/{part}"
        self.bending[part] = BendingPart(self.scene, name, piece, colored, self.config, share)
        self._tell(part, self.bending[part].nodes)

    def settle(self) -> bool:
        """Show parts that have bent and stand still with their textures; whether it must be called once more.

        A browser takes a moment to draw a texture: only then what stood in its place is hidden.
        """
        if self.plain or all(part in self.stills for part in self.bending):
            for part in self.stills:
                self.bending[part].hide(True)
            return False
        for part, bending in self.bending.items():
            if part not in self.stills and bending.shown is not None:
                self.drawings += 1
                piece = self._piece(part).with_vertices(bending.shown)
                self.stills[part] = self._add_textured(f"/still_{self.drawings}", piece)
                self._tell(part, [self.stills[part]])
        return True

    def _tell(self, part: int, nodes: list[Any]) -> None:
        for node in nodes:
            self.added(part, node)

    def added(self, part: int, node: Any) -> None:
        """Called for a node that takes the place of another; whoever listens to nodes overrides it."""

    def clear(self) -> None:
        """Take everything away."""
        for node in [*self.nodes.values(), *self.bending.values(), *self.stills.values()]:
            node.remove()
        self.nodes, self.bending, self.stills, self.mesh = {}, {}, {}, None
        self.clear_extras()

    # What stands beside it.

    def clear_extras(self) -> None:
        for node in reversed(self.extras):  # names hang on axes
            node.remove()
        self.extras = []

    def show_joints(self, plan: BodyPlan, q: Float[np.ndarray, " D"] | None, selected: int | None) -> None:
        """Axes of hinges and arrows of slides, thicker and fuller where they are likelier, with their names."""
        self.clear_extras()
        joints = plan.articulation
        at = q if q is not None and len(q) == joints.dof else None
        moving = [k for k, joint in enumerate(joints.joints) if joint.kind != "fixed"]
        for part, marker in zip(moving, joint_markers(joints, at), strict=True):
            line, body = plan.bodies[part].joint, plan.bodies[part]
            assert line is not None
            assert not isinstance(marker, Ball)
            way = self.turn @ (np.asarray(marker.direction) / np.linalg.norm(marker.direction))
            half = (marker.length or 0.3 / self.scale) * self.scale * 0.5 * way
            middle = self.shown(np.asarray(marker.origin))
            ends = (middle, middle + 2 * half) if isinstance(marker, Arrow) else (middle - half, middle + half)
            thick = 0.002 + 0.005 * line.probability
            red, green, blue = (230, 60, 40) if part == selected else tuple(round(255 * c) for c in marker.color)
            self.extras.append(
                self.scene.add_arrows(
                    f"/joints/{part}",
                    np.array([ends], dtype=np.float32),
                    (red, green, blue),
                    shaft_radius=thick,
                    head_radius=2.5 * thick,
                    head_length=6 * thick,
                )
            )
            text = f"{body.name} {line.probability:.2f}"
            self.extras.append(
                self.scene.add_label(f"/joints/{part}/name", text, position=ends[1], font_screen_scale=0.7)
            )

    def show_ground(self, height: float | None) -> None:
        """A grid where the object stands, or none."""
        self.scene.remove_by_name("/ground")
        if height is None or self.mesh is None:
            return
        up = self.mesh.up_vector
        place = self.shown(self.center + up * (height - float(up @ self.center)))
        self.scene.add_grid(
            "/ground", 6.0, 6.0, plane="xz", cell_size=0.1, section_size=0.5, position=place - 1e-3 * UP
        )


def body_colors(count: int, selected: int | None = None) -> list[Color]:
    """A colour for each body; the selected one stands out."""
    return [(0.95, 0.35, 0.2) if part == selected else part_color(part) for part in range(count)]


def material_colors(mesh: Mesh, field: MaterialField) -> list[Color]:
    """The colour of what most vertices of each part are made of."""
    names = [material.name for material in field.materials]
    order = {name: index for index, name in enumerate(dict.fromkeys(names))}
    labels = np.zeros(mesh.vertex_count, dtype=np.int64) if mesh.part_ids is None else mesh.part_ids
    out = []
    for group in groups_of(labels, mesh.part_count):
        most = int(np.bincount(field.ids[group]).argmax()) if len(group) else 0
        out.append(part_color(order[names[most]]))
    return out


def _texture_bytes(mesh: Mesh) -> int:
    return sum(len(surface.texture.data) for surface in mesh.surfaces if surface.texture is not None)


def _with_used_surfaces(mesh: Mesh) -> Mesh:
    """The mesh with the surfaces that its faces show, and no others."""
    if mesh.face_surfaces is None:
        return mesh if mesh.surfaces or mesh.vertex_colors is not None else replace(mesh, surfaces=(CLAY,))
    used, numbers = np.unique(mesh.face_surfaces, return_inverse=True)
    surfaces = tuple(mesh.surfaces[k] for k in used)
    return replace(mesh, surfaces=surfaces, face_surfaces=np.asarray(numbers).reshape(-1))
