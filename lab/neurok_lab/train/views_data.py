"""Views of objects with true joints, and of objects that stand still: rendered once, kept small, drawn as batches.

A file of an object holds some views of it at rest and some with joints partly opened: normals, depth and the body that
each cell shows, and for each state a table of its bodies. Targets follow from these when a view is drawn.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Articulation, Joint, Mesh
from neurok.errors import NeurokError
from neurok.geometry.level_set import MeltConfig
from neurok.io import load
from neurok.learned.views.camera import ROUND, Camera, Scene, View, cells, grid, image
from neurok.learned.views.network import CELLS, REACHES, SPOTS
from neurok_lab.data.still import UNSEEN_CATEGORIES, UNSEEN_FAMILIES, hold_out, static_files
from neurok_lab.evaluation.cases import boxed_articulation
from neurok_lab.train.versions import bodies_of, posed, single_surface, with_true_parts

UNSEEN_PACKS = (*UNSEEN_CATEGORIES, "DoorHandle")
"""Kinds of the packs that are held out whole: those that are everywhere, and one that is nowhere else."""

MEMBERS = 6
"""Generated objects of each family ..."""

MELTS = 2
"""... and how many of them are shown as one surface, too."""

ALIVE = ("mannequin", "bird", "fish")
"""Families that are left out: figures of such things stand still, and nothing seen from outside tells which do not."""

MELTED = "~melted"
"""Ending of the name of an object that is shown as one surface."""

SEED = 33
"""Of the generated objects."""


@dataclass(frozen=True)
class ViewDataConfig:
    """How many views of an object are kept, and from where. By eye."""

    rest: int = 12
    """Views of the object as it is stored ..."""

    states: int = 3
    """... and other states of its joints ..."""

    each: int = 4
    """... with so many views each."""

    elevations: tuple[float, float] = (-0.3, 1.2)
    """Between which it is looked at [rad]."""

    zoom: tuple[float, float] = (0.4, 1.05)
    """Width of a view over that of the whole object; what a narrow one shows is of any body alike, the base too."""

    cells: tuple[int, int] = (48, 192)
    """Cells along an object that is melted into one surface, the logarithm drawn evenly ..."""

    faces: int = 10_000
    """... and faces of it."""

    tipped: float = 0.25
    """Share of the melted objects that lie on another side: scans need not stand."""


class Bodies(NamedTuple):
    """What moves in one state of an object, in the unit box of its rest."""

    turns: Bool[np.ndarray, " B"]
    axes: Float[np.ndarray, "B 3"]
    origins: Float[np.ndarray, "B 3"]
    low: Float[np.ndarray, "B 3"]
    """Box of what is seen of it from outside ..."""

    high: Float[np.ndarray, "B 3"]


class Source(NamedTuple):
    """An object that may be learned from or watched."""

    name: str
    kind: str
    """Where it is from."""

    split: str
    """``train``, ``seen`` or ``unseen``."""

    load: Callable[[], Articulation]


def find_sources(data: Path) -> list[Source]:
    """All objects of a folder of data sets, and generated ones."""
    found: list[Source] = []
    for inside, kind in (("partnet_mobility/train", "partnet"), ("articulated_packs", "packs")):
        if (data / inside).is_dir():
            paths = {path.stem: path for path in (data / inside).glob("*.npz")}
            found += [
                Source(name, kind, split, partial(load_joints, paths[name])) for name, split in split_names(paths)
            ]
    paths = {path.parent.name: path for path in sorted((data / "articulated_urdf").glob("*/*.urdf"))}
    found += [Source(name, "urdf", split, partial(load_joints, paths[name])) for name, split in split_names(paths)]
    for inside in (
        "household/sweethome3d",
        "household/kenney-furniture-kit",
        "household/aws-small-house",
        "furniture_glb",
        "animated_glb",
    ):
        if (data / inside).is_dir():
            train, kept = static_files(data / inside)
            found += [Source(path.stem, "static", "train", partial(_still, path)) for path in train]
            found += [Source(path.stem, "static", "seen", partial(_still, path)) for path in kept]
    return found + list(_generated())


def split_names(names: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """The split of the project, and whole kinds of the packs besides."""
    train, seen, unseen = hold_out(names)
    for split, some in (("train", train), ("seen", seen), ("unseen", unseen)):
        for name in some:
            yield name, "unseen" if name.split("_")[0] in UNSEEN_PACKS else split


def _generated() -> Iterator[Source]:
    from neurok_lab.worlds.articulated import FAMILIES

    for family in (name for name in FAMILIES if name not in ALIVE):
        split = "unseen" if family in UNSEEN_FAMILIES else "train"
        for member in range(MEMBERS if split == "train" else 1):
            yield Source(f"{family}_{member}", "families", split, partial(_made, family, member))


def _made(family: str, member: int) -> Articulation:
    from neurok_lab.worlds.articulated import generate

    asset, reasons = generate(family, SEED, member)
    if asset is None or asset.articulation is None:
        raise NeurokError(f"No object of family '{family}' passed its checks: {'; '.join(reasons)}.")
    return asset.articulation


def load_joints(path: Path) -> Articulation:
    """The object of a file, with its joints."""
    found = load(path).articulation
    if found is None:
        raise NeurokError(f"'{path}' holds no joints.")
    return found


def _still(path: Path) -> Articulation:
    mesh = replace(load(path).mesh, part_ids=None, part_names=())
    return Articulation(mesh, (Joint("fixed", -1),))


def render(source: Source, out: Path, is_melted: bool = False, config: ViewDataConfig = ViewDataConfig()) -> Path:
    """Write the views of an object, as it is or as one surface; the draw depends on its name alone. What is there
    already stays."""
    path = out / f"{source.split}-{source.kind}-{source.name}{MELTED * is_melted}.npz"
    if path.exists():
        return path
    rng = np.random.default_rng(zlib.crc32(path.stem.encode()))
    rest = boxed_articulation(source.load().in_frame(up="y"))
    if is_melted:
        melt = MeltConfig(int(np.exp(rng.uniform(*np.log(config.cells)))), faces=config.faces)
        mesh, owners = single_surface(rest.mesh, melt)
        rest = with_true_parts(mesh, rest.mesh.face_parts[owners], rest)
        rest = tipped(rest, rng) if rng.random() < config.tipped else rest
    states = [(rest.mesh, rest.joints, config.rest if rest.dof else config.rest + config.each)]
    if rest.dof and not is_melted:
        states += [(*posed(rest, rng), config.each) for _ in range(config.states)]
    columns: dict[str, list[np.ndarray]] = {}
    for number, (mesh, joints, count) in enumerate(states):
        for name, value in _shown(mesh, joints, count, number, rng, config).items():
            columns.setdefault(name, []).append(value)
    out.mkdir(parents=True, exist_ok=True)
    partial_path = path.with_suffix(".part.npz")
    np.savez(partial_path, **{name: np.concatenate(values) for name, values in columns.items()})  # type: ignore[arg-type]
    partial_path.rename(path)
    return path


def tipped(articulation: Articulation, rng: np.random.Generator) -> Articulation:
    """The object on one of its other sides, turned about the vertical by quarters."""
    quarter = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    upright = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    first, across, second = int(rng.integers(4)), int(rng.integers(1, 4)), int(rng.integers(4))
    power = np.linalg.matrix_power
    turn = power(upright, second) @ power(quarter, across) @ power(upright, first)
    joints = tuple(joint.moved(turn, 1.0, np.zeros(3)) for joint in articulation.joints)
    mesh = articulation.mesh.with_vertices(articulation.mesh.vertices @ turn.T)
    return boxed_articulation(replace(articulation, mesh=mesh, joints=joints))


def prepare_views(sources: list[Source], out: Path, tell: Callable[[str], None]) -> None:
    """Write the views of all objects that are not there yet; those to learn from as one surface, too: static
    ones as well, or what is melted would always move."""
    for source in sources:
        try:
            render(source, out)
            if source.split == "train" and (source.kind != "families" or int(source.name.rsplit("_", 1)[1]) < MELTS):
                render(source, out, is_melted=True)
        except NeurokError as error:
            tell(f"{source.name} is left out: {error}")


LICENSES = {
    "partnet": "PartNet-Mobility: research use",
    "packs": "BSD-3-Clause, MIT, Apache-2.0; five objects of PartNet-Mobility: research use",
    "urdf": "CC0-1.0, CC-BY-3.0",
    "static": "CC0-1.0, CC-BY-3.0, MIT-0",
    "families": "Apache-2.0",
}
"""Of what each source holds."""


def describe_sources(sources: list[Source]) -> list[dict[str, Any]]:
    """Numbers and licences of what is learned from, for a card."""
    counts = {kind: sum(s.kind == kind and s.split == "train" for s in sources) for kind in LICENSES}
    return [
        {"name": kind, "items": count, "licenses": {LICENSES[kind]: count}} for kind, count in counts.items() if count
    ]


def _shown(
    mesh: Mesh, joints: tuple[Joint, ...], count: int, state: int, rng: np.random.Generator, config: ViewDataConfig
) -> dict[str, np.ndarray]:
    """Some views of a state, small, and its bodies: body 0 stands still, those after it are rows of the table."""
    part_bodies, _ = bodies_of(joints)
    face_bodies = part_bodies[mesh.face_parts]
    scene = Scene(mesh)
    cameras = [_anywhere(mesh, face_bodies, rng, config) for _ in range(count)]
    views = [scene.view(camera) for camera in cameras]
    around = [scene.view(Camera.at(*way, mesh.vertices), 96) for way in ROUND]
    table = body_table(joints, part_bodies, seen_boxes([*views, *around], face_bodies, int(part_bodies.max())))
    low = np.stack([v.faces for v in views])
    return {
        "normals": np.stack([np.rint(127 * v.normals) for v in views]).astype(np.int8),
        "depth": np.stack([np.rint(8000 * np.clip(v.depth, -4, 4)) for v in views]).astype(np.int16),
        "mask": low >= 0,
        "body": np.stack([cell_bodies(v, face_bodies) for v in views]),
        "rotation": np.stack([v.camera.rotation for v in views]).astype(np.float32),
        "place": np.stack([np.append(v.camera.centre, v.camera.half) for v in views]).astype(np.float32),
        "state": np.full(count, state, dtype=np.int16),
        "table": np.concatenate([np.full((len(table), 1), state), table], axis=1).astype(np.float32),
    }


def _anywhere(
    mesh: Mesh, face_bodies: Int[np.ndarray, " F"], rng: np.random.Generator, config: ViewDataConfig
) -> Camera:
    """A direction and a width at random; a narrow view is of some face of any body alike."""
    camera = Camera.at(rng.uniform(0, 2 * np.pi), rng.uniform(*config.elevations), mesh.vertices)
    zoom = rng.uniform(*config.zoom)
    body = rng.choice(np.unique(face_bodies))
    face = mesh.faces[rng.choice(np.flatnonzero(face_bodies == body))]
    aside = camera.rotation[:2] @ (mesh.vertices[face].mean(axis=0) - camera.centre)
    aside = np.clip(aside, -(free := max(0.0, 1.0 - zoom) * camera.half), free)
    return Camera(camera.rotation, camera.centre + aside @ camera.rotation[:2], zoom * camera.half)


def cell_bodies(view: View, face_bodies: np.ndarray) -> np.ndarray:
    """255 where there is nothing."""
    faces = cells(view.faces)
    return np.where(faces >= 0, np.minimum(face_bodies[np.maximum(faces, 0)], 254), 255).astype(np.uint8)


def seen_boxes(views: list[View], face_bodies: np.ndarray, count: int) -> Float[np.ndarray, "B 2 3"]:
    """Boxes of what is seen of each body; NaN for those that are not."""
    boxes = np.full((count, 2, 3), np.nan)
    points = np.concatenate([v.camera.outside(v.points[v.faces >= 0]) for v in views])
    owners = np.concatenate([face_bodies[v.faces[v.faces >= 0]] for v in views])
    for body in np.unique(owners[owners > 0]):
        mine = points[owners == body]
        boxes[body - 1] = mine.min(axis=0), mine.max(axis=0)
    return boxes


def body_table(joints: tuple[Joint, ...], part_bodies: np.ndarray, boxes: np.ndarray) -> Float[np.ndarray, "B 13"]:
    """Turns or not, axis, origin and box of each body."""
    rows = np.zeros((len(boxes), 13))
    for part, joint in enumerate(joints):
        if joint.kind != "fixed":
            body = int(part_bodies[part]) - 1
            rows[body] = [joint.kind != "prismatic", *joint.axis, *joint.origin, *boxes[body].reshape(-1)]
    return rows


@dataclass(frozen=True, eq=False)
class Shots:
    """The stored views of an object."""

    name: str
    kind: str
    arrays: dict[str, np.ndarray]

    @staticmethod
    def read(path: Path) -> Shots:
        _, kind, name = path.stem.split("-", 2)
        with np.load(path, allow_pickle=False) as stored:
            return Shots(name, kind, dict(stored))

    def __len__(self) -> int:
        return len(self.arrays["state"])

    def bodies(self, number: int) -> Bodies:
        """Of the state that a view shows."""
        table = self.arrays["table"]
        rows = table[table[:, 0] == self.arrays["state"][number], 1:].astype(np.float64)
        return Bodies(rows[:, 0] > 0, rows[:, 1:4], rows[:, 4:7], rows[:, 7:10], rows[:, 10:13])

    def camera(self, number: int) -> Camera:
        place = self.arrays["place"][number].astype(np.float64)
        return Camera(self.arrays["rotation"][number].astype(np.float64), place[:3], float(place[3]))


TARGETS = ("body", "moves", "turns", "axis", "direction", "hinge", "spot", "box", "line", "seen")
"""What a view should be answered with, cell by cell; ``body`` tells which cells are of one body."""

OBLIQUE = 3
"""Class of an axis that is none of the object's own ..."""

