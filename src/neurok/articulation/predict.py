"""From clouds of parts to joints: what the networks see and what the search finds, as one posterior, and every way a
part may move by it, ranked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from neurok.articulation.ensemble import QUARTERS as QUARTERS
from neurok.articulation.ensemble import UNCALIBRATED, Calibration, Ensemble, EnsembleViews, MemberViews, find_upright
from neurok.articulation.ensemble import VIEWS as VIEWS
from neurok.articulation.ensemble import view_parts as view_parts
from neurok.articulation.features import THINNEST, PartClouds, describe_parts, find_copies
from neurok.articulation.network import KINDS, SLIDE, TURN
from neurok.articulation.search_evidence import (
    FUSION,
    FusionConfig,
    SearchEvidence,
    axis_weight,
    fuse_limits,
    log_pool,
    search_evidence,
    shared_by_copies,
)
from neurok.articulation.views import canonical_signs
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.search import Search, search_joints
from neurok.core import Mesh
from neurok.core.mesh import UnitBox
from neurok.geometry import lie

TURNING = np.array([kind in ("revolute", "continuous", "cylindrical") for kind in KINDS])
SLIDING = np.array([kind == "prismatic" for kind in KINDS])
FIXED = KINDS.index("fixed")

PIVOT_WIDTH = 0.02  # Pivots nearer than this support each other [unit box]. By eye: as near as is right in training.
NETWORK_FLOOR = 1e-3  # Least density of a pivot by the networks. By eye.
SEARCH_FLOOR = 1e-2  # Least density of a pivot by the search, which misses more. By eye.


@dataclass(frozen=True, eq=False)
class JointPosterior:
    """Probabilities of the joint of each part (a row of the clouds), and its pivots and limits, in the unit box."""

    kinds: Float[np.ndarray, "P T"]
    """Probability of each kind."""

    axes: Float[np.ndarray, "P K 2"]
    """Probability of each direction, for a turn and for a slide."""

    directions: Float[np.ndarray, "P K 3"]
    parents: Int[np.ndarray, " P"]
    """Row of the parent, -1 for the root."""

    choices: Int[np.ndarray, "P 2"]
    """The direction that pivot and limits were asked for, of a turn and of a slide."""

    pivots: Float[np.ndarray, "P 3"]
    """The likeliest place of the axis of the turn ..."""

    pivot_probabilities: Float[np.ndarray, " P"]
    """... and how likely it is."""

    limits: Float[np.ndarray, "P 2 2"]
    """Of the turn [rad] and of the slide [units of the box], about the directions of ``choices``."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """One answer for every part of a mesh, with its confidence; a fixed part still tells its likeliest axis."""

    mesh: Mesh
    answers: tuple[Hypothesis, ...]
    clouds: PartClouds
    posterior: JointPosterior
    """What the answers were drawn from."""

    search: Search | None = None
    """What the search had found, if it was asked ..."""

    evidence: SearchEvidence | None = None
    """... and what that says to the networks."""


def predict_joints(
    mesh: Mesh,
    ensemble: Ensemble,
    with_search: bool = True,
    seed: int = 0,
    pieces: bool = False,
    base: int | None = None,
) -> Prediction:
    """Joints of a mesh with parts, by the networks and the search together, or by the networks alone.

    ``pieces`` says that the parts are connected pieces, so that confidence counts the doubt in them as well; ``base``
    is the part that carries the others, if that is known.
    """
    upright = find_upright(mesh, ensemble.members, seed)
    clouds = describe_parts(mesh, seed, upright)
    seen = view_parts(ensemble.members, clouds, base=base)
    calibration = ensemble.piece_calibration if pieces else ensemble.calibration
    if not with_search:
        return most_likely_joints(mesh, clouds, fuse(seen), calibration)
    parents = part_parents(mesh, clouds, seen.parents)
    search = search_joints(mesh, parents=parents, up=upright[1])
    evidence = search_evidence(clouds, signed_directions(clouds), search)
    posterior = fuse(seen, evidence)
    found = most_likely_joints(mesh, clouds, posterior, calibration)
    return replace(found, search=search, evidence=evidence)


def signed_directions(clouds: PartClouds) -> Float[np.ndarray, "P K 3"]:
    """The directions of the clouds with the signs that the network works with."""
    return clouds.directions * canonical_signs(clouds.directions)[..., None]


def part_parents(mesh: Mesh, clouds: PartClouds, rows: Int[np.ndarray, " P"]) -> tuple[int, ...]:
    """Parents of the parts of a mesh from parents of rows; parts without area hang on the root."""
    root = int(clouds.parts[int(np.flatnonzero(rows < 0)[0])])
    parents = [root if part != root else -1 for part in range(mesh.part_count)]
    for row, above in enumerate(rows):
        parents[int(clouds.parts[row])] = int(clouds.parts[above]) if above >= 0 else -1
    return tuple(parents)


@torch.no_grad()
def fuse(seen: EnsembleViews, evidence: SearchEvidence | None = None, config: FusionConfig = FUSION) -> JointPosterior:
    """What the models saw, pooled with the evidence of the search if there is any."""
    clouds, views = seen.clouds, seen.views
    kinds, axes = seen.kinds, seen.axes
    if evidence is not None:
        kinds = log_pool(kinds, evidence.kinds, config.kinds)
        axes = log_pool(axes, evidence.axes, axis_weight(seen.axis_votes, axes, config))
    kinds = shared_by_copies(kinds, find_copies(clouds), seen.parents)
    directions = signed_directions(clouds)
    choices = axes.argmax(axis=1)
    found = [_limits_of(member, choices[:, SLIDE], member.parts.points.mean(dim=2), SLIDE) for member in seen.members]
    slides = _median_limits(np.concatenate(found), views, clouds, directions, choices[:, SLIDE], SLIDE)
    hinges = [
        member.model.hinges(member.parts, member.encoded, _chosen(member, choices[:, TURN])) for member in seen.members
    ]
    options = np.concatenate([hinge.options.numpy() for hinge in hinges])
    chances = np.concatenate([hinge.logits.softmax(dim=-1).numpy() for hinge in hinges])
    spots, shares = _places(options, chances, views, clouds)
    pivots, shares = _fuse_pivots(spots, shares, directions, choices[:, TURN], evidence, config.pivots)
    found = []
    for member in seen.members:
        pivot = torch.from_numpy(_into_views(pivots, member.views, clouds)).to(member.parts.points)
        found.append(_limits_of(member, choices[:, TURN], pivot, TURN))
    turns = _median_limits(np.concatenate(found), views, clouds, directions, choices[:, TURN], TURN)
    limits = np.stack([turns[0], slides[0]], axis=1)
    if evidence is not None:
        limits = fuse_limits(limits, turns[1], slides[2], pivots, directions, choices, evidence)
    return JointPosterior(kinds, axes, directions, seen.parents, choices, pivots, shares, limits)


def _chosen(member: MemberViews, choices: Int[np.ndarray, " P"]) -> Int[torch.Tensor, "B P"]:
    return torch.from_numpy(choices)[None].expand(len(member.views), -1)


def _limits_of(member: MemberViews, choices: np.ndarray, pivot: torch.Tensor, move: int) -> Float[np.ndarray, "B P 2"]:
    found = member.model.limits(member.parts, member.encoded, _chosen(member, choices), pivot)
    return found[:, :, move].numpy()


def most_likely_joints(
    mesh: Mesh, clouds: PartClouds, posterior: JointPosterior, calibration: Calibration = UNCALIBRATED
) -> Prediction:
    """The likeliest joint of every part in the coordinates of the mesh; parts without area are fixed to the root.

    ``calibration`` take the product of the shares of kind, axis and place to the probability of being right.
    """
    root = int(clouds.parts[int(np.flatnonzero(posterior.parents < 0)[0])])
    up, here = np.eye(3)[1], np.zeros(3)
    answers = [Hypothesis(part, root, "fixed", up, here, 0.0, 0.0, 1.0) for part in range(mesh.part_count)]
    for row, part in enumerate(clouds.parts):
        shares = posterior.kinds[row]
        best = int(shares.argmax()) if posterior.parents[row] >= 0 else FIXED
        line = _fused_line(clouds, posterior, row, SLIDE if KINDS[_moving_kind(shares)] == "prismatic" else TURN)
        share = float(shares[best]) * (line.probability if best != FIXED else 1.0)
        answers[int(part)] = replace(line, kind=KINDS[best], probability=calibrated(share, *calibration))
    return Prediction(mesh, tuple(answers), clouds, posterior)


def _moving_kind(shares: Float[np.ndarray, " T"], kinds: np.ndarray = TURNING | SLIDING) -> int:
    """The likeliest of some kinds; of all that move by default."""
    return int((shares * kinds).argmax())


def _fused_line(clouds: PartClouds, posterior: JointPosterior, row: int, move: int) -> Hypothesis:
    """The likeliest line to turn about or to slide along, with its share among such lines."""
    chosen = int(posterior.choices[row, move])
    place = posterior.pivots[row] if move == TURN else clouds.points[row].mean(axis=0)
    share = float(posterior.pivot_probabilities[row]) if move == TURN else 1.0
    return _line(clouds, posterior, row, move, chosen, place, posterior.limits[row, move], share, "network and search")


def _line(
    clouds: PartClouds, posterior: JointPosterior, row: int, move: int, direction: int, place: np.ndarray,
    limits: np.ndarray, share: float, source: str,
) -> Hypothesis:  # fmt: skip
    """A line of one part in the coordinates of the mesh; ``share`` is that of its place along its direction."""
    above = int(posterior.parents[row])
    kind = KINDS[_moving_kind(posterior.kinds[row], TURNING if move == TURN else SLIDING)]
    low, high = np.nan_to_num(limits) * (1.0 if move == TURN else clouds.scale)
    ends = posterior.limits[row, SLIDE] * clouds.scale if kind == "cylindrical" else np.zeros(2)
    return Hypothesis(
        int(clouds.parts[row]),
        int(clouds.parts[above]) if above >= 0 else -1,
        kind,
        posterior.directions[row, direction] @ clouds.turn,
        clouds.from_box(place),
        float(low),
        float(high),
        float(posterior.axes[row, direction, move]) * share,
        slide=(float(ends.min()), float(ends.max())),
        source=source,
    )


def calibrated(share: float, slope: float, offset: float) -> float:
    """A share between 0 and 1 as the probability of being right."""
    share = min(max(share, 1e-6), 1.0 - 1e-6)
    return float(1.0 / (1.0 + np.exp(-slope * np.log(share / (1.0 - share)) - offset)))


def _frame(matrix: np.ndarray, clouds: PartClouds) -> tuple[np.ndarray, float]:
    """Middle and size of the box that a view puts the object into."""
    box = UnitBox.around(clouds.points @ matrix.T)
    return box.center, box.size


def _places(
    options: Float[np.ndarray, "B P C 3"],
    shares: Float[np.ndarray, "B P C"],
    views: list[np.ndarray],
    clouds: PartClouds,
) -> tuple[Float[np.ndarray, "P O 3"], Float[np.ndarray, "P O"]]:
    """Options of all views in the box of the object itself, with their shares."""
    places = []
    for view, matrix in enumerate(views):
        center, size = _frame(matrix, clouds)
        places.append((options[view] * size + center) @ np.linalg.inv(matrix).T)
    return np.concatenate(places, axis=1), np.concatenate(list(shares), axis=1) / len(views)


def _into_views(
    places: Float[np.ndarray, "P 3"], views: list[np.ndarray], clouds: PartClouds
) -> Float[np.ndarray, "B P 3"]:
    """Places of the object in the boxes of the views."""
    return np.stack(
        [(places @ matrix.T - center) / size for matrix in views for center, size in [_frame(matrix, clouds)]]
    )


def _fuse_pivots(
    spots: Float[np.ndarray, "P O 3"],
    shares: Float[np.ndarray, "P O"],
    directions: Float[np.ndarray, "P K 3"],
    chosen: Int[np.ndarray, " P"],
    evidence: SearchEvidence | None,
    weight: float,
) -> tuple[Float[np.ndarray, "P 3"], Float[np.ndarray, " P"]]:
    """The best place: those near each other, seen along the axis, support each other, and so does the search, which
    counts by its weight."""
    found, support = np.zeros((len(spots), 3)), np.zeros(len(spots))
    for row, (places, share) in enumerate(zip(spots, shares, strict=True)):
        axis = directions[row, chosen[row]]
        lines = evidence.along(row, TURN, int(chosen[row])) if evidence is not None else None
        everywhere = places if lines is None else np.concatenate([places, lines.places])
        flat = everywhere @ np.stack(lie.across(axis), axis=1)
        density = _kernel(flat, flat[: len(places)]) @ share
        if lines is not None and len(lines):
            shown = lines.weights / max(float(lines.weights.sum()), 1e-12)
            other = np.maximum(_kernel(flat, flat[len(places) :]) @ shown, SEARCH_FLOOR)
            density = np.maximum(density, NETWORK_FLOOR) ** (1.0 - weight) * other**weight
        best = int(density.argmax())
        found[row], support[row] = everywhere[best], min(float(density[best]), 1.0)
    return found, support


def _kernel(first: Float[np.ndarray, "N 2"], second: Float[np.ndarray, "M 2"]) -> Float[np.ndarray, "N M"]:
    """One for places that are one when seen along the axis, falling to nothing over a few widths."""
    return np.exp(-((first[:, None] - second[None]) ** 2).sum(axis=-1) / PIVOT_WIDTH**2)


def _median_limits(
    found: Float[np.ndarray, "B P 2"],
    views: list[np.ndarray],
    clouds: PartClouds,
    directions: Float[np.ndarray, "P K 3"],
    chosen: Int[np.ndarray, " P"],
    move: int,
) -> tuple[Float[np.ndarray, "P 2"], Float[np.ndarray, " P"], Bool[np.ndarray, " P"]]:
    """Median over the views of limits about the directions of the object itself, how much their lengths differ, and
    whether all views see them on the same side."""
    rows = np.arange(len(chosen))
    direction = directions[rows, chosen]
    extents = np.ptp(np.einsum("pnd,pd->pn", clouds.points, direction), axis=1)
    unit = np.full(len(rows), np.pi) if move == TURN else np.maximum(extents, THINNEST)
    answers = []
    for view, matrix in enumerate(views):
        there = direction @ matrix.T
        flip = canonical_signs(there)
        if move == TURN and np.linalg.det(matrix) < 0:
            flip = -flip
        low, high = found[view].T
        answers.append(np.where(flip[:, None] > 0, np.stack([low, high], 1), np.stack([-high, -low], 1)))
    ordered = np.sort(answers, axis=-1)
    lengths = ordered[..., 1] - ordered[..., 0]
    spread = lengths.std(axis=0) / np.maximum(np.median(lengths, axis=0), 1e-3)
    middle = np.median(ordered, axis=0) * unit[:, None]
    sided = np.abs(np.sign(ordered.sum(axis=-1)).sum(axis=0)) == len(views)
    return (np.clip(middle, -2 * np.pi, 2 * np.pi) if move == TURN else middle), spread, sided


def joint_hypotheses(prediction: Prediction, part: int) -> list[Hypothesis]:
    """Lines of one part with their probabilities by search and network, the best first.

    A line has the probability of its way to move (turn or slide), times that of its direction, times, for a turn, its
    share among the places the axis may pass through.
    """
    clouds, posterior = prediction.clouds, prediction.posterior
    assert prediction.evidence is not None, "the search was asked"
    rows = np.flatnonzero(clouds.parts == part)
    if not len(rows) or posterior.parents[rows[0]] < 0:
        return []
    row = int(rows[0])
    found = [(move, _fused_line(clouds, posterior, row, move)) for move in (TURN, SLIDE)]
    lines = prediction.evidence.lines[row]
    for k in range(len(lines)):
        move, direction = int(lines.moves[k]), int(lines.directions[k])
        alike = (lines.moves == move) & (lines.directions == direction)
        share = float(lines.weights[k] / max(float(lines.weights[alike].sum()), 1e-12)) if move == TURN else 1.0
        limits = lines.limits[k] if np.isfinite(lines.limits[k]).all() else posterior.limits[row, move]
        place = lines.places[k]
        found.append((move, _line(clouds, posterior, row, move, direction, place, limits, share, "search")))
    mass = {TURN: float(posterior.kinds[row] @ TURNING), SLIDE: float(posterior.kinds[row] @ SLIDING)}
    weighed = [replace(line, probability=mass[move] * line.probability) for move, line in found]
    return sorted(weighed, key=lambda line: -line.probability)


def fixed_probability(prediction: Prediction, part: int) -> float:
    """How likely a part does not move at all, by search and network."""
    rows = np.flatnonzero(prediction.clouds.parts == part)
    return float(prediction.posterior.kinds[int(rows[0]), FIXED]) if len(rows) else 1.0
