"""Scenes from words: objects are generated, placed by their relations, checked by the engine, and set in motion.

Objects stand on a floor, their fronts towards +z of a y-up world in metres. What is on, in or under another finds its
place on a height map of that other (the highest point of each cell), what is in front, behind or beside goes outwards
until its box is free. Whether the result rests is not decided by geometry: MuJoCo lets everything go, and what it says
is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Asset, Joint, Material, MaterialField
from neurok.core.material import STANDARD_GRAVITY
from neurok.errors import NeurokError
from neurok.generation.arrangement import ArrangedMotion, ArrangedObject, Arrangement, arrangement_of
from neurok.generation.verb import Generated, generate
from neurok.geometry.sampling import sample_surface
from neurok.io import save
from neurok.rendering.files import FILMS
from neurok.scene.description import Scene, SceneGround, SceneObject, SceneWorld, vector
from neurok.scene.files import SUFFIXES, write_scene
from neurok.scene.output import render, write_output
from neurok.scene.run import merge_meshes, run_scene
from neurok.staging import together

Box = Float[np.ndarray, "2 3"]
Progress = Callable[[Sequence[Any], str, int], Iterable[Any]]

GAP = 0.04
"""Between neighbours on the floor [m]: a hand fits, nobody walks through."""

CELL = 0.02
"""Of height maps [m]: the width of a thin board."""

LEVEL = 0.01
"""How much lower than its highest point a supporting surface may be to carry [m]; half a cell."""

CARRIED = 0.75
"""Share of a footprint that must be carried; less than half would tip over."""

SAMPLES = 40_000
"""Points of a surface from which its height map is made: several in each cell of a table."""

OPENED = 0.75
"""How far an open door, drawer or lid is open, as a share of its range."""

REST_SECONDS = 1.0
"""How long objects are left alone to see whether they rest: what is off balance has fallen by its own height."""

REST_WAY = 0.1
"""How far one may move in that time, as a share of its size: settling of a millimetre to a centimetre, not a fall."""

MOTION_SECONDS = 3.0
"""Length of a scene in which something is moved."""

SHOVE = 1.2
"""Speed with which something is pushed, or sent over the edge that it falls from [m/s]: a brisk hand."""

JOINT_DAMPING = 4.0
"""Rate at which joints come to rest in a world with ground [1/s], as that of ``SceneObject.joint_damping``: a joint
that starts at this rate times the way it shall go stops there."""


@dataclass(frozen=True, eq=False)
class ComposedObject:
    """One object where it stands."""

    asked: ArrangedObject
    made: Generated
    asset: Asset
    """In the frame of the scene."""

    q: tuple[float, ...] | None = None
    """Joint values at the start, where something is open."""

    @property
    def box(self) -> Box:
        return self.asset.mesh.bounds

    @property
    def entry(self) -> SceneObject:
        return SceneObject(self.asset, self.asked.name, base="free", q=self.q)


@dataclass(frozen=True, eq=False)
class Composition:
    """A scene that was made of words."""

    arrangement: Arrangement
    objects: tuple[ComposedObject, ...]
    notes: tuple[str, ...] = ()
    """What could not be done as it was said, and what does not rest."""

    moved: dict[str, float] = field(default_factory=dict)
    """How far each object moved when it was left alone [m]."""

    @property
    def asset(self) -> Asset:
        """All objects as one: parts are called ``object/part``, joints and materials are kept."""
        return merge_assets([one.asset for one in self.objects], [one.asked.name for one in self.objects])

    @property
    def scene(self) -> Scene:
        """All objects on a floor, with what happens to them."""
        entries = [one.entry for one in self.objects]
        for motion in self.arrangement.motions:
            entries[motion.subject] = _in_motion(self.objects, motion, entries[motion.subject])
        return Scene(tuple(entries), SceneWorld(ground=SceneGround(height=0.0)), seconds=MOTION_SECONDS)

    def report(self) -> dict[str, Any]:
        """Figures for people and programs."""
        return {
            "objects": [
                {
                    "name": one.asked.name,
                    "prompt": one.asked.prompt,
                    "relation": one.asked.relation,
                    "target": None if one.asked.target is None else self.objects[one.asked.target].asked.name,
                    "middle": [round(float(x), 3) for x in one.box.mean(axis=0)],
                    "moved_when_left_alone": round(self.moved.get(one.asked.name, 0.0), 4),
                    **one.made.report(),
                }
                for one in self.objects
            ],
            "motions": [
                {"object": self.objects[m.subject].asked.name, "motion": m.motion, "part": m.part}
                for m in self.arrangement.motions
            ],
            "not_understood": list(self.arrangement.unread),
            "notes": list(self.notes),
        }


def compose(text: str, *, seed: int = 0, check: bool = True, progress: Progress | None = None) -> Composition:
    """Generate the objects of a scene in words and put them in their places.

    Args:
        text: Such as ``a desk with a lamp and an open laptop on it, a chair in front``.
        seed: Same seed, same scene.
        check: Let the engine see whether everything rests.
        progress: Sees the objects, a title and their number on their way.

    Raises:
        NeurokError: If it names nothing that can be made.
    """
    arrangement = arrangement_of(text)
    asked = arrangement.objects
    made = [
        generate(one.prompt, seed=seed + k)[0]
        for k, one in enumerate(progress(asked, "objects", len(asked)) if progress else asked)
    ]
    layout = _Layout(arrangement.objects, made)
    layout.place_all()
    placed = Composition(arrangement, tuple(layout.result()), tuple(layout.notes))
    return _at_rest(placed) if check else placed


class _Layout:
    """Places objects one after the other; each finds its target standing already."""

    def __init__(self, asked: Sequence[ArrangedObject], made: Sequence[Generated]) -> None:
        self.asked, self.made = asked, made
        self.assets: dict[int, Asset] = {}
        self.notes: list[str] = []

    def result(self) -> list[ComposedObject]:
        return [
            ComposedObject(one, made, self.assets[k], _opened(self.assets[k]) if one.is_open else None)
            for k, (one, made) in enumerate(zip(self.asked, self.made, strict=True))
        ]

    def place_all(self) -> None:
        left = list(range(len(self.asked)))
        while left:
            ready = [k for k in left if self.asked[k].target is None or self.asked[k].target in self.assets]
            if not ready:  # "a on b, b on a": somebody must stand on the floor
                ready = left[:1]
                self.asked = [
                    replace(o, relation=None, target=None) if k in ready else o for k, o in enumerate(self.asked)
                ]
            for k in ready:
                self.assets[k] = self._placed(k)
            left = [k for k in left if k not in ready]

    def _placed(self, k: int) -> Asset:
        one, asset = self.asked[k], self.made[k].asset
        low, high = asset.mesh.bounds
        asset = moved_asset(asset, 0.0, -np.array([(low[0] + high[0]) / 2, low[1], (low[2] + high[2]) / 2]))
        if one.target is None:
            return self._on_floor(asset, one.relation)
        target = self.assets[one.target]
        if one.relation in ("on", "in"):
            spot = self._spot(asset, target, k, inside=one.relation == "in")
            if spot is not None:
                return moved_asset(asset, 0.0, spot)
            self._note(k, f"finds no place {one.relation}")
        if one.relation == "under":
            middle = target.mesh.bounds.mean(axis=0) * [1.0, 0.0, 1.0]
            under = moved_asset(asset, 0.0, middle)
            if not _reaches_into(surface_points(target), under.mesh.bounds):
                return under
            self._note(k, "does not fit under")
        return self._beside(asset, target, one.relation or "beside")

    def _note(self, k: int, problem: str) -> None:
        target = self.asked[k].target
        assert target is not None
        self.notes.append(f"The {self.asked[k].name} {problem} the {self.asked[target].name}; it stands beside it.")

    def _on_floor(self, asset: Asset, relation: str | None) -> Asset:
        """Beside all that stands already, or with its back to the wall behind all of it."""
        if not self.assets:
            return asset
        if relation == "wall":
            back = min(float(other.mesh.bounds[0, 2]) for other in self.assets.values())
            asset = moved_asset(asset, 0.0, np.array([0.0, 0.0, back - asset.mesh.bounds[0, 2]]))
            return self._pushed(asset, np.array([1.0, 0.0, 0.0]))
        return self._pushed(asset, np.array([1.0, 0.0, 0.0]))

    def _beside(self, asset: Asset, target: Asset, relation: str) -> Asset:
        """At a side of the target; what is in front of it turns its own front to it."""
        if relation not in _SIDES:
            sides = [self._beside(asset, target, side) for side in ("right", "left")]
            middle = target.mesh.bounds.mean(axis=0)
            return min(sides, key=lambda one: float(np.abs(one.mesh.bounds.mean(axis=0) - middle).sum()))
        side = np.array(_SIDES[relation])
        asset = moved_asset(asset, np.pi, np.zeros(3)) if relation == "front" else asset
        own, other = asset.mesh.bounds, target.mesh.bounds
        reach = np.where(side > 0, other[1] - own[0] + GAP, other[0] - own[1] - GAP)
        offset = np.where(side != 0, reach, other.mean(axis=0) - own.mean(axis=0))
        return self._pushed(moved_asset(asset, 0.0, offset * [1.0, 0.0, 1.0]), side)

    def _pushed(self, asset: Asset, side: Float[np.ndarray, "3"]) -> Asset:
        """Outwards until its box is free; each step passes at least one box."""
        for _ in range(len(self.assets) + 1):
            own = asset.mesh.bounds
            hit = next((o.mesh.bounds for o in self.assets.values() if _overlap(own, o.mesh.bounds)), None)
            if hit is None:
                break
            way = np.where(side > 0, hit[1] - own[0] + GAP, hit[0] - own[1] - GAP)
            asset = moved_asset(asset, 0.0, np.where(side != 0, way, 0.0))
        return asset

    def _spot(self, asset: Asset, target: Asset, k: int, inside: bool) -> Float[np.ndarray, "3"] | None:
        """Where it rests on the height map of the target, clear of its neighbours; nothing if nowhere."""
        points = surface_points(target)
        heights, corner = height_map(points)
        low, high = asset.mesh.bounds
        cells = np.maximum(1, np.ceil((high - low)[[0, 2]] / CELL)).astype(int)
        if (cells > heights.shape).any():
            return None
        windows = np.lib.stride_tricks.sliding_window_view(heights, tuple(cells))
        tops = windows.max(axis=(2, 3))
        carried = (windows >= tops[..., None, None] - LEVEL).mean(axis=(2, 3))
        places = np.argwhere((carried >= CARRIED) & np.isfinite(tops))
        middle = (np.array(heights.shape) - cells) / 2
        away = np.linalg.norm((places - middle) * CELL, axis=1)
        rows = tops[tuple(places.T)]
        level = rows if inside else -rows
        others = [o.mesh.bounds for n, o in self.assets.items() if self.asked[n].target == self.asked[k].target]
        for number in np.lexsort((away, np.round(level / (5 * LEVEL)))):
            i, j = places[number]
            middle_x, middle_z = corner + (np.array([i, j]) + cells / 2) * CELL
            spot = np.array([middle_x, rows[number], middle_z])
            box = np.stack([low, high]) + spot
            if not any(_overlap(box, other) for other in others) and not _reaches_into(points, box):
                return spot
        return None


_SIDES = {
    "front": (0.0, 0.0, 1.0),
    "behind": (0.0, 0.0, -1.0),
    "left": (-1.0, 0.0, 0.0),
    "right": (1.0, 0.0, 0.0),
}


def surface_points(asset: Asset) -> Float[np.ndarray, "N 3"]:
    """Points of an object's surface, its vertices among them."""
    mesh = asset.mesh
    samples = sample_surface(mesh.vertices, mesh.faces, SAMPLES, np.random.default_rng(0))
    return np.concatenate([samples.interpolate(mesh.vertices), mesh.vertices])


