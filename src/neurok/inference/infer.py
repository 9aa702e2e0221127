"""The verb ``infer``: from a mesh without joints to the space of its plausible poses, through its body plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurok.bodyplan.config import POSSIBLE
from neurok.bodyplan.plan import BodyPlan
from neurok.core import Mesh
from neurok.errors import NeurokError
from neurok.inference.contact_prior import condition_on_contacts
from neurok.inference.plan import PlanStudy, Thing, find_prior, mesh_of, study
from neurok.kinematics.articulated import ArticulatedSpace
from neurok.kinematics.mixed import MixedSpace
from neurok.kinematics.space import KinematicSpace

if TYPE_CHECKING:
    from neurok.articulation.ensemble import Ensemble
    from neurok.articulation.pieces_predict import Grouper
    from neurok.deformation.models import Model
    from neurok.inference.prior import LearnedPrior
    from neurok.kinematics.reduce import ReductionMode
    from neurok.kinematics.screws import ScrewSpace


def infer(
    thing: Thing,
    model: Model | str | Path | None = None,
    *,
    plan: BodyPlan | None = None,
    joint_weights: Ensemble | str | Path | None = None,
    piece_weights: Grouper | str | Path | None = None,
    wide: bool = False,
    mode: ReductionMode = "gram",
    dim: int | None = None,
    exact: bool = False,
) -> KinematicSpace:
    """The plausible poses of a mesh; joints, parts and clips of its file are not used.

    What is rigid moves on the joints of the body plan, exactly, down any chain; what bends has a space of screws; an
    object may have both. ``space.sample(8)`` draws plausible states, ``neurok.simulate(space)`` moves it.

    Args:
        thing: A mesh, an asset, or what ``neurok.load`` reads.
        model: Weights of the deformation model: what ``load_model`` returns or takes; the shipped ones by default.
        plan: The body plan, if it is at hand or was edited.
        joint_weights: Weights of the articulation network; the shipped ones by default.
        piece_weights: Weights of the grouping network; the shipped ones by default.
        wide: All that the deformation model holds plausible instead, without joints: for fitting poses that lie
            outside the plan.
        mode: How its latent space is reduced then: ``gram``, ``paper`` or ``none``.
        dim: Number of coordinates then; by default enough for 99.99 % of the motion, at most 16.
        exact: Keep a network of points itself instead of the closed form that is fitted to it.
    """
    found = Inference.of(thing, model, plan=plan, joint_weights=joint_weights, piece_weights=piece_weights)
    if found.is_of_points:
        return found.point_space(mode, dim, exact)
    return found.wide(mode, dim) if wide or mode != "gram" or dim is not None else found.space


@dataclass(frozen=True, eq=False)
class Inference:
    """One look at a mesh: its plan, what the deformation model says, and the spaces that follow from both.

    The network is asked once, whichever of the spaces are used.
    """

    mesh: Mesh
    model: Any
    given: BodyPlan | None = None
    joint_weights: Any = None
    piece_weights: Any = None

    @staticmethod
    def of(
        thing: Thing,
        model: Model | str | Path | None = None,
        *,
        plan: BodyPlan | None = None,
        joint_weights: Ensemble | str | Path | None = None,
        piece_weights: Grouper | str | Path | None = None,
    ) -> Inference:
        """Get ready; nothing is computed yet."""
        from neurok.hub import load_model

        if model is None or isinstance(model, str | Path):
            model = load_model("deformation" if model is None else model, "deformation")
        return Inference(mesh_of(thing) if plan is None else plan.mesh, model, plan, joint_weights, piece_weights)

    @property
    def is_of_points(self) -> bool:
        """Whether the deformation model is the one of points, which has no screws of its own."""
        from neurok.deformation.points import PointModel

        return isinstance(self.model, PointModel)

    def point_space(self, mode: ReductionMode = "gram", dim: int | None = None, exact: bool = False) -> KinematicSpace:
        """The space of the point model: the network itself, or the screws that span what it draws."""
        from neurok.inference.points import closed_form, infer_points

        points = infer_points(self.mesh, self.model, mode, dim)
        return points if exact else closed_form(points)

    @cached_property
    def _studied(self) -> PlanStudy:
        return study(
            self.mesh,
            prior_weights=self.model,
            joint_weights=self.joint_weights,
            piece_weights=self.piece_weights,
            given_parts=False,
        )

    @property
    def plan(self) -> BodyPlan:
        return self._studied.plan if self.given is None else self.given

    @cached_property
    def prior(self) -> LearnedPrior:
        """What the deformation model says; the plan has asked it already, unless the plan was given."""
        known = self.__dict__.get("_studied")
        found = None if known is None else known.prior
        found = found or find_prior(self.mesh, self.model)
        assert found is not None, "the model is one of handles"
        return found

    def wide(self, mode: ReductionMode = "gram", dim: int | None = None) -> ScrewSpace:
        """All that the deformation model holds plausible."""
        if dim is not None and not 1 <= dim <= self.model.latent_size:
            raise NeurokError(f"dim must lie in 1..{self.model.latent_size}, got {dim}.")
        return self.prior.wide(mode, dim)

    @cached_property
    def space(self) -> KinematicSpace:
        """Joints of what is rigid, screws of what bends, or both; no coordinate where nothing moves."""
        return self._space(self.plan)  # asked first: the prior is then that of the plan

    @cached_property
    def possible(self) -> ArticulatedSpace | None:
        """Every joint that the plan holds possible: for targets, which show that something moves.

        Nothing for a plan that was given, and where there is no such joint.
        """
        if self.given is not None:
            return None
        found = self.plan.above(POSSIBLE)
        return ArticulatedSpace(found.articulation) if found.moving else None

    def likely(self, least: float) -> KinematicSpace:
        """The same with joints that are at least so likely; those of a plan that was given all count."""
        return self.space if self.given is not None else self._space(self.plan.likely(least))

    def _space(self, plan: BodyPlan) -> KinematicSpace:
        joints = plan.articulation
        if not plan.bends:
            return ArticulatedSpace(joints)
        bends = self._bends(alone=not joints.dof)
        if not joints.dof:
            return bends
        return MixedSpace(joints, bends) if bends.dim else ArticulatedSpace(joints)

    def _bends(self, alone: bool) -> ScrewSpace:
        contacts, pieces = self.plan.piece_contacts, self.plan.face_pieces
        groups = np.zeros(int(pieces.max()) + 1, dtype=np.int64)
        groups[pieces] = self.prior.patches.handles.face_groups
        return self.prior.bend_space(condition_on_contacts(self.prior, contacts, groups), alone)
