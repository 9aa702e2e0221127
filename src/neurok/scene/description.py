"""A scene: which objects, what is done to them, what surrounds them, for how long.

Plain words and numbers only, so that a scene can be written to a file, read back and compared. ``scene.files`` does the
former, ``scene.run`` makes bodies of it and lets them go. Lengths are in the unit and axes of the first object's file;
forces in newtons, times in seconds, angles of a placement in degrees.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from neurok.core import Asset, Mesh
from neurok.core.material import Material, MaterialKind, check_range
from neurok.core.material_library import material
from neurok.core.mesh import UpAxis
from neurok.core.select import parse_vector
from neurok.dynamics.choice import EngineName
from neurok.dynamics.engine import LONGEST_FRAME, MAX_STEPS
from neurok.dynamics.particles.engine_config import ResolutionName, parse_resolution
from neurok.dynamics.reduced.engine import IntegratorName
from neurok.errors import NeurokError, wrong_choice
from neurok.model import Model, SpaceName

VERSION = 1

Vector = tuple[float, float, float]
BaseName = Literal["auto", "free", "fixed"]
UnitName = Literal["m", "cm", "mm", "in", "inch"]
ActionName = Literal["drop", "throw", "tilt", "drag", "wind"]
Source = str | Mesh | Asset | Model
"""Where an object is: in a file, or in memory. Only files can be named in the text of a scene."""

PUSH_SECONDS = 0.2
"""How long a push lasts unless it says so [s]: a nudge by hand."""

AUTO_DROP = 0.5
"""Height of a drop that names none, as a share of the object's size: enough to tip over, little enough to watch."""

MAX_FRAMES = 1_000_000
"""Of a scene; more is a slip of the pen."""

LARGEST_NUMBER = 1e13
"""The same of any number, in SI units: ten times the stiffness of diamond, a trillion times anything that is thrown."""


class SceneError(NeurokError):
    """All that is wrong with a scene, in one sentence; ``problems`` holds them one by one."""

    def __init__(self, problems: list[str]) -> None:
        text = "; ".join(problems)
        super().__init__(text if text.endswith("?") else f"{text}.")
        self.problems = problems


@dataclass(frozen=True)
class ScenePush:
    """A force on some vertices, shared among them."""

    at: str
    """Where; see ``neurok.core.select``."""

    force: Vector
    """In world axes [N]."""

    start: float = 0.0
    end: float = PUSH_SECONDS
    """From when to when [s]."""


@dataclass(frozen=True)
class SceneImpulse:
    """A blow on some vertices, shared among them."""

    at: str
    impulse: Vector
    """In world axes [N s]."""

    time: float = 0.0


@dataclass(frozen=True)
class SceneVelocity:
    """How fast some vertices shall be at the start; met as far as the joints allow."""

    at: str
    velocity: Vector
    """[length/s]."""


@dataclass(frozen=True)
class SceneMove:
    """Where some vertices shall be at the start, counted from rest; met as far as the joints allow."""

    at: str
    by: Vector


@dataclass(frozen=True)
class SceneDrag:
    """Some vertices are led along a path."""

    at: str
    path: tuple[Vector, ...]
    """Displacements from where the vertices are at the start."""

    times: tuple[float, ...] = ()
    """When each point of the path is reached [s]; spread evenly over the whole time if left out."""

    stiffness: float | None = None
    """Of the spring that leads them [N/m]."""

    end: float | None = None
    """When they are let go [s]; never by default."""


@dataclass(frozen=True)
class ScenePin:
    """Some vertices stay where they are at the start."""

    at: str
    stiffness: float | None = None


@dataclass(frozen=True)
class SceneMaterial:
    """What a part is made of."""

    density: float = Material.density
    """[kg/m^3]."""

    young: float = Material.young
    """Young's modulus [Pa]; matters to what bends."""

    poisson: float = Material.poisson
    kind: MaterialKind = Material.kind
    yield_stress: float | None = None
    """[Pa]; only for kinds that yield."""

    friction_angle: float | None = None
    """[rad]; only for granular kinds."""

    damping_ratio: float = Material.damping_ratio
    """Share of critical damping with which it stops ringing."""

    friction: float = Material.friction
    """Coulomb's coefficient against a hard dry surface."""

    thickness: float | None = None
    """[m] of its sheets, where the part is an open surface."""


