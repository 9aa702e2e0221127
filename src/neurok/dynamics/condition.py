"""The physical inputs of a simulation: how it starts, what acts on each object, and the world around.

Lengths are in the unit of the meshes and directions in their axes (the world's frame); forces are in newtons,
impulses in newton seconds, accelerations in metres per second squared, wind in metres per second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core.mesh import frozen_array
from neurok.core.mesh import Mesh
from neurok.errors import NeurokError

if TYPE_CHECKING:
    Indices = Int[np.ndarray, " n"]
    Numbers = Float[np.ndarray, " n"]
    Vector = Float[np.ndarray, "3"]
    Vectors = Float[np.ndarray, "n 3"]
else:
    # The nouns take anything that numpy can turn into an array, and hold arrays from birth on.
    Indices = Numbers = Vector = Vectors = Any


@dataclass(frozen=True, eq=False)
class VertexValues:
    """A vector for each of some vertices: wanted positions, or wanted velocities [units/s]."""

    vertices: Indices
    values: Vectors

    def __post_init__(self) -> None:
        put_vertices(self)
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim == 1:
            values = np.tile(values, (len(self.vertices), 1))
        put_finite(self, "values", values, (len(self.vertices), 3))


@dataclass(frozen=True, eq=False)
class Force:
    """A force on some vertices over time, shared equally among them; linear between keys and zero outside them."""

    vertices: Indices
    vectors: Vectors
    """Total force at each key [N]."""

    times: Numbers
    """Seconds, increasing."""

    def __post_init__(self) -> None:
        put_vertices(self)
        put_keys(self, "vectors")

    @staticmethod
    def constant(vertices: Any, vector: Any, start: float = 0.0, end: float = math.inf) -> Force:
        """The same force [N] from ``start`` to ``end`` [s]."""
        last = min(end, 1e9)
        return Force(vertices, np.tile(np.asarray(vector, dtype=np.float64), (2, 1)), np.array([start, last]))

    def at(self, time: float) -> Float[np.ndarray, "3"]:
        """Total force at a moment [N]."""
        if not self.times[0] <= time <= self.times[-1]:
            return np.zeros(3)
        return np.array([np.interp(time, self.times, column) for column in self.vectors.T])


@dataclass(frozen=True, eq=False)
class Impulse:
    """A sudden push on some vertices, shared equally among them."""

    vertices: Indices
    vector: Vector
    """[N s]."""

    time: float = 0.0
    """Seconds after the start."""

    def __post_init__(self) -> None:
        put_vertices(self)
        put_finite(self, "vector", self.vector, (3,))
        if not (math.isfinite(self.time) and self.time >= 0):
            raise NeurokError(f"An impulse needs a time of 0 or more seconds, got {self.time}.")


@dataclass(frozen=True, eq=False)
class Drag:
    """Some vertices are pulled along a path by a stiff damped spring; each keeps its offset from their mean."""

    vertices: Indices
    path: Vectors
    """Where the mean of the vertices shall be at each key, in mesh units."""

    times: Numbers
    """Seconds, increasing; before the first and after the last key the path stands still."""

    stiffness: float | None = None
    """[N/m]; by default stiff enough to follow within a thousandth of the object's size under its own weight."""

    end: float | None = None
    """When the vertices are let go [s]; by default never."""

    def __post_init__(self) -> None:
        put_vertices(self)
        put_keys(self, "path")
        check_positive(self.stiffness, "stiffness")
        check_positive(self.end, "end")

    def at(self, time: float) -> Float[np.ndarray, "3"]:
        """Where the mean of the vertices shall be."""
        return np.array([np.interp(time, self.times, column) for column in self.path.T])


@dataclass(frozen=True, eq=False)
class Pin:
    """Some vertices stay where they are at the start, held by stiff damped springs."""

    vertices: Indices
    stiffness: float | None = None
    """[N/m] for all vertices together; by default the sag is below a thousandth of the object's size."""

    def __post_init__(self) -> None:
        put_vertices(self)
        check_positive(self.stiffness, "stiffness")


@dataclass(frozen=True, eq=False)
class Start:
    """How an object begins. Vertex wishes are met in least squares over the coordinates that can move."""

    q: Numbers | None = None
    """Coordinates of the space; rest when absent."""

    qdot: Numbers | None = None
    """Their rates [1/s]."""

    positions: VertexValues | None = None
    velocities: VertexValues | None = None
    velocity: Vector = (0.0, 0.0, 0.0)  # type: ignore[assignment]
    """Of a free object as a whole [units/s]."""

    spin: Vector = (0.0, 0.0, 0.0)  # type: ignore[assignment]
    """Of a free object about its centre of mass [rad/s]."""

    def __post_init__(self) -> None:
        for name in ("q", "qdot"):
            if getattr(self, name) is not None:
                put_finite(self, name, getattr(self, name), (None,))
        for name in ("velocity", "spin"):
            put_finite(self, name, getattr(self, name), (3,))


