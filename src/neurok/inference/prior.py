"""What the deformation model says of one mesh: how every patch of its surface moves with each latent number.

One pass of the network gives screws for all patches, and whether each piece is rigid. The plan reads it as evidence,
the wide space holds all of it, and the space of bends holds what it says of pieces that bend.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.bodyplan.contacts import ContactGraph
from neurok.core.mesh import Mesh, UnitBox
from neurok.errors import NeurokError
from neurok.geometry.operators import flat_share
from neurok.geometry.topology import vertex_labels
from neurok.kinematics.screws import Reduction, ReductionMode, ScrewSpace, leading, parted, whole
from neurok.learned.subject import Patches, patches_of

if TYPE_CHECKING:
    from neurok.learned.deformation.handles import HandleModel


@dataclass(frozen=True)
class PriorConfig:
    """How the answer of the network is read."""

    probes: int = 24
    """States of the prior over which derivatives are averaged; more change nothing that can be seen."""

    flat: float = 0.93
    """Pieces with this share of flat sides are boards and boxes, rigid unless the network is sure that they bend;
    chosen on training objects ..."""

    sure: float = -1.0
    """... by these log-odds of being rigid."""

    still: float = 0.01
    """Patches that move less than this per standard deviation, as a share of the one that moves most, do not move."""

    lively: float = 0.1
    """Patches that move more than this share do not stand still, and a piece bends if its patches leave their common
    motion by more than this share; chosen on training objects."""


@dataclass(frozen=True, eq=False)
class LearnedPrior:
    """Screws of all patches of a mesh under N(middle, I), with one screw for all patches of a rigid piece."""

    space: ScrewSpace
    patches: Patches
    rigid: Bool[np.ndarray, " G"]
    """Groups of patches (connected pieces) that never bend."""

    config: PriorConfig = PriorConfig()

    @staticmethod
    def of(mesh: Mesh, model: HandleModel, config: PriorConfig | None = None) -> LearnedPrior:
        """Ask the network once."""
        import torch

        from neurok.learned.deformation.batch import Rest

        config = config or PriorConfig()
        patches = patches_of(mesh)
        count = patches.handles.count
        box = UnitBox.around(patches.points[:count], mesh.up)
        precision = next(model.parameters()).dtype
        points = torch.from_numpy(box.to_box(patches.points)).to(precision)[None]
        areas = torch.from_numpy(patches.areas).to(precision)[None]
        with torch.no_grad():
            context = model.encode_rest(
                Rest(points, points.mean(dim=2), torch.from_numpy(patches.groups)[None], areas, areas > 0)
            )
        take = lambda tensor: tensor[0].double().numpy()  # noqa: E731
        screws = box.twists_from_box(take(context.ways)[:count])
        rigid = rigid_groups(mesh, patches, take(context.rigid)[:count], config)
        centers = patches.points[:count].mean(axis=1)
        weights, latents = vertex_weights(mesh, patches), whole(screws.shape[2])
        full = ScrewSpace(mesh, weights, centers, screws, take(context.mean), latents)
        rigid |= _barely_bends(full, patches, config.lively)
        stiff = full.stiffened(patches, _bodies(patches, rigid))
        pace = np.sqrt(stiff.energies(patches).sum(axis=1))
        kept = pace > config.still * pace.max(initial=0.0)
        return LearnedPrior(replace(stiff, screws=stiff.screws * kept[:, None, None]), patches, rigid, config)

    @cached_property
    def bodies(self) -> Int[np.ndarray, " H"]:
        """One number for all patches of a rigid piece; others have one of their own."""
        return _bodies(self.patches, self.rigid)

    @cached_property
    def bending(self) -> Bool[np.ndarray, " H"]:
        """Patches of pieces that bend."""
        return ~self.rigid[self.patches.groups[: self.patches.handles.count]]

    def wide(self, mode: ReductionMode = "gram", dim: int | None = None) -> ScrewSpace:
        """All that the prior holds, reduced: for fitting poses that lie outside the plan."""
        space = self.space if mode == "none" else self.space.reduced(self.reduction(self.space, mode, dim))
        return (space.reduced(space.reduction) if mode == "none" else space).merged(self.bodies)

    def bend_space(self, covariance: Float[np.ndarray, "Z Z"], alone: bool) -> ScrewSpace:
        """The coordinates along which the object bends, given how contacts hold it.

        ``alone`` says that nothing has a joint: what is rigid then moves along with what bends. Otherwise it stands
        still here, and joints move it.
        """
        full = self.space.conditioned(covariance)
        full = full if alone else full.only(self.bending)
        reduced = full.reduced(self.reduction(full, "gram", None)).principal(self.patches)
        return reduced.liveliest(self.patches).merged(self.bodies)

    def reduction(self, space: ScrewSpace, mode: ReductionMode, dim: int | None) -> Reduction:
        """Active subspace over the prior, by exact derivatives, then turned until each coordinate moves few handles."""
        if dim is not None and not 1 <= dim <= space.dim:
            raise NeurokError(f"dim must lie in 1..{space.dim}, got {dim}.")
        moments, probes = patch_moments(self.patches, space.rest.size), self.config.probes
        count = len(moments)
        values, slopes = space.shape(space.spread(probes))
        slopes = slopes.reshape(probes, space.dim, count, 4, 3)
        weighted = np.einsum("hkl,bdhlc->bdhkc", moments, slopes, optimize=True)
        if mode == "paper":
            moved = (values - space.values(np.zeros((1, space.dim)))).reshape(probes, count, 4, 3)
            pull = np.einsum("bdhkc,bhkc->bd", weighted, moved, optimize=True)
            norm = np.sqrt(np.einsum("bhkc,hkl,bhlc->b", moved, moments, moved, optimize=True))
            pull /= np.maximum(norm, 1e-12)[:, None]
            forms = (pull.T @ pull / probes)[None]
        else:
            forms = np.einsum("bdhkc,behkc->hde", weighted, slopes, optimize=True) / probes
        reduction = leading(forms.sum(axis=0), dim)
        return replace(reduction, basis=parted(reduction.basis, forms)) if mode == "gram" else reduction


def rigid_groups(
    mesh: Mesh, patches: Patches, log_odds: Float[np.ndarray, " H"], config: PriorConfig
) -> Bool[np.ndarray, " G"]:
    """Which groups of patches never bend: a group of one patch, what the network says, boards and boxes."""
    groups = patches.groups[: patches.handles.count]
    out = np.ones(int(patches.handles.face_groups.max()) + 1, dtype=bool)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        if len(members) < 2:
            continue
        odds = patches.areas[members] @ log_odds[members] / max(float(patches.areas[members].sum()), 1e-300)
        faces = mesh.faces[patches.handles.face_groups == group]
        out[group] = odds > 0 or (odds > config.sure and flat_share(mesh.vertices, faces) > config.flat)
    return out


def _barely_bends(space: ScrewSpace, patches: Patches, share: float) -> Bool[np.ndarray, " G"]:
    """Groups whose patches hardly leave the rigid motion that is nearest to all of theirs."""
    groups = patches.groups[: patches.handles.count]
    stiff = space.stiffened(patches, _bodies(patches, np.ones(int(groups.max()) + 1, dtype=bool)))
    left = np.sqrt(replace(space, screws=space.screws - stiff.screws).energies(patches).sum(axis=1))
    liveliest = np.sqrt(space.energies(patches).sum(axis=1)).max(initial=0.0)
    out = np.ones(int(patches.handles.face_groups.max()) + 1, dtype=bool)
    np.logical_and.at(out, groups, left <= share * liveliest)
    return out


def _bodies(patches: Patches, rigid: Bool[np.ndarray, " G"]) -> Int[np.ndarray, " H"]:
    groups = patches.groups[: patches.handles.count]
    first = np.array([np.flatnonzero(groups == group)[0] for group in groups])
    return np.where(rigid[groups], first, np.arange(len(groups)))


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


@dataclass(frozen=True)
class ContactPriorConfig:
    """Which contacts hold. Lengths are shares of the object's size; all values were chosen on training objects."""

    points: int = 40
    """Places of one contact that are looked at."""

    tight: float = 0.02
    """How far a contact that holds may part at one standard deviation."""

    loose: float = 0.1
    """Contacts that part by more than this hold no longer."""

    narrow: float = 0.3
    """Contacts are narrow if they spread across less than this share of what moves there."""

    rounds: int = 2
    """Of reweighting; more would hold ever more contacts, since each makes others part less."""


