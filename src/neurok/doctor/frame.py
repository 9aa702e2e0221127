"""In which unit and with which axis up an object is read: what is given, else what does least harm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Asset, Mesh
from neurok.core.mesh import AXIS_INDEX, UpAxis
from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import sample_surface

UNITS = {"m": (1.0, 0.6), "cm": (0.01, 0.2), "mm": (0.001, 0.17), "in": (0.0254, 0.03)}
"""Metres per unit, and how often files that say nothing use it."""


# Numbers behind the guesses; weights of the up axis by ``benchmarks/fit_frames.py``.
TYPICAL_SIZE = 0.8  # Longest side of an everyday object [m]
SPREAD = 1.3  # Standard deviation of the logarithm of that size
STATED_UNIT = 0.97  # How often a file whose format has a unit keeps to it; game assets in glTF often do not
STATED_UP = 0.995  # The same of the up axis, which a viewer shows at once when it is wrong
ASSUMED_UP = 0.6  # How often a file that says nothing uses the axis it is read with
SIDEWAYS = 0.03  # How often such a file has x up
DEPARTING = 2.0
"""How many times worse it is to turn or scale an object wrongly than to leave a wrong one as it is read: the first is
our doing, and other programs show the file as it was. Unit and axis are chosen for the least expected harm."""

LOWEST_AT_ZERO = 3.43  # Log odds of an axis along which the lowest point lies at zero
STANDING = 1.01  # Log odds of an axis along which it stands stably
LOPSIDED = 0.77  # Log odds per logarithm of the asymmetry: things mirror left to right more often than top to bottom
SAMPLES = 4000  # Points of the surface that are mirrored

MEANT = 0.01
"""Zero, level and symmetric mean within this share of the size."""

FOOT = 0.02
"""The foot of an object is what lies within this share of its height above the lowest point, and has at least this
share of the area of its box."""


@dataclass(frozen=True)
class Guess:
    """What an object is read as, how likely that is right (0..1), and why."""

    value: str
    confidence: float
    reason: str


def unit_name(metres: float) -> str:
    """The name of a unit, or its length in metres where it has none."""
    return next((name for name, (size, _) in UNITS.items() if math.isclose(size, metres)), f"{metres:g} m")


def unit_odds(longest: float, unit: float = 1.0, *, is_stated: bool = False) -> dict[str, float]:
    """Probability of each unit of a file whose longest side measures ``longest``; nothing where no unit is likely."""
    said, shares = unit_name(unit), {name: share for name, (_, share) in UNITS.items()}
    if is_stated or unit != 1.0:
        rest = sum(share for name, share in shares.items() if name != said)
        shares = {name: share / rest * (1.0 - STATED_UNIT) for name, share in shares.items()}
        shares[said] = STATED_UNIT
    odds = {}
    for name, share in shares.items():
        metres = longest * (unit if name == said else UNITS[name][0])
        deviation = math.log(max(metres, 1e-300) / TYPICAL_SIZE) / SPREAD
        odds[name] = share * math.exp(-0.5 * deviation**2)
    total = sum(odds.values())
    return {} if total < 1e-12 else {name: value / total for name, value in odds.items()}


def guess_unit(longest: float, unit: float = 1.0, *, is_stated: bool = False) -> Guess:
    """The unit that a file whose longest side measures ``longest`` is read in; ``unit`` is what it says or is assumed
    to say, which counts for more where the format states it."""
    said, odds = unit_name(unit), unit_odds(longest, unit, is_stated=is_stated)
    if not odds:
        return Guess(said, 0.0, f"no unit makes a longest side of {longest:.3g} an everyday size")
    sizes = {name: unit if name == said else UNITS[name][0] for name in odds}
    off = lambda one, two: abs(math.log(sizes[one] / sizes[two]))  # noqa: E731
    best = _least_harm(odds, said, off)
    if unit == 1.0 and any(math.isclose(longest, size, rel_tol=1e-3) for size in (1.0, 2.0)):
        reason = f"the longest side is {longest:.4g}: scaled to a unit box, it seems"
        return Guess(best, round(min(odds[best], 0.5), 2), reason)
    says = "the file says so, and " if best == said and (is_stated or unit != 1.0) else ""
    metres = longest * (unit if best == said else UNITS[best][0])
    return Guess(best, round(odds[best], 2), f"{says}the longest side would be {metres:.3g} m")


def guess_up(mesh: Mesh, faces: Int[np.ndarray, "F 3"], *, is_stated: bool = False) -> Guess:
    """The axis that an object is read with: what the format says or else, by the least harm, where zero is, whether it
    stands, and what it mirrors about."""
    shares, evidence = _assumed(mesh, is_stated), up_evidence(mesh, faces)
    weights = np.array([LOWEST_AT_ZERO, STANDING, LOPSIDED])
    scores = {axis: math.log(shares[axis]) + float(weights @ evidence[axis]) for axis in AXIS_INDEX}
    total = sum(math.exp(score - max(scores.values())) for score in scores.values())
    odds = {axis: math.exp(score - max(scores.values())) / total for axis, score in scores.items()}
    best = mesh.up if is_stated else _least_harm(odds, mesh.up, lambda one, two: float(one != two))
    at_zero, stands, _ = evidence[best]
    reasons = [
        *(["the format says so or is used so"] if best == mesh.up else []),
        *([f"the lowest point lies at {best} = 0"] if at_zero else []),
        *([f"it stands stably on its low {best} side"] if stands else []),
    ]
    return Guess(best, round(odds[best], 3), "; ".join(reasons) or "it mirrors along the other axes")


def _least_harm(odds: Mapping[str, float], said: str, off: Callable[[str, str], float]) -> str:
    """What to read an object as: that with the least expected error (``off``, from what is chosen to what is true)."""

    def harm(chosen: str) -> float:
        error = sum(p * off(chosen, true) for true, p in odds.items())
        return error * (1.0 if chosen == said else DEPARTING)

    return min(odds, key=harm)


def _assumed(mesh: Mesh, is_stated: bool) -> dict[str, float]:
    """How likely each axis is before the object is looked at."""
    said = STATED_UP if is_stated else ASSUMED_UP
    out = {axis: SIDEWAYS if axis == "x" else 1.0 for axis in AXIS_INDEX if axis != mesh.up}
    rest = sum(out.values())
    return {axis: share / rest * (1.0 - said) for axis, share in out.items()} | {mesh.up: said}


def up_evidence(mesh: Mesh, faces: Int[np.ndarray, "F 3"]) -> dict[str, Float[np.ndarray, "3"]]:
    """For each axis: whether the lowest point is at zero, whether it stands, and the log of its asymmetry."""
    corners = mesh.vertices[faces]
    areas = face_areas(mesh.vertices, faces)
    points = corners.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    center = (areas[:, None] * corners.mean(axis=1)).sum(axis=0) / max(areas.sum(), 1e-300)
    skew = _asymmetry(mesh, faces, low, high, SAMPLES) if areas.sum() > 0 else np.zeros(3)
    out = {}
    for axis, index in AXIS_INDEX.items():
        at_zero = abs(low[index]) < MEANT * (high - low).max() and high[index] > 0
        out[axis] = np.array([at_zero, _stands(points, center, index, low, high), math.log(skew[index] + MEANT)])
    return out


def _asymmetry(
    mesh: Mesh,
    faces: Int[np.ndarray, "F 3"],
    low: Float[np.ndarray, "3"],
    high: Float[np.ndarray, "3"],
    count: int,
) -> Float[np.ndarray, "3"]:
    """Mean distance between the surface and its mirror image along each axis, as a share of the size."""
    from scipy.spatial import KDTree

    points = sample_surface(mesh.vertices, faces, count, np.random.default_rng(0)).interpolate(mesh.vertices)
    tree, few = KDTree(points), points[::4]
    mirrored = [np.where(np.arange(3) == axis, low + high - few, few) for axis in range(3)]
    return np.array([tree.query(image)[0].mean() for image in mirrored]) / float(np.linalg.norm(high - low))


def _stands(
    points: Float[np.ndarray, "N 3"],
    center: Float[np.ndarray, "3"],
    up: int,
    low: Float[np.ndarray, "3"],
    high: Float[np.ndarray, "3"],
) -> bool:
    """Whether it has a foot on its low side and the centre of the surface lies above it."""
    from scipy.spatial import ConvexHull, QhullError

    flat = [i for i in range(3) if i != up]
    box = float(np.prod((high - low)[flat]))
    foot = points[points[:, up] <= low[up] + FOOT * (high - low)[up]][:, flat]
    if len(foot) < 3 or box <= 0:
        return False
    try:
        hull = ConvexHull(foot)
    except (QhullError, ValueError):
        return False
    inside = (hull.equations[:, :2] @ center[flat] + hull.equations[:, 2] <= 1e-9 * math.sqrt(box)).all()
    return bool(inside) and float(hull.volume) > FOOT * box


METRES = {name: metres for name, (metres, _) in UNITS.items()} | {"inch": UNITS["in"][0]}
"""Units by their names."""


@dataclass(frozen=True, eq=False)
class Framed:
    """An object in the frame that is believed, and a sentence for each thing that is not as the file is read."""

    asset: Asset
    notes: tuple[str, ...] = ()


def parse_unit(text: str) -> float:
    """Metres per unit, out of a name or a number.

    Raises:
        NeurokError: If it is neither.
    """
    word = text.strip().lower()
    try:
        metres = METRES[word] if word in METRES else float(word)
    except ValueError:
        metres = math.nan
    if not (math.isfinite(metres) and metres > 0):
        raise NeurokError(f"{text!r} is no unit; write {', '.join(METRES)}, or how many metres one unit is.")
    return metres


def parse_up(text: str) -> UpAxis:
    """An axis out of its name."""
    word = text.strip().lower()
    if word not in AXIS_INDEX:
        raise NeurokError(f"{text!r} is no up axis; write {', '.join(AXIS_INDEX)}.")
    return word  # type: ignore[return-value]


def framed(
    asset: Asset,
    *,
    is_stated: bool,
    unit: float | None = None,
    up: UpAxis | None = None,
) -> Framed:
    """The same numbers, read in the unit and with the up axis that are given, or else guessed for the least harm.

    Args:
        asset: What was loaded.
        is_stated: Whether its format says what unit and axis it has (``io.formats.states_frame``). Its axis is then
            believed, and its unit unless that is absurd.
        unit: Metres per unit; guessed by default.
        up: Up axis; guessed by default.
    """
    mesh, notes = asset.mesh, []
    if unit is None:
        unit = METRES.get(guess_unit(_longest(mesh), mesh.unit, is_stated=is_stated).value, mesh.unit)
        notes += [_unit_note(asset, unit)] if unit != mesh.unit else []
    if up is None:
        guess = None if is_stated else guess_up(mesh, mesh.faces)
        up = mesh.up if guess is None else parse_up(guess.value)
        notes += [_up_note(asset, guess)] if guess is not None and up != mesh.up else []
    if up == mesh.up and unit == mesh.unit:
        return Framed(asset)
    return Framed(asset.relabelled(up, unit), tuple(notes))


def _longest(mesh: Mesh) -> float:
    return float(np.ptp(mesh.bounds, axis=0).max())


def _unit_note(asset: Asset, unit: float) -> str:
    mesh, longest = asset.mesh, _longest(asset.mesh)
    return (
        f"'{mesh.name}' would be {longest * mesh.unit:.3g} m long if its unit were {unit_name(mesh.unit)}, "
        f"so it is read in {unit_name(unit)} ({longest * unit:.3g} m); give its unit to read it otherwise."
    )


def _up_note(asset: Asset, guess: Guess) -> str:
    name = asset.mesh.name
    return (
        f"'{name}' is stood upright with {guess.value} up, since {guess.reason}; give its up axis to turn it otherwise."
    )