def height_map(points: Float[np.ndarray, "N 3"]) -> tuple[Float[np.ndarray, "X Z"], Float[np.ndarray, "2"]]:
    """The highest point above each cell of the floor, -inf where there is none, and the corner of the map."""
    flat = points[:, [0, 2]]
    corner = flat.min(axis=0)
    cells = np.floor((flat - corner) / CELL).astype(int)
    heights = np.full(tuple(cells.max(axis=0) + 1), -np.inf)
    np.maximum.at(heights, tuple(cells.T), points[:, 1])
    return heights, corner


def _overlap(first: Box, second: Box) -> bool:
    """Whether two boxes share more than a touch."""
    return bool((np.minimum(first[1], second[1]) - np.maximum(first[0], second[0]) > 1e-6).all())


def _reaches_into(points: Float[np.ndarray, "N 3"], box: Box) -> bool:
    """Whether points of a surface lie within a box, deeper than a touch."""
    return bool(((points > box[0] + LEVEL) & (points < box[1] - LEVEL)).all(axis=1).any())


def moved_asset(asset: Asset, turn: float, offset: Float[np.ndarray, "3"]) -> Asset:
    """An object turned about the vertical through the origin [rad], then shifted; with its joints."""
    c, s = np.cos(turn), np.sin(turn)
    rotation = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    mesh = asset.mesh.with_vertices(asset.mesh.vertices @ rotation.T + offset)
    joints = asset.articulation
    if joints is not None:
        rows = tuple(joint.moved(rotation, 1.0, offset) for joint in joints.joints)
        joints = replace(joints, mesh=mesh, joints=rows)
    return replace(asset, mesh=mesh, articulation=joints, origin=None)


