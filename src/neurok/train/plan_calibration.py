"""Calibration of body plans: how often the best joint of a body that is made of pieces is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Articulation, Mesh
from neurok.core.velocity_fields import cosines, joint_fields
from neurok.data.single_surface import single_surface, with_true_parts
from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas
from neurok.hub import load_model
from neurok.inference.plan import NO_WEIGHTS, PlanStudy, find_grouper, study
from neurok.train.pieces_versions import Form


@dataclass(frozen=True)
class PlanFitConfig:
    """How the calibration is fitted."""

    match: float = 0.9
    """Cosine of velocity fields above which a joint is right, as in ``neurok evaluate motions``."""

    ridge: float = 0.3
    """Pull of the standardised weights to zero: a third of an object's worth of evidence."""

    rounds: int = 100
    """Of Newton's method; it has converged long before."""

    folds: int = 100
    """Objects are left out in so many groups, if there are as many, to tell how well it generalises."""

    thresholds: tuple[float, ...] = (0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    """Least probabilities of a joint that are tried on them."""


@dataclass(frozen=True)
class PlanFit:
    """Weights of the facts behind a plan, and how well left-out objects are told."""

    calibration: tuple[float, ...]
    log_likelihood: float
    """Mean over bodies of objects left out of the fit [nats]."""

    bodies: int
    objects: int
    thresholds: tuple[tuple[float, float, float], ...] = ()
    """Of left-out objects: least probability, share of right lines that are kept, share of the kept that is right."""


def fit_plan(
    objects: Iterable[Articulation],
    joint_weights: str = "articulation_held_out",
    piece_weights: str | None = None,
    config: PlanFitConfig | None = None,
    forms: Sequence[Form] = ("raw",),
) -> PlanFit:
    """Fit the calibration on objects with true joints, from their raw meshes, with their parts, or as single surfaces.

    The networks must not have learned from them: by default the twin of the articulation network is asked, and objects
    are those that training keeps aside. Whatever is found in an object without joints is wrong.
    """
    config = config or PlanFitConfig()
    ensemble, grouper = load_model(joint_weights, "articulation"), find_grouper(piece_weights)
    facts, right, owners = [], [], []
    count = 0
    for count, (articulation, form) in enumerate(
        ((_shown(one, form), form) for one in objects for form in forms), start=1
    ):
        found = study(
            articulation.mesh if form == "named" else _raw(articulation.mesh),
            joint_weights=ensemble,
            piece_weights=grouper or NO_WEIGHTS,
            use_prior=False,
            least=0.0,  # whatever is found counts: a surface of which nothing is kept would be one body again
        )
        if grouper is not None and found.groups is None:
            continue  # an object of one piece, of which it says nothing
        for weighed, is_right in _checked(found, articulation, config.match):
            facts.append(weighed)
            right.append(is_right)
            owners.append((count - 1) // len(forms))
    if len(set(right)) < 2:
        raise NeurokError("The calibration needs joints that are right and joints that are wrong; give more objects.")
    rows, answers = np.array(facts, dtype=np.float64), np.array(right)
    counts = alike_objects(np.array(owners))
    asked, chance = _left_out(rows, answers, np.array(owners), counts, config)
    told = np.where(answers[asked], chance, 1.0 - chance)
    held = float(np.log(told + 1e-9).mean()) if len(told) else 0.0
    kept = [(least, answers[asked][chance >= least]) for least in config.thresholds]
    total = max(int(answers[asked].sum()), 1)
    table = tuple((least, float(some.sum() / total), float(some.mean()) if len(some) else 1.0) for least, some in kept)
    return PlanFit(tuple(logistic(rows, answers, config, counts).tolist()), held, len(rows), count // len(forms), table)


def _shown(true: Articulation, form: Form) -> Articulation:
    """An object as it is shown; the truth with it."""
    if form != "melted":
        return true
    mesh, owners = single_surface(true.mesh)
    return with_true_parts(mesh, true.mesh.face_parts[owners], true)


def _raw(mesh: Mesh) -> Mesh:
    """The mesh without its parts."""
    return replace(mesh, part_ids=None, part_names=())


def _checked(found: PlanStudy, true: Articulation, match: float) -> Iterable[tuple[tuple[float, ...], bool]]:
    """The facts behind every body's best line, and whether that line is a true motion."""
    areas, fields = face_areas(true.mesh.vertices, true.mesh.faces), joint_fields(true)
    bodies = found.plan.bodies
    for part, weighed in found.evidence.items():
        alone = [replace(body, joint=weighed.lines[0] if k == part else None) for k, body in enumerate(bodies)]
        moved = joint_fields(replace(found.plan, bodies=tuple(alone)).articulation)[:1]
        yield weighed.facts, bool(cosines(moved, fields, areas).max(initial=0.0) > match)


def alike_objects(owners: Int[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
    """How much each row counts so that all objects count alike: one of many buttons must not outweigh twenty doors."""
    return 1.0 / np.bincount(owners)[owners]


def logistic(
    rows: Float[np.ndarray, "N K"],
    right: Bool[np.ndarray, " N"],
    config: PlanFitConfig,
    counts: Float[np.ndarray, " N"] | None = None,
) -> np.ndarray:
    """Weights of a logistic regression with a ridge; the first column is constant. ``counts`` say how much a row is."""
    count = np.ones(len(rows)) if counts is None else counts
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    middle[0], spread[0] = 0.0, 1.0
    inputs, weights = (rows - middle) / spread, np.zeros(rows.shape[1])
    pull = config.ridge * (np.arange(rows.shape[1]) > 0)
    for _ in range(config.rounds):
        chance = 1.0 / (1.0 + np.exp(-inputs @ weights))
        slope = inputs.T @ (count * (right - chance)) - pull * weights
        curve = (inputs * (count * chance * (1.0 - chance))[:, None]).T @ inputs + np.diag(pull + 1e-9)
        weights = weights + np.linalg.solve(curve, slope)
    out = weights / spread
    out[0] = weights[0] - float((weights[1:] * middle[1:] / spread[1:]).sum())
    return out


def _left_out(
    rows: Float[np.ndarray, "N K"],
    right: Bool[np.ndarray, " N"],
    owners: Int[np.ndarray, " N"],
    counts: Float[np.ndarray, " N"],
    config: PlanFitConfig,
) -> tuple[Int[np.ndarray, " M"], Float[np.ndarray, " M"]]:
    """Rows whose objects were left out of a fit, and the probability it gives them of being right."""
    asked, chances = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for fold in range(config.folds):
        away = owners % config.folds == fold
        if away.any() and not away.all():
            asked.append(np.flatnonzero(away))
            chances.append(
                1.0 / (1.0 + np.exp(-rows[away] @ logistic(rows[~away], right[~away], config, counts[~away])))
            )
    return np.concatenate(asked), np.concatenate(chances)
