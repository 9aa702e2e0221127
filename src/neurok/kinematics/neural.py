"""The learned space: a handle model, reduced to the few directions of its latent space that move the object."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from neurok.core.mesh import Mesh, frame_change
from neurok.data.subject import HANDLES, Patches, patches_of
from neurok.deformation.handles import Context, HandleModel, Motion, Rest
from neurok.errors import NeurokError
from neurok.kinematics.compiled import CompiledSpace, compile_space

ReductionMode = Literal["gram", "paper", "none"]
MAX_DIMENSION = 16
CHUNK = 64
"""States that go through the network at once: more would only leave the cache."""

PRIOR_REACH = 2.5
"""Standard deviations of the prior that count as plausible."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """An orthonormal basis of the latent directions that matter."""

    basis: Float[np.ndarray, "Z D"]
    spectrum: Float[np.ndarray, " S"]
    """Eigenvalues, largest first: mean squared displacement per unit step along each direction."""

    captured: float
    """Share of the spectrum that the basis holds."""


@dataclass(frozen=True, eq=False)
class NeuralSpace:
    """The plausible poses of one mesh; ``q = 0`` is the mesh as it is."""

    rest: Mesh
    model: HandleModel
    context: Context
    patches: Patches
    start: Float[Tensor, " R"]
    """Latent of the rest state; the prior is N(0, I)."""

    reduction: Reduction
    box_center: Float[np.ndarray, "3"]
    box_scale: float
    bodies: Float[np.ndarray, "H H"]
    """Each row the shares of the handles whose mean motion a handle follows: all of a component that never bends."""

    quick_model: HandleModel
    """The same model in single precision, for what needs no derivatives."""

    @property
    def dim(self) -> int:
        return self.reduction.basis.shape[1]

    @cached_property
    def middle(self) -> Float[np.ndarray, " D"]:
        """Coordinates of the mean of the prior; around it they are N(0, I)."""
        return self.coordinates(torch.zeros_like(self.start)).numpy()

    @cached_property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        """The high-density region of the prior, which always holds the rest state: beyond it poses get implausible."""
        middle = self.middle
        return np.stack([np.minimum(middle - PRIOR_REACH, 0.0), np.maximum(middle + PRIOR_REACH, 0.0)], axis=1)

    @cached_property
    def vertex_weights(self) -> Float[np.ndarray, "V H"]:
        """How much each vertex follows each handle."""
        handles, count = self.patches.handles, self.rest.vertex_count
        groups = np.zeros(count, dtype=np.int64)
        groups[self.rest.faces.reshape(-1)] = np.repeat(handles.face_groups, 3)
        index, weight = handles.weights(self.rest.vertices, groups)
        out = np.zeros((count, HANDLES))
        np.add.at(out, (np.arange(count)[:, None], index), weight)
        return out

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        """Weights times homogeneous rest positions: x = features @ Y(q)."""
        lifted = np.concatenate([self.rest.vertices, np.ones((self.rest.vertex_count, 1))], axis=1)
        return (self.vertex_weights[:, :, None] * lifted[:, None, :]).reshape(self.rest.vertex_count, -1)

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:
        return np.tile([0.0, 0.0, 0.0, 1.0], HANDLES)

    @cached_property
    def _from_box(self) -> Float[Tensor, "3 3"]:
        return torch.from_numpy(frame_change("y", self.rest.up)).double()

    @cached_property
    def _rest_motion(self) -> Motion:
        with torch.no_grad():
            precision = self.context.tokens.dtype
            return Motion(*(part.double() for part in self.model.decode(self.context, self.start[None].to(precision))))

    def latent(self, q: Float[Tensor, "*B D"]) -> Float[Tensor, "*B R"]:
        """The latent that coordinates stand for."""
        return self.start + q @ torch.from_numpy(self.reduction.basis).T

    def coordinates(self, e: Float[Tensor, "*B R"]) -> Float[Tensor, "*B D"]:
        """Nearest coordinates of a latent."""
        return (e - self.start) @ torch.from_numpy(self.reduction.basis)

    def transforms(self, q: Float[Tensor, "B D"]) -> Float[Tensor, "B H 3 4"]:
        """Rigid motion of every handle from rest, in the frame and unit of the mesh."""
        return self.transforms_of_latent(self.latent(q))

    def transforms_of_latent(self, e: Float[Tensor, "B R"]) -> Float[Tensor, "B H 3 4"]:
        context, precision = _expand(self.context, len(e)), self.context.tokens.dtype
        motion = Motion(*(part.to(e.dtype) for part in self.model.decode(context, e.to(precision))))
        rest = self._rest_motion
        # What the decoder says of the rest latent is taken off, so that q = 0 is exactly the rest shape.
        rotation = motion.rotations @ rest.rotations.transpose(-1, -2)
        shift = motion.shifts - (rotation @ rest.shifts[..., None])[..., 0]
        bodies = torch.from_numpy(self.bodies)
        centers = torch.from_numpy(self._box_centers)
        rotation = _nearest_rotation(torch.einsum("hk,bkij->bhij", bodies, rotation))
        middles = bodies @ centers
        offset = bodies @ (centers + shift) - (rotation @ middles[..., None])[..., 0]
        turn = self._from_box
        rotation = turn @ rotation @ turn.T
        middle = torch.from_numpy(self.box_center)
        offset = (turn @ offset[..., None])[..., 0] * self.box_scale + middle - (rotation @ middle[:, None])[..., 0]
        return torch.cat([rotation, offset[..., None]], dim=-1)

    @cached_property
    def _box_centers(self) -> Float[np.ndarray, "H 3"]:
        return to_box(self.patches.points.mean(axis=1), self.rest, self.box_center, self.box_scale)

    def decode(self, q: Tensor) -> Tensor:
        """Vertex positions at ``q``."""
        return torch.from_numpy(self.features) @ _rows(self.transforms(q[None]))[0]

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Transforms of the handles, stacked, and their derivatives."""
        points = torch.from_numpy(np.ascontiguousarray(q))
        with torch.no_grad():
            values, slopes = self._slopes(points)
        return values.numpy(), slopes.numpy()

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """Change of the derivatives while ``q`` moves with ``qdot``."""
        with torch.no_grad():
            rate = torch.func.jvp(
                lambda p: self._slopes(p)[1],
                (torch.from_numpy(np.ascontiguousarray(q)),),
                (torch.from_numpy(np.ascontiguousarray(qdot)),),
            )[1]
        return rate.numpy()

    def _slopes(self, q: Float[Tensor, "B D"]) -> tuple[Float[Tensor, "B K 3"], Float[Tensor, "B D K 3"]]:
        rows = lambda p: _rows(self.transforms(p))  # noqa: E731
        along = lambda direction: torch.func.jvp(rows, (q,), (direction.expand(len(q), -1),))[:2]  # noqa: E731
        # The state itself goes through the network once, not once per direction.
        both = torch.func.vmap(along, out_dims=(None, 1))  # type: ignore[arg-type]
        return both(torch.eye(q.shape[1], dtype=q.dtype))

    def quick_transforms(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B H 3 4"]:
        """The same as ``transforms`` on plain arrays, in single precision and without derivatives."""
        quick = self.single()
        with torch.no_grad():
            parts = torch.from_numpy(q).split(CHUNK)
            return torch.cat([quick.transforms_of_latent(self.latent(part)) for part in parts]).numpy()

    def values(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B K 3"]:
        """Transforms of the handles, stacked, without their derivatives and in single precision."""
        return self.quick_transforms(q).swapaxes(-1, -2).reshape(len(q), -1, 3)

    def single(self) -> NeuralSpace:
        """The same space with a network in single precision, which answers twice as fast."""
        return replace(self, model=self.quick_model, context=_single(self.context))

    def compiled(self) -> CompiledSpace:
        """The same poses by a closed form, quick enough to simulate; see ``CompiledSpace``."""
        return compile_space(self)

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Coordinates of plausible states, drawn from the prior."""
        noise = np.random.default_rng(seed).normal(size=(count, self.dim))
        return self.middle + noise


def infer_space(mesh: Mesh, model: HandleModel, mode: ReductionMode = "gram", dim: int | None = None) -> NeuralSpace:
    """The kinematic space of a mesh.

    Args:
        mesh: Any mesh; no labels are used.
        model: Trained weights.
        mode: ``gram`` (mean of JᵀJ over the prior), ``paper`` (gradient of the norm of the displacement) or ``none``.
        dim: Number of coordinates; by default enough for 99.5 % of the spectrum, at most 16.
    """
    if dim is not None and not 1 <= dim <= model.latent_size:
        raise NeurokError(f"dim must lie in 1..{model.latent_size}, got {dim}.")
    quick = copy.deepcopy(model).float().eval().requires_grad_(False)
    model = copy.deepcopy(quick).double()
    patches = patches_of(mesh)
    low, high = mesh.bounds
    center, scale = (low + high) / 2, float((high - low).max())
    points = to_box(patches.points, mesh, center, scale)
    rest = Rest(
        torch.from_numpy(points)[None],
        torch.from_numpy(points.mean(axis=1))[None],
        torch.from_numpy(patches.groups)[None],
        torch.from_numpy(patches.areas)[None],
        torch.from_numpy(patches.areas > 0)[None],
    )
    with torch.no_grad():
        context = model.encode_rest(rest)
        still = Motion(torch.eye(3).double().expand(1, HANDLES, 3, 3), torch.zeros(1, HANDLES, 3).double())
        start = model.posterior(context, still).mean[0]
    if mode == "none":
        reduction = Reduction(np.eye(len(start)), np.ones(len(start)), 1.0)
    else:
        single = Rest(*(part.float() if part.is_floating_point() else part for part in rest))
        reduction = reduce_latent(quick, _single(context), single, mode, dim)
    bodies = stiff_bodies(patches, context.rigid[0].numpy())
    return NeuralSpace(mesh, model, context, patches, start, reduction, center, scale, bodies, quick)


def stiff_bodies(patches: Patches, log_odds: Float[np.ndarray, " H"]) -> Float[np.ndarray, "H H"]:
    """Handles of a component that never bends share one motion, their mean by area; others keep their own.

    Small disagreements between the handles of a door would show as dents.
    """
    out = np.eye(len(log_odds))
    for group in np.unique(patches.groups[patches.areas > 0]):
        members = np.flatnonzero((patches.groups == group) & (patches.areas > 0))
        share = patches.areas[members] / patches.areas[members].sum()
        if share @ log_odds[members] > 0:
            out[members] = 0.0
            out[np.ix_(members, members)] = share
    return out


def _nearest_rotation(mixed: Float[Tensor, "*B 3 3"], rounds: int = 7) -> Float[Tensor, "*B 3 3"]:
    """The rotation nearest to a mean of similar ones (Newton and Schulz); a rotation stays what it is."""
    for _ in range(rounds):
        mixed = 1.5 * mixed - 0.5 * mixed @ (mixed.mT @ mixed)
    return mixed


def reduce_latent(
    model: HandleModel,
    context: Context,
    rest: Rest,
    mode: ReductionMode,
    dim: int | None,
    probes: int = 192,
    energy: float = 0.995,
) -> Reduction:
    """Active subspace of the decoder over the prior.

    The matrix E[JᵀMJ] is estimated from random probes of the output, one backward pass each: far cheaper than whole
    Jacobians, and unbiased.
    """
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn((probes, model.latent_size), generator=generator, dtype=context.tokens.dtype)
    local = rest.points[0] - rest.centers[0][:, None]
    root_area = (rest.areas[0] / local.shape[1]).sqrt()[:, None, None]
    slopes = []
    for part in noise.split(CHUNK):
        e = part.requires_grad_(True)
        motion = model.decode(_expand(context, len(e)), e)
        moved = torch.einsum("bhij,hnj->bhni", motion.rotations, local) + (rest.centers[0] + motion.shifts)[:, :, None]
        if mode == "paper":
            value = ((moved - rest.points[0]) * root_area).flatten(1).norm(dim=1).sum()
        else:
            value = (moved * torch.randn(moved.shape, generator=generator, dtype=moved.dtype) * root_area).sum()
        slopes.append(torch.autograd.grad(value, e)[0])
    slope = torch.cat(slopes).double().numpy()
    values, vectors = np.linalg.eigh(slope.T @ slope / probes)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    share = np.cumsum(values) / max(values.sum(), 1e-30)
    keep = dim if dim is not None else int(np.clip(np.searchsorted(share, energy) + 1, 1, MAX_DIMENSION))
    keep = min(keep, len(values))
    signs = np.sign(vectors[np.abs(vectors[:, :keep]).argmax(axis=0), np.arange(keep)])
    return Reduction(np.ascontiguousarray(vectors[:, :keep] * signs), values, float(share[keep - 1]))


def _expand(context: Context, count: int) -> Context:
    """The context of one object for several states of it."""
    wide = lambda tensor: tensor.expand(count, *tensor.shape[1:])  # noqa: E731
    bias = context.bias.expand(-1, count, -1, -1, -1)
    return Context(wide(context.tokens), bias, wide(context.middle), wide(context.ways), wide(context.rigid))


def _single(context: Context) -> Context:
    return Context(*(part.float() for part in context))


def to_box(
    points: Float[np.ndarray, "*N 3"], mesh: Mesh, center: Float[np.ndarray, "3"], scale: float
) -> Float[np.ndarray, "*N 3"]:
    """Points in the unit box, +y up."""
    return ((points - center) / scale) @ frame_change(mesh.up, "y").T


def _rows(transforms: Float[Tensor, "B H 3 4"]) -> Float[Tensor, "B K 3"]:
    """Transforms as the rows that features multiply."""
    return transforms.transpose(-1, -2).flatten(1, 2)
