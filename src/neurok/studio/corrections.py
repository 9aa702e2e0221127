"""What a person has corrected of an object, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.inference.articulate import articulate
from neurok.inference.materials import Proposals, propose_materials
from neurok.inference.spaces import space_of
from neurok.kinematics.space import KinematicSpace


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

    @property
    def bending(self) -> BodyPlan | None:
        """The plan, if it counts and bodies of it bend."""
        return self.plan if self.is_edited and self.plan is not None and self.plan.bends else None

    def mesh_of(self, asset: Asset) -> Mesh:
        """The object at rest, cut into the bodies of the plan if that counts."""
        return asset.mesh if self.counting is None else self.counting.mesh

    def made(self, asset: Asset) -> Asset:
        """The object as it stands corrected, with joints and what it is made of; without motion."""
        if self.counting is not None:
            made = articulate(asset, plan=self.counting)
            if asset.materials is not None and len(asset.materials.ids) != made.mesh.vertex_count:
                made = replace(made, materials=asset.materials.at(made.mesh.vertices, asset.mesh.vertices))
            asset = made
        return replace(asset, clips=())

    def space_of(self, asset: Asset) -> KinematicSpace | None:
        """Its poses; none where nothing is known to move."""
        try:
            if self.bending is not None:
                return space_of(asset, "learned", plan=self.bending)
            return space_of(self.made(asset), "joints") if self.is_edited else space_of(asset)
        except NeurokError:
            return None

    def proposals(self, asset: Asset) -> Proposals:
        """What each region is made of, by hand or proposed.

        Raises:
            NeurokError: If a region or a material is unknown.
        """
        return propose_materials(self.made(asset), given=self.materials)
