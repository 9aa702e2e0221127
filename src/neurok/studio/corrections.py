"""What a person has corrected of an object, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.inference.materials import Proposals
from neurok.kinematics.space import KinematicSpace
from neurok.model import Model, propose_materials


@dataclass(frozen=True, eq=False)
class Studied:
    """Bodies and joints of an object, and its poses."""

    plan: BodyPlan
    space: KinematicSpace | None
    """``None`` where nothing is known to move."""

    note: str


def study(model: Model) -> Studied:
    """Look for bodies and joints, which may take seconds."""
    found = model.plan
    try:
        return Studied(found, model.with_plan(found).space_to_sample("learned"), found.note)
    except NeurokError as error:
        return Studied(found, None, str(error))


@dataclass(frozen=True, eq=False)
class Corrections:
    """Everything that an edit can change."""

    plan: BodyPlan | None = None
    is_edited: bool = False
    """Whether the plan counts over the joints of the file."""

    materials: dict[str, str] = field(default_factory=dict)
    """Named by hand, by part or surface."""

    @property
    def counting(self) -> BodyPlan | None:
        """The plan, if it counts."""
        return self.plan if self.is_edited else None

    def model(self, model: Model) -> Model:
        """What is known of the object as it stands corrected."""
        return model.with_plan(self.counting).with_materials(self.materials)

    def mesh_of(self, asset: Asset) -> Mesh:
        """The object at rest, cut into the bodies of the plan if that counts."""
        return asset.mesh if self.counting is None else self.counting.mesh

    def made(self, model: Model) -> Asset:
        """The object as it stands corrected, with joints and what it is made of; without motion."""
        asset = model.asset
        if self.counting is not None:
            made = model.with_plan(self.counting).articulated()
            if asset.materials is not None and len(asset.materials.ids) != made.mesh.vertex_count:
                made = replace(made, materials=asset.materials.at(made.mesh.vertices, asset.mesh.vertices))
            asset = made
        return replace(asset, clips=())

    def space_of(self, model: Model) -> KinematicSpace | None:
        """Its poses; none where nothing is known to move."""
        found = self.model(model).space()
        return found if found.dim else None

    def proposals(self, model: Model) -> Proposals:
        """What each region is made of, by hand or proposed.

        Raises:
            NeurokError: If a region or a material is unknown.
        """
        return propose_materials(self.made(model), given=self.materials)
