"""The learned space: what the handle model finds plausible for one mesh, as a few screws of the mesh's handles.

The model says for every handle how each latent number twists it. Twists add, so the whole space is a closed form: its
derivatives cost microseconds, hinges turn about fixed axes at any angle, and no step of a simulation asks a network.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from neurok.core.mesh import Mesh, frame_change
from neurok.data.subject import Patches, patches_of
from neurok.errors import NeurokError
from neurok.geometry.operators import flat_share
from neurok.geometry.topology import vertex_labels
from neurok.kinematics.handle_motion import HandleMotion
from neurok.kinematics.reduce import Reduction, ReductionMode, leading, parted, whole
from neurok.kinematics.touch import LIKELY_TOGETHER, TOGETHER, Contacts, held
from neurok.kinematics.twists import common_twist

if TYPE_CHECKING:
    from torch import Tensor

    from neurok.deformation.handles import HandleModel

PRIOR_REACH = 6.0
"""How far from the mean of the prior coordinates are plausible. Its tails are heavy: most drawers are shut, and an
open one is far away."""

TAIL = 4.0
"""Degrees of freedom of its tails, those that the handle model is taught with."""

MOVED = 0.5
"""Share of the coordinates that a sample moves: half of the states that training shows move only some joints."""

PRIOR_SOFTNESS = 0.5
"""How far a coordinate may pass its limit under the object's weight: the prior ends gently."""

GOOD_FIT = 0.3

PROBES = 24
"""States of the prior over which derivatives are averaged."""

MINOR = 0.2
"""Coordinates whose energy is below this share of the main one of every handle they move are left out."""

BOARD = 0.93
"""Components with this share of flat sides are boards and boxes, rigid unless the network is sure that they bend ..."""

SURE = -1.0
"""... by these log-odds."""

FAINT = 0.01
"""Handles with less than this share of the energy of the liveliest one have no say in that."""

STILL = 0.01
"""Handles that move less than this per standard deviation, as a share of the one that moves most, do not move."""