ALONG = 0.94
"""... since its cosine with each of them is at most this: twenty degrees off."""

NEAR_SIDE = 0.2
"""An axis this near to a side of the box, or to its middle, goes through that place [lengths of the side]."""

THIN = 0.04
"""Sides of a box are at least so long when places on them are told apart [halves of the view's width]."""

LINE = 0.06
"""Width of the mark of an axis [halves of the view's width]."""


def drawn(shots: Shots, number: int, is_mirrored: bool) -> tuple[Float[np.ndarray, "C S S"], dict[str, np.ndarray]]:
    """A view as the network is shown it, and its targets; mirrored left to right on request."""
    arrays, camera = shots.arrays, shots.camera(number)
    mask, normals = arrays["mask"][number], arrays["normals"][number].astype(np.float32) / 127
    depth, body = arrays["depth"][number].astype(np.float32) / 8000, arrays["body"][number]
    frame, bodies = camera.frame, in_view(shots.bodies(number), camera)
    across, down = np.meshgrid(grid(len(depth)), -grid(len(depth)))
    points = cells(np.stack([across, down, depth], axis=-1))
    if is_mirrored:
        mask, depth, body, points = mask[:, ::-1], depth[:, ::-1], body[:, ::-1], points[:, ::-1] * MIRROR
        normals = normals[:, ::-1] * MIRROR.astype(np.float32)
        frame, bodies = _mirrored_frame(frame), _mirrored(bodies)
    return image(frame, mask, normals, depth), targets(points, body, frame, bodies)


