"""Parts that no single code can hold, cut into pieces that are nearly convex, each with a code of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.catalogue.parts import Appearance, placed
from neurok.geometry.operators import face_normals
from neurok.geometry.sampling import sample_surface
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.forms import CODE
from neurok.modelling.shapes import Shape
from neurok_lab.parts.centre_line import frame_lines, nearest_line, sharpest
from neurok_lab.parts.form_fit import Standing, Target, missed
from neurok_lab.parts.part_autoencoder import PartModel
from neurok_lab.parts.part_frames import FRAMES, FrameConfig, Rebuilt, rebuild

MOST = 10  # pieces of a part as long as its object, at most; of smaller ones in proportion
BARS = 14  # of a frame, at most, however small: a frame of legs and rails has ten
GOOD = 0.3  # a part of whose surface less is missed (of two, ``form_fit.missed``) is not cut ...
GAIN = 0.05  # ... nor one of which pieces do not miss so much less

CONVEX = 0.9  # a piece that fills so much of its convex hull is not cut further
PLANES = 9  # that are tried along each axis of the object
SMALLEST = 0.001  # pieces of a smaller share of the volume of the hull are left out; a leg of a chair is a few of these
OVERLAP = 0.004  # share of the longest side by which pieces reach into each other: no slits are left between them

POINTS = 768  # of the surface of a piece ...
DENSE = 4000  # ... and of a solid in which bars are looked for, ...
FEWEST = 60  # ... of which a bar has so many at least

Points = tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]
"""Of a surface, with normals and colours."""

NEVER = 2.0
"""Share missed (of two) that nothing exceeds."""

PIECES = replace(FRAMES, tried=3, fit=5, good=NEVER)
"""How pieces are fitted: not as far as whole parts, and never as implicit shapes, which did not win where tried."""


def cut(solid: Shape, most: int = MOST, planes: int = PLANES) -> list[Shape]:
    """A closed solid in at most so many pieces: again and again the least convex is cut where that helps most."""
    first = to_manifold(solid)
    whole = max(first.hull().volume(), 1e-18)
    reach = OVERLAP * float(np.ptp(solid.bounds, axis=0).max())
    pieces = sorted(first.decompose(), key=lambda piece: -piece.hull().volume())[:most]
    done: list[Any] = []
    while pieces and len(pieces) + len(done) < most:
        pieces.sort(key=_gap)
        worst = pieces.pop()
        if worst.volume() > CONVEX * worst.hull().volume():
            done.append(worst)
            continue
        sides = [part for side in _best_cut(worst, reach, planes) for part in side.decompose()]
        sides = [side for side in sides if side.hull().volume() > SMALLEST * whole]
        room = most - len(pieces) - len(done)
        if len(sides) < 2:
            done.append(worst)
        else:
            pieces += sorted(sides, key=lambda piece: -piece.hull().volume())[: max(room, 2)]
    return [from_manifold(piece) for piece in [*pieces, *done][:most]]


def _gap(piece: Any) -> float:
    return float(piece.hull().volume() - piece.volume())


def _best_cut(piece: Any, reach: float, planes: int) -> list[Any]:
    """The two sides of the plane that leaves the least hull around them."""
    low, high = np.array(piece.bounding_box()).reshape(2, 3)
    best, least = [], np.inf
    for axis in np.eye(3):
        for share in (np.arange(planes) + 1.0) / (planes + 1.0):
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
    finish: Appearance,
    share: float = 1.0,
    most: int = MOST,
    frames: FrameConfig = FRAMES,
) -> list[Rebuilt]:
    """A closed solid made again from one code, or where that misses too much from those of its pieces.

    ``share`` is how long it is beside its object; one as long as that has at most so many pieces.
    """
    seen, most = surface(solid, finish, POINTS), round(min(share, 1.0) * most)
    whole = rebuild(model, *seen, finish, replace(frames, good=NEVER) if most > 1 else frames)
    if whole.missed < GOOD or most < 2:
        return [whole]
    found = [whole]
    for way, count in ((bars, BARS), (pieces, most)):
        some = way(model, solid, finish, count)
        if len(some) > 1 and _missed(some, solid, seen) < _missed(found, solid, seen) - GAIN:
            found = some
        if _missed(found, solid, seen) < GOOD:
            break
    return [rebuild(model, *seen, finish, frames)] if found == [whole] else found


def _missed(found: list[Rebuilt], solid: Shape, seen: Points) -> float:
    """By all of the pieces together."""
    if len(found) == 1:
        return found[0].missed
    nowhere = Standing("implicit", np.zeros(CODE), np.eye(3), np.zeros(3), np.ptp(solid.bounds, axis=0))
    return missed(nowhere, Target.of(*seen[:2]), joined(found))


def pieces(model: PartModel, solid: Shape, finish: Appearance, most: int) -> list[Rebuilt]:
    """A solid as nearly convex pieces; nothing where it is one."""
    found = cut(solid, most)
    seen = [surface(piece, finish, POINTS) for piece in found]
    return [rebuild(model, *cloud, finish, PIECES) for cloud in seen] if len(seen) > 1 else []


def bars(model: PartModel, solid: Shape, finish: Appearance, most: int) -> list[Rebuilt]:
    """A solid as the bars of a frame; nothing where it is none. Bars that a code does not hold are cut where they turn.

    Of each, the surface is seen without where it meets the others.
    """
    points, normals, colours = surface(solid, finish, DENSE)
    lines = frame_lines(points, normals, most)
    owners = nearest_line(lines, points) if lines else np.zeros(0)
    left = [(line, np.flatnonzero(owners == number)) for number, line in enumerate(lines)]
    done: list[Rebuilt] = []
    while left:
        line, mine = left.pop(0)
        if len(mine) < FEWEST:
            continue
        some = mine[:POINTS]
        found = rebuild(model, points[some], normals[some], colours[some], finish, PIECES)
        place = sharpest(line) if found.missed > GOOD and len(left) + len(done) + 2 <= most else -1
        if place < 0:
            done.append(found)
        else:
            halves = line[: place + 1], line[place:]
            of_half = nearest_line(halves, points[mine])
            left += [(half, mine[of_half == number]) for number, half in enumerate(halves)]
    return done


def surface(solid: Shape, finish: Appearance, count: int) -> Points:
    """Points, normals and colours of a solid of one colour."""
    drawn = sample_surface(solid.vertices, solid.faces, count, np.random.default_rng(0))
    points, normals = drawn.interpolate(solid.vertices), face_normals(solid.vertices, solid.faces)[drawn.face_ids]
    return points, normals, np.broadcast_to(np.array(finish.rgb), points.shape)


def joined(found: list[Rebuilt]) -> Shape:
    """Pieces where they stand, as one solid."""
    whole = to_manifold(placed(found[0].solid, found[0].pose))
    for piece in found[1:]:
        whole = whole + to_manifold(placed(piece.solid, piece.pose))
    return from_manifold(whole)
