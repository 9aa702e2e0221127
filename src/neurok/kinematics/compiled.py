"""The learned space made fast: the motion of the handles as a closed form in place of the network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from neurok.core.mesh import Mesh
from neurok.kinematics.stand_in import BumpMap, fit_bumps
from neurok.kinematics.turns import quaternions_of, turn_slope_rates, turn_slopes, turns_of

if TYPE_CHECKING:
    from torch import Tensor

    from neurok.data.subject import Patches
    from neurok.kinematics.neural import Reduction

PER_COORDINATE = 25
LEAST_SAMPLES = 200
MOST_SAMPLES = 1200
PRIOR_SOFTNESS = 0.5
"""In standard deviations of the prior."""

GOOD_FIT = 0.1
"""Error of the stand-in, as a share of the displacement, above which more samples are taken."""


IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@runtime_checkable
class LearnedSpace(Protocol):
    """A network as a space of poses: what a closed form needs to know of it."""

    @property
    def rest(self) -> Mesh: ...

    @property
    def patches(self) -> Patches: ...

    @property
    def middle(self) -> Float[np.ndarray, " D"]:
        """Coordinates of the mean of the prior."""

    @property
    def reduction(self) -> Reduction: ...

    @property
    def dim(self) -> int: ...

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]: ...

    @property
    def vertex_weights(self) -> Float[np.ndarray, "V H"]: ...

    def decode(self, q: Tensor) -> Tensor: ...

    def quick_transforms(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B H 3 4"]:
        """Rigid motion of every handle, without derivatives."""

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]: ...


@dataclass(frozen=True, eq=False)
class CompiledSpace:
    """The plausible poses of one mesh, each a closed form of its coordinates; ``q = 0`` is the mesh as it is.

    It is a space in its own right: positions, masses and forces all come from the same closed form, so a simulation
    keeps its energy however close the stand-in is to the network it was fitted to (``facts`` says how close).
    """

    exact: LearnedSpace
    weights: Float[np.ndarray, "V H"]
    centers: Float[np.ndarray, "H 3"]
    """What each handle turns about, in mesh units."""

    motion: BumpMap
    """From ``q`` to (quaternion minus identity, shift) of each handle."""

    facts: dict[str, float]
    """``samples`` the network was asked for, ``error`` of the handles' motion and ``point_error`` of displaced points
    on left-out samples, both as a share of the displacement; ``coordinates`` and ``captured`` of the reduction."""

    @property
    def rest(self) -> Mesh:
        return self.exact.rest

    @property
    def dim(self) -> int:
        return self.exact.dim

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return self.exact.limits

    @property
    def limit_softness(self) -> float:
        """How far a coordinate may pass its limit under the object's weight: the prior ends gently."""
        return PRIOR_SOFTNESS

    @property
    def is_close(self) -> bool:
        """Whether the stand-in follows the network well."""
        return self.facts["point_error"] <= GOOD_FIT

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Coordinates of plausible states, drawn from the prior."""
        return self.exact.sample(count, seed)

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        """Weights times homogeneous rest positions: x = features @ Y(q)."""
        lifted = np.concatenate([self.rest.vertices, np.ones((self.rest.vertex_count, 1))], axis=1)
        return (self.weights[:, :, None] * lifted[:, None, :]).reshape(self.rest.vertex_count, -1)

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:
        return np.tile([0.0, 0.0, 0.0, 1.0], len(self.centers))

    def decode(self, q: Tensor) -> Tensor:
        """Vertex positions at ``q``."""
        import torch

        moves = self.motion.value_of_tensor(q).unflatten(0, (-1, 7))
        w, v = 1.0 + moves[:, :1, None], moves[:, 1:4]
        across = torch.linalg.cross(v[:, None].expand(-1, 3, 3), torch.eye(3, dtype=q.dtype).expand(len(v), 3, 3)).mT
        square = (v * v).sum(dim=-1)[:, None, None]
        outer = v[:, :, None] * v[:, None, :]
        turns = ((w * w - square) * torch.eye(3, dtype=q.dtype) + 2.0 * outer + 2.0 * w * across) / (w * w + square)
        centers = torch.as_tensor(self.centers, dtype=q.dtype)
        offsets = centers + moves[:, 4:] - (turns @ centers[..., None])[..., 0]
        rows = torch.cat([turns.mT, offsets[:, None]], dim=1).flatten(0, 1)
        return torch.as_tensor(self.features, dtype=q.dtype) @ rows

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Transforms of the handles, stacked, and their derivatives."""
        p, shifts, slopes = self._motion(q)
        turns, by_part = turn_slopes(p)
        values = self._rows(turns, shifts + self.centers)
        return values, self._rows(_chain(slopes, by_part), slopes[..., 4:])

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """Change of the derivatives while ``q`` moves with ``qdot``."""
        p, _, slopes = self._motion(q)
        changes = self._moves(self.motion.slope_rate(q, qdot))
        rate = np.einsum("bd,bdhk->bhk", qdot, slopes[..., :4])
        turns = _chain(changes, turn_slopes(p)[1]) + _chain(slopes, turn_slope_rates(p, rate))
        return self._rows(turns, changes[..., 4:])

    def _motion(
        self, q: Float[np.ndarray, "B D"]
    ) -> tuple[Float[np.ndarray, "B H 4"], Float[np.ndarray, "B H 3"], Float[np.ndarray, "B D H 7"]]:
        """Quaternions and shifts of the handles, and how both change with each coordinate."""
        values, slopes = map(self._moves, self.motion.evaluate(q))
        return values[..., :4] + IDENTITY, values[..., 4:], slopes

    def _moves(self, flat: Float[np.ndarray, "*B Y"]) -> Float[np.ndarray, "*B H 7"]:
        return flat.reshape(*flat.shape[:-1], len(self.centers), 7)

    def _rows(self, turns: Float[np.ndarray, "*B H 3 3"], shifts: Float[np.ndarray, "*B H 3"]) -> np.ndarray:
        """What features multiply: the columns of each turn, then how it moves the origin."""
        offsets = shifts - np.einsum("...hij,hj->...hi", turns, self.centers)
        rows = np.concatenate([turns.swapaxes(-1, -2), offsets[..., None, :]], axis=-2)
        return rows.reshape(*rows.shape[:-3], -1, 3)


