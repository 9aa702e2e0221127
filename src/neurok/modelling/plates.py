"""Plates: an outline of a few corners, rounded, given thickness, puffed up and bent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from neurok.modelling import profiles
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.shapes import Shape, loft

Fields = Mapping[str, Float[np.ndarray, " _"]]


def plate_shape(fields: Fields, unit: float) -> Shape:
    """A plate about the xy plane; lengths are in units of ``unit``."""
    outline = plate_outline(fields["knots"].reshape(-1, 2), float(fields["round"][0])) * unit
    thick = max(float(fields["thickness"][0]), 1e-3) * unit
    narrow = min(np.ptp(outline[:, 0]), np.ptp(outline[:, 1]))
    bevel = float(np.clip(fields["bevel"][0], 0.0, 0.98)) * min(thick / 2, 0.2 * narrow)
    rows = [(-thick / 2 + bevel * (1 - np.cos(a)), bevel * (1 - np.sin(a))) for a in np.linspace(0, np.pi / 2, 4)]
    rows = rows if bevel > 1e-5 * unit else [(-thick / 2, 0.0)]
    rows += [(-z, cut) for z, cut in rows[::-1]]
    at = lambda z, cut: np.column_stack([profiles.inset(outline, cut), np.full(len(outline), z)])  # noqa: E731
    solid = loft([at(z, cut) for z, cut in rows])
    puff, bow, curl = (float(fields[name][0]) for name in ("puff", "bow", "curl"))
    if max(abs(puff), abs(bow), abs(curl)) < 1e-3:
        return solid
    fine = from_manifold(to_manifold(solid).refine_to_length(0.16 * unit))
    return Shape(_bent(fine.vertices, outline, (puff * thick, bow * unit, curl * unit)), fine.faces)


def plate_outline(knots: Float[np.ndarray, "K 2"], rounding: float) -> Float[np.ndarray, "N 2"]:
    """A closed outline with each corner replaced by a curve over a share of its sides; crossings are cleaned away."""
    from manifold3d import CrossSection, FillRule

    share = 0.5 * float(np.clip(rounding, 0.0, 1.0))
    before, after = np.roll(knots, 1, axis=0) - knots, np.roll(knots, -1, axis=0) - knots
    if share > 0.01:
        u = np.linspace(0.0, 1.0, 7)[None, :, None]
        start, end = (knots + share * before)[:, None], (knots + share * after)[:, None]
        knots = ((1 - u) ** 2 * start + 2 * u * (1 - u) * knots[:, None] + u**2 * end).reshape(-1, 2)
    clean = CrossSection([knots], FillRule.NonZero).simplify(2e-3 * float(np.ptp(knots, axis=0).max()))
    loops = clean.to_polygons()
    loops = loops if loops else [profiles.rectangle(2.0, 2.0)]
    areas = [abs(_area(loop)) for loop in loops]
    outline = np.asarray(loops[int(np.argmax(areas))], dtype=np.float64)
    return outline if profiles.is_ccw(outline) else outline[::-1]


def _area(loop: Float[np.ndarray, "N 2"]) -> float:
    x, y = np.asarray(loop).T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def _bent(vertices: np.ndarray, outline: np.ndarray, amounts: tuple[float, float, float]) -> np.ndarray:
    """Faces raised away from the outline, then the plate bent along x (``bow``) and along y (``curl``)."""
    puff, bow, curl = amounts
    out = vertices.copy()
    if puff:
        a, step = outline, np.roll(outline, -1, axis=0) - outline
        offset = vertices[:, None, :2] - a[None]
        along = np.clip(np.sum(offset * step, -1) / np.maximum(np.sum(step**2, -1), 1e-12), 0.0, 1.0)
        far = np.linalg.norm(offset - along[..., None] * step[None], axis=-1).min(axis=1)
        share = np.clip(far / max(float(far.max()), 1e-9), 0.0, 1.0)
        out[:, 2] += np.sign(vertices[:, 2]) * puff * np.sqrt(1.0 - (1.0 - share) ** 2)
    for k, amount in ((0, bow), (1, curl)):
        reach = max(float(np.abs(outline[:, k]).max()), 1e-9)
        out[:, 2] += amount * (vertices[:, k] / reach) ** 2
    return out
