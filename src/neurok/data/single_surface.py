"""Objects with known joints as one surface, as a scan would have them: the truth follows the faces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from neurok.core import Articulation, Mesh
from neurok.geometry.single_surface import MELT, MeltConfig, melted
from neurok.geometry.topology import split_by_face_label


def single_surface(mesh: Mesh, config: MeltConfig = MELT) -> tuple[Mesh, Int[np.ndarray, " G"]]:
    """Everything as one surface without parts, and the old face that each of its faces is nearest to."""
    vertices, faces, owners = melted(mesh.vertices, mesh.faces, config)
    return Mesh(vertices, faces, up=mesh.up, name=mesh.name), owners


def with_true_parts(mesh: Mesh, face_parts: Int[np.ndarray, " F"], true: Articulation) -> Articulation:
    """The joints of an object on another mesh of it whose faces know their parts; a part may have no face left."""
    source, faces, part_ids = split_by_face_label(mesh.faces, face_parts)
    cut = replace(mesh, vertices=mesh.vertices[source], faces=faces, part_ids=part_ids, part_names=true.mesh.part_names)
    return replace(true, mesh=cut)
