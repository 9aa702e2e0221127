"""The verb ``plan``: pieces, contacts, bodies and joints of a mesh, decided once from four sources of evidence.

The geometric search moves bodies along lines until they collide or detach; the articulation network has seen joints of
other objects; the learned prior has seen motions of other objects; of a raw mesh the grouping network tells whether
anything moves at all, and on request which pieces are one body. They are combined here and nowhere else: ``infer``,
``articulate``, ``sample``, ``pose``, ``simulate`` and exports read the plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.bodies import find_parts, merge_components
from neurok.bodyplan.contacts import PartSamples
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.limits import clip_limits
from neurok.bodyplan.plan import BodyPlan, Origin, PlannedBody, connected_pieces, with_bodies
from neurok.bodyplan.search import Search, search_joints
from neurok.core import Asset, Mesh
from neurok.hub import has_weights, load_model

if TYPE_CHECKING:
    from neurok.articulation.ensemble import Ensemble
    from neurok.articulation.pieces_predict import Grouper, Groups
    from neurok.deformation.handles import HandleModel
    from neurok.inference.prior import LearnedPrior

Method = Literal["auto", "learned", "search"]
Thing = Mesh | Asset | str | Path

SAME_DIRECTION = float(np.cos(np.radians(8.0)))
"""Cosine from which on two axes are one; as in the evidence of the search."""

JOINT_WEIGHTS, PRIOR_WEIGHTS, PIECE_WEIGHTS = "articulation", "deformation", "pieces"
"""Names of the shipped weights behind the three learned sources."""

NO_WEIGHTS = "none"
"""Name that leaves a learned source out."""


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

    grouped: tuple[float, ...] = (2.46, 1.78, 0.38, -0.03, 0.17, 0.64, -0.61)
    """As ``calibration``, where the grouping network has found the bodies: after the others, per unit of its log-odds
    that the body moves and that anything does. Fitted to the same objects and 21 that stand still."""

    grouped_without_prior: tuple[float, ...] = (2.49, 1.67, 0.32, 0.74, -0.65)
    """The same without a prior."""

    least: float = 0.03
    """Bodies made of pieces whose best joint is less likely than this are fixed. Low, because a joint that is missing
    costs more than one too many."""

    soft: float = 0.5
    """A piece that the prior holds to bend, or that belongs to an object of which most bends, has a joint all the same
    if that is likelier than this."""

    slowest: float = 1e-3
    """Paces below this share of the liveliest count as this."""

    shown: int = 5
    """Hypotheses of each body that are kept."""


def plan(
    thing: Thing,
    *,
    labels: Int[np.ndarray, " N"] | None = None,
    method: Method = "auto",
    joint_weights: Ensemble | str | Path | None = None,
    prior_weights: HandleModel | str | Path | None = None,
    piece_weights: Grouper | str | Path | None = None,
    given_parts: bool = True,
    config: PlanConfig | None = None,
) -> BodyPlan:
    """The body plan of a mesh.

    Args:
        thing: A mesh, an asset, or what ``neurok.load`` reads. Joints of its file are not used.
        labels: A number for each face or vertex that says which body it belongs to.
        method: ``search`` asks geometry alone, ``learned`` needs weights, ``auto`` takes them where there are any.
        joint_weights: Of the articulation network; the shipped ones by default.
        prior_weights: Of the deformation model; the shipped ones by default.
        piece_weights: Of the grouping network; the shipped ones by default. ``none`` leaves it out.
        given_parts: Whether parts that the file names are its bodies; otherwise pieces are grouped as for a raw mesh.
        config: How the sources are weighed.
    """
    return study(
        thing,
        labels=labels,
        method=method,
        joint_weights=joint_weights,
        prior_weights=prior_weights,
        piece_weights=piece_weights,
        given_parts=given_parts,
        config=config,
    ).plan


@dataclass(frozen=True, eq=False)
class PlanStudy:
    """A plan, and what its sources said on the way."""

    plan: BodyPlan
    search: Search | None
    """What was tried; nothing for an object of one body."""

    prior: LearnedPrior | None
    method: Literal["learned", "search"]
    weighed: dict[int, WeighedLines] = field(default_factory=dict)
    """The evidence of all sources for bodies that are made of pieces."""

    groups: Groups | None = None
    """What the grouping network said, if it was asked; its bodies are not those of the plan unless that asks for it."""


def study(
    thing: Thing,
    *,
    labels: Int[np.ndarray, " N"] | None = None,
    method: Method = "auto",
    joint_weights: Ensemble | str | Path | None = None,
    prior_weights: HandleModel | str | Path | None = None,
    piece_weights: Grouper | str | Path | None = None,
    given_parts: bool = True,
    use_prior: bool = True,
    config: PlanConfig | None = None,
) -> PlanStudy:
    """The plan with its evidence; arguments as in ``plan``, and whether the learned prior is asked."""
    config = config or PlanConfig()
    given, chosen = mesh_of(thing), choose_method(method, joint_weights)
    ensemble, grouper = None, None
    if chosen == "learned":
        ensemble, grouper = _model(joint_weights, "articulation"), find_grouper(piece_weights)
    mesh, pieces, origin, groups = _bodies(given, labels, given_parts, grouper, config)
    prior = None
    if chosen == "learned" and origin == "pieces" and use_prior:
        prior = find_prior(mesh, prior_weights)
    if mesh.part_count == 1:
        alone = PlannedBody(mesh.part_names[0], _pieces_of(mesh, pieces, 0), -1, bends=bool(_soft(prior, mesh)[0]))
        return PlanStudy(BodyPlan(mesh, pieces, (alone,), origin), None, prior, chosen, groups=groups)
    if ensemble is None:
        search = search_joints(mesh)
        found = {part: list(search.hypotheses[part]) for part in range(mesh.part_count)}
        answers = {part: best for part in found if (best := search.best(part)) is not None}
        parents = search.parents
    else:
        from neurok.articulation.hypotheses import fixed_probability, joint_hypotheses
        from neurok.articulation.predict import predict_joints

        base = 0 if groups is not None and config.group_by == "network" else None
        prediction = predict_joints(mesh, ensemble, pieces=origin == "pieces", base=base)
        assert prediction.search is not None, "it was asked"
        search = prediction.search
        answers = {answer.part: answer for answer in prediction.answers if answer.parent >= 0}
        parents = tuple(answer.parent for answer in prediction.answers)
        found = {part: joint_hypotheses(prediction, part) for part in answers}
    ranked = {part: found.get(part, []) for part in range(mesh.part_count)}
    weighed: dict[int, WeighedLines] = {}
    soft = _soft(prior, mesh)
    if origin == "pieces" and ensemble is not None:
        fixed = {part: fixed_probability(prediction, part) for part in answers}
        weighed = weigh_lines(ranked, fixed, search, prior, config, groups)
        calibration = calibration_for(config, prior is not None, groups is not None)
        anything = 1.0 if groups is None else groups.chance
        moves = anything if config.group_by == "rules" else 1.0
        for part, lines in weighed.items():
            ranked[part] = distinct(lines.ranked(calibration, moves), config.shown, search.contacts.size)
        doubtful = np.full(len(soft), True) if prior is not None and prior.mostly_bends else soft
        # How likely a joint must be is counted if anything moves: whether it does is asked once, of the whole object.
        enough = {part: moves * (config.soft if doubtful[part] else config.least) for part in ranked}
        held = {part: _holds(lines, enough[part]) for part, lines in ranked.items()}
        if anything < config.still:
            held = dict.fromkeys(held)
    else:
        held = {part: answers.get(part) for part in ranked}
    bodies = []
    for part, name in enumerate(mesh.part_names):
        joint = held[part]
        joint = clip_limits(joint, search.contacts) if joint is not None and joint.kind != "fixed" else None
        kept = tuple(ranked[part][: config.shown])
        bends = bool(soft[part]) and joint is None
        said = joint if joint is not None else answers.get(part)
        likely = 1.0 if said is None else said.probability
        if joint is None and origin == "pieces" and kept:
            likely = 1.0 - kept[0].probability
        mine = _pieces_of(mesh, pieces, part)
        bodies.append(PlannedBody(name, mine, int(parents[part]), kept, joint, bends, float(likely)))
    found_plan = BodyPlan(mesh, pieces, tuple(bodies), origin, search.note)
    return PlanStudy(found_plan, search, prior, chosen, weighed, groups)


def calibration_for(config: PlanConfig, with_prior: bool, asked: bool) -> tuple[float, ...]:
    """The calibration of bodies made of pieces."""
    if asked and config.group_by == "network":
        return config.grouped if with_prior else config.grouped_without_prior
    return config.calibration if with_prior else config.calibration_without_prior


def asset_of(thing: Thing) -> Asset:
    """An object as an asset, loaded if it is a path."""
    if isinstance(thing, str | Path):
        from neurok.io import load

        return load(thing)
    return Asset(thing) if isinstance(thing, Mesh) else thing


def mesh_of(thing: Thing) -> Mesh:
    """The mesh of whatever a verb takes."""
    return asset_of(thing).mesh


def choose_method(method: Method, weights: Any = None) -> Literal["learned", "search"]:
    """What ``auto`` comes to: learned if there are weights."""
    if method == "search" or (method == "auto" and weights is None and not has_weights(JOINT_WEIGHTS)):
        return "search"
    return "learned"


def find_prior(mesh: Mesh, weights: HandleModel | str | Path | None = None) -> LearnedPrior | None:
    """What the deformation model says of a mesh; nothing where there are no weights of the handle model."""
    from neurok.deformation.handles import HandleModel
    from neurok.inference.prior import LearnedPrior

    if weights is None and not has_weights(PRIOR_WEIGHTS):
        return None
    model = _model(weights, "deformation")
    return LearnedPrior.of(mesh, model) if isinstance(model, HandleModel) else None


def find_grouper(weights: Grouper | str | Path | None = None) -> Grouper | None:
    """The grouping network; nothing where there are no weights of it, or none are wanted."""
    if weights == NO_WEIGHTS or (weights is None and not has_weights(PIECE_WEIGHTS)):
        return None
    return _model(weights, "pieces")


def _model(weights: Any, task: Literal["articulation", "deformation", "pieces"]) -> Any:
    """A model as it was given, or the one that a name stands for; the shipped one of the task by default."""
    return load_model(weights or task, task) if weights is None or isinstance(weights, str | Path) else weights


def _bodies(
    mesh: Mesh,
    labels: Int[np.ndarray, " N"] | None,
    given_parts: bool,
    grouper: Grouper | None,
    config: PlanConfig,
) -> tuple[Mesh, Int[np.ndarray, " F"], Origin, Groups | None]:
    """The mesh with one part for each body, the piece of each face, who says so, and what the network says of them."""
    if labels is not None:
        cut = find_parts(mesh, labels)
        return cut, cut.face_parts, "labels", None
    if given_parts and mesh.part_ids is not None and len(np.unique(mesh.face_parts)) > 1:
        return mesh, mesh.face_parts, "file", None
    plain = replace(mesh, part_ids=None, part_names=())
    found = None
    if grouper is not None:
        from neurok.articulation.pieces_predict import find_groups

        found = find_groups(plain, grouper)
    merged = found.face_bodies if found is not None and config.group_by == "network" else merge_components(plain)
    groups = None if found is None else found.groups
    names = tuple(f"part_{k}" for k in range(int(merged.max()) + 1))
    return with_bodies(plain, merged, names), connected_pieces(plain), "pieces", groups


def _pieces_of(mesh: Mesh, pieces: Int[np.ndarray, " F"], body: int) -> tuple[int, ...]:
    return tuple(np.unique(pieces[mesh.face_parts == body]).tolist())


def _soft(prior: LearnedPrior | None, mesh: Mesh) -> np.ndarray:
    """Bodies of which most of the surface bends, if the prior is asked."""
    from neurok.geometry.operators import face_areas

    if prior is None:
        return np.zeros(mesh.part_count, dtype=bool)
    areas = face_areas(mesh.vertices, mesh.faces)
    bending = ~prior.rigid[prior.patches.handles.face_groups]
    share = np.bincount(mesh.face_parts, areas * bending, mesh.part_count)
    return share > 0.5 * np.bincount(mesh.face_parts, areas, mesh.part_count)


@dataclass(frozen=True, eq=False)
class WeighedLines:
    """The lines of one body in the order of all sources, and what its calibration is asked about."""

    lines: tuple[Hypothesis, ...]
    """Best first."""

    scores: Float[np.ndarray, " N"]
    """Their log-scores, of all sources together."""

    facts: tuple[float, ...]
    """One, log-probability of the best line by search and network, log-odds that the body moves, with a prior its
    log-likelihood of the line and the log of the body's pace beside the liveliest one, and with bodies of the grouping
    network its log-odds that the body moves and that anything does."""

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
        if screws is not None:
            pace = float(np.log(max(paces[part] / max(float(paces.max()), 1e-12), config.slowest)))
            facts = (*facts, float(agree[best]), pace)
        if groups is not None and config.group_by == "network":
            facts = (*facts, float(groups.moves[part]), groups.anything)
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


def _holds(lines: list[Hypothesis], least: float) -> Hypothesis | None:
    return lines[0] if lines and lines[0].probability >= least else None


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
