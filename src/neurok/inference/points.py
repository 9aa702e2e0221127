"""The latent space of a mesh: poses that the deformation network holds plausible, along the directions that move most.

Vertices follow the sampled points nearest to them.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from neurok.core.mesh import Mesh, UnitBox, frame_change
from neurok.errors import NeurokError
from neurok.geometry.topology import vertex_labels
from neurok.kinematics.space import KinematicSpace, ShapeMotion, lifted_features
from neurok.learned.deformation import dual
from neurok.learned.deformation.batch import Rest
from neurok.learned.deformation.points import Cloud, PointContext, PointModel, follow
from neurok.learned.subject import Patches, patches_of

ReductionMode = Literal["gram", "paper", "none"]

MAX_DIMENSION = 16
"""Most coordinates of a reduced space: a step of a simulation costs as much."""

ENERGY = 0.9999
"""Share of the spectrum that coordinates shall hold, if their number allows."""

PRIOR_REACH = 6.0
"""How far from the mean of the prior coordinates are plausible [standard deviations]. The tails are heavy: most drawers
are shut, and an open one is far away. Seen on training objects."""

SAMPLES = 8
"""Points of each patch of the surface, as in training."""

CHUNK = 24
"""States that go through the network at once."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """The few orthonormal directions of a latent along which an object moves (active subspace method)."""

    basis: Float[np.ndarray, "Z D"]
    spectrum: Float[np.ndarray, " S"]
    """Eigenvalues, largest first: mean squared displacement per unit step along each direction."""

    captured: float
    """Share of the spectrum that the basis holds."""

    @staticmethod
    def whole(size: int) -> Reduction:
        """No reduction at all."""
        return Reduction(np.eye(size), np.ones(size), 1.0)

    @staticmethod
    def leading(matrix: Float[np.ndarray, "Z Z"], dim: int | None) -> Reduction:
        """Leading eigenvectors of the mean square of the derivatives; by default as many as hold 99.99 %, at most
        16."""
        values, vectors = np.linalg.eigh(matrix)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        share = np.cumsum(values) / max(float(values.sum()), 1e-300)
        keep = dim if dim is not None else int(np.clip(np.searchsorted(share, ENERGY) + 1, 1, MAX_DIMENSION))
        keep = min(keep, len(values))
        signs = np.sign(vectors[np.abs(vectors[:, :keep]).argmax(axis=0), np.arange(keep)])
        return Reduction(np.ascontiguousarray(vectors[:, :keep] * signs), values, float(share[keep - 1]))


@dataclass(frozen=True, eq=False)
class PointSpace(KinematicSpace):
    """The plausible poses of one mesh; ``q = 0`` is the mesh as it is.

    ``decode`` blends the dual quaternions of all samples. ``features`` and ``shape``, which matching and the simulator
    use, let each patch of the surface follow one rigid motion, that of the sample in its middle: the decoder is then
    asked for eight times fewer points.
    """

    rest: Mesh
    model: PointModel
    context: PointContext
    patches: Patches
    z0: Float[Tensor, "K C"]
    """Latent of the rest state."""

    prior: Float[Tensor, "K C"]
    """Mean of the prior over latents."""

    reduction: Reduction
    near: Int[Tensor, "V N"]
    """Samples that each vertex follows ..."""

    weight: Float[Tensor, "V N"]
    """... and how much."""

    box: UnitBox

    @property
    def kind(self) -> str:
        return "latent"

    @property
    def facts(self) -> dict[str, float]:
        """How much of the motion the coordinates hold, and out of how many latent numbers."""
        return {"captured": self.reduction.captured, "latent": float(self.z0.numel())}

    @property
    def starts_along_axes(self) -> bool:
        return True

    @property
    def steps_per_slopes(self) -> int:
        """Derivatives of the network cost thirty times its values."""
        return 3

    @property
    def dim(self) -> int:
        return self.reduction.basis.shape[1]

    @cached_property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        """The high-density region of the prior, which always holds the rest state."""
        middle = self.coordinates(self.prior).numpy()
        reach = PRIOR_REACH
        return np.stack([np.minimum(middle - reach, 0.0), np.maximum(middle + reach, 0.0)], axis=1)

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        """Weights times homogeneous rest positions: x = features @ Y(q)."""
        return lifted_features(self.rest.vertices, _patch_weights(self.rest, self.patches))

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:
        return np.tile([0.0, 0.0, 0.0, 1.0], self.patches.handles.count)

    @cached_property
    def _anchors(self) -> Int[Tensor, " H"]:
        """The sample nearest to the middle of each patch."""
        points = self.context.cloud.points[0].unflatten(0, (-1, SAMPLES))
        apart = (points - points.mean(dim=1, keepdim=True)).norm(dim=-1)
        return apart.argmin(dim=1) + SAMPLES * torch.arange(len(points))

    @cached_property
    def _from_box(self) -> Float[Tensor, "3 3"]:
        return torch.from_numpy(frame_change("y", self.rest.up)).double()

    @cached_property
    def middle(self) -> Float[np.ndarray, " D"]:
        """Coordinates of the mean of the prior."""
        return self.coordinates(self.prior).numpy()

    @cached_property
    def _back_to_rest(self) -> Float[Tensor, "1 P 8"]:
        with torch.no_grad():
            return dual.inverse(self._said(self.z0[None], self.context))

    @cached_property
    def _anchor_context(self) -> PointContext:
        return self.context._replace(queries=self.context.queries[:, self._anchors])

    def latent(self, q: Float[Tensor, "*B D"]) -> Float[Tensor, "*B K C"]:
        """The latent that coordinates stand for."""
        return self.z0 + (q @ torch.from_numpy(self.reduction.basis).T).unflatten(-1, self.z0.shape)

    def coordinates(self, z: Float[Tensor, "*B K C"]) -> Float[Tensor, "*B D"]:
        """Nearest coordinates of a latent."""
        return (z - self.z0).flatten(-2) @ torch.from_numpy(self.reduction.basis)

    def _said(self, z: Float[Tensor, "B K C"], context: PointContext) -> Float[Tensor, "B P 8"]:
        """What the network says, in single precision: its errors are far larger than that."""
        return dual.unit(self.model.decode(_expand(context, len(z)), z.float()).double())

    def motions(self, q: Float[Tensor, "B D"]) -> Float[Tensor, "B P 8"]:
        """Rigid motion of every sample from rest, in the unit box.

        What the decoder says of the rest latent is taken off, so that q = 0 is exactly the rest shape.
        """
        return dual.compose(self._said(self.latent(q), self.context), self._back_to_rest.expand(len(q), -1, -1))

    def patch_motions(self, q: Float[Tensor, "B D"]) -> Float[Tensor, "B H 8"]:
        """Rigid motion of every patch: that of its anchor."""
        back = self._back_to_rest[:, self._anchors].expand(len(q), -1, -1)
        return dual.compose(self._said(self.latent(q), self._anchor_context), back)

    def decode(self, q: Tensor) -> Tensor:
        """Vertex positions at ``q``."""
        motion = dual.blend(self.motions(q[None]), self.near[None], self.weight[None])[0]
        middle, vertices = torch.from_numpy(self.box.center), torch.tensor(self.rest.vertices)
        boxed = (vertices - middle) / self.box.size @ self._from_box
        # Adding the displacement keeps what stands still where it was, to the last bit.
        return vertices + (dual.move(motion, boxed) - boxed) @ self._from_box.T * self.box.size

    def positions(self, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
        """Vertices follow samples; the patches of ``features`` are coarser."""
        with torch.no_grad():
            return self.decode(torch.from_numpy(np.array(q))).numpy()

    def transforms(self, q: Float[Tensor, "B D"]) -> Float[Tensor, "B H 3 4"]:
        """Rigid motion of every patch from rest, in the frame and unit of the mesh."""
        motion, turn = self.patch_motions(q), self._from_box
        rotation = turn @ dual.rotation(motion) @ turn.T
        middle = torch.from_numpy(self.box.center)
        offset = dual.shift(motion) @ turn.T * self.box.size + middle - (rotation @ middle[:, None])[..., 0]
        return torch.cat([rotation, offset[..., None]], dim=-1)

    def quick_transforms(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B H 3 4"]:
        """The same on plain arrays, without derivatives."""
        with torch.no_grad():
            return torch.cat([self.transforms(part) for part in torch.from_numpy(q).split(CHUNK)]).numpy()

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Motions of the patches, stacked, and their derivatives."""
        with torch.no_grad():
            values, slopes = self._slopes(torch.from_numpy(np.ascontiguousarray(q)))
        return values.numpy(), slopes.numpy()

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """Change of the derivatives while ``q`` moves with ``qdot``."""
        at, rate = (torch.from_numpy(np.ascontiguousarray(array)) for array in (q, qdot))
        with torch.no_grad():
            return torch.func.jvp(lambda p: self._slopes(p)[1], (at,), (rate,))[1].numpy()

    def moving(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> LatentMotion:
        return LatentMotion(self, q, qdot)

    def values(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B K 3"]:
        """Motions of the patches, stacked, without their derivatives."""
        with torch.no_grad():
            return self.rows(torch.from_numpy(np.ascontiguousarray(q))).numpy()

    def rows(self, q: Float[Tensor, "B D"]) -> Float[Tensor, "B K 3"]:
        """Motions of the patches, stacked."""
        return self.transforms(q).transpose(-1, -2).flatten(1, 2)

    def _slopes(self, q: Float[Tensor, "B D"]) -> tuple[Float[Tensor, "B K 3"], Float[Tensor, "B D K 3"]]:
        along = lambda direction: torch.func.jvp(self.rows, (q,), (direction.expand(len(q), -1),))[:2]  # noqa: E731
        # The state itself goes through the network once, not once per direction.
        both = torch.func.vmap(along, out_dims=(None, 1))  # type: ignore[arg-type]
        return both(torch.eye(q.shape[1], dtype=q.dtype))

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Coordinates of plausible states, drawn from the prior."""
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn((count, *self.z0.shape), generator=generator, dtype=torch.float64)
        return self.coordinates(self.prior + noise).numpy()


class LatentMotion(ShapeMotion):
    """A batch of moments of a latent: forces reach the coordinates through one pass back, not through all derivatives.

    The Christoffel term is the gradient of what forces do along the velocity, a pass back through a jvp.
    """

    def __init__(self, space: PointSpace, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> None:
        self.space, self.q, self.qdot = space, q, qdot
        self.rows, self._at, self._rate = space.rows, torch.from_numpy(np.array(q)), torch.from_numpy(np.array(qdot))

    @cached_property
    def values(self) -> Float[np.ndarray, "B K 3"]:  # type: ignore[override]
        return self.space.values(self.q)

    @cached_property
    def slopes(self) -> Float[np.ndarray, "B D K 3"]:  # type: ignore[override]
        return self.space.shape(self.q)[1]

    @cached_property
    def rate(self) -> Float[np.ndarray, "B K 3"]:
        with torch.no_grad():
            return torch.func.jvp(self.rows, (self._at,), (self._rate,))[1].numpy()

    def pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        back = torch.func.vjp(self.rows, self._at)[1]
        return back(torch.from_numpy(np.ascontiguousarray(forces)))[0].numpy()

    def rate_pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        speed = lambda at: torch.func.jvp(self.rows, (at,), (self._rate,))[1]  # noqa: E731
        return torch.func.vjp(speed, self._at)[1](torch.from_numpy(np.ascontiguousarray(forces)))[0].numpy()


def infer_points(mesh: Mesh, model: PointModel, mode: ReductionMode = "gram", dim: int | None = None) -> PointSpace:
    """The latent space of a mesh; ``mode`` and ``dim`` as in ``neurok.infer``."""
    size = model.config.tokens * model.config.latent
    if dim is not None and not 1 <= dim <= size:
        raise NeurokError(f"dim must lie in 1..{size}, got {dim}.")
    model = copy.deepcopy(model).float().eval().requires_grad_(False)
    patches = patches_of(mesh)
    there = patches.areas > 0
    box = UnitBox.around(patches.points[there], mesh.up)
    points = torch.from_numpy(box.to_box(patches.points[there, :SAMPLES])).float()[None]
    groups, areas = torch.from_numpy(patches.groups[there])[None], torch.from_numpy(patches.areas[there]).float()[None]
    rest = Rest(points, groups, areas, torch.ones_like(groups, dtype=torch.bool))
    with torch.no_grad():
        context = model.encode_rest(rest)
        z0, prior = model.encode_pose(context, context.cloud.points)[0][0], model.prior(context)[0]
    if mode == "none":
        reduction = Reduction.whole(size)
    else:
        reduction = reduce_points(model, context, areas[0], prior, mode, dim)
    boxed = box.to_box(mesh.vertices)
    near, weight = _follow_in_parts(context.cloud, boxed, _patch_groups(mesh, patches), model.config.neighbours)
    wide = z0.double(), prior.double()
    return PointSpace(mesh, model, context, patches, *wide, reduction, near, weight, box)


def reduce_points(
    model: PointModel,
    context: PointContext,
    areas: Float[Tensor, " H"],
    prior: Float[Tensor, "K C"],
    mode: ReductionMode,
    dim: int | None,
    probes: int = 192,
) -> Reduction:
    """Active subspace of the decoder over the prior, from random probes of the output, one backward pass each."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn((probes, *prior.shape), generator=generator)
    points = context.cloud.points
    root_area = (areas / SAMPLES).sqrt().repeat_interleave(SAMPLES)[:, None]
    slopes = []
    for part in noise.split(CHUNK):
        z = (prior + part).requires_grad_(True)
        wide = _expand(context, len(part))
        motion = dual.blend(model.decode(wide, z), wide.near, wide.weight)
        moved = (dual.move(motion, wide.cloud.points) - points) * root_area
        if mode == "paper":
            value = moved.flatten(1).norm(dim=1).sum()
        else:
            value = (moved * torch.randn(moved.shape, generator=generator)).sum()
        slopes.append(torch.autograd.grad(value, z)[0].flatten(1))
    slope = torch.cat(slopes).double().numpy()
    return Reduction.leading(slope.T @ slope / probes, dim)


def _patch_groups(mesh: Mesh, patches: Patches) -> Int[np.ndarray, " V"]:
    """The group of components each vertex belongs to."""
    return vertex_labels(mesh.faces, patches.handles.face_groups, mesh.vertex_count)


def _patch_weights(mesh: Mesh, patches: Patches) -> Float[np.ndarray, "V H"]:
    """How much each vertex follows each patch."""
    index, weight = patches.handles.weights(mesh.vertices, _patch_groups(mesh, patches))
    out = np.zeros((mesh.vertex_count, patches.handles.count))
    np.add.at(out, (np.arange(mesh.vertex_count)[:, None], index), weight)
    return out


def _expand(context: PointContext, count: int) -> PointContext:
    """The one object of a context, seen ``count`` times."""
    wide = lambda tensor: tensor.expand(count, *tensor.shape[1:])  # noqa: E731
    return PointContext(Cloud(*map(wide, context.cloud)), *map(wide, context[1:]))


def _follow_in_parts(
    cloud: Cloud, points: Float[np.ndarray, "V 3"], groups: Int[np.ndarray, " V"], count: int, part: int = 8192
) -> tuple[Int[Tensor, "V N"], Float[Tensor, "V N"]]:
    """Whom vertices follow; in parts, because every distance to every sample is looked at."""
    wide = cloud._replace(points=cloud.points.double())
    at, owners = torch.from_numpy(points)[None], torch.from_numpy(groups)[None]
    rows = [follow(wide, at[:, i : i + part], owners[:, i : i + part], count) for i in range(0, len(points), part)]
    return torch.cat([row[0][0] for row in rows]), torch.cat([row[1][0] for row in rows])
