"""Turned solids: a profile of knots, each sharp or smooth, revolved about y; solid, or a shell of even thickness."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from neurok.modelling import profiles
from neurok.modelling.booleans import from_manifold
from neurok.modelling.shapes import Shape

SEGMENTS = {"faceted": 8}
"""Sides of a turned solid by its relief ..."""

ROUND = 40
"""... and otherwise."""


def profile_curve(knots: Float[np.ndarray, "*B K 3"], samples: int = 7) -> Float[np.ndarray, "*B N 2"]:
    """The curve through knots of (radius, height, sharpness): corners where sharpness is 1, smooth where it is 0."""
    point, sharp = knots[..., :2], np.clip(knots[..., 2:], 0.0, 1.0)
    step = np.diff(point, axis=-2)
    length = np.maximum(np.linalg.norm(step, axis=-1, keepdims=True), 1e-9)
    slope = step / length
    before, a = (np.concatenate([values[..., :1, :], values], axis=-2) for values in (slope, length))
    after, b = (np.concatenate([values, values[..., -1:, :]], axis=-2) for values in (slope, length))
    # Harmonic means, and none at an extreme (Fritsch and Carlson 1980): a curve that never swings past its knots.
    weight = [2 * b + a, b + 2 * a]
    agree = before * after > 1e-12
    below = np.where(agree, weight[0] / np.where(agree, before, 1.0) + weight[1] / np.where(agree, after, 1.0), 1.0)
    smooth = np.where(agree, (weight[0] + weight[1]) / below, 0.0)
    smooth[..., 0, :], smooth[..., -1, :] = before[..., 0, :], after[..., -1, :]
    leave = (sharp * after + (1 - sharp) * smooth)[..., :-1, :] * length
    arrive = (sharp * before + (1 - sharp) * smooth)[..., 1:, :] * length
    t = np.linspace(0.0, 1.0, samples)[:-1, None]
    a, b, da, db = (one[..., None, :] for one in (point[..., :-1, :], point[..., 1:, :], leave, arrive))
    curve = (2 * t**3 - 3 * t**2 + 1) * a + (t**3 - 2 * t**2 + t) * da + (3 * t**2 - 2 * t**3) * b + (t**3 - t**2) * db
    curve = np.concatenate([curve.reshape(*knots.shape[:-2], -1, 2), point[..., -1:, :]], axis=-2)
    curve[..., 0] = np.maximum(curve[..., 0], 0.0)
    return curve


def turned_shape(
    knots: Float[np.ndarray, "K 3"], wall: float = 0.0, opening: str = "", relief: str = "smooth"
) -> Shape:
    """The solid inside a profile, or with ``wall`` its shell, open at the ``top`` (last knot), ``bottom`` or both ends.

    Profiles that cross themselves are cleaned, so that any knots give a closed solid.
    """
    curve = profile_curve(knots)
    if relief == "ribbed":
        curve = ribbed(curve)
    section = _section(curve)
    if wall > 0.0 and opening:
        section = section - _cavity(curve, wall, opening)
    solid = section.revolve(SEGMENTS.get(relief, ROUND))
    shape = from_manifold(solid)
    if relief == "fluted":
        angle = np.arctan2(shape.vertices[:, 1], shape.vertices[:, 0])
        press = fluted(angle)
        shape = Shape(shape.vertices * np.column_stack([press, press, np.ones(len(press))]), shape.faces)
    return shape.turn("x", -90)


def _section(curve: Float[np.ndarray, "N 2"]):  # type: ignore[no-untyped-def]
    """Both halves of a profile as one outline, so that the axis is inside and offsets leave it alone."""
    from manifold3d import CrossSection, FillRule

    outline = np.concatenate([curve, curve[::-1] * np.array([-1.0, 1.0])])
    return CrossSection([outline], FillRule.NonZero)


def _cavity(curve: Float[np.ndarray, "N 2"], wall: float, opening: str):  # type: ignore[no-untyped-def]
    from manifold3d import JoinType

    reach = np.array([0.0, 2.5 * wall])
    low = [] if opening == "top" else [curve[:1] - reach]
    high = [] if opening == "bottom" else [curve[-1:] + reach]
    return _section(np.concatenate([*low, curve, *high])).offset(-wall, JoinType.Miter, 2.0)


def fluted(angle: Float[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
    """Share of the radius that ten flutes leave at each angle [rad]."""
    return 1.0 - 0.07 * (1.0 - np.abs(np.cos(5.0 * angle)))


def ribbed(curve: Float[np.ndarray, "N 2"]) -> Float[np.ndarray, "N 2"]:
    """Rings around the middle of the profile."""
    fine = profiles.evenly(curve, 160)
    share = np.clip((fine[:, 1] - fine[:, 1].min()) / max(np.ptp(fine[:, 1]), 1e-9), 0.0, 1.0)
    fade = np.clip(np.minimum(share - 0.1, 0.9 - share) * 20.0, 0.0, 1.0)
    fine[:, 0] *= 1.0 - 0.03 * fade * (1.0 + np.cos(2.0 * np.pi * 13.0 * share))
    return fine