MIRROR = np.array([-1.0, 1.0, 1.0])


def in_view(bodies: Bodies, camera: Camera) -> Bodies:
    """Bodies in a view: axes and origins in its frame, boxes along the object's axes as the view orders them."""
    turned = camera.frame @ camera.rotation  # rows: the ordered axes, in the object's frame
    ends = np.stack([(side - camera.centre) @ turned.T / camera.half for side in (bodies.low, bodies.high)])
    axes, origins = bodies.axes @ camera.rotation.T, camera.inside(bodies.origins)
    return Bodies(bodies.turns, axes, origins, ends.min(axis=0), ends.max(axis=0))


def _mirrored_frame(frame: np.ndarray) -> np.ndarray:
    """Axes in the mirror; the one that points right still does."""
    return frame * MIRROR * np.array([[1.0], [-1.0], [1.0]])


def _mirrored(bodies: Bodies) -> Bodies:
    low, high = bodies.low.copy(), bodies.high.copy()
    low[:, 1], high[:, 1] = -bodies.high[:, 1], -bodies.low[:, 1]
    return Bodies(bodies.turns, bodies.axes * MIRROR, bodies.origins * MIRROR, low, high)


def targets(
    points: Float[np.ndarray, "h w 3"], body: Int[np.ndarray, "h w"], frame: Float[np.ndarray, "3 3"], bodies: Bodies
) -> dict[str, np.ndarray]:
    """What each cell should be answered with, given what moves, in the view."""
    shape = body.shape
    out = {name: np.zeros(shape, dtype=np.float32) for name in ("moves", "turns", "axis", "spot", "line")}
    out |= {"direction": np.zeros((6, *shape), np.float32), "hinge": np.zeros((3, *shape), np.float32)}
    out |= {"box": np.zeros((6, *shape), np.float32), "body": body.astype(np.float32)}
    out["seen"] = (body != 255).astype(np.float32)
    along = points @ frame.T
    for number in np.unique(body[(body > 0) & (body < 255)]):
        mine, row = body == number, number - 1
        if row >= len(bodies.turns):
            continue
        axis, origin = bodies.axes[row], bodies.origins[row]
        low, high = bodies.low[row], bodies.high[row]
        out["moves"][mine] = 1.0
        out["turns"][mine] = bodies.turns[row]
        out["axis"][mine] = axis_class(axis, frame)
        x, y, z = axis
        out["direction"][:, mine] = np.array([x * x, y * y, z * z, x * y, x * z, y * z])[:, None]
        away = origin - points[mine]
        out["hinge"][:, mine] = (away - (away @ axis)[:, None] * axis).T
        out["spot"][mine] = spot_class(axis_class(axis, frame), frame @ origin, low, high)
        out["box"][:, mine] = np.concatenate([along[mine] - low, high - along[mine]], axis=1).T
        if bodies.turns[row]:
            out["line"] = np.maximum(out["line"], _line(points, axis, origin, frame, low, high))
    return out