@dataclass(frozen=True)
class SceneObject:
    """One object and what is done to it."""

    source: Source
    """File, folder or ``sample:NAME`` (in a scene file ``path``, relative to it); or an object in memory."""

    name: str = ""
    """Prefix of its parts when there are several objects; the file's name by default."""

    space: SpaceName = "auto"
    """Which poses it can take: those of its ``joints``, of its own ``clip``, ``learned`` ones, or only the one it has
    (``rigid``); ``auto`` takes the first of these there is."""

    plan: str = ""
    """File of its body plan, which somebody may have edited; it then moves as that says, whatever joints it has."""

    unit: float | UnitName | None = None
    """Of its file: a name, or metres; by default as the file says, unless that is surely wrong."""

    up: UpAxis | None = None
    """The axis of its file that points up; by default as the file says, or a sure guess."""

    nodes: tuple[str, ...] = ()
    """Globs of the nodes of its file that are the object, as for ``neurok.load``."""

    interior: bool = True
    """Whether parts that are cut out of a closed surface get an inside."""

    act: ActionName | None = None
    """What is done to it, in one word; see ``neurok.scene.actions``."""

    strength: float = 1.0
    """Of the action."""

    position: Vector = (0.0, 0.0, 0.0)
    rotation: Vector = (0.0, 0.0, 0.0)
    """About the middle of its box: the direction is the axis, the length the angle [degrees]."""

    base: BaseName = "auto"
    """``fixed`` on its root, ``free`` to move as a whole; ``auto`` is free where there is something to rest on."""

    drop: float | Literal["auto"] | None = None
    """Lift it so that its lowest point is this far above the ground; ``auto`` is half its size."""

    density: float | None = None
    """[kg/m^3], instead of that of materials which nobody named: neither ``materials`` nor the file."""

    mass: float | None = None
    """Of the whole object [kg]; by default as its geometry and things of its kind have it."""

    hollow: bool | None = None
    """Whether closed surfaces are hollow or solid; by default as their materials and things of its kind are."""

    thickness: float | None = None
    """Of walls and open surfaces; by default that of their material's sheets, or 1 % of the object's size."""

    materials: Mapping[str, str | SceneMaterial] = field(default_factory=dict)
    """By the name of a part or a surface, or ``all``: a material of the library, or numbers."""

    materials_file: str = ""
    """File of its materials, as ``neurok materials`` writes it; ``materials`` count over it."""

    damping: float = 0.0
    """Slows everything in proportion to its mass [1/s]."""

    joint_damping: float | None = None
    """Rate at which joints come to rest that name no damping of their own [1/s]; by default none in free motion, and 4
    in a world with ground or obstacles."""

    joint_friction: float | None = None
    """Coefficient of the dry friction of joints; by default none in free motion, and 0.3 in a world with ground or
    obstacles."""

    q: tuple[float, ...] | None = None
    """Joint values at the start."""

    qdot: tuple[float, ...] | None = None
    """Their rates at the start [1/s]."""

    velocity: Vector = (0.0, 0.0, 0.0)
    """Of a free object as a whole [length/s]."""

    spin: Vector = (0.0, 0.0, 0.0)
    """Of a free object about its centre of mass [rad/s]."""

    jolt: float = 0.0
    """A random start, drawn from the seed, in which the fastest vertex has this speed [length/s]."""

    moves: tuple[SceneMove, ...] = ()
    velocities: tuple[SceneVelocity, ...] = ()
    pushes: tuple[ScenePush, ...] = ()
    impulses: tuple[SceneImpulse, ...] = ()
    drags: tuple[SceneDrag, ...] = ()
    pins: tuple[ScenePin, ...] = ()


@dataclass(frozen=True)
class SceneGround:
    """A plane nothing falls through."""

    height: float | None = None
    """Along the normal; by default the lowest point of the objects where they are placed."""

    normal: Vector | None = None
    """The up axis by default."""

    friction: float = 0.5


@dataclass(frozen=True)
class SceneObstacle:
    """A mesh that stands still."""

    source: Source
    position: Vector = (0.0, 0.0, 0.0)
    rotation: Vector = (0.0, 0.0, 0.0)
    friction: float = 0.5


@dataclass(frozen=True)
class SceneWorld:
    """What acts on all objects."""

    gravity: Vector | None = None
    """[m/s^2]; 9.81 downwards by default."""

    wind: Vector | None = None
    """Velocity of the air [m/s]."""

    wind_until: float | None = None
    """When the air comes to rest [s]; never by default."""

    ground: SceneGround | None = None
    obstacles: tuple[SceneObstacle, ...] = ()
    friction: float = 0.5
    """Between objects."""