def merge_assets(assets: Sequence[Asset], names: Sequence[str]) -> Asset:
    """One asset of several: parts ``object/part``, every object on its own root, materials kept."""
    mesh = merge_meshes([asset.mesh for asset in assets], names)
    joints: list[Joint] = []
    for asset, name in zip(assets, names, strict=True):
        joints += _joints_of(asset, name, len(joints))
    fields = [asset.materials or MaterialField.uniform(Material(), asset.mesh.vertex_count) for asset in assets]
    starts = np.cumsum([0, *(len(one.materials) for one in fields)])
    library = tuple(material for one in fields for material in one.materials)
    ids = np.concatenate([one.ids + start for one, start in zip(fields, starts, strict=False)])
    return Asset(
        mesh, articulation=Articulation(mesh, tuple(joints), name="scene"), materials=MaterialField(library, ids)
    )


def _joints_of(asset: Asset, name: str, start: int) -> list[Joint]:
    """Joints of one object among those of a scene; what has none is one rigid piece."""
    if asset.articulation is None:
        rest = max(asset.mesh.part_count, 1) - 1
        return [Joint(name=name), *(Joint(parent=start, name=f"{name}_{k + 1}") for k in range(rest))]
    return [
        replace(joint, parent=joint.parent + start if joint.parent >= 0 else -1, name=f"{name}_{joint.name}")
        for joint in asset.articulation.joints
    ]


