"""The numbers of a part list: where parts stand and what shape they have, as rows that a flow can learn."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.catalogue.parts import Appearance, Assembly, Hinge, Part, Repeat
from neurok.generation.fields import CODED_KINDS, SOLID, quarters
from neurok.modelling.forms import CODE, Hollow

LAYOUT: tuple[tuple[str, int], ...] = (
    ("scale", 1),
    ("centre", 3),
    ("size", 3),
    ("turn", 6),
    ("meets", 3),
    ("code", CODE),
    ("wall", 1),
    ("rgb", 3),
    ("second_rgb", 3),
    ("tile", 1),
    ("step", 3),
    ("spin", 1),
    ("lean", 1),
    ("shrink", 1),
    ("pivot", 2),
    ("axis", 3),
    ("origin", 3),
    ("limits", 2),
)
"""What the numbers of a part are. Lengths are shares of the object's longest side, the scale (its logarithm, the same
for all parts of an object); sizes, walls and tiles are logarithms; meeting points and origins of hinges are relative to
the part's middle; a turn is the first two columns of its matrix."""

SPANS: Mapping[str, slice] = {}
_end = 0
for _name, _count in LAYOUT:
    SPANS[_name] = slice(_end, _end + _count)  # type: ignore[index]
    _end += _count
WIDTH = _end

SMALLEST = 1e-4
"""Shares of the longest side below which a length is this [-]: logarithms need a floor."""


@dataclass(frozen=True, eq=False)
class Standard:
    """Means and spreads that bring rows to zero mean and unit spread; codes have their own for each kind."""

    mean: Float[np.ndarray, "K W"]
    spread: Float[np.ndarray, "K W"]
    """One row per kind (``fields.CODED_KINDS``)."""

    @staticmethod
    def of(rows: Float[np.ndarray, "N W"], used: Float[np.ndarray, "N W"], kinds: np.ndarray) -> Standard:
        """Of rows and which of their numbers mean something."""
        shared = _moments(rows, used)
        means, spreads = [], []
        for kind in range(len(CODED_KINDS)):
            own = _moments(rows[kinds == kind], used[kinds == kind]) if (kinds == kind).any() else shared
            mean, spread = shared[0].copy(), shared[1].copy()
            mean[SPANS["code"]], spread[SPANS["code"]] = own[0][SPANS["code"]], own[1][SPANS["code"]]
            means.append(mean)
            spreads.append(spread)
        return Standard(np.array(means), np.array(spreads))

    def to(self, rows: np.ndarray, kinds: np.ndarray) -> np.ndarray:
        return (rows - self.mean[kinds]) / self.spread[kinds]

    def back(self, rows: np.ndarray, kinds: np.ndarray) -> np.ndarray:
        return rows * self.spread[kinds] + self.mean[kinds]


