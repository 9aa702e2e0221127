"""Sources of a body plan as one: lines of the search and the articulation network, weighed with the learned prior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.contacts import PartSamples
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.plan import Origin
from neurok.bodyplan.search import Search

if TYPE_CHECKING:
    from neurok.articulation.pieces_predict import Groups
    from neurok.inference.prior import LearnedPrior

SAME_DIRECTION = float(np.cos(np.radians(8.0)))
"""Cosine from which on two axes are one; as in the evidence of the search."""


@dataclass(frozen=True)
class PlanConfig:
    """How the sources are weighed. Chosen on 24 training objects that the articulation network has not learned from
    (``neurok train plan``)."""

    prior_weight: float = 0.03
    """Weight of the prior's log-likelihood of a line beside the log-probability that search and network give it."""

    prior_blur: float = 0.03
    """Share of the motion of a body that the prior leaves open in every direction."""

    calibration: tuple[float, ...] = (-1.08, 2.20, 1.29, 0.03, 0.29)
    """Log-odds that the best line of a body made of pieces is right: constant, then per unit of the log-probability of
    the line, of the log-odds that the body moves, of the prior's log-likelihood, and of the log of the body's pace in
    the prior beside the liveliest one."""

    calibration_without_prior: tuple[float, ...] = (-2.09, 1.98, 1.28)
    """The same where no prior is at hand."""

    still: float = 0.1
    """Where the grouping network was asked, probabilities are multiplied by its own that anything moves, and if that is
    less than this, nothing does. Nearly all static training objects kept aside are below, and none that moves."""

    group_by: Literal["rules", "network"] = "network"
    """Who says which pieces are one body, if the network is there. It is far ahead on known categories; on new ones it
    finds as much, but its surest joint is less often right (docs/articulation.md)."""

    grouped: tuple[float, ...] = (2.30, 3.00, 0.57)
    """Log-odds that the best line of a body of the grouping network is right: constant, then per unit of the
    log-probability of the line, and of the network's log-odds that the body moves. Fitted to the same objects and 21
    that stand still; every object counts alike."""

    named: tuple[float, ...] = (2.23, 2.41, 0.64)
    """The same for the parts that a file names, about which the grouping network is asked as well."""

    least: float = 0.1
    """Bodies whose best joint is less likely than this are fixed. Low, because a joint that is missing costs more than
    one too many ..."""

    likely: float = 0.5
    """... but where the grouping network was asked, only those joints count that are likelier than this ..."""

    beside: float = 0.8
    """... or than this share of the surest one of the object: what is unlike all that was learned from is doubtful
    throughout, and still has a best guess."""

    soft: float = 0.5
    """A piece that the prior holds to bend, or that belongs to an object of which most bends, has a joint all the same
    if that is likelier than this."""

    slowest: float = 1e-3
    """Paces below this share of the liveliest count as this."""

    shown: int = 5
    """Hypotheses of each body that are kept."""


def calibration_for(config: PlanConfig, with_prior: bool, asked: bool, origin: Origin = "pieces") -> tuple[float, ...]:
    """The calibration of bodies made of pieces, or of parts of the file about which the grouping network was asked."""
    if origin != "pieces":
        return config.named
    if asked and config.group_by == "network":
        return config.grouped
    return config.calibration if with_prior else config.calibration_without_prior


@dataclass(frozen=True, eq=False)
class WeighedLines:
    """The lines of one body in the order of all sources, and what its calibration is asked about."""

    lines: tuple[Hypothesis, ...]
    """Best first."""

    scores: Float[np.ndarray, " N"]
    """Their log-scores, of all sources together."""

    facts: tuple[float, ...]
    """One, log-probability of the best line by search and network, and where the grouping network was heard, its
    log-odds that the body moves. Otherwise those of search and network, and with a prior its log-likelihood of the line
    and the log of the body's pace beside the liveliest one."""

    def ranked(self, calibration: tuple[float, ...], moves: float = 1.0) -> list[Hypothesis]:
        """The lines with calibrated probabilities, if anything moves with this probability."""
        right = moves / (1.0 + np.exp(-float(np.dot(calibration, self.facts))))
        shares = right * np.exp(self.scores - self.scores[0])
        return [replace(line, probability=float(share)) for line, share in zip(self.lines, shares, strict=True)]


