"""The verb ``plan``: pieces, contacts, bodies and joints of a mesh, decided once.

Bodies are the parts that a file names, labels that were given, or pieces that the grouping network puts together. The
search moves them along lines until they collide or detach; the joint network has seen joints of other objects; the
grouping network tells which bodies move at all. These are weighed here and nowhere else: ``infer``, ``articulate``,
``sample``, ``pose``, ``simulate`` and exports read the plan. What bends is said by
materials (``Model.plan``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Int

from neurok.bodyplan.bodies import MOST_PIECES, find_parts, merge_components
from neurok.bodyplan.config import SIMULATED, STILL
from neurok.bodyplan.contacts import contact_graph, find_base
from neurok.bodyplan.feasibility import Feasibility
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.plan import BodyPlan, Origin, PlannedBody, connected_pieces, with_bodies
from neurok.bodyplan.search import Search, search_joints
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.hub import has_weights, load_model
from neurok.inference.evidence import (
    CALIBRATION,
    SEARCHED,
    SEEN,
    UNASKED,
    Evidence,
    driven_evidence,
    gather_evidence,
    searched_evidence,
)

if TYPE_CHECKING:
    from neurok.learned.ensemble import Ensemble
    from neurok.learned.grouping import Grouper, Groups
    from neurok.learned.views.network import ViewModel
    from neurok.learned.views.source import SeenObject

Method = Literal["auto", "learned", "search"]
Thing = Mesh | Asset | str | Path

JOINT_WEIGHTS, PIECE_WEIGHTS, VIEW_WEIGHTS = "articulation", "pieces", "views"
"""Names of the shipped weights behind the learned sources."""

NO_WEIGHTS = "none"
"""Name that leaves a learned source out."""


def plan(
    thing: Thing,
    *,
    labels: Int[np.ndarray, " N"] | None = None,
    method: Method = "auto",
    joint_weights: Ensemble | str | Path | None = None,
    piece_weights: Grouper | str | Path | None = None,
    view_weights: ViewModel | str | Path | None = None,
    given_parts: bool = True,
) -> BodyPlan:
    """The body plan of a mesh.

    Args:
        thing: A mesh, an asset, or what ``neurok.load`` reads. Joints of its file are not used.
        labels: A number for each face or vertex that says which body it belongs to.
        method: ``search`` asks geometry alone, ``learned`` needs weights, ``auto`` takes them where there are any.
        joint_weights: Of the articulation network; the shipped ones by default.
        piece_weights: Of the grouping network; the shipped ones by default. ``none`` leaves it out.
        view_weights: Of the network that sees motion from outside; the shipped ones by default. ``none`` leaves it out.
        given_parts: Whether parts that the file names are its bodies; otherwise, and where none of them moves but they
            are made of several pieces, pieces are grouped as for a raw mesh.
    """
    return study(
        thing,
        labels=labels,
        method=method,
        joint_weights=joint_weights,
        piece_weights=piece_weights,
        view_weights=view_weights,
        given_parts=given_parts,
    ).plan


@dataclass(frozen=True, eq=False)
class PlanStudy:
    """A plan, and what its sources said on the way."""

    plan: BodyPlan
    search: Search | None
    """What was tried; nothing for an object of one body."""

    method: Literal["learned", "search"]
    evidence: Evidence = field(default_factory=dict)
    """What the networks and the search say of each body, before it is calibrated."""

    groups: Groups | None = None
    """What the grouping network said, if it was asked."""


def study(
    thing: Thing,
    *,
    labels: Int[np.ndarray, " N"] | None = None,
    method: Method = "auto",
    joint_weights: Ensemble | str | Path | None = None,
    piece_weights: Grouper | str | Path | None = None,
    view_weights: ViewModel | str | Path | None = None,
    given_parts: bool = True,
    least: float | None = None,
) -> PlanStudy:
    """The plan with its evidence; arguments as in ``plan``, and how probable joints of the plan are at least: likelier
    right than wrong by default."""
    given, chosen = mesh_of(thing), choose_method(method, joint_weights)
    grouper = find_grouper(piece_weights) if chosen == "learned" else None
    viewer = find_viewer(view_weights) if chosen == "learned" else None
    ensemble = _model(joint_weights, "articulation") if chosen == "learned" else None
    least = SIMULATED if least is None else least
    weighed = _weigh(_find_bodies(given, labels, given_parts, grouper, viewer), ensemble, least)
    if weighed.found.origin == "file" and grouper is not None and not weighed.plan.moving and _may_fall_apart(given):
        # Nodes of a scene need not be its bodies: one may hold a cabinet with its doors.
        anew = _weigh(_find_bodies(given, None, False, grouper, viewer), ensemble, least)
        weighed = anew if anew.plan.moving else weighed
    found, search, evidence, planned = weighed.found, weighed.search, weighed.evidence, weighed.plan
    if search is not None and not planned.moving and found.is_cut(given):  # creases alone make no bodies
        search, planned = None, _one_body(given).plan()
    return PlanStudy(planned, search, chosen, evidence, found.groups)


@dataclass(frozen=True, eq=False)
class _Weighed:
    """The plan of some bodies, and what it is based on."""

    found: _Bodies
    plan: BodyPlan
    search: Search | None = None
    evidence: Evidence = field(default_factory=dict)


def _weigh(found: _Bodies, ensemble: Ensemble | None, least: float) -> _Weighed:
    """How bodies move: with joints that are at least so probable."""
    if found.mesh.part_count < 2:
        return _Weighed(found, found.plan())
    if ensemble is not None:
        search, evidence = _ask_networks(found, ensemble)
        calibration = UNASKED if found.groups is None else CALIBRATION if found.seen is None else SEEN
    else:
        search = search_joints(found.mesh)
        evidence, calibration = searched_evidence(search), SEARCHED
    evidence = driven_evidence(evidence, Feasibility(found.mesh, search.contacts, search.parents), calibration)
    ranked = {part: one.ranked(calibration) for part, one in evidence.items()}
    return _Weighed(found, found.plan(ranked, search).above(least), search, evidence)


def _may_fall_apart(mesh: Mesh) -> bool:
    """Whether some named part is made of several connected pieces."""
    both = np.stack([mesh.face_parts, connected_pieces(_raw(mesh))], axis=1)
    return len(np.unique(both, axis=0)) > len(np.unique(mesh.face_parts))


@dataclass(frozen=True, eq=False)
class _Bodies:
    """The bodies of a mesh before anybody asks how they move."""

    mesh: Mesh
    """One part for each body."""

    pieces: Int[np.ndarray, " F"]
    """Pieces that the bodies are made of."""

    origin: Origin
    groups: Groups | None = None
    """What the grouping network says of them, or what is seen of them."""

    seen: SeenObject | None = None
    """A single surface, seen from outside."""

    def plan(self, ranked: dict[int, tuple[Hypothesis, ...]] | None = None, search: Search | None = None) -> BodyPlan:
        """The plan in which every body is fixed, with the ways it may move."""
        mesh = self.mesh
        parents = (-1,) * mesh.part_count if search is None else search.parents
        bodies = tuple(
            PlannedBody(
                name,
                tuple(np.unique(self.pieces[mesh.face_parts == part]).tolist()),
                int(parents[part]),
                (ranked or {}).get(part, ()),
            )
            for part, name in enumerate(mesh.part_names)
        )
        note = "" if search is None else search.note
        if search is not None and self.groups is not None and self.groups.chance < STILL:
            note = f"{note} Nothing seems to move (probability {1.0 - self.groups.chance:.2f}).".strip()
        return BodyPlan(mesh, self.pieces, bodies, self.origin, note)

    def is_cut(self, given: Mesh) -> bool:
        """Whether a single surface was cut into bodies along its creases."""
        return self.origin == "pieces" and not np.array_equal(self.pieces, connected_pieces(given))


def _find_bodies(
    mesh: Mesh,
    labels: Int[np.ndarray, " N"] | None,
    given_parts: bool,
    grouper: Grouper | None,
    viewer: ViewModel | None = None,
) -> _Bodies:
    """The bodies of a mesh: as labels say, as the file names them, or pieces put together."""
    if labels is not None:
        cut = find_parts(mesh, labels)
        if cut.part_count > MOST_PIECES:
            raise NeurokError(
                f"The labels name {cut.part_count} bodies, and joints are looked for between at most {MOST_PIECES}; "
                "give bodies that belong together one label."
            )
        return _Bodies(cut, cut.face_parts, "labels", _part_groups(cut, grouper))
    named = 1 if mesh.part_ids is None else len(np.unique(mesh.face_parts))
    if given_parts and 1 < named <= MOST_PIECES:
        return _Bodies(mesh, mesh.face_parts, "file", _part_groups(mesh, grouper))
    plain = _raw(mesh)
    pieces, groups, seen = connected_pieces(plain), None, None
    bodies = merge_components(plain) if grouper is None else np.zeros(plain.face_count, dtype=np.int64)
    if grouper is not None:
        from neurok.learned.grouping import find_groups

        seen = see_surface(plain, viewer)
        found = find_groups(plain, grouper) if seen is None else seen.find_groups()
        groups = None if found is None else found.groups
        if found is not None and not (found.groups.chance < STILL and found.cuts(pieces)):
            bodies, pieces = found.face_bodies, found.refined(pieces)
    return _Bodies(with_bodies(plain, bodies, _body_names(mesh, bodies)), pieces, "pieces", groups, seen)


def _body_names(mesh: Mesh, bodies: Int[np.ndarray, " F"]) -> tuple[str, ...]:
    """Bodies by number, or by the named part that most of their faces are of, numbered from the second on."""
    count = int(bodies.max()) + 1
    if mesh.part_ids is None or len(np.unique(mesh.face_parts)) < 2:
        return tuple(f"part_{k}" for k in range(count))
    main = [mesh.part_names[int(np.bincount(mesh.face_parts[bodies == k]).argmax())] for k in range(count)]
    repeats = [main[:k].count(name) for k, name in enumerate(main)]
    return tuple(name if times == 0 else f"{name}_{times + 1}" for name, times in zip(main, repeats, strict=True))


def _one_body(mesh: Mesh) -> _Bodies:
    """All of a mesh as one body."""
    whole = with_bodies(_raw(mesh), np.zeros(mesh.face_count, dtype=np.int64), ("part_0",))
    return _Bodies(whole, connected_pieces(mesh), "pieces")


def _part_groups(mesh: Mesh, grouper: Grouper | None) -> Groups | None:
    from neurok.learned.grouping import part_groups

    return None if grouper is None else part_groups(mesh, grouper)


def _ask_networks(found: _Bodies, ensemble: Ensemble) -> tuple[Search, Evidence]:
    """What joint network, search and views say of the bodies, which hang on what carries most and hardly moves."""
    from neurok.learned.joints import predict_joints

    moves = None if found.groups is None else found.groups.moves
    base = find_base(contact_graph(found.mesh), found.mesh.up_vector, moves)
    prediction = predict_joints(found.mesh, ensemble, pieces=found.origin == "pieces", base=base)
    assert prediction.search is not None, "it was asked"
    return prediction.search, gather_evidence(prediction, found.groups, found.seen)


def asset_of(thing: Thing) -> Asset:
    """An object as an asset, loaded if it is a path."""
    if isinstance(thing, str | Path):
        from neurok.io import load

        return load(thing)
    return Asset(thing) if isinstance(thing, Mesh) else thing


def mesh_of(thing: Thing) -> Mesh:
    """The mesh of whatever a verb takes."""
    return asset_of(thing).mesh


def _raw(mesh: Mesh) -> Mesh:
    """The mesh without parts."""
    return replace(mesh, part_ids=None, part_names=())


def choose_method(method: Method, weights: Any = None) -> Literal["learned", "search"]:
    """What ``auto`` comes to: learned if there are weights."""
    if method == "search" or (method == "auto" and weights is None and not has_weights(JOINT_WEIGHTS)):
        return "search"
    return "learned"


def find_grouper(weights: Grouper | str | Path | None = None) -> Grouper | None:
    """The grouping network; nothing where there are no weights of it, or none are wanted."""
    if weights == NO_WEIGHTS or (weights is None and not has_weights(PIECE_WEIGHTS)):
        return None
    return _model(weights, "pieces")


def find_viewer(weights: ViewModel | str | Path | None = None) -> ViewModel | None:
    """The network that sees motion from outside; nothing where there are no weights of it, or none are wanted."""
    if weights == NO_WEIGHTS or (weights is None and not has_weights(VIEW_WEIGHTS)):
        return None
    viewer: ViewModel = _model(weights, "views")
    return viewer


def see_surface(mesh: Mesh, viewer: ViewModel | None) -> SeenObject | None:
    """What is seen of a mesh that is one surface, in which no component tells what moves."""
    from neurok.learned.grouping import is_single_surface

    if viewer is None or not is_single_surface(mesh):
        return None
    from neurok.learned.views.source import SeenObject

    return SeenObject.of(mesh, viewer)


def _model(weights: Any, task: Literal["articulation", "pieces", "views"]) -> Any:
    """A model as it was given, or the one that a name stands for; the shipped one of the task by default."""
    return load_model(weights or task, task) if weights is None or isinstance(weights, str | Path) else weights
