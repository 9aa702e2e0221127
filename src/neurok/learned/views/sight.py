"""What the network says of an object, gathered from all views: votes of points on its surface.

Every cell of every view that shows something is a vote: it lies on a face, at a point, and says in the object's own
frame whether its body moves, how, about which axis, where that is, how far its body goes, and which other cells are of
the same body. Votes know nothing of components, parts or names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from neurok.core import Mesh
from neurok.learned.views.camera import ROUND, Camera, Scene, View, cells
from neurok.learned.views.network import REACHES, ViewModel, split

BATCH = 6
"""Views that are shown at a time: larger ones leave the cache."""

OBLIQUE = 3
"""Class of an axis that is none of the object's own."""


@dataclass(frozen=True, eq=False)
class Votes:
    """What was said of points of a surface, in the unit box with y up."""

    points: Float[np.ndarray, "N 3"]
    normals: Float[np.ndarray, "N 3"]
    """Towards the eye."""

    faces: Int[np.ndarray, " N"]
    moves: Float[np.ndarray, " N"]
    """Log-odds that the body of a point moves ..."""

    turns: Float[np.ndarray, " N"]
    """... and that it turns rather than slides."""

    axes: Float[np.ndarray, "N 4"]
    """Probabilities that its axis is x, y, z, or oblique ..."""

    tensors: Float[np.ndarray, "N 3 3"]
    """... and products of the axis with itself."""

    hinges: Float[np.ndarray, "N 3"]
    """The nearest point of the axis."""

    spots: Float[np.ndarray, "N 3 3 3"]
    """Probabilities of where an axis along x, y or z goes through the body's box: at the low end, the middle or the
    high end of its first and second other side."""

    low: Float[np.ndarray, "N 3"]
    """The box of its body ..."""

    high: Float[np.ndarray, "N 3"]
    pairs: Int[np.ndarray, "E 2"]
    """Points of one view, near each other in it ..."""

    same: Float[np.ndarray, " E"]
    """... and log-odds that they are of one body."""

    def __len__(self) -> int:
        return len(self.points)

    @property
    def chances(self) -> Float[np.ndarray, " N"]:
        """Probabilities that the body of each point moves."""
        return 1.0 / (1.0 + np.exp(-self.moves))


@torch.no_grad()
def see(mesh: Mesh, model: ViewModel, ways: Sequence[tuple[float, float]] = ROUND) -> Votes:
    """Votes on the surface of a mesh in the unit box with y up, looked at from some directions."""
    scene = Scene(mesh)
    views = [scene.view(Camera.at(*way, mesh.vertices)) for way in ways]
    images = torch.from_numpy(np.stack([view.image() for view in views]))
    images = images.contiguous(memory_format=torch.channels_last)
    said = torch.cat([model(images[k : k + BATCH]) for k in range(0, len(images), BATCH)])
    return joined([votes_of(view, answers) for view, answers in zip(views, said, strict=True)])


def votes_of(view: View, answers: torch.Tensor) -> Votes:
    """What is said of the cells of one view, taken to the object's frame."""
    faces = cells(view.faces)
    seen = faces >= 0
    said = {name: value[0].numpy().astype(np.float64) for name, value in split(answers[None]).items()}
    at = {name: value[:, seen].T for name, value in said.items()}
    camera, points = view.camera, cells(view.points)[seen]
    axes = camera.frame @ camera.rotation  # rows: up, near and other, in the object's frame
    order, signs = np.abs(axes).argmax(axis=1), np.sign(axes[np.arange(3), np.abs(axes).argmax(axis=1)])
    low, high = _boxes(points @ camera.frame.T, at["box"], order, signs, camera)
    chances = _softmax(at["axis"])
    of_axis = np.empty_like(chances)
    of_axis[:, order], of_axis[:, OBLIQUE] = chances[:, :3], chances[:, OBLIQUE]
    pairs, same = _pairs(seen, said["same"])
    return Votes(
        camera.outside(points),
        cells(view.normals)[seen] @ camera.rotation,
        faces[seen].astype(np.int64),
        at["moves"][:, 0],
        at["turns"][:, 0],
        of_axis,
        _tensors(at["direction"], camera),
        camera.outside(points + at["hinge"]),
        _spots(_softmax(at["spot"])[:, :9].reshape(-1, 3, 3), order, signs),
        low,
        high,
        pairs,
        same,
    )


def _softmax(logits: Float[np.ndarray, "N K"]) -> Float[np.ndarray, "N K"]:
    risen = np.exp(logits - logits.max(axis=1, keepdims=True))
    return risen / risen.sum(axis=1, keepdims=True)


def _boxes(
    along: Float[np.ndarray, "N 3"],
    said: Float[np.ndarray, "N 6"],
    order: np.ndarray,
    signs: np.ndarray,
    camera: Camera,
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Sides of boxes along the object's own axes, from distances along those that the view has ordered."""
    ends = np.empty((2, len(along), 3))
    ends[0][:, order], ends[1][:, order] = (along - said[:, :3]) * signs, (along + said[:, 3:]) * signs
    ends = ends * camera.half + camera.centre
    return ends.min(axis=0), ends.max(axis=0)


def _tensors(said: Float[np.ndarray, "N 6"], camera: Camera) -> Float[np.ndarray, "N 3 3"]:
    xx, yy, zz, xy, xz, yz = said.T
    inside = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    return camera.rotation.T @ inside @ camera.rotation


def _spots(said: Float[np.ndarray, "N 3 3"], order: np.ndarray, signs: np.ndarray) -> Float[np.ndarray, "N 3 3 3"]:
    """Places across the box for an axis along each of the object's own: sides in their order, low before high."""
    out = np.empty((len(said), 3, 3, 3))
    for number, axis in enumerate(order):
        others = [k for k in range(3) if k != number]
        turned = said
        for place, other in enumerate(others):
            if signs[other] < 0:
                turned = np.flip(turned, axis=1 + place)
        out[:, axis] = turned if order[others[0]] < order[others[1]] else turned.swapaxes(1, 2)
    return out


def _pairs(
    seen: Bool[np.ndarray, "h w"], said: Float[np.ndarray, "K h w"]
) -> tuple[Int[np.ndarray, "E 2"], Float[np.ndarray, " E"]]:
    """Cells to the right and below of each, where both show something."""
    number = np.where(seen, np.cumsum(seen).reshape(seen.shape) - 1, -1)
    pairs, same = [], []
    here: Any
    there: Any
    for k, reach in enumerate(REACHES):
        for row, (here, there) in enumerate(((np.s_[:, :-reach], np.s_[:, reach:]), (np.s_[:-reach], np.s_[reach:]))):
            both = (number[here] >= 0) & (number[there] >= 0)
            pairs.append(np.stack([number[here][both], number[there][both]], axis=1))
            same.append(said[len(REACHES) * row + k][here][both])
    return np.concatenate(pairs), np.concatenate(same)


def joined(some: Sequence[Votes]) -> Votes:
    """Votes of several views together."""
    starts = np.cumsum([0, *(len(one) for one in some[:-1])])
    columns = {
        name: np.concatenate([getattr(one, name) for one in some])
        for name in Votes.__dataclass_fields__
        if name != "pairs"
    }
    pairs = np.concatenate([one.pairs + start for one, start in zip(some, starts, strict=True)])
    return Votes(pairs=pairs, **columns)
