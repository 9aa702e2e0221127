"""Actions that anyone can call: one word and a strength become ordinary entries of a scene.

Everything is counted in sizes of the object (the diagonal of its box), in its weight, and in the time √(size / g) in
which it falls by half its size. Objects of the same shape therefore move alike whatever their size, large ones slower.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.core import MaterialField, Mesh
from neurok.core.material import STANDARD_GRAVITY
from neurok.core.mesh import frame_change
from neurok.core.select import SIDES
from neurok.geometry.operators import closed_components, face_areas
from neurok.geometry.topology import face_components
from neurok.scene.description import Scene, SceneDrag, SceneError, SceneGround, SceneObject, ScenePin, vector

# How strong actions of strength 1 are. Sizes, weights and times are the object's own.

DROP_HEIGHT = 0.5  # Above the ground [sizes]: enough to tip over, little enough to watch
THROW_HEIGHT = 0.25  # Of the lowest point when it leaves the hand [sizes]
THROW_RANGE = 1.5  # How far it flies [sizes], leaving at 45 degrees
THROW_TURN = math.pi  # By how much it tumbles on the way [rad]
TILT_ANGLE = math.radians(30.0)
"""Of the ground; steeper than the 26.6 degrees at which a friction of 0.5 gives way [rad]."""

DRAG_REACH = 0.5  # How far the hand goes [sizes]
DRAG_FORCE = 2.0  # With what the hand pulls when the object does not follow at all [weights]
DRAG_TIME = 3.0  # How long the hand takes; then it lets go [√(size / g)]
WIND_FORCE = 0.7  # Of the gust on the object as it stands [weights]; friction holds 0.5
WIND_BROADSIDE = 5.0
"""No gust presses harder on the broadest side that the object could turn to it [weights]: what stands edge on would be
carried off as soon as it turns."""

WIND_TIME = 3.0  # How long the gust lasts [√(size / g)]
WIND_LIMIT = 40.0  # No gust is faster: the wind of a hurricane [m/s]
AIR_DENSITY = 1.2  # [kg/m³]
ROOTED_WORDS = ("plant", "tree", "flower", "palm", "bush", "cactus", "grass", "fern")
"""Words in the name of what stands anchored: wind holds its bottom down."""

ROOTED_MATERIALS = ("soil", "stem", "leaf")  # Materials of what stands anchored, whatever its name


@dataclass(frozen=True, eq=False)
class ActionSubject:
    """What an action needs to know of an object."""

    name: str
    size: float
    """Diagonal of its box [mesh units]."""

    unit: float
    """Metres per mesh unit."""

    mass: float
    """[kg]."""

    exposed: float
    """Area that a wind from the left meets, each face counted by how squarely it does [m²]."""

    broadside: float
    """The same for a wind along that axis of its box which meets the most [m²]."""

    up: Float[np.ndarray, "3"]
    right: Float[np.ndarray, "3"]
    materials: frozenset[str] = frozenset()
    """Names of the materials it is made of."""

    @staticmethod
    def of(name: str, mesh: Mesh, mass: float, materials: MaterialField | None = None) -> ActionSubject:
        right = frame_change("y", mesh.up) @ SIDES["right"]
        exposed = _exposed(mesh, np.concatenate([right[None], np.eye(3)]))
        names = [] if materials is None else [materials.materials[i].name for i in np.unique(materials.ids)]
        return ActionSubject(
            name,
            mesh.size,
            mesh.unit,
            mass,
            float(exposed[0]),
            float(exposed.max()),
            mesh.up_vector,
            right,
            frozenset(names),
        )

    @property
    def is_rooted(self) -> bool:
        """Whether it stands anchored, by its name or its materials."""
        return any(word in self.name.lower() for word in ROOTED_WORDS) or bool(self.materials & set(ROOTED_MATERIALS))

    @property
    def tumble(self) -> Float[np.ndarray, "3"]:
        """The axis about which the top leans to the right."""
        return np.cross(self.up, self.right)


def acted(scene: Scene, index: int, subject: ActionSubject) -> Scene:
    """The scene in which the action of one object is written out; a ground to stand on comes along.

    Raises:
        SceneError: If the object cannot do it.
    """
    thing = scene.objects[index]
    if thing.act is None:
        return scene
    problems = _problems(scene, thing, subject)
    if problems:
        raise SceneError(problems)
    world = scene.world
    if world.ground is None and thing.base != "fixed":
        world = replace(world, ground=SceneGround())
    things = list(scene.objects)
    things[index] = replace(thing, act=None, strength=1.0)
    plain = replace(scene, objects=tuple(things), world=world)
    return LAWS[thing.act](plain, index, subject, thing.strength)


def _problems(scene: Scene, thing: SceneObject, subject: ActionSubject) -> list[str]:
    """Why the object cannot do it."""
    name, act, world = subject.name, thing.act, scene.world
    out = []
    if thing.base == "fixed" and act in ("drop", "throw", "tilt"):
        out.append(f"'{name}' has a fixed root, so {act} cannot move it; leave out its base")
    if thing.drop is not None and act in ("drop", "throw"):
        out.append(f"'{name}' has a height to drop from besides the action {act}; give one of them")
    if world.gravity is not None and not any(world.gravity) and act in ("drop", "tilt"):
        out.append(f"There is no gravity, so {act} does nothing to '{name}'")
    if act == "tilt" and world.gravity is not None and any(world.gravity):
        out.append(f"The scene says where gravity pulls, so the ground under '{name}' cannot be tilted as well")
    if act == "wind" and world.wind is not None:
        out.append(f"The scene has a wind already, so '{name}' cannot have a gust of its own; give one of them")
    return out


def _fall(scene: Scene, subject: ActionSubject) -> tuple[float, float]:
    """Gravity [m/s²], and the time √(size / g) [s]."""
    given = scene.world.gravity
    gravity = float(np.linalg.norm(given)) if given is not None and any(given) else STANDARD_GRAVITY
    return gravity, math.sqrt(subject.size * subject.unit / gravity)


def _drop(scene: Scene, index: int, subject: ActionSubject, strength: float) -> Scene:
    return _changed(scene, index, drop=DROP_HEIGHT * strength * subject.size)


def _throw(scene: Scene, index: int, subject: ActionSubject, strength: float) -> Scene:
    """Leaving at 45 degrees, it is down by its height after the time in which it fell that height and its range."""
    thing, gravity = scene.objects[index], _fall(scene, subject)[0] / subject.unit
    height, reach = THROW_HEIGHT * subject.size, THROW_RANGE * strength * subject.size
    flight = math.sqrt(2.0 * (height + reach) / gravity)
    velocity = reach / flight * (subject.right + subject.up)
    spin = THROW_TURN / flight * subject.tumble
    return _changed(
        scene,
        index,
        drop=height,
        velocity=vector(np.array(thing.velocity) + velocity),
        spin=vector(np.array(thing.spin) + spin),
    )


def _tilt(scene: Scene, index: int, subject: ActionSubject, strength: float) -> Scene:
    """The ground slopes down to the right, seen by one who is tilted with it: gravity leans, and pulls as hard."""
    gravity = _fall(scene, subject)[0]
    angle = math.atan(strength * math.tan(TILT_ANGLE))
    pull = gravity * (math.sin(angle) * subject.right - math.cos(angle) * subject.up)
    return replace(scene, world=replace(scene.world, gravity=vector(pull)))


def _drag(scene: Scene, index: int, subject: ActionSubject, strength: float) -> Scene:
    """A hand on the top goes to the right and lets go; it pulls through a spring, so it cannot tear anything."""
    gravity, time = _fall(scene, subject)
    reach, end = DRAG_REACH * subject.size, DRAG_TIME * time
    stiffness = DRAG_FORCE * subject.mass * gravity / (reach * subject.unit)
    drag = SceneDrag("all/top", (vector(strength * reach * subject.right),), (end,), stiffness, end)
    return _changed(scene, index, drags=(*scene.objects[index].drags, drag))


def _wind(scene: Scene, index: int, subject: ActionSubject, strength: float) -> Scene:
    """A gust from the left; what is rooted keeps its bottom where it is."""
    gravity, time = _fall(scene, subject)
    force = WIND_FORCE * strength * subject.mass * gravity
    area = max(subject.exposed, WIND_FORCE / WIND_BROADSIDE * subject.broadside, 1e-300)
    speed = math.sqrt(2.0 * force / (AIR_DENSITY * area))
    wind = vector(min(speed, WIND_LIMIT) * subject.right)
    scene = replace(scene, world=replace(scene.world, wind=wind, wind_until=WIND_TIME * time))
    pins = scene.objects[index].pins
    is_pinned = subject.is_rooted and not pins
    return _changed(scene, index, pins=(ScenePin("all/bottom"),)) if is_pinned else scene


LAWS: dict[str, Callable[[Scene, int, ActionSubject, float], Scene]] = {
    "drop": _drop,
    "throw": _throw,
    "tilt": _tilt,
    "drag": _drag,
    "wind": _wind,
}
"""What each action does."""


def _changed(scene: Scene, index: int, **changes: object) -> Scene:
    things = list(scene.objects)
    things[index] = replace(things[index], **changes)  # type: ignore[arg-type]
    return replace(scene, objects=tuple(things))


def _exposed(mesh: Mesh, winds: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, " n"]:
    """Areas by which half the air's density times the squared wind gives the force along it, as the engine counts."""
    corners = mesh.vertices[mesh.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-300)
    piece = face_components(mesh.vertices, mesh.faces)
    half = np.where(closed_components(mesh.vertices, mesh.faces, piece)[piece], 0.5, 1.0)
    areas = half * face_areas(mesh.vertices, mesh.faces)
    return np.asarray(areas @ np.abs(normals @ winds.T) ** 3) * mesh.unit**2
