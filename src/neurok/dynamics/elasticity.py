"""The elasticity of what bends: Young's modulus and Poisson's ratio on a bounded choice of triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.body import Body
from neurok.dynamics.energies import Membrane
from neurok.dynamics.masses import face_thickness
from neurok.geometry.operators import face_areas
from neurok.kinematics.space import KinematicSpace, decode


@dataclass(frozen=True)
class ElasticConfig:
    """How elasticity is measured."""

    triangles: int = 256
    """On how many triangles at most, chosen by area: a few hundred are within some percent of all."""

    strained: float = 1e-6
    """Faces that no coordinate strains by more move rigidly; round-off stays far below."""

    reach_samples: int = 16
    """Plausible states from which it is seen how far each coordinate goes."""


ELASTIC = ElasticConfig()


def elastic_energy(body: Body, config: ElasticConfig = ELASTIC) -> Membrane | None:
    """The energy of what bends, on a bounded number of triangles; ``None`` where nothing can bend.

    The surface is a sheet with all the material behind it: as thick as the volume of a closed piece by its area, or as
    the shell. Joints cost nothing, since faces that only move rigidly are not strained.
    """
    mesh, space = body.mesh, body.poses
    faces = np.flatnonzero(space.bends[mesh.faces].all(axis=1)) if space.dim else np.zeros(0, dtype=np.int64)
    faces = _strained(body, space, faces, config)
    if not len(faces):
        return None
    chosen, areas = _cubature(face_areas(mesh.vertices, mesh.faces[faces]), config.triangles)
    return Membrane.of(mesh, body.stuff, face_thickness(body), faces[chosen], areas)


def _strained(
    body: Body, space: KinematicSpace, faces: Int[np.ndarray, " n"], config: ElasticConfig
) -> Int[np.ndarray, " m"]:
    """Those of some faces that at least one coordinate strains, as far as it plausibly goes."""
    areas = face_areas(body.mesh.vertices, body.mesh.faces[faces])
    faces = faces[areas > 1e-12 * areas.max(initial=0.0)]
    if not len(faces):
        return faces
    sheet = Membrane.of(body.mesh, body.stuff, 1.0, faces)
    reach = np.abs(space.sample(config.reach_samples)).max(axis=0)
    most = np.zeros(len(faces))
    for q in np.diag(reach):
        x = body.mesh.unit * decode(space, q)[sheet.vertices]
        most = np.maximum(most, np.abs(sheet.strains(x[None])[0]).max(axis=(1, 2)))
    return faces[most > config.strained]


def _cubature(areas: Float[np.ndarray, " F"], count: int) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """At most ``count`` faces spread evenly over the area, and what each stands for."""
    if len(areas) <= count:
        return np.arange(len(areas)), areas
    marks = (np.arange(count) + 0.5) / count * areas.sum()
    drawn = np.searchsorted(np.cumsum(areas), marks).clip(max=len(areas) - 1)
    chosen, times = np.unique(drawn, return_counts=True)
    return chosen, times * (areas.sum() / count)
