"""Joints without labels: try lines, move the part along them, keep what neither collides nor comes loose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurok.articulation.candidates import Candidate
from neurok.articulation.contacts import Contacts, find_contacts
from neurok.articulation.tree import find_tree
from neurok.core import Articulation, Joint, Mesh


@dataclass(frozen=True, eq=False)
class Search:
    """What was tried for every part."""

    mesh: Mesh
    contacts: Contacts
    parents: tuple[int, ...]
    """The part that carries each part; -1 for the base."""

    candidates: tuple[tuple[Candidate, ...], ...]
    """For each part the valid candidates, best first; the base has none. ``fixed`` is always among the others'."""

    rejected: tuple[tuple[Candidate, ...], ...]
    """For each part what was tried and rejected, with a reason each, best first."""

    def best(self, part: int) -> Candidate | None:
        """The first choice for a part; nothing for the base."""
        return self.candidates[part][0] if self.candidates[part] else None

    def articulation(self) -> Articulation:
        """The object with the best candidate of every part."""
        joints = []
        for part, name in enumerate(self.mesh.part_names or ("part_0",)):
            best = self.best(part)
            joints.append(best.joint(name) if best is not None else Joint("fixed", self.parents[part], name=name))
        return Articulation(self.mesh, tuple(joints), name=self.mesh.name)


def search_joints(mesh: Mesh, contacts: Contacts | None = None, parents: tuple[int, ...] | None = None) -> Search:
    """Candidate joints of every part of a mesh with ``part_ids``."""
    contacts = contacts or find_contacts(mesh)
    parents = parents or find_tree(contacts, mesh.up_vector)
    valid: list[tuple[Candidate, ...]] = []
    for part, cloud in enumerate(contacts.clouds):
        if parents[part] < 0 or cloud is None:
            valid.append(())
            continue
        found = [Candidate(part, parents[part], "fixed", np.eye(3)[1], cloud.box.center, 0.0, 0.0, 0.1)]
        for k in range(3):
            axis, reach = cloud.box.axes[k], 2.0 * cloud.box.half[k]
            found.append(Candidate(part, parents[part], "prismatic", axis, cloud.box.center, 0.0, reach, 0.2))
            for side in (-1.0, 1.0):
                for m in {0, 1, 2} - {k}:
                    origin = cloud.box.center + side * cloud.box.half[m] * cloud.box.axes[m]
                    found.append(Candidate(part, parents[part], "revolute", axis, origin, 0.0, np.pi / 2, 0.2))
        valid.append(tuple(sorted(found, key=lambda c: -c.score)))
    return Search(mesh, contacts, parents, tuple(valid), tuple(() for _ in valid))
