"""Fits a known object to a picture: the view it is seen from, its proportions, and the colours of its parts.

The surface is sampled by points, which are cheap to project: a fit is a search over view and stretch for the outline of
the picture, drawn to what the reader says of both; then each part has the colour of the pixels where it lies in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.catalogue.appearance import colour_words, rgb_of
from neurok.catalogue.assemble import placed_anew
from neurok.catalogue.captions import main_part
from neurok.catalogue.parts import Assembly
from neurok.core.surface import to_linear
from neurok.generation.editing import OWN_PATTERNS, in_colour, of_material
from neurok.generation.photo import Photo
from neurok.generation.picture_reader import TURNS, PictureReader, Reading
from neurok.generation.reshaping import resized
from neurok.generation.silhouettes import ASPECT
from neurok.geometry.sampling import sample_surface

POINTS = 3000
CELLS = 24  # along each side of the box that outlines are compared in
COLOUR_CELLS = 40  # and that colours are read in
FOV = 30.0  # [degrees]: nothing tells the lens, and little depends on it
FEWEST = 3  # cells in which a part must lie in front to be seen
VIEW = 0.01  # what a nat of the reader's doubt about the azimuth counts beside the outline
PULL = 0.25  # what the square of a log stretch beside the expected one counts
TRUST = 0.5  # share of the stretch to the reader's proportions that is expected: it errs by about as much
TILT = 1e-5  # what a square degree of elevation beside the reader's counts
MOST = 0.4  # largest log stretch
STEPS = (0.16, 0.08, 0.04)  # of the search for the log stretch; for angles [degrees] by ``ANGLE``
ANGLE = 100.0
CERTAIN = 0.5  # probability from which the reader's material is believed


@dataclass(frozen=True, eq=False)
class Points:
    """A surface by points, each with the number of its part."""

    places: Float[np.ndarray, "N 3"]
    parts: Int[np.ndarray, " N"]

    @staticmethod
    def of(assembly: Assembly) -> Points:
        shapes = [(number, shape) for number, part in enumerate(assembly.parts) for shape in part.copies]
        starts = np.cumsum([0, *(len(shape.vertices) for _, shape in shapes)])
        vertices = np.concatenate([shape.vertices for _, shape in shapes])
        faces = np.concatenate([shape.faces + start for (_, shape), start in zip(shapes, starts[:-1], strict=True)])
        owners = np.repeat([number for number, _ in shapes], [len(shape.faces) for _, shape in shapes])
        drawn = sample_surface(vertices, faces, POINTS, np.random.default_rng(0))
        return Points(drawn.interpolate(vertices), owners[drawn.face_ids])


@dataclass(frozen=True)
class Pose:
    """How an object is seen: azimuth and elevation [degrees], log stretch of height and depth over width."""

    azimuth: float
    elevation: float
    height: float = 0.0
    depth: float = 0.0

    @property
    def factors(self) -> Float[np.ndarray, "3"]:
        return np.exp([0.0, self.height, self.depth])


def projected(points: Float[np.ndarray, "N 3"], pose: Pose) -> tuple[Float[np.ndarray, "N 2"], Float[np.ndarray, " N"]]:
    """Places in the picture, right and down, and how near they are."""
    from neurok.rendering.camera import Camera

    stretched = points * pose.factors
    centre = (stretched.min(axis=0) + stretched.max(axis=0)) / 2.0
    radius = np.linalg.norm(stretched - centre, axis=1).max()
    own = (stretched - centre) @ Camera(pose.azimuth, pose.elevation, FOV).axes.T
    away = radius / np.sin(np.radians(FOV) / 2.0) - own[:, 2]
    return np.stack([own[:, 0] / away, -own[:, 1] / away], axis=1), own[:, 2]


def cells_of(flat: Float[np.ndarray, "N 2"], count: int) -> tuple[Int[np.ndarray, " N"], float]:
    """The cell of the box around all that each lies in, row by row, and the logarithm of its height over width."""
    low, size = flat.min(axis=0), np.ptp(flat, axis=0) + 1e-9
    column, row = np.minimum((flat - low) / size * count, count - 1).astype(int).T
    return row * count + column, float(np.log(size[1] / size[0]))


def box_of(mask: Bool[np.ndarray, "S S"]) -> tuple[slice, slice]:
    """Rows and columns of what is in a mask."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def boxed(mask: Bool[np.ndarray, "S S"], count: int) -> tuple[Bool[np.ndarray, "{count} {count}"], float]:
    """The cells of its box that a mask reaches, as points do, and the logarithm of its height over width."""
    box = mask[box_of(mask)]
    rows, columns = ((np.arange(count) / count * side).astype(int) for side in box.shape)
    reached = np.logical_or.reduceat(np.logical_or.reduceat(box, rows, axis=0), columns, axis=1)
    return reached, float(np.log(box.shape[0] / box.shape[1]))


def expected_pose(points: Points, reading: Reading) -> Pose:
    """What the reader alone says."""
    size = np.ptp(points.places, axis=0)
    height, depth = np.clip(TRUST * (np.array(reading.proportions) - np.log(size[1:] / size[0])), -MOST, MOST)
    return Pose(reading.azimuths[0], reading.elevation, float(height), float(depth))