@dataclass(frozen=True)
class Scene:
    """Everything a run depends on.

    Raises:
        SceneError: Naming every value that makes no sense.
    """

    objects: tuple[SceneObject, ...]
    world: SceneWorld = SceneWorld()
    seconds: float = 2.0
    fps: float = 24.0
    dt: float | None = None
    """Longest time step [s]; one that suits the integrator by default."""

    integrator: IntegratorName = "auto"
    """Of the reduced engine; one that is named means that engine."""

    seed: int = 0
    """Of whatever is random (``jolt``)."""

    engine: EngineName = "auto"
    """``reduced``, ``mujoco`` (rigid parts and joints), ``particles`` (all materials at full order), or ``auto``:
    MuJoCo for rigid things that can touch something, if it is installed."""

    resolution: ResolutionName | int = "medium"
    """Of the engine ``particles``: ``coarse``, ``medium``, ``fine``, or cells along the longest side."""

    stiffest: float | None = None
    """Of the engine ``particles`` [Pa]: what is stiffer is stepped with this stiffness; by default it is rigid."""

    def __post_init__(self) -> None:
        problems = [text for place, value, words in _leaves(self, "") for text in _check_leaf(place, value, words)]
        problems += _check_scene(self)
        if problems:
            raise SceneError(problems)


POSITIVE = {
    "seconds", "fps", "dt", "unit", "strength", "wind_until", "density", "mass", "thickness", "stiffness", "young",
    "stiffest", "yield_stress",
}  # fmt: skip
NOT_NEGATIVE = {
    "damping", "joint_damping", "joint_friction", "friction", "start", "time", "times", "jolt", "drop", "seed",
}  # fmt: skip


def vector(values: Any) -> Vector:
    """Three plain numbers; no zero is negative."""
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z


@cache
def _choices(kind: type) -> dict[str, tuple[str, ...]]:
    """Fields that take a few words, and which."""
    found = {}
    for name, hint in get_type_hints(kind).items():
        known = [one for one in (hint, *get_args(hint)) if get_origin(one) is Literal]
        found[name] = tuple(str(word) for one in known for word in get_args(one))
    return found


def _leaves(value: Any, place: str, words: tuple[str, ...] = ()) -> Iterator[tuple[str, float | str, tuple[str, ...]]]:
    """Every number and every choice of a scene with its place, such as ``objects[0].pushes[1].force``."""
    if is_dataclass(value):
        for item in (item for item in fields(value) if item.name != "source"):
            known = _choices(type(value)).get(item.name, ())  # type: ignore[arg-type]
            yield from _leaves(getattr(value, item.name), f"{place}.{item.name}".lstrip("."), known)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}")
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{place}[{index}]" if is_dataclass(item) or isinstance(item, tuple) else place)
    elif isinstance(value, str) and words:
        yield place, value, words
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, float(value), ()


def _check_leaf(place: str, value: float | str, words: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, float):
        yield from check_number(place, value)
    elif value not in words and place != "resolution":  # which may also be a number in words
        yield wrong_choice(place, value, words)


def check_number(place: str, value: float) -> Iterator[str]:
    """What is wrong with a number, judged by the field it stands in."""
    name = place.rsplit(".", 1)[-1].split("[")[0]
    if not math.isfinite(value):
        yield f"{place} must be finite, got {value}"
    elif abs(value) > LARGEST_NUMBER and name != "seed":
        yield f"{place} must lie within {LARGEST_NUMBER:.0e}, got {value:g}"
    elif name in POSITIVE and value <= 0:
        yield f"{place} must be positive, got {value:g}"
    elif name in NOT_NEGATIVE and value < 0:
        yield f"{place} must not be negative, got {value:g}"
    elif name in ("density", "young"):
        yield from (f"{place}{text.removeprefix(name)}" for text in check_range(name, value))
    elif name == "damping_ratio" and not 0 <= value < 1:
        yield f"{place} must lie in [0, 1), got {value:g}"
    elif name == "poisson" and not -1 < value < 0.5:
        yield f"{place} must lie in (-1, 0.5), got {value:g}"
    elif name == "friction_angle" and not 0 <= value < math.pi / 2:
        yield f"{place} must lie in [0, pi/2), got {value:g}"