def _opened(asset: Asset) -> tuple[float, ...] | None:
    """Joint values of an object that is open; what is modelled open, with its rest inside the range, stays as it is."""
    if asset.articulation is None:
        return None
    limits = asset.articulation.limits
    closed = np.isfinite(limits).all(axis=1) & (np.abs(limits).min(axis=1) <= 1e-6)
    ends = np.where(np.abs(limits[:, 1]) > np.abs(limits[:, 0]), limits[:, 1], limits[:, 0])
    return tuple(float(end) * OPENED if is_closed else 0.0 for end, is_closed in zip(ends, closed, strict=True))


def _in_motion(objects: Sequence[ComposedObject], motion: ArrangedMotion, entry: SceneObject) -> SceneObject:
    """An object with what happens to it as ordinary conditions at the start."""
    one = objects[motion.subject]
    if motion.motion == "open":
        return replace(entry, qdot=_opening(one, motion.part))
    target = one.asked.target
    away = np.array([0.0, 0.0, 1.0])
    if target is not None:
        way = one.box.mean(axis=0) - objects[target].box.mean(axis=0)
        way[1] = 0.0
        away = way / np.linalg.norm(way) if np.linalg.norm(way) > CELL else away
    speed = SHOVE
    if motion.motion == "fall" and target is not None:  # fast enough to slide over the edge against friction 0.5
        edge = float(np.linalg.norm(objects[target].box[1, [0, 2]] - objects[target].box[0, [0, 2]]))
        speed = max(SHOVE, float(np.sqrt(2.0 * 0.5 * STANDARD_GRAVITY * edge / 2)))
    return replace(entry, velocity=vector(away * speed))


