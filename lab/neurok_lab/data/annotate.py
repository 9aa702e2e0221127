"""Joints for whole collections without labels: only those that are sure, and only as far as they move freely."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from neurok.bodyplan.config import SIMULATED
from neurok.bodyplan.contacts import subtree
from neurok.bodyplan.hypothesis import LEAST_SLIDE, LEAST_TURN, Hypothesis, clip_limits
from neurok.bodyplan.search import Search
from neurok.bodyplan.sweep import Mover, try_slides, try_turns
from neurok.core import Asset, Mesh
from neurok.hub import find_weights
from neurok.inference.plan import Method, choose_method, study

BUTTON = 0.04
"""Travel of a push button at most, as a share of the object's size; it sinks into what carries it."""


@dataclass(frozen=True)
class SelfMade:
    """Finds joints for objects that have none, and turns away what is unsure, collides or comes loose."""

    method: Literal["learned", "search"]
    weights: str | None = None
    digest: str = ""
    """Of the weights."""

    sure: float = SIMULATED

    @staticmethod
    def by(method: Method = "auto", weights: str | Path | None = None) -> SelfMade:
        """By the network if there are weights, or by the search."""
        settled = choose_method(method, weights)
        if settled == "search":
            return SelfMade("search")
        digest = hashlib.sha256(find_weights(weights or "articulation", "articulation").read_bytes()).hexdigest()[:12]
        return SelfMade("learned", None if weights is None else str(weights), digest)

    @property
    def name(self) -> str:
        return f"{self.method} {self.digest}".strip()

    def __call__(self, asset: Asset) -> tuple[Asset | None, list[str]]:
        """The object with its joints, and why others were turned away; None when nothing is left that moves."""
        with _one_thread():
            found = study(asset, method=self.method, joint_weights=self.weights)
        plan, search = found.plan, found.search
        if search is None:
            return None, ["object of one piece"]
        if not plan.moving:
            return None, ["object in which nothing moves"]
        parents = tuple(body.parent for body in plan.bodies)
        reasons = []
        for part, body in enumerate(plan.bodies):
            if body.joint is not None:
                sound, reason = self._checked(body.joint, plan.mesh, search, parents)
                plan = plan.with_joint(part, sound)
                reasons += [reason] if reason else []
        if not plan.moving:
            return None, [*reasons, "object without a joint that holds"]
        confidence = min(body.joint.probability for body in plan.moving if body.joint is not None)
        provenance = {**asset.provenance, "confidence": f"{confidence:.2f}"}
        return replace(asset, mesh=plan.mesh, articulation=plan.articulation, provenance=provenance), reasons

    def _checked(
        self, answer: Hypothesis, mesh: Mesh, search: Search, parents: tuple[int, ...]
    ) -> tuple[Hypothesis | None, str | None]:
        """The joint with limits that it can reach, or none and why."""
        if answer.probability < self.sure:
            return None, "joint that is not sure enough"
        moving = clip_limits(_freed(answer, mesh, search, parents), search.contacts, parents=parents)
        if moving.kind == "continuous":
            return moving, None
        if moving.kind == "prismatic":
            extent = float(np.ptp(mesh.vertices[_vertices_of(mesh, answer.part)] @ moving.axis))
            least = min(LEAST_SLIDE * extent, 0.5 * BUTTON * search.contacts.size)
        else:
            least = LEAST_TURN
        if moving.kind == "fixed" or moving.upper - moving.lower < least:
            return None, "joint that collides or comes loose at once"
        return moving, None


def _freed(answer: Hypothesis, mesh: Mesh, search: Search, parents: tuple[int, ...]) -> Hypothesis:
    """The joint with limits no wider than the part, and all it carries, can go; fixed if a full turn is barred.

    A cylindrical joint keeps its turn alone, which is what training poses.
    """
    mover = Mover(mesh, search.contacts, subtree(parents, answer.part))
    axes, origins = answer.axis[None], answer.origin[None]
    if answer.kind == "prismatic":
        if max(-answer.lower, answer.upper) < BUTTON * search.contacts.size:
            return answer
        length = max(-answer.lower, answer.upper, 1e-9)
        trial = try_slides(mover, axes, np.array([length]), mesh.part_names)
    else:
        trial = try_turns(mover, axes, origins, mesh.part_names)
    if answer.kind in ("continuous", "cylindrical"):
        return replace(answer, kind="continuous" if trial.is_full[0] else "fixed")
    lower, upper = max(answer.lower, -float(trial.low[0])), min(answer.upper, float(trial.high[0]))
    return replace(answer, lower=min(lower, 0.0), upper=max(upper, 0.0))


def _vertices_of(mesh: Mesh, part: int) -> np.ndarray:
    assert mesh.part_ids is not None, "it was cut into parts"
    return np.asarray(mesh.part_ids == part)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums of several threads differ in their last bits; the same object must give the same bytes everywhere."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