@dataclass(frozen=True, eq=False)
class Condition:
    """What is special about one object of a scene: its start, and the loads on its vertices."""

    start: Start = field(default_factory=Start)
    forces: Sequence[Force] = ()
    impulses: Sequence[Impulse] = ()
    drags: Sequence[Drag] = ()
    pins: Sequence[Pin] = ()


@dataclass(frozen=True, eq=False)
class Wind:
    """Moving air that pushes on every face it meets: pressure from the velocity of the air relative to the face."""

    velocity: Vector
    """[m/s]."""

    air_density: float = 1.2
    """[kg/m^3]."""

    drag: float = 1.0
    """Dimensionless drag coefficient of a face."""

    until: float | None = None
    """When the air comes to rest [s]; by default it blows for ever. Still air acts on nothing."""

    def __post_init__(self) -> None:
        put_finite(self, "velocity", self.velocity, (3,))
        check_positive(self.until, "until")
        check_positive(self.air_density, "air_density")
        check_positive(self.drag, "drag")


@dataclass(frozen=True, eq=False)
class Ground:
    """A plane nothing falls through."""

    height: float | None = None
    """Along ``normal``, in mesh units; by default the lowest point of the objects at rest."""

    normal: Vector | None = None
    """Unit normal, pointing to the free side; by default the up axis of the meshes."""

    friction: float = 0.5
    """Coulomb's coefficient."""

    def __post_init__(self) -> None:
        check_friction(self.friction)
        if self.normal is not None:
            put_finite(self, "normal", self.normal, (3,))
            length = float(np.linalg.norm(self.normal))
            if length == 0:
                raise NeurokError("The normal of the ground must be a direction, got zeros.")
            put_finite(self, "normal", self.normal / length, (3,))


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A mesh that stands still and is not passed through."""

    mesh: Mesh
    friction: float = 0.5
    """Coulomb's coefficient."""

    def __post_init__(self) -> None:
        check_friction(self.friction)


@dataclass(frozen=True, eq=False)
class World:
    """What surrounds the objects and acts on all of them."""

    gravity: Vector | None = None
    """[m/s^2]; by default 9.81 against the up axis of the meshes. Zeros switch it off."""

    wind: Wind | None = None
    ground: Ground | None = None
    obstacles: Sequence[Obstacle] = ()
    friction: float = 0.5
    """Coulomb's coefficient between objects."""

    def __post_init__(self) -> None:
        check_friction(self.friction)
        if self.gravity is not None:
            put_finite(self, "gravity", self.gravity, (3,))

    @property
    def has_contact(self) -> bool:
        return self.ground is not None or len(self.obstacles) > 0


def put_finite(noun: Any, name: str, value: Any, shape: tuple[int | None, ...]) -> None:
    """Set a field of a frozen noun to a read-only array of finite numbers."""
    array = frozen_array(value, np.float64, shape, name)
    if not np.isfinite(array).all():
        raise NeurokError(f"{name} of {type(noun).__name__.lower()} must be finite numbers, got {array.tolist()}.")
    object.__setattr__(noun, name, array)


def put_vertices(noun: Any) -> None:
    """Set the field ``vertices`` to indices; a single index may be given bare."""
    vertices = frozen_array(np.atleast_1d(noun.vertices), np.int64, (None,), "vertices")
    if len(vertices) == 0 or vertices.min() < 0:
        raise NeurokError(f"A {type(noun).__name__.lower()} needs at least one vertex index of 0 or more.")
    object.__setattr__(noun, "vertices", vertices)


def put_keys(noun: Any, name: str) -> None:
    """Check ``times`` against the keyed field ``name``."""
    put_finite(noun, name, np.atleast_2d(getattr(noun, name)), (None, 3))
    put_finite(noun, "times", np.atleast_1d(noun.times), (len(getattr(noun, name)),))
    if len(noun.times) == 0 or (np.diff(noun.times) < 0).any():
        raise NeurokError(f"The times of a {type(noun).__name__.lower()} must increase, got {noun.times.tolist()}.")


def check_positive(value: float | None, name: str) -> None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise NeurokError(f"{name} must be a positive number, got {value}.")


def check_friction(value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise NeurokError(f"friction must be zero or positive, got {value}.")