@dataclass(frozen=True, eq=False)
class NeuralSpace:
    """The plausible poses of one mesh: handles move by exp(Σ_d q_d screws_hd); ``q = 0`` is the mesh as it is."""

    rest: Mesh
    weights: Float[np.ndarray, "V H"]
    """How much each vertex follows each handle."""

    centers: Float[np.ndarray, "H 3"]
    """Where the twists of each handle are taken, in mesh units."""

    screws: Float[np.ndarray, "H 6 D"]
    middle: Float[np.ndarray, " D"]
    """Mean of the prior; around it coordinates have the spread of N(0, I)."""

    reduction: Reduction
    facts: dict[str, float] = field(default_factory=dict)
    """``coordinates``; ``captured`` share of the motion; ``point_error`` if it stands in for another network: how far
    points of left-out states lie from where they belong, as a share of their displacement."""

    @property
    def dim(self) -> int:
        return self.screws.shape[2]

    @cached_property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        """The high-density region of the prior, which always holds the rest state: beyond it poses get implausible."""
        return np.stack(
            [np.minimum(self.middle - PRIOR_REACH, 0.0), np.maximum(self.middle + PRIOR_REACH, 0.0)], axis=1
        )

    @property
    def limit_softness(self) -> float:
        return PRIOR_SOFTNESS

    @property
    def is_close(self) -> bool:
        """Whether it holds nearly all of what the network finds plausible."""
        return self.facts.get("point_error", 0.0) <= GOOD_FIT

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Coordinates of plausible states: some of them, at least one, drawn from the prior, the others at rest."""
        rng = np.random.default_rng(seed)
        moved = rng.random((count, self.dim)) < MOVED
        moved[np.arange(count), rng.integers(self.dim, size=count)] = True
        far = np.clip(rng.standard_t(TAIL, size=(count, self.dim)), -PRIOR_REACH, PRIOR_REACH)
        return np.where(moved, self.middle + far, 0.0)

    def spread(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Coordinates all over the prior, for averages over it."""
        return self.middle + np.random.default_rng(seed).normal(size=(count, self.dim))

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

        from neurok.deformation import twists

        take = lambda array: torch.as_tensor(array, dtype=q.dtype)  # noqa: E731
        turns, shifts = twists.exponential(take(self.screws) @ q)
        centers = take(self.centers)
        offsets = centers + shifts - (turns @ centers[..., None])[..., 0]
        return take(self.features) @ torch.cat([turns.mT, offsets[:, None]], dim=1).flatten(0, 1)

    def moving(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> HandleMotion:
        """Moments of the handles: what a simulation asks for, without ever writing out all derivatives."""
        return HandleMotion(self._screws_first, self.centers, q, qdot)

    def values(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B K 3"]:
        """Transforms of the handles, stacked, without their derivatives."""
        return self.moving(q, np.zeros_like(q)).values

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Transforms of the handles, stacked, and their derivatives."""
        motion = self.moving(q, np.zeros_like(q))
        return motion.values, motion.slopes

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """Change of the derivatives while ``q`` moves with ``qdot``."""
        return self.moving(q, qdot).slope_rates

    def twists(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B H 6"]:
        """Twist of every handle about its centre."""
        return (q @ self.screws.reshape(-1, self.dim).T).reshape(len(q), -1, 6)

    def reduced(self, reduction: Reduction) -> NeuralSpace:
        """The same space along fewer directions."""
        basis = reduction.basis
        facts = {**self.facts, "coordinates": float(basis.shape[1]), "captured": reduction.captured}
        return replace(self, screws=self.screws @ basis, middle=self.middle @ basis, reduction=reduction, facts=facts)

    def stiffened(self, patches: Patches, bodies: Int[np.ndarray, " H"]) -> NeuralSpace:
        """The same space with one motion for all handles of a body, the nearest to all of theirs.

        Small disagreements between the handles of a door would show as dents.
        """
        out, radii = self.screws.copy(), patch_radii(patches, self.centers)
        for body in np.unique(bodies):
            rows = np.flatnonzero(bodies == body)
            if len(rows) > 1:
                out[rows] = common_twist(self.screws[rows], self.centers[rows], patches.areas[rows], radii[rows])
        return replace(self, screws=out)

    def slopes_at_rest(self) -> Float[np.ndarray, "D K 3"]:
        return self.shape(np.zeros((1, self.dim)))[1][0]

    def conditioned(self, covariance: Float[np.ndarray, "D D"]) -> NeuralSpace:
        """The same space with the prior N(covariance @ middle, covariance), in coordinates of unit variance again."""
        values, vectors = np.linalg.eigh(covariance)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return replace(self, screws=self.screws @ root, middle=root @ self.middle)

    def principal(self, patches: Patches) -> NeuralSpace:
        """The same space without coordinates that are minor for every handle they move, beside its main motion."""
        energy = self.energies(patches)
        main = energy.max(axis=1, keepdims=True)
        kept = (energy >= MINOR * main) & (main >= FAINT * main.max())
        rows = kept.any(axis=0) | (np.arange(self.dim) == energy.sum(axis=0).argmax())
        share = min(1.0, float(energy[:, rows].sum() / max(float(energy.sum()), 1e-300)))
        reduction = replace(
            self.reduction, basis=self.reduction.basis[:, rows], captured=share * self.reduction.captured
        )
        facts = {**self.facts, "coordinates": float(rows.sum()), "captured": reduction.captured}
        return replace(self, screws=self.screws[:, :, rows], middle=self.middle[rows], reduction=reduction, facts=facts)

    def energies(self, patches: Patches) -> Float[np.ndarray, "H D"]:
        """Mean square of how far each coordinate moves each handle."""
        radii = patch_radii(patches, self.centers)[:, None]
        return (radii**2 * (self.screws[:, :3] ** 2).sum(axis=1)) + (self.screws[:, 3:] ** 2).sum(axis=1)

    def merged(self, bodies: Int[np.ndarray, " H"]) -> NeuralSpace:
        """The same poses with one handle for each body, of handles that move as one; all that stand still are one body.

        A step of a simulation costs as much as there are handles.
        """
        still = ~self.screws.any(axis=(1, 2))
        labels = np.unique(np.where(still, -1, bodies), return_inverse=True)[1]
        first = np.array([np.flatnonzero(labels == body)[0] for body in range(labels.max() + 1)])
        shares = (labels[:, None] == np.arange(len(first))).astype(np.float64)
        return replace(self, weights=self.weights @ shares, centers=self.centers[first], screws=self.screws[first])

    @cached_property
    def _screws_first(self) -> Float[np.ndarray, "6 H D"]:
        return np.ascontiguousarray(self.screws.swapaxes(0, 1))


def infer_space(
    mesh: Mesh, model: HandleModel, mode: ReductionMode = "gram", dim: int | None = None, touch: bool = True
) -> NeuralSpace:
    """The kinematic space of a mesh.

    Args:
        mesh: Any mesh; no labels are used.
        model: Trained weights.
        mode: ``gram`` (mean of JᵀMJ over the prior), ``paper`` (gradient of the norm of the displacement) or ``none``.
        dim: Number of coordinates; by default enough for 99.99 % of the spectrum, at most 16.
        touch: Condition the prior on parts staying with what they touch, and hold more of what touches to be one part.
    """
    import torch

    from neurok.deformation.batch import Rest

    if dim is not None and not 1 <= dim <= model.latent_size:
        raise NeurokError(f"dim must lie in 1..{model.latent_size}, got {dim}.")
    patches = patches_of(mesh)
    low, high = mesh.bounds
    center, scale = (low + high) / 2, float((high - low).max())
    precision = next(model.parameters()).dtype
    points = torch.from_numpy(to_box(patches.points, mesh, center, scale)).to(precision)[None]
    areas = torch.from_numpy(patches.areas).to(precision)[None]
    with torch.no_grad():
        context = model.encode_rest(
            Rest(points, points.mean(dim=2), torch.from_numpy(patches.groups)[None], areas, areas > 0)
        )
    take = lambda tensor: tensor[0].double().numpy()  # noqa: E731
    count = patches.handles.count
    turn, ways = frame_change("y", mesh.up), take(context.ways)[:count]
    screws = np.concatenate([turn @ ways[:, :3], turn @ ways[:, 3:] * scale], axis=1)
    centers = patches.points[:count].mean(axis=1)
    bodies = rigid_bodies(mesh, patches, take(context.rigid)[:count])
    weights = vertex_weights(mesh, patches)
    full = NeuralSpace(mesh, weights, centers, screws, take(context.mean), whole(screws.shape[2]))
    full = full.stiffened(patches, bodies)
    contacts = Contacts.of(mesh, patches.handles)
    pairs = contacts.companions(full.slopes_at_rest(), LIKELY_TOGETHER if touch else TOGETHER)
    bodies = joined(bodies, patches, pairs)
    full = _held_still(full.stiffened(patches, bodies), patches)
    if touch:
        full = full.conditioned(held(contacts.partings(full.slopes_at_rest()), full.dim))
    reduced = full.reduced(full.reduction if mode == "none" else reduction_of(full, patches, mode, dim))
    if touch and mode != "none" and dim is None:
        reduced = reduced.principal(patches)
    return reduced.merged(bodies)


def rigid_bodies(mesh: Mesh, patches: Patches, log_odds: Float[np.ndarray, " H"]) -> Int[np.ndarray, " H"]:
    """One number for all handles of a component that never bends; other handles have one of their own."""
    count = patches.handles.count
    out = np.arange(count)
    for group in np.unique(patches.groups[:count]):
        members = np.flatnonzero(patches.groups[:count] == group)
        if len(members) < 2:
            continue
        odds = patches.areas[members] @ log_odds[members] / max(float(patches.areas[members].sum()), 1e-300)
        faces = mesh.faces[patches.handles.face_groups == group]
        if odds > 0 or (odds > SURE and flat_share(mesh.vertices, faces) > BOARD):
            out[members] = members[0]
    return out


def joined(bodies: Int[np.ndarray, " H"], patches: Patches, companions: list[tuple[int, int]]) -> Int[np.ndarray, " H"]:
    """Rigid components that move as one become one body: the panes of a door, a screen and its lid."""
    out, groups = bodies.copy(), patches.groups[: len(bodies)]
    rigid = {int(g) for g in np.unique(groups) if len(np.unique(bodies[groups == g])) == 1}
    for pair in companions:
        if rigid.issuperset(pair):
            first, second = (out[np.flatnonzero(groups == group)[0]] for group in pair)
            out[out == second] = first
    return out


def reduction_of(space: NeuralSpace, patches: Patches, mode: ReductionMode, dim: int | None) -> Reduction:
    """Active subspace over the prior, by exact derivatives, then turned until each coordinate moves few handles."""
    moments = patch_moments(patches, space.rest.size)
    count = len(moments)
    values, slopes = space.shape(space.spread(PROBES))
    slopes = slopes.reshape(PROBES, space.dim, count, 4, 3)
    weighted = np.einsum("hkl,bdhlc->bdhkc", moments, slopes, optimize=True)
    if mode == "paper":
        moved = (values - space.values(np.zeros((1, space.dim)))).reshape(PROBES, count, 4, 3)
        pull = np.einsum("bdhkc,bhkc->bd", weighted, moved, optimize=True)
        norm = np.sqrt(np.einsum("bhkc,hkl,bhlc->b", moved, moments, moved, optimize=True))
        pull /= np.maximum(norm, 1e-12)[:, None]
        forms = (pull.T @ pull / PROBES)[None]
    else:
        forms = np.einsum("bdhkc,behkc->hde", weighted, slopes, optimize=True) / PROBES
    reduction = leading(forms.sum(axis=0), dim)
    return replace(reduction, basis=parted(reduction.basis, forms)) if mode == "gram" else reduction


def patch_radii(patches: Patches, centers: Float[np.ndarray, "H 3"]) -> Float[np.ndarray, " H"]:
    """How far the points of each patch lie from its centre."""
    return np.sqrt(((patches.points[: len(centers)] - centers[:, None]) ** 2).sum(axis=-1).mean(axis=1))


def patch_moments(patches: Patches, size: float) -> Float[np.ndarray, "H 4 4"]:
    """Mean of p pᵀ over the points of each patch with p = (x, y, z, 1), by area, for sizes of one."""
    count = patches.handles.count
    points = patches.points[:count]
    lifted = np.concatenate([points, np.ones((*points.shape[:2], 1))], axis=-1)
    share = patches.areas[:count] / (patches.areas[:count].sum() * points.shape[1] * size**2)
    return np.einsum("hpi,hpj,h->hij", lifted, lifted, share, optimize=True)


def vertex_groups(mesh: Mesh, patches: Patches) -> Int[np.ndarray, " V"]:
    """The group of components each vertex belongs to."""
    return vertex_labels(mesh.faces, patches.handles.face_groups, mesh.vertex_count)


def vertex_weights(mesh: Mesh, patches: Patches) -> Float[np.ndarray, "V H"]:
    """How much each vertex follows each handle."""
    handles, count = patches.handles, mesh.vertex_count
    index, weight = handles.weights(mesh.vertices, vertex_groups(mesh, patches))
    out = np.zeros((count, handles.count))
    np.add.at(out, (np.arange(count)[:, None], index), weight)
    return out


def to_box(
    points: Float[np.ndarray, "*N 3"], mesh: Mesh, center: Float[np.ndarray, "3"], scale: float
) -> Float[np.ndarray, "*N 3"]:
    """Points in the unit box, +y up."""
    return ((points - center) / scale) @ frame_change(mesh.up, "y").T


def _held_still(space: NeuralSpace, patches: Patches) -> NeuralSpace:
    """The same space without the tremor of what stands still."""
    pace = np.sqrt(space.energies(patches).sum(axis=1))
    kept = pace > STILL * pace.max(initial=0.0)
    return replace(space, screws=space.screws * kept[:, None, None])
