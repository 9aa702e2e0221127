"""Objects made of rigid parts and joints; forward kinematics and velocity fields without a network."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.clip import Clip, Skin
from neurok.core.mesh import LARGEST, Mesh, UpAxis, frame_change, frozen_array, within_reach
from neurok.errors import NeurokError, counted, shown
from neurok.geometry import lie
from neurok.geometry.joint_tree import AT_REST, JointTree

JointKind = Literal["fixed", "revolute", "continuous", "prismatic", "cylindrical"]
DOF = {"fixed": 0, "revolute": 1, "continuous": 1, "prismatic": 1, "cylindrical": 2}
"""Degrees of freedom of each kind; a cylindrical joint turns (first) and slides (second)."""

FREE_SLIDE = 0.3
"""How far a slide without limits is taken to go, as a share of the object's size."""


def wrap_limits(lower: float, upper: float) -> tuple[float, float]:
    """Limits of a turn shifted by whole turns so that they hold zero or come nearest to it."""
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return lower, upper
    whole = 2.0 * math.pi * round((lower + upper) / 2 / (2.0 * math.pi))
    return lower - whole, upper - whole


@dataclass(frozen=True, eq=False)
class Joint:
    """How one part moves against its parent, in the object's own frame at rest."""

    kind: JointKind = "fixed"
    parent: int = -1
    """Part that carries this one; -1 for a root."""

    axis: Float[np.ndarray, "3"] = (0.0, 0.0, 1.0)  # type: ignore[assignment]
    """Direction of the axis or slide; normalised at birth."""

    origin: Float[np.ndarray, "3"] = (0.0, 0.0, 0.0)  # type: ignore[assignment]
    """A point of the axis, in the unit of the mesh."""

    lower: float = -math.inf
    """Lower limit: [rad] for turning joints (and the turn of a cylindrical one), mesh units for slides."""

    upper: float = math.inf
    slide_lower: float = -math.inf
    """Limits of the slide of a cylindrical joint, in mesh units."""

    slide_upper: float = math.inf
    name: str = "joint"
    damping: float = 0.0
    """Viscous: [N m s/rad] or [N s/m]."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(JointKind):
            raise NeurokError(
                f"Joint {shown(self.name)} has kind {shown(self.kind)}; allowed are {', '.join(get_args(JointKind))}."
            )
        axis = frozen_array(self.axis, np.float64, (3,), "axis")
        length = float(np.linalg.norm(axis))
        if not (np.isfinite(length) and length > 0):
            raise NeurokError(f"The axis of joint {shown(self.name)} must be a direction, got {axis.tolist()}.")
        object.__setattr__(self, "axis", frozen_array(axis / length, np.float64, (3,), "axis"))
        object.__setattr__(self, "origin", frozen_array(self.origin, np.float64, (3,), "origin"))
        if not within_reach(self.origin).all():
            raise NeurokError(
                f"The origin of joint {shown(self.name)} must be finite and below {LARGEST:.0e}, "
                f"got {self.origin.tolist()}."
            )
        for low, high in ((self.lower, self.upper), (self.slide_lower, self.slide_upper)):
            if math.isnan(low) or math.isnan(high) or low > high:
                raise NeurokError(
                    f"The limits of joint {shown(self.name)} must be lower <= upper, got {low} and {high}."
                )

    @property
    def around_rest(self) -> Joint:
        """The same joint with limits that hold the pose it is in, if whole turns can do that.

        Simulators start at zero and push whatever lies outside of its limits back into them; some files count turns.
        """
        lower, upper = wrap_limits(self.lower, self.upper)
        is_outside = self.kind == "revolute" and not self.lower <= 0.0 <= self.upper
        return replace(self, lower=lower, upper=upper) if is_outside and lower <= 0.0 <= upper else self

    @property
    def dof(self) -> int:
        return DOF[self.kind]

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        """Lower and upper limit of each degree of freedom; a continuous joint has none."""
        turn, slide = [self.lower, self.upper], [self.slide_lower, self.slide_upper]
        rows = {"fixed": [], "continuous": [[-math.inf, math.inf]], "cylindrical": [turn, slide]}.get(self.kind, [turn])
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    @property
    def generators(self) -> Float[np.ndarray, "D 4 4"]:
        """Screw of each degree of freedom: how the part begins to move against its parent."""
        turn, slide = lie.turn_generator(self.axis, self.origin), lie.slide_generator(self.axis)
        rows = {"fixed": [], "prismatic": [slide], "cylindrical": [turn, slide]}.get(self.kind, [turn])
        return np.array(rows, dtype=np.float64).reshape(-1, 4, 4)

    def moved(self, turn: Float[np.ndarray, "3 3"], scale: float, offset: Float[np.ndarray, "3"]) -> Joint:
        """The joint of an object that was turned, scaled and then shifted; slides are lengths and scale along."""
        slide = scale if self.kind == "prismatic" else 1.0
        return replace(
            self,
            axis=turn @ self.axis,
            origin=turn @ self.origin * scale + offset,
            lower=self.lower * slide,
            upper=self.upper * slide,
            slide_lower=self.slide_lower * scale,
            slide_upper=self.slide_upper * scale,
        )


@dataclass(frozen=True, eq=False)
class Inertial:
    """Mass properties of one part, in the object's own frame at rest and in SI units except for ``center``."""

    mass: float
    """[kg]."""

    center: Float[np.ndarray, "3"]
    """Centre of mass, in the unit of the mesh."""

    inertia: Float[np.ndarray, "3 3"]
    """About the centre of mass, axes of the object's frame [kg m^2]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", frozen_array(self.center, np.float64, (3,), "center"))
        object.__setattr__(self, "inertia", frozen_array(self.inertia, np.float64, (3, 3), "inertia"))
        if not 0 <= self.mass <= LARGEST:
            raise NeurokError(f"A part's mass must be zero or positive and below {LARGEST:.0e} kg, got {self.mass}.")
        if not within_reach(self.center).all() or not np.isfinite(self.inertia).all():
            raise NeurokError("A part's centre of mass and inertia must be finite numbers.")

    def turned(self, turn: Float[np.ndarray, "3 3"], scale: float) -> Inertial:
        """The same part in other axes and another unit of length; mass and inertia are SI and do not scale."""
        return Inertial(self.mass, turn @ self.center * scale, turn @ self.inertia @ turn.T)


@dataclass(frozen=True, eq=False)
class Articulation:
    """A mesh whose labelled parts hang on each other by joints: one joint per part, roots have parent -1.

    Joint values ``q`` are stacked in the order of the parts; ``q = 0`` is the mesh as it is stored.
    """

    mesh: Mesh
    joints: tuple[Joint, ...]
    inertials: tuple[Inertial | None, ...] | None = None
    """Mass properties from the file, where it gives them."""

    name: str = "object"

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        if len(self.joints) != self.mesh.part_count:
            raise NeurokError(
                f"An articulation needs one joint per part: the mesh has {self.mesh.part_count} parts, "
                f"but {len(self.joints)} joints were given."
            )
        for i, joint in enumerate(self.joints):
            if not -1 <= joint.parent < len(self.joints) or joint.parent == i:
                raise NeurokError(f"Part {i} ('{self.part_names[i]}') has no valid parent: {joint.parent}.")
        if self.inertials is not None and len(self.inertials) != len(self.joints):
            raise NeurokError(f"{len(self.inertials)} inertials were given for {len(self.joints)} parts.")
        _ = self.order  # a cycle is an error at birth

    def __repr__(self) -> str:
        size = f"{counted(len(self.joints), 'part')}, {counted(self.dof, 'joint value')}"
        return f"<Articulation {shown(self.name)}: {size}>"

    @property
    def part_names(self) -> tuple[str, ...]:
        return self.mesh.part_names or ("part_0",)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Parts so that each comes after its parent."""
        order: list[int] = []
        children: dict[int, list[int]] = {}
        for i, joint in enumerate(self.joints):
            children.setdefault(joint.parent, []).append(i)
        stack = list(reversed(children.get(-1, [])))
        while stack:
            part = stack.pop()
            order.append(part)
            stack.extend(reversed(children.get(part, [])))
        if len(order) != len(self.joints):
            lost = sorted(set(range(len(self.joints))) - set(order))
            raise NeurokError(f"The joints form a cycle: parts {lost} are not connected to a root.")
        return tuple(order)

    @cached_property
    def dof(self) -> int:
        """Number of joint values."""
        return sum(joint.dof for joint in self.joints)

    @cached_property
    def slots(self) -> tuple[slice, ...]:
        """Where in ``q`` the values of each part's joint stand."""
        ends = np.cumsum([joint.dof for joint in self.joints])
        return tuple(slice(int(end) - joint.dof, int(end)) for joint, end in zip(self.joints, ends, strict=True))

    @cached_property
    def dof_names(self) -> tuple[str, ...]:
        names: list[str] = []
        for part, joint in zip(self.part_names, self.joints, strict=True):
            names += [part] if joint.dof == 1 else [f"{part}/turn", f"{part}/slide"][: joint.dof]
        return tuple(names)

    @cached_property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        """Lower and upper limit of each joint value."""
        return np.concatenate([joint.limits for joint in self.joints] or [np.zeros((0, 2))])

    @cached_property
    def is_length(self) -> Bool[np.ndarray, " D"]:
        """Joint values that are slides, in mesh units; the others are angles [rad]."""
        slides = {"prismatic": [True], "cylindrical": [False, True], "fixed": []}
        return np.array([s for joint in self.joints for s in slides.get(joint.kind, [False])], dtype=bool)

    @cached_property
    def ranges(self) -> Float[np.ndarray, "D 2"]:
        """From where to where each joint value is drawn: its limits; a quarter turn, a half turn for a continuous
        joint, or 30 % of the size without any."""
        continuous = np.array(
            [joint.kind == "continuous" for joint in self.joints for _ in range(joint.dof)], dtype=bool
        )
        far = np.where(self.is_length, FREE_SLIDE * self.mesh.size, np.where(continuous, np.pi, np.pi / 2))
        return np.where(np.isfinite(self.limits), self.limits, np.stack([-far, far], axis=1))

    @cached_property
    def vertex_parts(self) -> Int[np.ndarray, " V"]:
        """The part of each vertex."""
        ids = self.mesh.part_ids
        return np.zeros(self.mesh.vertex_count, dtype=np.int64) if ids is None else ids

    @cached_property
    def part_nodes(self) -> Int[np.ndarray, " P"]:
        """The node of the tree that moves each part: that of its last joint value, or else the one of its parent."""
        out = np.zeros(len(self.joints), dtype=np.int64)
        for part in self.order:
            joint = self.joints[part]
            if joint.dof:
                out[part] = self.slots[part].stop
            elif joint.parent >= 0:
                out[part] = out[joint.parent]
        return out

    @cached_property
    def tree(self) -> JointTree:
        """The joints as arrays: one node for each joint value, on a fixed base."""
        # A slide after a turn hangs on its node; both share the axis, so their order is free.
        parents = np.arange(self.dof)
        for joint, slot in zip(self.joints, self.slots, strict=True):
            if joint.dof:
                parents[slot.start] = self.part_nodes[joint.parent] if joint.parent >= 0 else 0
        return JointTree(parents, np.concatenate([np.zeros((0, 4, 4)), *(joint.generators for joint in self.joints)]))

    def transforms(self, q: Float[np.ndarray, "*B D"]) -> Float[np.ndarray, "*B P 4 4"]:
        """Rigid motion of each part from rest, in the object's frame."""
        q = np.asarray(q, dtype=np.float64)
        if q.shape[-1:] != (self.dof,):
            raise NeurokError(
                f"This object has {self.dof} joint values ({', '.join(self.dof_names)}), got shape {q.shape}."
            )
        batch = q.shape[:-1]
        nodes = self.tree.nodes(AT_REST, q.reshape(math.prod(batch), self.dof))
        return nodes.take(self.part_nodes, axis=1).reshape(*batch, len(self.joints), 4, 4)

    def pose(self, q: Float[np.ndarray, "D"]) -> Mesh:
        """The object with its joints at ``q``."""
        return self.mesh.with_vertices(lie.apply_each(self.transforms(q)[self.vertex_parts], self.mesh.vertices))

    def clip(self, q: Float[np.ndarray, "T D"], fps: float = 24.0, name: str = "motion") -> Clip:
        """Motion through joint values; the parts travel along as handles."""
        transforms = self.transforms(q)
        vertices, parts = self.mesh.vertices, self.vertex_parts
        positions = np.stack([lie.apply_each(frame[parts], vertices) for frame in transforms])
        weights = np.zeros((len(vertices), len(self.joints)), dtype=np.float32)
        weights[np.arange(len(vertices)), parts] = 1.0
        return Clip(self.mesh, positions, fps, name, Skin(weights, transforms))

    def in_frame(self, up: UpAxis = "y", unit: float = 1.0) -> Articulation:
        """The same object with another up axis and unit: mesh, joints and masses."""
        if up == self.mesh.up and unit == self.mesh.unit:
            return self
        turn, scale = frame_change(self.mesh.up, up), self.mesh.unit / unit
        joints = tuple(joint.moved(turn, scale, np.zeros(3)) for joint in self.joints)
        inertials = self.inertials and tuple(inertial and inertial.turned(turn, scale) for inertial in self.inertials)
        return Articulation(self.mesh.in_frame(up, unit), joints, inertials, self.name)

    def sweep(self, frame_count: int = 48, reach: float = math.pi / 2) -> Float[np.ndarray, "T D"]:
        """Joint values that take every joint from rest to its farther limit and back; a continuous joint makes a turn.

        Where there is no limit, a hinge goes ``reach`` [rad] and a slide 30 % of the object's size.
        """
        phase = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, frame_count))
        columns = []
        for joint in self.joints:
            for k, (low, high) in enumerate(joint.limits):
                if joint.kind == "continuous":
                    columns.append(np.linspace(0.0, 2.0 * np.pi, frame_count))
                    continue
                is_slide = joint.kind == "prismatic" or k == 1
                far = FREE_SLIDE * self.mesh.size if is_slide else reach
                ends = [high if np.isfinite(high) else far, low if np.isfinite(low) else 0.0]
                columns.append(max(ends, key=abs) * phase)
        return np.stack(columns, axis=1) if columns else np.zeros((frame_count, 0))