@dataclass(frozen=True, eq=False)
class Fitting:
    """The outline of a picture and what the reader says, against which an object is put."""

    filled: Bool[np.ndarray, "C C"]
    aspect: float
    reading: Reading

    @staticmethod
    def of(photo: Photo) -> Fitting:
        return Fitting(*boxed(photo.mask, CELLS), photo.reading)

    def cost(self, points: Points, pose: Pose, expected: Float[np.ndarray, "2"]) -> float:
        """How far the outline is from that of the picture, and the pose from what is expected."""
        flat, _ = projected(points.places, pose)
        cells, aspect = cells_of(flat, CELLS)
        seen = np.zeros(CELLS * CELLS, dtype=bool)
        seen[cells] = True
        apart = np.sqrt((seen.reshape(CELLS, CELLS) != self.filled).mean())
        turn = pose.azimuth % 360.0 * TURNS / 360.0
        share = np.interp(turn, np.arange(TURNS + 1), [*self.reading.turns, self.reading.turns[0]])
        doubt = VIEW * -np.log(share + 1e-4) + TILT * (pose.elevation - self.reading.elevation) ** 2
        pull = PULL * float(((np.array([pose.height, pose.depth]) - expected) ** 2).sum())
        return float(np.hypot(apart, ASPECT * (aspect - self.aspect)) + doubt + pull)

    def best(self, points: Points) -> tuple[Pose, float]:
        """The pose of an object that fits best, by descent along one number at a time from each likely view."""
        usual = expected_pose(points, self.reading)
        expected = np.array([usual.height, usual.depth])
        starts = [replace(usual, azimuth=azimuth) for azimuth in self.reading.azimuths]
        return min((self._descended(points, start, expected) for start in starts), key=lambda one: one[1])

    def _descended(self, points: Points, pose: Pose, expected: Float[np.ndarray, "2"]) -> tuple[Pose, float]:
        cost = self.cost(points, pose, expected)
        for step in STEPS:
            for name, by in (("azimuth", ANGLE), ("elevation", ANGLE / 2.0), ("height", 1.0), ("depth", 1.0)):
                for way in (step * by, -step * by):
                    value = getattr(pose, name) + way
                    if name in ("height", "depth") and abs(value) > MOST:
                        continue
                    other = replace(pose, **{name: value})
                    other_cost = self.cost(points, other, expected)
                    if other_cost < cost:
                        pose, cost = other, other_cost
                        break
        return pose, cost


def stretched(assembly: Assembly, pose: Pose) -> Assembly:
    """The object in the proportions of a pose; its volume stays about what it was."""
    even = (pose.height + pose.depth) / 3.0
    for dimension, log in (("width", -even), ("height", pose.height - even), ("depth", pose.depth - even)):
        if abs(log) > 0.01:
            assembly = resized(assembly, (), dimension, float(np.exp(log)))  # type: ignore[arg-type]
    return assembly


def colours_seen(
    assembly: Assembly, points: Points, pose: Pose, pixels: Float[np.ndarray, "S S 3"], mask: Bool[np.ndarray, "S S"]
) -> dict[str, Float[np.ndarray, "3"]]:
    """The middle colour of the pixels where parts of each name lie in front."""
    flat, near = projected(points.places, pose)
    cells, _ = cells_of(flat, COLOUR_CELLS)
    front = np.full(COLOUR_CELLS**2, -1)
    order = np.argsort(near, kind="stable")
    front[cells[order]] = points.parts[order]
    box = box_of(mask)
    inner, own = mask[box], pixels[box]
    rows, columns = (((np.arange(COLOUR_CELLS) + 0.5) / COLOUR_CELLS * side).astype(int) for side in inner.shape)
    colours, is_object = own[np.ix_(rows, columns)].reshape(-1, 3), inner[np.ix_(rows, columns)].ravel()
    out = {}
    for name in dict.fromkeys(part.name for part in assembly.parts):
        numbers = [number for number, part in enumerate(assembly.parts) if part.name == name]
        chosen = np.isin(front, numbers) & is_object
        if chosen.sum() >= FEWEST:
            out[name] = np.median(colours[chosen], axis=0)
    return out


def painted(
    assembly: Assembly, seen: dict[str, Float[np.ndarray, "3"]], reader: PictureReader, reading: Reading
) -> Assembly:
    """The object in colours that were seen, and its main part in the reader's material if that is certain.

    A part that is hidden takes the colour of one that had the same before, or else keeps its own. Patterns that are not
    of a material are left out: pixels tell their mean.
    """
    main = assembly.parts[main_part(assembly)]
    material, share = max(reading.materials.items(), key=lambda one: one[1])
    words = {name: nearest_word(reader.surface_colour(rgb)) for name, rgb in seen.items()}
    before: dict[str, str] = {}
    for part in assembly.parts:
        if part.name in words:
            before.setdefault(part.appearance.colour, words[part.name])
    parts = []
    for part in assembly.parts:
        alike = part.appearance.visible_material == main.appearance.visible_material
        finish = of_material(part, material) if alike and share > CERTAIN else part.appearance
        if finish.pattern not in OWN_PATTERNS:
            finish = replace(finish, pattern="plain", second="", second_rgb=(1.0, 1.0, 1.0))
        word = words.get(part.name) or before.get(part.appearance.colour)
        parts.append(placed_anew(part, appearance=in_colour(finish, word) if word else finish))
    return replace(assembly, parts=tuple(parts))


def nearest_word(rgb: Float[np.ndarray, "3"]) -> str:
    """The colour word that looks most like a colour."""
    words, places = _word_places()
    return words[int(((oklab(rgb) - places) ** 2).sum(axis=1).argmin())]


@cache
def _word_places() -> tuple[Sequence[str], Float[np.ndarray, "N 3"]]:
    words = list(colour_words())
    return words, oklab(np.array([rgb_of(word) for word in words]))


def oklab(rgb: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
    """Lightness and two opponent colours in which distances are even to the eye (Ottosson 2020)."""
    cones = np.cbrt(to_linear(rgb) @ CONES.T)
    return np.asarray(cones @ OPPONENTS.T)


CONES = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
OPPONENTS = np.array([
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
])  # fmt: skip
