"""Parts that no single code can hold, cut into pieces that are nearly convex, each with a code of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.catalogue.parts import Look, placed
from neurok.geometry.sampling import sample_surface
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.forms import CODE
from neurok.modelling.shapes import Shape
from neurok_lab.parts.centre_line import frame_lines, nearest_line, sharpest
from neurok_lab.parts.form_fit import Standing, Target, missed
from neurok_lab.parts.part_autoencoder import PartModel
from neurok_lab.parts.part_frames import FRAMES, FrameConfig, Rebuilt, rebuild
from neurok_lab.parts.part_points import face_normals


@dataclass(frozen=True)
class CutConfig:
    """How parts are cut."""

    good: float = 0.3
    """A part of whose surface less is missed (of two, ``form_fit.missed``) is not cut ..."""

    gain: float = 0.05
    """... nor one of which pieces do not miss so much less."""

    pieces: int = 10
    """Of a part as long as its object, at most; of smaller ones in proportion."""

    bars: int = 14
    """Of a frame, at most, however small: a frame of legs and rails has ten."""

    convex: float = 0.9
    """A piece that fills so much of its convex hull is not cut further."""

    planes: int = 9
    """That are tried along each axis of the object."""

    smallest: float = 0.001
    """Pieces of a smaller share of the volume of the hull are left out; a leg of a chair is a few thousandths."""

    overlap: float = 0.004
    """Share of the longest side by which pieces reach into each other, so that no slits are left between them."""

    points: int = 768
    """Of the surface of a piece ..."""

    dense: int = 4000
    """... and of a solid in which bars are looked for, ..."""

    fewest: int = 60
    """... of which a bar has so many at least."""


CUTS = CutConfig()
Points = tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]
"""Of a surface, with normals and colours."""

NEVER = 2.0
"""Share missed (of two) that nothing exceeds."""

PIECES = replace(FRAMES, tried=3, fit=5, good=NEVER)
"""How pieces are fitted: not as far as whole parts, and never as implicit shapes, which did not win where tried."""


def cut(solid: Shape, config: CutConfig = CUTS) -> list[Shape]:
    """A closed solid in at most so many pieces: again and again the least convex is cut where that helps most."""
    first = to_manifold(solid)
    whole = max(first.hull().volume(), 1e-18)
    reach = config.overlap * float(np.ptp(solid.bounds, axis=0).max())
    pieces = sorted(first.decompose(), key=lambda piece: -piece.hull().volume())[: config.pieces]
    done: list[Any] = []
    while pieces and len(pieces) + len(done) < config.pieces:
        pieces.sort(key=_gap)
        worst = pieces.pop()
        if worst.volume() > config.convex * worst.hull().volume():
            done.append(worst)
            continue
        sides = [part for side in _best_cut(worst, reach, config) for part in side.decompose()]
        sides = [side for side in sides if side.hull().volume() > config.smallest * whole]
        room = config.pieces - len(pieces) - len(done)
        if len(sides) < 2:
            done.append(worst)
        else:
            pieces += sorted(sides, key=lambda piece: -piece.hull().volume())[: max(room, 2)]
    return [from_manifold(piece) for piece in [*pieces, *done][: config.pieces]]


def _gap(piece: Any) -> float:
    return float(piece.hull().volume() - piece.volume())


def _best_cut(piece: Any, reach: float, config: CutConfig) -> list[Any]:
    """The two sides of the plane that leaves the least hull around them."""
    low, high = np.array(piece.bounding_box()).reshape(2, 3)
    best, least = [], np.inf
    for axis in np.eye(3):
        for share in (np.arange(config.planes) + 1.0) / (config.planes + 1.0):
            at = float((low + share * (high - low)) @ axis)
            sides = [piece.trim_by_plane(axis, at - reach), piece.trim_by_plane(-axis, -at - reach)]
            if any(side.is_empty() for side in sides):
                continue
            size = sum(side.hull().volume() for side in sides)
            if size < least:
                best, least = sides, size
    return best


def rebuild_solid(
    model: PartModel,
    solid: Shape,
    look: Look,
    share: float = 1.0,
    config: CutConfig = CUTS,
    frames: FrameConfig = FRAMES,
    seed: int = 0,
) -> list[Rebuilt]:
    """A closed solid made again from one code, or where that misses too much from those of its pieces.

    ``share`` is how long it is beside its object.
    """
    seen, most = surface(solid, look, config.points, seed), round(min(share, 1.0) * config.pieces)
    whole = rebuild(model, *seen, look, replace(frames, good=NEVER) if most > 1 else frames)
    if whole.missed < config.good or most < 2:
        return [whole]
    found = [whole]
    for way, count in ((bars, config.bars), (pieces, most)):
        some = way(model, solid, look, count, config, seed)
        if len(some) > 1 and _missed(some, solid, seen) < _missed(found, solid, seen) - config.gain:
            found = some
        if _missed(found, solid, seen) < config.good:
            break
    return [rebuild(model, *seen, look, frames)] if found == [whole] else found


def _missed(found: list[Rebuilt], solid: Shape, seen: Points) -> float:
    """By all of the pieces together."""
    if len(found) == 1:
        return found[0].missed
    nowhere = Standing("implicit", np.zeros(CODE), np.eye(3), np.zeros(3), np.ptp(solid.bounds, axis=0))
    return missed(nowhere, Target.of(*seen[:2]), joined(found))


def pieces(
    model: PartModel, solid: Shape, look: Look, most: int, config: CutConfig = CUTS, seed: int = 0
) -> list[Rebuilt]:
    """A solid as nearly convex pieces; nothing where it is one."""
    found = cut(solid, replace(config, pieces=most))
    seen = [surface(piece, look, config.points, seed) for piece in found]
    return [rebuild(model, *cloud, look, PIECES) for cloud in seen] if len(seen) > 1 else []


def bars(
    model: PartModel, solid: Shape, look: Look, most: int, config: CutConfig = CUTS, seed: int = 0
) -> list[Rebuilt]:
    """A solid as the bars of a frame; nothing where it is none. Bars that a code does not hold are cut where they turn.

    Of each, the surface is seen without where it meets the others.
    """
    points, normals, colours = surface(solid, look, config.dense, seed)
    lines = frame_lines(points, normals, most)
    owners = nearest_line(lines, points) if lines else np.zeros(0)
    left = [(line, np.flatnonzero(owners == number)) for number, line in enumerate(lines)]
    done: list[Rebuilt] = []
    while left:
        line, mine = left.pop(0)
        if len(mine) < config.fewest:
            continue
        some = mine[: config.points]
        found = rebuild(model, points[some], normals[some], colours[some], look, PIECES)
        place = sharpest(line) if found.missed > config.good and len(left) + len(done) + 2 <= most else -1
        if place < 0:
            done.append(found)
        else:
            halves = line[: place + 1], line[place:]
            of_half = nearest_line(halves, points[mine])
            left += [(half, mine[of_half == number]) for number, half in enumerate(halves)]
    return done


def surface(solid: Shape, look: Look, count: int, seed: int) -> Points:
    """Points, normals and colours of a solid of one colour."""
    drawn = sample_surface(solid.vertices, solid.faces, count, np.random.default_rng(seed))
    points, normals = drawn.interpolate(solid.vertices), face_normals(solid)[drawn.face_ids]
    return points, normals, np.broadcast_to(np.array(look.rgb), points.shape)


def joined(found: list[Rebuilt]) -> Shape:
    """Pieces where they stand, as one solid."""
    whole = to_manifold(placed(found[0].solid, found[0].pose))
    for piece in found[1:]:
        whole = whole + to_manifold(placed(piece.solid, piece.pose))
    return from_manifold(whole)