Fields = Float[np.ndarray, "D F 9"]
"""Velocities of the three corners of every face, for each coordinate."""


def joint_fields(articulation: Articulation) -> Fields:
    """Velocity of every corner of every face with each joint value, at rest."""
    corners = articulation.mesh.vertices[articulation.mesh.faces]
    parents = [joint.parent for joint in articulation.joints]
    out = []
    for part, joint in enumerate(articulation.joints):
        moved = np.isin(articulation.mesh.face_parts, carried(parents, part))[:, None, None]
        for slides in {"prismatic": [True], "cylindrical": [False, True], "fixed": []}.get(joint.kind, [False]):
            slide = np.broadcast_to(joint.axis, corners.shape)
            field = slide if slides else np.cross(joint.axis, corners - joint.origin)
            out.append((field * moved).reshape(len(corners), 9))
    return np.array(out).reshape(-1, len(corners), 9)


def carried(parents: list[int], part: int) -> list[int]:
    """A part and all that hang on it."""
    found = [part]
    for top in found:
        found += [child for child, parent in enumerate(parents) if parent == top]
    return found


def cosines(first: Fields, second: Fields, areas: Float[np.ndarray, " F"]) -> Float[np.ndarray, "A B"]:
    """Cosines of velocity fields, weighted by area, without sign."""
    length = lambda fields: np.sqrt(np.einsum("afk,afk,f->a", fields, fields, areas))  # noqa: E731
    inner = np.abs(np.einsum("afk,bfk,f->ab", first, second, areas, optimize=True))
    return inner / np.maximum(length(first)[:, None] * length(second), 1e-300)
