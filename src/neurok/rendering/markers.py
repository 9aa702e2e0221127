"""Arrows, axes and balls drawn over an object: joints, forces, pins, drags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Articulation, Joint
from neurok.geometry import lie
from neurok.rendering.context import Stage, put

Color = tuple[float, float, float]
Geometry = tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"], Int[np.ndarray, "M 3"]]
"""Points, unit normals and faces."""

SIDES = 20


@dataclass(frozen=True, eq=False)
class Arrow:
    """From ``origin`` along ``direction``, ``length`` long (in mesh units; the direction's own length if absent)."""

    origin: Sequence[float] | np.ndarray
    direction: Sequence[float] | np.ndarray
    color: Color = (0.85, 0.25, 0.2)
    """sRGB, 0..1."""

    length: float | None = None
    thickness: float = 0.012
    """Radius of the shaft, as a share of half the object's diagonal."""


@dataclass(frozen=True, eq=False)
class Axis:
    """A rod through ``origin`` along ``direction``, half of ``length`` to each side, with a tip at its positive end."""

    origin: Sequence[float] | np.ndarray
    direction: Sequence[float] | np.ndarray
    color: Color = (0.20, 0.45, 0.85)
    length: float | None = None
    thickness: float = 0.010


@dataclass(frozen=True, eq=False)
class Ball:
    """A round mark, such as a pin or a dragged point."""

    center: Sequence[float] | np.ndarray
    color: Color = (0.95, 0.65, 0.15)
    radius: float = 0.03
    """As a share of half the object's diagonal."""


Marker = Arrow | Axis | Ball
TURN_COLOR, SLIDE_COLOR = (0.20, 0.45, 0.85), (0.20, 0.62, 0.35)


def joint_markers(articulation: Articulation, q: Float[np.ndarray, "D"] | None = None) -> list[Marker]:
    """A blue axis through each hinge and a green arrow along each slide, where they are at joint values ``q``.

    An axis is drawn beside its part, wherever on the line the joint has its origin; an arrow points where a slide has
    more room.
    """
    transforms = articulation.transforms(np.zeros(articulation.dof) if q is None else q)
    size = articulation.mesh.size
    markers: list[Marker] = []
    for part, joint in enumerate(articulation.joints):
        if joint.kind == "fixed":
            continue
        motion = np.eye(4) if joint.parent < 0 else transforms[joint.parent]
        along = motion[:3, :3] @ joint.axis
        members = articulation.mesh.vertices[articulation.vertex_parts == part]
        if joint.kind == "prismatic":
            # A slide has no place of its own: show it at the middle of what it moves.
            middle = members.mean(axis=0) if len(members) else joint.origin
            start = lie.apply_each(transforms[part], middle)
            sign = 1.0 if joint.upper >= -joint.lower else -1.0
            markers.append(Arrow(start, sign * along, SLIDE_COLOR, 0.3 * size))
        else:
            place, length = _beside(joint, members, size)
            markers.append(Axis(lie.apply_each(motion, place), along, TURN_COLOR, length))
    return markers


def _beside(joint: Joint, members: Float[np.ndarray, "N 3"], size: float) -> tuple[Float[np.ndarray, "3"], float]:
    """The place of a joint's line level with the middle of a part, and a length that stands out on both sides."""
    if len(members) == 0:
        return joint.origin, 0.5 * size
    heights = (members - joint.origin) @ joint.axis
    low, high = float(heights.min()), float(heights.max())
    return joint.origin + 0.5 * (low + high) * joint.axis, min(max(1.25 * (high - low), 0.2 * size), 0.8 * size)


class MarkerMesh:
    """All markers of one picture as one small mesh; hidden pieces shine faintly through the object."""

    def __init__(
        self, stage: Stage, markers: Sequence[Marker], to_world: Callable[[np.ndarray], np.ndarray], scale: float
    ) -> None:
        points, normals, colors, faces = [], [], [], []
        count = 0
        for marker in markers:
            p, n, f = marker_geometry(marker, to_world, scale)
            points.append(p)
            normals.append(n)
            colors.append(np.broadcast_to(np.asarray(marker.color), p.shape))
            faces.append(f + count)
            count += len(p)
        rows = np.column_stack([np.concatenate(points), np.concatenate(normals), np.concatenate(colors)])
        self.stage = stage
        self.vertices = stage.context.buffer(rows.astype("f4").tobytes())
        self.indices = stage.context.buffer(np.concatenate(faces).astype("i4").tobytes())
        layout = (self.vertices, "3f 3f 3f", "in_position", "in_normal", "in_color")
        self.program = stage.program("marker", "marker")
        self.array = stage.context.vertex_array(self.program, [layout], index_buffer=self.indices)

    def draw(self, clip_from_world: Float[np.ndarray, "4 4"], camera_axes: Float[np.ndarray, "3 3"]) -> None:
        gl = self.stage.context
        gl.enable_only(gl.DEPTH_TEST | gl.BLEND | gl.CULL_FACE)
        gl.blend_func = gl.ONE, gl.ONE_MINUS_SRC_ALPHA
        put(self.program, clip_from_world=clip_from_world, light=camera_axes.T @ np.array([-0.4, 0.6, 0.7]))
        gl.fbo.depth_mask = False
        for test, opacity in ((">", 0.4), ("<=", 1.0)):
            gl.depth_func = test
            gl.fbo.depth_mask = test == "<="
            put(self.program, opacity=opacity)
            self.array.render()
        gl.depth_func = "<"

    def release(self) -> None:
        for thing in (self.array, self.vertices, self.indices):
            thing.release()


def marker_geometry(marker: Marker, to_world: Callable[[np.ndarray], np.ndarray], scale: float) -> Geometry:
    """A marker in the picture's world, where the object has radius 1."""
    if isinstance(marker, Ball):
        return _ball(to_world(np.asarray(marker.center, dtype=np.float64)), marker.radius)
    origin, along = np.asarray(marker.origin, dtype=np.float64), np.asarray(marker.direction, dtype=np.float64)
    norm = max(float(np.linalg.norm(along)), 1e-300)
    default = norm if isinstance(marker, Arrow) else 1.2 * scale
    reach = along / norm * (default if marker.length is None else marker.length)
    start = origin if isinstance(marker, Arrow) else origin - reach / 2.0
    return _arrow(to_world(start), to_world(start + reach), marker.thickness)


def _arrow(start: Float[np.ndarray, "3"], end: Float[np.ndarray, "3"], radius: float) -> Geometry:
    """A shaft with a cone, closed at both ends."""
    length = float(np.linalg.norm(end - start))
    along = (end - start) / max(length, 1e-12)
    head = min(6.0 * radius, 0.45 * length)
    cone = 2.4 * radius
    slope = np.array([head, cone]) / max(float(np.hypot(head, cone)), 1e-12)
    rings = [  # distance along, radius, normal outward, normal along
        (0.0, 0.0, 0.0, -1.0),
        (0.0, radius, 0.0, -1.0),
        (0.0, radius, 1.0, 0.0),
        (length - head, radius, 1.0, 0.0),
        (length - head, radius, 0.0, -1.0),
        (length - head, cone, 0.0, -1.0),
        (length - head, cone, slope[0], slope[1]),
        (length, 0.0, slope[0], slope[1]),
    ]
    return _revolve(start, along, np.array(rings))


def _ball(center: Float[np.ndarray, "3"], radius: float) -> Geometry:
    angles = np.linspace(-np.pi / 2, np.pi / 2, 11)
    rings = np.column_stack([radius * np.sin(angles), radius * np.cos(angles), np.cos(angles), np.sin(angles)])
    return _revolve(center, np.array([0.0, 1.0, 0.0]), rings)


def _revolve(start: Float[np.ndarray, "3"], along: Float[np.ndarray, "3"], rings: Float[np.ndarray, "R 4"]) -> Geometry:
    """Turn a profile around an axis; faces look outward."""
    side, other = lie.across(along)
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    out = np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * other
    points = start + rings[:, None, :1] * along + rings[:, None, 1:2] * out
    normals = rings[:, None, 2:3] * out + rings[:, None, 3:] * along
    i, j = np.meshgrid(np.arange(len(rings) - 1), np.arange(SIDES), indexing="ij")
    a, b = i * SIDES + j, i * SIDES + (j + 1) % SIDES
    faces = np.stack([a, b, b + SIDES, a, b + SIDES, a + SIDES], axis=-1).reshape(-1, 3)
    return points.reshape(-1, 3), normals.reshape(-1, 3), faces
