"""The verb ``plan``: pieces, contacts, bodies and joints of a mesh, decided once from four sources of evidence.

The geometric search moves bodies along lines until they collide or detach; the articulation network has seen joints of
other objects; the learned prior has seen motions of other objects; the grouping network tells whether anything moves at
all, and of a raw mesh which pieces are one body. They are combined here and nowhere else: ``infer``,
``articulate``, ``sample``, ``pose``, ``simulate`` and exports read the plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Int

from neurok.bodyplan.bodies import BODIES, find_parts, merge_components
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.limits import clip_limits
from neurok.bodyplan.plan import BodyPlan, Origin, PlannedBody, connected_pieces, with_bodies
from neurok.bodyplan.search import Search, search_joints
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.hub import has_weights, load_model
from neurok.inference.plan_evidence import PlanConfig, WeighedLines, calibration_for, distinct, weigh_lines

if TYPE_CHECKING:
    from neurok.articulation.ensemble import Ensemble
    from neurok.articulation.pieces_predict import Grouper, Groups
    from neurok.deformation.handles import HandleModel
    from neurok.inference.prior import LearnedPrior

Method = Literal["auto", "learned", "search"]
Thing = Mesh | Asset | str | Path

JOINT_WEIGHTS, PRIOR_WEIGHTS, PIECE_WEIGHTS = "articulation", "deformation", "pieces"
"""Names of the shipped weights behind the three learned sources."""

NO_WEIGHTS = "none"
"""Name that leaves a learned source out."""


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
    """What the grouping network said, if it was asked. Its bodies are those of the plan, unless the file names parts or
    rules group the pieces."""


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
        return PlanStudy(_one_body(mesh, pieces, origin, prior), None, prior, chosen, groups=groups)
    if ensemble is None:
        search = search_joints(mesh)
        found = {part: list(search.hypotheses[part]) for part in range(mesh.part_count)}
        answers = {part: best for part in found if (best := search.best(part)) is not None}
        parents = search.parents
    else:
        from neurok.articulation.hypotheses import fixed_probability, joint_hypotheses
        from neurok.articulation.predict import predict_joints

        base = 0 if groups is not None and origin == "pieces" and config.group_by == "network" else None
        prediction = predict_joints(mesh, ensemble, pieces=origin == "pieces", base=base)
        assert prediction.search is not None, "it was asked"
        search = prediction.search
        answers = {answer.part: answer for answer in prediction.answers if answer.parent >= 0}
        parents = tuple(answer.parent for answer in prediction.answers)
        found = {part: joint_hypotheses(prediction, part) for part in answers}
    ranked = {part: found.get(part, []) for part in range(mesh.part_count)}
    weighed: dict[int, WeighedLines] = {}
    soft, note = _soft(prior, mesh), search.note
    held = {part: answers.get(part) for part in ranked}
    if ensemble is not None and (origin == "pieces" or groups is not None):
        fixed = {part: fixed_probability(prediction, part) for part in answers}
        weighed = weigh_lines(ranked, fixed, search, prior, config, groups, origin)
        calibration = calibration_for(config, prior is not None, groups is not None, origin)
        anything = 1.0 if groups is None else groups.chance
        moves = anything if origin == "pieces" and config.group_by == "rules" else 1.0
        for part, lines in weighed.items():
            ranked[part] = distinct(lines.ranked(calibration, moves), config.shown, search.contacts.size)
        doubtful = np.full(len(soft), True) if prior is not None and prior.mostly_bends else soft
        asked = groups is not None and (origin != "pieces" or config.group_by == "network")
        held = _held(ranked, doubtful, moves, anything, asked, config)
        if anything < config.still:
            note = f"{note} Nothing seems to move (probability {1.0 - anything:.2f}).".strip()
    connected = connected_pieces(given)
    if origin == "pieces" and not any(held.values()) and not np.array_equal(pieces, connected):
        whole = with_bodies(replace(given, part_ids=None, part_names=()), np.zeros_like(connected), ("part_0",))
        return PlanStudy(_one_body(whole, connected, origin, prior), None, prior, chosen, weighed, groups)
    bodies = []
    for part, name in enumerate(mesh.part_names):
        joint = held[part]
        moving = joint is not None and joint.kind != "fixed"
        joint = clip_limits(joint, search.contacts, parents=parents) if joint is not None and moving else None
        kept = tuple(ranked[part][: config.shown])
        bends = bool(soft[part]) and joint is None
        said = joint if joint is not None else answers.get(part)
        likely = 1.0 if said is None else said.probability
        if joint is None and part in weighed and kept:
            likely = 1.0 - kept[0].probability
        mine = _pieces_of(mesh, pieces, part)
        bodies.append(PlannedBody(name, mine, int(parents[part]), kept, joint, bends, float(likely)))
    found_plan = BodyPlan(mesh, pieces, tuple(bodies), origin, note)
    return PlanStudy(found_plan, search, prior, chosen, weighed, groups)


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
        if cut.part_count > BODIES.most_pieces:
            raise NeurokError(
                f"The labels name {cut.part_count} bodies, and joints are looked for between at most "
                f"{BODIES.most_pieces}; give bodies that belong together one label."
            )
        return cut, cut.face_parts, "labels", None
    named = 1 if mesh.part_ids is None else len(np.unique(mesh.face_parts))
    if given_parts and 1 < named <= BODIES.most_pieces:
        return mesh, mesh.face_parts, "file", None if grouper is None else _named_groups(mesh, grouper)
    plain = replace(mesh, part_ids=None, part_names=())
    found = None
    if grouper is not None:
        from neurok.articulation.pieces_predict import find_groups

        found = find_groups(plain, grouper)
    pieces, groups = connected_pieces(plain), None if found is None else found.groups
    if found is None or config.group_by == "rules":
        merged = merge_components(plain)
    elif found.groups.chance < config.still and found.cuts(pieces):
        merged = np.zeros(plain.face_count, dtype=np.int64)  # creases alone make no bodies
    else:
        merged, pieces = found.face_bodies, found.refined(pieces)
    names = tuple(f"part_{k}" for k in range(int(merged.max()) + 1))
    return with_bodies(plain, merged, names), pieces, "pieces", groups


def _one_body(mesh: Mesh, pieces: Int[np.ndarray, " F"], origin: Origin, prior: LearnedPrior | None) -> BodyPlan:
    """The plan of a mesh of one part, which may bend."""
    bends = bool(_soft(prior, mesh)[0])
    alone = PlannedBody(mesh.part_names[0], _pieces_of(mesh, pieces, 0), -1, bends=bends)
    return BodyPlan(mesh, pieces, (alone,), origin)


def _named_groups(mesh: Mesh, grouper: Grouper) -> Groups | None:
    from neurok.articulation.pieces_predict import part_groups

    return part_groups(mesh, grouper)


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


def _held(
    ranked: dict[int, list[Hypothesis]],
    doubtful: np.ndarray,
    moves: float,
    anything: float,
    asked: bool,
    config: PlanConfig,
) -> dict[int, Hypothesis | None]:
    """The joint of each body that is likely enough; none at all where nothing moves.

    How likely a joint must be is counted if anything moves: whether it does is asked once, of the whole object.
    ``asked`` says whether the grouping network was.
    """
    if anything < config.still:
        return dict.fromkeys(ranked)
    surest = max((lines[0].probability for lines in ranked.values() if lines), default=0.0)
    enough = {part: moves * (config.soft if doubtful[part] else config.least) for part in ranked}
    if asked:
        enough = {part: max(some, min(config.likely, config.beside * surest)) for part, some in enough.items()}
    return {part: _holds(lines, enough[part]) for part, lines in ranked.items()}


def _holds(lines: list[Hypothesis], least: float) -> Hypothesis | None:
    return lines[0] if lines and lines[0].probability >= least else None