def _check_scene(scene: Scene) -> Iterator[str]:
    if not scene.objects:
        yield "objects must name at least one object"
    if scene.seconds * scene.fps > MAX_FRAMES:
        yield f"seconds times fps must be at most {MAX_FRAMES:,} frames, got {scene.seconds * scene.fps:.3g}"
    if scene.fps > 0 and 1.0 / scene.fps > max(scene.seconds, LONGEST_FRAME):
        least = 1.0 / max(scene.seconds, LONGEST_FRAME)
        yield f"fps must be at least {least:.3g}, so that a frame fits into {scene.seconds:g} s, got {scene.fps:g}"
    if scene.dt is not None and 0 < scene.dt < scene.seconds / MAX_STEPS:
        yield f"dt must be at least {scene.seconds / MAX_STEPS:.3g} s, which is {MAX_STEPS:,} steps, got {scene.dt:.3g}"
    try:
        parse_resolution(scene.resolution)
    except NeurokError as error:
        yield str(error).removesuffix(".")
    names = [thing.name for thing in scene.objects if thing.name]
    if len(set(names)) < len(names):
        yield f"objects must have different names, got {', '.join(names)}"
    if scene.world.ground is not None and scene.world.ground.normal == (0.0, 0.0, 0.0):
        yield "world.ground.normal must be a direction, got zeros"
    for index, thing in enumerate(scene.objects):
        place = f"objects[{index}]"
        yield from _check_materials(thing, place)
        for k, push in enumerate(thing.pushes):
            if push.end <= push.start:
                yield f"{place}.pushes[{k}] must end after it starts, got {push.start:g} to {push.end:g} s"
        for k, drag in enumerate(thing.drags):
            if not drag.path:
                yield f"{place}.drags[{k}].path must have at least one point"
            elif drag.times and len(drag.times) != len(drag.path):
                yield f"{place}.drags[{k}] has {len(drag.path)} points but {len(drag.times)} times"
            elif any(b <= a for a, b in zip(drag.times, drag.times[1:], strict=False)):
                yield f"{place}.drags[{k}].times must increase"
            if drag.end is not None and drag.end <= 0:
                yield f"{place}.drags[{k}].end must be positive, got {drag.end:g}"
        if thing.strength != 1.0 and thing.act is None:
            yield f"{place}.strength says how strong an action is, but act names none"


def _check_materials(thing: SceneObject, place: str) -> Iterator[str]:
    for part, given in thing.materials.items():
        if isinstance(given, str):
            try:
                material(given)
            except NeurokError as error:
                yield f"{place}.materials.{part}: {str(error).removesuffix('.')}"


def parse_push(text: str) -> ScenePush:
    """``AT:x,y,z`` or ``AT:x,y,z@start-end``."""
    at, rest = _split(text, "push", "AT:x,y,z, such as door:0,0,20")
    vector, _, times = rest.partition("@")
    force = parse_vector(vector, f"the force of push {text!r}")
    start, end = _times(times, text) if times else (0.0, PUSH_SECONDS)
    return ScenePush(at, force, start, end)


def parse_velocity(text: str) -> SceneVelocity:
    """``AT:x,y,z``."""
    at, rest = _split(text, "velocity", "AT:x,y,z, such as door:0,0,1")
    return SceneVelocity(at, parse_vector(rest, f"the velocity {text!r}"))


def parse_drag(text: str) -> SceneDrag:
    """``AT:x,y,z;x,y,z`` or ``AT:x,y,z@t;x,y,z@t``."""
    at, rest = _split(text, "drag", "AT:x,y,z;x,y,z, such as door:0,0,0.3")
    points, times = [], []
    for word in rest.split(";"):
        vector, _, time = word.partition("@")
        points.append(parse_vector(vector, f"a point of drag {text!r}"))
        if time:
            times.append(_number(time, text))
    if times and len(times) != len(points):
        raise NeurokError(f"{len(times)} of {len(points)} points of drag {text!r} say when; all or none must.")
    return SceneDrag(at, tuple(points), tuple(times))


def parse_gravity(text: str) -> Vector:
    """``x,y,z``, or ``0`` for none."""
    if text.strip() in ("0", "0.0", "none", "off"):
        return 0.0, 0.0, 0.0
    return parse_vector(text, "the gravity")


def _split(text: str, what: str, example: str) -> tuple[str, str]:
    # Names of parts may hold a colon, vectors never do.
    at, colon, rest = text.rpartition(":")
    if not colon or not at:
        raise NeurokError(f"The {what} {text!r} is not understood; write it like {example}.")
    return at, rest


def _times(text: str, whole: str) -> tuple[float, float]:
    for place in [i for i, letter in enumerate(text) if letter == "-"]:  # 1e-1-2 has two
        with contextlib.suppress(ValueError):
            return float(text[:place]), float(text[place + 1 :])
    raise NeurokError(f"The times of push {whole!r} are not understood; write them like @0-0.5.")


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise NeurokError(f"{text!r} in {whole!r} is not a time in seconds.") from None