def weigh_lines(
    found: dict[int, list[Hypothesis]],
    fixed: dict[int, float],
    search: Search,
    prior: LearnedPrior | None,
    config: PlanConfig,
    groups: Groups | None = None,
    origin: Origin = "pieces",
) -> dict[int, WeighedLines]:
    """The lines of every body, weighed by all sources."""
    base = search.parents.index(-1)
    screws = None if prior is None else prior.screws_of(search.mesh.face_parts)
    paces = np.zeros(len(search.parents))
    if screws is not None:
        screws = screws - screws[base]
        for part, samples in enumerate(search.contacts.samples):
            paces[part] = 0.0 if samples is None else _pace(screws[part], samples)
    out = {}
    for part, lines in found.items():
        samples = search.contacts.samples[part]
        if not lines or samples is None:
            continue
        said = np.log([max(line.probability, 1e-12) for line in lines])
        moves = float(np.log(max(1.0 - fixed[part], 1e-4) / max(fixed[part], 1e-4)))
        agree = np.zeros(len(lines))
        if screws is not None:
            agree = prior_likelihood(lines, samples, screws[part], config.prior_blur)
        scores = said + config.prior_weight * agree
        order = np.argsort(-scores, kind="stable")
        best = int(order[0])
        facts: tuple[float, ...] = (1.0, float(said[best]), moves)
        if groups is not None and (origin != "pieces" or config.group_by == "network"):
            facts = (1.0, float(said[best]), float(groups.moves[part]))
        elif screws is not None:
            pace = float(np.log(max(paces[part] / max(float(paces.max()), 1e-12), config.slowest)))
            facts = (*facts, float(agree[best]), pace)
        out[part] = WeighedLines(tuple(lines[k] for k in order), scores[order], facts)
    return out


def distinct(lines: list[Hypothesis], count: int, size: float, apart: float = 0.02) -> list[Hypothesis]:
    """The first few lines that are not nearly one of those before: within 8 degrees, and ``apart`` of the size."""
    kept: list[Hypothesis] = []
    for line in lines:
        if len(kept) == count:
            break
        if not any(_same_line(line, other, apart * size) for other in kept):
            kept.append(line)
    return kept


def _same_line(first: Hypothesis, second: Hypothesis, apart: float) -> bool:
    slides = first.kind == "prismatic", second.kind == "prismatic"
    if slides[0] != slides[1] or abs(float(first.axis @ second.axis)) < SAME_DIRECTION:
        return False
    offset = first.origin - second.origin
    across = offset - (offset @ second.axis) * second.axis
    return slides[0] or float(np.linalg.norm(across)) < apart


def _pace(screws: Float[np.ndarray, "6 Z"], cloud: PartSamples) -> float:
    """Root mean square of how far the surface of a body moves per standard deviation of the prior."""
    return float(np.einsum("iz,ij,jz->", screws, surface_metric(cloud.points), screws) ** 0.5)


def prior_likelihood(
    lines: list[Hypothesis], cloud: PartSamples, screws: Float[np.ndarray, "6 Z"], blur: float
) -> Float[np.ndarray, " N"]:
    """Log-likelihood of moving along each line under the prior of a body, with motions of unit size on its surface."""
    root = np.linalg.cholesky(surface_metric(cloud.points)).T
    seen = root @ screws
    ways = unit_twists(lines) @ root.T
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    covariance = seen @ seen.T / max(float((seen**2).sum()), 1e-300) + blur * np.eye(6)
    return -0.5 * np.einsum("ni,ni->n", ways, np.linalg.solve(covariance, ways.T).T)


def surface_metric(points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "6 6"]:
    """The mean square of how far points move, as a form in twists about the origin."""
    from neurok.geometry.lie import skew

    slopes = np.concatenate([-skew(points), np.broadcast_to(np.eye(3), (len(points), 3, 3))], axis=2)
    form = np.einsum("nai,naj->ij", slopes, slopes, optimize=True) / len(points)
    return form + 1e-9 * np.trace(form) * np.eye(6)


def unit_twists(lines: list[Hypothesis]) -> Float[np.ndarray, "N 6"]:
    """Turning by one radian, or sliding by one unit, as twists about the origin."""
    axes, origins = np.stack([line.axis for line in lines]), np.stack([line.origin for line in lines])
    slides = np.array([line.kind == "prismatic" for line in lines])[:, None]
    turning = np.concatenate([axes, np.cross(origins, axes)], axis=1)
    return np.where(slides, np.concatenate([np.zeros_like(axes), axes], axis=1), turning)
