"""The prior of what bends, given that contacts hold: pieces of an object rarely leave what they hang on.

The network is blind to the exact geometry at hand. Here its prior is conditioned on narrow contacts between pieces, at
a point or along a line, as of hinges, axles and ears: a motion is the less likely the faster it parts them. Wide
contacts have no say: a lid lies on its pot to be lifted. Nor have those that the prior parts anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.contacts import ContactGraph
from neurok.inference.prior import LearnedPrior


@dataclass(frozen=True)
class ContactPriorConfig:
    """Lengths are shares of the object's size. All values were chosen on training objects."""

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
    """Covariance of the latent numbers given that contacts between pieces hold.

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
    return conditioned_covariance(partings, prior.space.dim, config)


def _speeds(
    prior: LearnedPrior, slopes: Float[np.ndarray, "Z H 4 3"], places: Float[np.ndarray, "K 3"], group: int
) -> Float[np.ndarray, "K Z 3"]:
    """How fast places move with each latent number if they belong to a group of patches, for a size of one."""
    index, weight = prior.patches.handles.weights(places, np.full(len(places), group))
    lifted = np.concatenate([places, np.ones((len(places), 1))], axis=1)
    return np.einsum("dpkrc,pk,pr->pdc", slopes[:, index], weight, lifted, optimize=True) / prior.space.rest.size


def conditioned_covariance(
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