def _opening(one: ComposedObject, part: str) -> tuple[float, ...]:
    """Joint rates that carry doors, drawers and lids to where they are open."""
    joints = one.asset.articulation
    ends = _opened(one.asset)
    if joints is None or ends is None or not any(ends):
        raise NeurokError(f"The {one.asked.name} has nothing that opens; leave the motion out, or ask for a door.")
    names = [name.lower() for name in joints.dof_names]
    chosen = [not part or part in name for name in names]
    chosen = chosen if any(chosen) else [True] * len(names)
    return tuple(JOINT_DAMPING * end if use else 0.0 for end, use in zip(ends, chosen, strict=True))


def _at_rest(made: Composition) -> Composition:
    """The same scene, with how far objects move when they are left alone."""
    entries = tuple(replace(one.entry, space="rigid", q=None) for one in made.objects)
    world = SceneWorld(ground=SceneGround(height=0.0))
    run = run_scene(Scene(entries, world, seconds=REST_SECONDS, engine="mujoco"))
    moved, notes = {}, list(made.notes)
    for one, rollout in zip(made.objects, run.rollouts, strict=True):
        assert rollout.positions is not None
        way = float(np.linalg.norm(rollout.positions[-1] - rollout.positions[0], axis=1).mean())
        moved[one.asked.name] = way
        if way > REST_WAY * one.asset.mesh.size:
            notes.append(
                f"The {one.asked.name} does not rest where it was put: it moves {way * 100:.0f} cm in a second."
            )
    return replace(made, notes=tuple(notes), moved=moved)


ROBOTS = (".xml", ".urdf", ".usd", ".usda", ".usdc", ".usdz")
"""Formats of simulators: the scene as it starts, every object free to move."""


def write_composition(made: Composition, out: Sequence[Path]) -> tuple[list[Path], str]:
    """Write a scene to files, all or none; the files, and the status of its motion."""
    files, status, run = list[Path](), "ok", None
    shown = [path for path in out if path.suffix.lower() not in (*ROBOTS, *SUFFIXES)]
    if made.arrangement.motions and shown:
        run = run_scene(made.scene)
        status = run.rollout.status
    with together():
        for path in out:
            suffix = path.suffix.lower()
            if suffix in SUFFIXES:
                files += _write_parts(made, path)
            elif suffix in ROBOTS:
                options = {"scene": True} if suffix == ".xml" else {}
                files += save(made.asset, path, free_base=True, **options)
            elif run is not None:
                files += write_output(run, path)
            elif suffix in (".png", *FILMS):
                render(made.asset, path)
                files.append(path)
            else:
                files += save(made.asset, path)
    return files, status


def _write_parts(made: Composition, path: Path) -> list[Path]:
    """The scene as text, and each of its objects as a file of its own that can be varied and edited."""
    scene, files, entries = made.scene, list[Path](), []
    for one, entry in zip(made.objects, scene.objects, strict=True):
        target = path.with_name(f"{path.stem}_{one.asked.name}.glb")
        files += save(one.asset, target)
        entries.append(replace(entry, source=str(target)))
    write_scene(replace(scene, objects=tuple(entries)), path)
    return [*files, path]