def _moments(rows: np.ndarray, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    count = np.maximum(used.sum(axis=0), 1.0)
    mean = (rows * used).sum(axis=0) / count
    spread = np.sqrt(((rows - mean) ** 2 * used).sum(axis=0) / count)
    return mean, np.where(spread > 1e-6, spread, 1.0)


def code_units(kind: str, size: Float[np.ndarray, "3"]) -> Float[np.ndarray, "24"]:
    """What each number of a code is counted in: lengths across a thin part in halves of that side, not of the longest.

    An error of a hundredth is then a hundredth of a leg's thickness instead of its length. The solid fills its box
    either way.
    """
    half = np.maximum(np.asarray(size, dtype=np.float64), SMALLEST * float(np.max(size)))
    x, y, z = half / half.max()
    thin = min(x, y, z)
    one = np.ones
    rows = {
        "block": [x * one(5), z * one(5), [x, z], [x, z], one(5), [1.0, thin]],
        "plate": [np.tile([x, y], 9), [z], one(5)],
        "lathe": [np.tile([x, y, 1.0], 8)],
        "tube": [np.tile([x, y, z], 6), thin * one(3), one(3)],
    }
    found = np.concatenate([np.asarray(row, dtype=np.float64) for row in rows.get(kind, [one(CODE)])])
    return np.concatenate([found, one(CODE - len(found))])


def scale_of(assembly: Assembly) -> float:
    """The longest side [m] of the box around the boxes of all copies; no solid has to be made for it."""
    signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    ends = [(signs * part.size) @ pose[:3, :3].T + pose[:3, 3] for part in assembly.parts for pose in part.poses]
    return float(np.ptp(np.concatenate(ends), axis=0).max())


def row_of(part: Part, scale: float) -> Float[np.ndarray, " W"]:
    """The numbers of a part."""
    log = lambda value: np.log(np.maximum(np.asarray(value, dtype=np.float64) / scale, SMALLEST))  # noqa: E731
    repeat, hinge = part.repeat, part.hinge
    pivot = np.asarray(repeat.pivot) / scale
    values = {
        "scale": np.log(scale),
        "centre": part.centre / scale,
        "size": log(part.size),
        "turn": part.turn[:, :2].T.reshape(-1),
        "meets": (part.meets - part.centre) / scale,
        "code": part.code / code_units(part.kind, part.size),
        "wall": log(part.hollow.wall if part.hollow else 0.01 * scale),
        "rgb": part.appearance.rgb,
        "second_rgb": part.appearance.second_rgb,
        "tile": log(part.appearance.tile),
        "step": np.asarray(repeat.step) / scale,
        "spin": repeat.turn,
        "lean": repeat.lean,
        "shrink": np.log(repeat.scale),
        "pivot": pivot,
        "axis": np.zeros(3) if hinge is None else hinge.axis,
        "origin": np.zeros(3) if hinge is None else (np.asarray(hinge.origin) - part.centre) / scale,
        "limits": np.zeros(2) if hinge is None else _limits(hinge, scale),
    }
    return np.concatenate([np.atleast_1d(np.asarray(values[name], dtype=np.float64)) for name, _ in LAYOUT])


def used_by(words: Mapping[str, str]) -> Float[np.ndarray, " W"]:
    """Which numbers mean something for a part of these words: 1, else 0."""
    used = np.ones(WIDTH)
    off = lambda *names: [used.__setitem__(SPANS[name], 0.0) for name in names]  # noqa: E731
    if words["quarter"]:
        off("turn")
    if words["opening"] == SOLID:
        off("wall")
    if words["pattern"] == "plain":
        off("second_rgb", "tile")
    if words["count"] == "1":
        off("step", "spin", "lean", "shrink")
    if words["count"] == "1" and not words["mirror"]:
        off("pivot")
    if not words["hinge"]:
        off("axis", "origin", "limits")
    if words["hinge"] == "continuous":
        off("limits")
    for axis, k in (("x", 0), ("z", 2)):
        if axis in words["centred"]:
            used[SPANS["centre"].start + k] = 0.0
    if not words["parent"]:
        off("meets")
    return used


def part_of(words: Mapping[str, str], row: Float[np.ndarray, " W"], scale: float) -> Part:
    """The part of words and numbers; whatever the numbers, it is a part."""
    value = {name: row[span] for name, span in SPANS.items()}
    centre = value["centre"] * scale
    for axis, k in (("x", 0), ("z", 2)):
        if axis in words["centred"]:
            centre[k] = 0.0
    turn = quarters()[int(words["quarter"])] if words["quarter"] else _rotation(value["turn"])
    length = lambda name: np.exp(np.clip(value[name], np.log(SMALLEST), 1.0)) * scale  # noqa: E731
    count = int(words["count"])
    repeat = Repeat(
        words["mirror"],  # type: ignore[arg-type]
        count,
        value["step"] * scale if count > 1 else np.zeros(3),
        float(value["spin"][0]) if count > 1 else 0.0,
        float(value["lean"][0]) if count > 1 else 0.0,
        float(np.exp(np.clip(value["shrink"][0], -0.5, 0.5))) if count > 1 else 1.0,
        value["pivot"] * scale if count > 1 or words["mirror"] else np.zeros(2),
    )
    hinge = _hinge(words["hinge"], value, centre, scale) if words["hinge"] else None
    if hinge is not None:
        repeat = Repeat()
    is_plain = words["pattern"] == "plain"

    def colour(name: str) -> tuple[float, float, float]:
        red, green, blue = np.clip(value[name], 0.0, 1.0).tolist()
        return red, green, blue

    finish = Appearance(
        words["colour"],
        words["colour"],
        colour("rgb"),
        words["material"],
        words["cover"],
        words["feel"],  # type: ignore[arg-type]
        words["pattern"],  # type: ignore[arg-type]
        words["second"],
        (1.0, 1.0, 1.0) if is_plain else colour("second_rgb"),
        0.2 if is_plain else float(length("tile")[0]),
    )
    hollow = None
    if words["opening"] != SOLID:
        hollow = Hollow(float(length("wall")[0]), words["opening"])  # type: ignore[arg-type]
    return Part(
        words["name"],
        words["role"],  # type: ignore[arg-type]
        words["kind"],  # type: ignore[arg-type]
        value["code"] * code_units(words["kind"], length("size")),
        length("size"),
        centre,
        turn,
        finish,
        tuple(dict.fromkeys(word for key, word in words.items() if key.startswith("style ") and word)),
        hollow,
        words["relief"],  # type: ignore[arg-type]
        repeat,
        int(words["parent"]) if words["parent"] else -1,
        centre + value["meets"] * scale,
        hinge,
    )


def _limits(hinge: Hinge, scale: float) -> np.ndarray:
    values = np.array([hinge.lower, hinge.upper], dtype=np.float64)
    return values / scale if hinge.kind == "prismatic" else values


def _hinge(kind: str, value: Mapping[str, np.ndarray], centre: np.ndarray, scale: float) -> Hinge:
    axis = value["axis"]
    long = int(np.abs(axis).argmax())
    snapped = np.zeros(3)
    snapped[long] = np.sign(axis[long]) or 1.0
    unit = axis / max(float(np.linalg.norm(axis)), 1e-9)
    axis = snapped if unit @ snapped > UPRIGHT else unit
    low, high = np.sort(value["limits"]) * (scale if kind == "prismatic" else 1.0)
    if kind == "continuous":
        low = high = 0.0
    return Hinge(kind, axis, centre + value["origin"] * scale, float(min(low, 0.0)), float(max(high, 0.0)))  # type: ignore[arg-type]


UPRIGHT = 0.98
"""Cosine to an axis of the object from which a hinge is taken to lie along it (11 degrees)."""


def _rotation(six: np.ndarray) -> np.ndarray:
    """The rotation whose first two columns are nearest to six numbers (Gram-Schmidt)."""
    a, b = six[:3], six[3:]
    a = a / np.linalg.norm(a) if np.linalg.norm(a) > 1e-6 else np.array([1.0, 0.0, 0.0])
    b = b - (a @ b) * a
    if np.linalg.norm(b) < 1e-6:
        b = np.cross(a, np.eye(3)[int(np.abs(a).argmin())])
    b = b / np.linalg.norm(b)
    return np.column_stack([a, b, np.cross(a, b)])