def axis_class(axis: np.ndarray, frame: np.ndarray) -> int:
    alike = np.abs(frame @ axis)
    return int(alike.argmax()) if alike.max() > ALONG else OBLIQUE


def spot_class(axis: int, origin: np.ndarray, low: np.ndarray, high: np.ndarray) -> int:
    """Three by three places across the box, in the order of the other two axes; the last class for everything else."""
    if axis == OBLIQUE:
        return SPOTS - 1
    others = [k for k in range(3) if k != axis]
    middle, side = (low + high)[others] / 2, np.maximum((high - low)[others], THIN)
    share = (origin[others] - middle) / side + 0.5
    place = np.rint(2 * share)
    near = (np.abs(share - place / 2) < NEAR_SIDE) & (place >= 0) & (place <= 2)
    return int(3 * place[0] + place[1]) if near.all() else SPOTS - 1


def _line(
    points: np.ndarray, axis: np.ndarray, origin: np.ndarray, frame: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Float[np.ndarray, "h w"]:
    """Where an axis, as long as its body, is seen to pass: one on it, falling to zero beside it."""
    corners = np.stack(np.meshgrid(*zip(low, high, strict=True), indexing="ij"), axis=-1).reshape(-1, 3) @ frame
    reach = (corners - origin) @ axis
    start, end = (origin + axis * far for far in (reach.min(), reach.max()))
    way = (end - start)[:2]
    t = np.clip(((points[..., :2] - start[:2]) @ way) / max(float(way @ way), 1e-9), 0.0, 1.0)
    distance = np.linalg.norm(points[..., :2] - start[:2] - t[..., None] * way, axis=-1)
    return np.clip(1.0 - distance / LINE, 0.0, 1.0)


def neighbours(body: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether the cells so far to the right, and so far down, are of the same body, and whether both show something."""
    same = np.zeros((2 * len(REACHES), CELLS, CELLS), dtype=np.float32)
    asked = np.zeros_like(same)
    for k, reach in enumerate(REACHES):
        for row, (here, there) in enumerate(
            (((slice(None), slice(None, -reach)), (slice(None), slice(reach, None))),
             ((slice(None, -reach), slice(None)), (slice(reach, None), slice(None))))
        ):  # fmt: skip
            same[len(REACHES) * row + k][here] = body[here] == body[there]
            asked[len(REACHES) * row + k][here] = (body[here] != 255) & (body[there] != 255)
    return same, asked
