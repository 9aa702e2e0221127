"""How the search learns to rank its lines (``neurok train ranking`` makes ``priors.json``).

For every part of an annotated training object all lines are tried as the search tries them, and the weights of the
evidence are fitted so that the lines along which the part truly moves score best among them (a conditional logit).
Held-out objects are never read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int

from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.line_features import FEATURES, line_distances
from neurok.bodyplan.search import PartSearch, search_part
from neurok.core import Joint, Mesh
from neurok_lab.train.examples import Thing
from neurok_lab.train.versions import pieces

KINDS = tuple(FEATURES)
COLUMNS = np.concatenate([[0], np.cumsum([len(words) for words in FEATURES.values()])])


# What counts as right, and how the weights are fitted; set by hand on training objects.
RIGHT_ANGLE = 8.0  # Lines farther than this from the true axis [degrees] are wrong ...
RIGHT_GAP = 0.05  # ... and so are those farther than this, as a share of the diagonal.
ANGLE_WIDTH = 3.0  # Nearer lines are right by degrees: this angle [degrees] is worth a factor e ...
GAP_WIDTH = 0.02  # ... and so is this share of the diagonal.
LEAST_RIGHT = 1e-6  # How right a wrong line is, so that it has a logarithm.
RIDGE = 3e-4  # Penalty on squared weights of motions ...
FIXED_RIDGE = 2e-3  # ... and of a fixed part.
MADE_WEIGHT = 0.3  # Weight of a generated object beside a real one.
MOVING_WEIGHT = 10.0  # How much worse it is to hold a moving part fixed than to move a fixed one.
PIECES_EVERY = 4  # Pieces of one real object in so many teach what does not move.
ROUNDS = 300  # Steps of the fit (L-BFGS) at most.


@dataclass(frozen=True, eq=False)
class PartEvidence:
    """All lines of one part and how right each of them is."""

    name: str
    """Of the object."""

    rows: Float[np.ndarray, "C K"]
    """Evidence in the columns of its kind, zero elsewhere; the last row is that of a fixed part."""

    kinds: Int[np.ndarray, " C"]
    right: Float[np.ndarray, " C"]
    """From 0 (wrong) to 1."""

    weight: float = 1.0


def gather(name: str, mesh: Mesh, joints: Sequence[Joint]) -> Iterator[PartEvidence]:
    """The evidence of every part that something carries."""
    contacts = contact_graph(mesh)
    parents = tuple(joint.parent for joint in joints)
    for part, (joint, cloud) in enumerate(zip(joints, contacts.samples, strict=True)):
        if joint.parent >= 0 and cloud is not None:
            study = search_part(mesh, contacts, parents, part, cloud, mesh.up_vector)
            rows = np.zeros((sum(len(study.evidence[kind]) for kind in KINDS), COLUMNS[-1]))
            kinds = np.repeat(np.arange(len(KINDS)), [len(study.evidence[kind]) for kind in KINDS])
            for k, kind in enumerate(KINDS):
                rows[kinds == k, COLUMNS[k] : COLUMNS[k + 1]] = study.evidence[kind]
            yield PartEvidence(name, rows, kinds, _rightness(study, joint))


def _rightness(study: PartSearch, joint: Joint) -> Float[np.ndarray, " C"]:
    true_kind = "continuous" if joint.kind == "cylindrical" else joint.kind
    found = []
    for kind in KINDS:
        count = len(study.evidence[kind])
        if kind != true_kind or kind == "fixed":
            found.append(np.full(count, float(kind == true_kind)))
            continue
        angle = np.degrees(np.arccos(np.clip(np.abs(study.directions_of(kind) @ joint.axis), 0.0, 1.0)))
        gap = np.zeros(count)
        if kind != "prismatic":
            gap = line_distances(study.lines.origins, joint.axis[None], joint.origin[None])[0] / study.size
        fit = np.exp(-gap / GAP_WIDTH) * np.exp(-angle / ANGLE_WIDTH)
        found.append(np.where((angle < RIGHT_ANGLE) & (gap < RIGHT_GAP), fit, 0.0))
    return np.concatenate(found)


def weigh(parts: Sequence[PartEvidence], factor: float = 1.0) -> list[PartEvidence]:
    """Objects of many parts count more than others, but not by their number of parts."""
    count = Counter(part.name for part in parts)
    return [replace(part, weight=factor / np.sqrt(count[part.name])) for part in parts]


def fit_ranking(parts: Sequence[PartEvidence]) -> Float[np.ndarray, " K"]:
    """Weights of all columns; parts without a right line teach nothing."""
    parts = [part for part in parts if part.right.max() > 0]
    rows = torch.from_numpy(np.concatenate([part.rows for part in parts]))
    right = torch.from_numpy(np.concatenate([part.right for part in parts])).clamp_min(LEAST_RIGHT).log()
    owner = torch.from_numpy(np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts]))
    weight = torch.tensor([part.weight for part in parts], dtype=torch.float64)

    def loss(found: torch.Tensor) -> torch.Tensor:
        strength = rows @ found
        missed = _log_sums(strength, owner, len(parts)) - _log_sums(strength + right, owner, len(parts))
        return (missed * weight).sum() / weight.sum()

    return _minimise(loss, rows.shape[1], RIDGE, ROUNDS)


def fit_fixed(
    found: Float[np.ndarray, " K"],
    moving: Sequence[PartEvidence],
    fixed: Sequence[PartEvidence],
) -> Float[np.ndarray, " K"]:
    """The same weights with those of a fixed part set so that it outweighs all motions together when it should."""
    first = COLUMNS[KINDS.index("fixed")]
    every = [*fixed, *moving]
    facts = torch.from_numpy(np.stack([part.rows[-1, first:] for part in every]))
    rivals = torch.tensor([np.logaddexp.reduce(part.rows[:-1] @ found) for part in every])
    truth = torch.tensor([1.0] * len(fixed) + [0.0] * len(moving), dtype=torch.float64)
    shares = [1.0 / len(fixed)] * len(fixed) + [MOVING_WEIGHT / len(moving)] * len(moving)
    weight = torch.tensor(shares, dtype=torch.float64)

    def loss(some: torch.Tensor) -> torch.Tensor:
        odds = facts @ some - rivals
        missed = torch.nn.functional.binary_cross_entropy_with_logits(odds, truth, reduction="none")
        return (missed * weight).sum()

    return np.concatenate([found[:first], _minimise(loss, facts.shape[1], FIXED_RIDGE, ROUNDS)])


def _minimise(loss, size: int, ridge: float, rounds: int) -> Float[np.ndarray, " K"]:  # type: ignore[no-untyped-def]
    found = torch.zeros(size, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([found], max_iter=rounds, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        value = loss(found) + ridge * found.square().sum()
        value.backward()
        return value

    optimizer.step(closure)
    return found.detach().numpy()


def _log_sums(values: torch.Tensor, owner: torch.Tensor, count: int) -> torch.Tensor:
    """Logarithm of the sum of exponentials over the rows of each owner."""
    most = torch.full((count,), -torch.inf, dtype=values.dtype).scatter_reduce(0, owner, values.detach(), "amax")
    return most + torch.zeros(count, dtype=values.dtype).scatter_add(0, owner, (values - most[owner]).exp()).log()


def top_share(found: Float[np.ndarray, " K"], parts: Sequence[PartEvidence]) -> float:
    """Share of parts whose best line is right."""
    return float(np.mean([part.right[int((part.rows @ found).argmax())] > 0 for part in parts]))


def to_table(found: Float[np.ndarray, " K"]) -> dict[str, dict[str, float]]:
    """The weights by kind and word, as ``priors.json`` has them."""
    columns = iter(np.round(found, 3).tolist())
    return {kind: {word: next(columns) for word in words} for kind, words in FEATURES.items()}


def learn(things: Iterable[Thing]) -> tuple[Float[np.ndarray, " K"], list[PartEvidence]]:
    """Weights from annotated objects, and the evidence of the real ones."""
    real: list[PartEvidence] = []
    made: list[PartEvidence] = []
    fixed: list[PartEvidence] = []
    for number, thing in enumerate(things):
        mesh, joints = thing.load()
        if joints is None:
            continue
        (real if thing.is_real else made).extend(gather(thing.name, mesh, joints))
        if thing.is_real and number % PIECES_EVERY == 1:
            cut, links = pieces(mesh, joints)
            fixed += [part for part in gather(thing.name, cut, links) if part.right[-1] > 0]
    parts = weigh(real) + weigh(made, MADE_WEIGHT)
    found = fit_ranking(parts)
    moving = [part for part in parts if part.right[-1] == 0]
    return (fit_fixed(found, moving, fixed) if fixed and moving else found), real