def _chain(slopes: Float[np.ndarray, "B D H 7"], by_part: Float[np.ndarray, "B H 4 3 3"]) -> np.ndarray:
    """Derivatives of turns by coordinates, from those of quaternions by coordinates and of turns by quaternions."""
    batch, dim, count = slopes.shape[:3]
    ahead = slopes[..., :4].transpose(0, 2, 1, 3) @ by_part.reshape(batch, count, 4, 9)
    return ahead.transpose(0, 2, 1, 3).reshape(batch, dim, count, 3, 3)


def compile_space(exact: LearnedSpace, seed: int = 0) -> CompiledSpace:
    """Ask the network for the motion of the handles here and there in the plausible region, and fit a closed form."""
    count = exact.patches.handles.count
    points = exact.patches.points[:count]
    centers = points.mean(axis=1)
    rng = np.random.default_rng(seed)
    wanted = max(LEAST_SAMPLES, PER_COORDINATE * exact.dim)
    q, moves = np.zeros((0, exact.dim)), np.zeros((0, count, 7))
    scale = _importance(points, centers, exact.patches.areas[:count])
    spectrum = exact.reduction.spectrum[: exact.dim]
    weight = np.sqrt(np.sqrt(spectrum / max(spectrum.max(), 1e-300)))
    while True:
        more = _places(exact, wanted - len(q), rng)
        q, moves = np.concatenate([q, more]), np.concatenate([moves, _asked(exact, more, centers)])
        motion, left_out = fit_bumps(q, moves.reshape(len(q), -1), scale.reshape(-1), weight)
        missed = (left_out.reshape(moves.shape) - moves) * scale
        error = float(np.linalg.norm(missed)) / max(float(np.linalg.norm(moves * scale)), 1e-300)
        if error <= GOOD_FIT or wanted == MOST_SAMPLES:
            break
        wanted = min(MOST_SAMPLES, 2 * wanted)
    facts = {
        "samples": float(len(q)),
        "error": error,
        "point_error": _point_error(points, centers, exact.patches.areas[:count], moves, left_out.reshape(moves.shape)),
        "coordinates": float(exact.dim),
        "captured": exact.reduction.captured,
    }
    return CompiledSpace(exact, exact.vertex_weights[:, :count], centers, motion, facts)


def _importance(
    points: Float[np.ndarray, "H P 3"], centers: Float[np.ndarray, "H 3"], areas: Float[np.ndarray, " H"]
) -> Float[np.ndarray, "H 7"]:
    """How far turns and shifts of each handle move points; small parts count as well, since they are seen as well."""
    radius = np.sqrt(((points - centers[:, None]) ** 2).sum(axis=-1).mean(axis=1))
    radius = np.maximum(radius, 0.1 * radius.max())
    each = np.concatenate([np.tile(2.0 * radius[:, None], 4), np.ones((len(areas), 3))], axis=1)
    return np.sqrt(np.maximum(areas, 0.3 / len(areas)))[:, None] * each


def _places(exact: LearnedSpace, count: int, rng: np.random.Generator) -> Float[np.ndarray, "N D"]:
    """Coordinates to ask: the prior and a little beyond, the ways there from rest, and the neighbourhood of rest."""
    middle = exact.middle
    draws = middle + rng.normal(size=(count, exact.dim)) * rng.uniform(0.3, 1.5, size=(count, 1))
    way = np.sqrt(rng.random((count, 1)))
    near = rng.normal(size=(count, exact.dim)) * 0.7
    kind = np.arange(count)[:, None] % 10
    return np.where(kind < 6, draws, np.where(kind < 8, way * draws, near))


def _asked(
    exact: LearnedSpace, q: Float[np.ndarray, "N D"], centers: Float[np.ndarray, "H 3"]
) -> Float[np.ndarray, "N H 7"]:
    """Quaternion minus identity and shift of every handle, from the network."""
    transforms = exact.quick_transforms(q)[:, : len(centers)]
    turns = transforms[..., :3]
    shifts = np.einsum("nhij,hj->nhi", turns, centers) + transforms[..., 3] - centers
    p = quaternions_of(turns)
    p[..., 0] -= 1.0
    return np.concatenate([p, shifts], axis=-1)


def _point_error(
    points: Float[np.ndarray, "H P 3"],
    centers: Float[np.ndarray, "H 3"],
    areas: Float[np.ndarray, " H"],
    moves: Float[np.ndarray, "N H 7"],
    guesses: Float[np.ndarray, "N H 7"],
) -> float:
    """Distance of points carried by left-out guesses from where they belong, as a share of how far they moved."""
    local = points - centers[:, None]

    def carried(moved: Float[np.ndarray, "N H 7"]) -> Float[np.ndarray, "N H P 3"]:
        turns = turns_of(moved[..., :4] + IDENTITY)
        return np.einsum("nhij,hpj->nhpi", turns, local, optimize=True) + moved[:, :, None, 4:]

    chosen = slice(None, None, max(1, len(moves) // 200))
    truth = carried(moves[chosen])
    mean = lambda x: float((np.linalg.norm(x, axis=-1).mean(axis=-1) @ areas).mean())  # noqa: E731
    return mean(carried(guesses[chosen]) - truth) / max(mean(truth - local), 1e-300)