def condition_on_contacts(
    prior: LearnedPrior,
    contacts: ContactGraph,
    piece_groups: Int[np.ndarray, " P"],
    config: ContactPriorConfig | None = None,
) -> Float[np.ndarray, "Z Z"]:
    """Covariance of the latent numbers given that contacts between pieces hold: they rarely leave what they hang on.

    The network is blind to the exact geometry at hand. Its prior is conditioned on narrow contacts between pieces, at a
    point or along a line, as of hinges, axles and ears: a motion is the less likely the faster it parts them. Wide
    contacts have no say: a lid lies on its pot to be lifted. Nor have those that the prior parts anyway.
    ``piece_groups`` names for each piece of the contact graph the group of patches that it belongs to.
    """
    config = config or ContactPriorConfig()
    slopes = prior.space.slopes_at_rest().reshape(prior.space.dim, -1, 4, 3)
    partings = []
    for pair in contacts.pairs:
        groups = piece_groups[pair.first], piece_groups[pair.second]
        if groups[0] == groups[1]:
            continue
        places = pair.points[:: max(1, len(pair.points) // config.points)]
        speeds = np.stack([_speeds(prior, slopes, places, int(group)) for group in groups])
        faster = groups[int((speeds**2).sum(axis=(1, 2, 3)).argmax())]
        body = prior.space.centers[prior.patches.groups[: len(prior.space.centers)] == faster]
        if _breadth(places) < config.narrow * max(_breadth(body), 0.1 * prior.space.rest.size):
            partings.append((speeds[0] - speeds[1]).swapaxes(1, 2).reshape(-1, prior.space.dim))
    return held_covariance(partings, prior.space.dim, config)


def _speeds(
    prior: LearnedPrior, slopes: Float[np.ndarray, "Z H 4 3"], places: Float[np.ndarray, "K 3"], group: int
) -> Float[np.ndarray, "K Z 3"]:
    """How fast places move with each latent number if they belong to a group of patches, for a size of one."""
    index, weight = prior.patches.handles.weights(places, np.full(len(places), group))
    lifted = np.concatenate([places, np.ones((len(places), 1))], axis=1)
    return np.einsum("dpkrc,pk,pr->pdc", slopes[:, index], weight, lifted, optimize=True) / prior.space.rest.size


def held_covariance(
    partings: list[Float[np.ndarray, "_ D"]], dim: int, config: ContactPriorConfig | None = None
) -> Float[np.ndarray, "D D"]:
    """Covariance of N(0, I) given that contacts hold; rounds of reweighting decide which ones do."""
    config = config or ContactPriorConfig()
    covariance: np.ndarray = np.eye(dim)
    for _ in range(config.rounds):
        precision = np.eye(dim)
        for rows in partings:
            parted = np.einsum("pd,de,pe->p", rows, covariance, rows)
            trust = 1.0 / (1.0 + parted / config.loose**2) ** 2
            precision += (rows * trust[:, None]).T @ rows / (len(rows) * config.tight**2)
        covariance = np.linalg.inv(precision)
    return covariance


def _breadth(points: Float[np.ndarray, "_ 3"]) -> float:
    """Spread of points along their second main direction."""
    if len(points) < 2:
        return 0.0
    return float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1]) / len(points) ** 0.5
