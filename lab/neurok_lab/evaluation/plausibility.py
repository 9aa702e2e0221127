"""Whether states look like states of the object: rigid things stay rigid, parts stay out of each other, and the
states that the object truly has are among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Articulation, Mesh
from neurok.geometry import lie
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.geometry.topology import face_components, unique_edges, vertex_labels
from neurok.geometry.voxels import inside_closed
from neurok_lab.evaluation.cases import Case, is_closed, random_states, seeded, solid_faces
from neurok_lab.evaluation.tables import Columns, Row, group_tables, grouped, means

States = Float[np.ndarray, "N V 3"]
SOLIDS = 24
"""Components tested for penetration: those with the largest surface."""

PLAUSIBILITY: Columns = {
    "states": ("states", "{}"),
    "objects": ("objects", "{}"),
    "displacement": ("mean displacement", "{:.3f}"),
    "edge_stretch": ("edge stretch", "{:.4f}"),
    "part_stretch": ("stretch inside parts", "{:.4f}"),
    "penetration": ("new penetration", "{:.4f}"),
    "coverage": ("distance to true states", "{:.2f}"),
}


@dataclass(frozen=True, eq=False)
class Probe:
    """What states of one articulated object are measured with."""

    case: Case
    articulation: Articulation
    count: int = 1000

    @property
    def rest(self) -> Mesh:
        return self.case.rest

    @cached_property
    def samples(self) -> SurfaceSamples:
        return sample_surface(self.rest.vertices, self.rest.faces, self.count, seeded(self.case.name, 10))

    @cached_property
    def faces(self) -> Int[np.ndarray, "F 3"]:
        return solid_faces(self.rest.vertices, self.rest.faces)

    @cached_property
    def solids(self) -> list[tuple[Int[np.ndarray, "G 3"], Bool[np.ndarray, " N"]]]:
        """Faces of each closed component, and which samples lie on other components."""
        component = face_components(self.rest.vertices, self.faces, weld=True)
        owner = vertex_labels(self.faces, component, self.rest.vertex_count, unused=-1)
        on = owner[self.samples.faces[:, 0]]
        sizes = np.bincount(on[on >= 0], minlength=int(component.max()) + 1)
        out = []
        for k in np.argsort(-sizes, kind="stable")[:SOLIDS]:
            faces = self.faces[component == k]
            if is_closed(self.rest.vertices, faces):
                out.append((faces, on != k))
        return out

    def points(self, states: Float[np.ndarray, "*N V 3"]) -> Float[np.ndarray, "*N P 3"]:
        return self.samples.interpolate(states)

    def displacement(self, states: States) -> float:
        """Mean distance of surface points from rest, in units of the box."""
        moved = self.points(states) - self.points(self.rest.vertices[None])
        return float(np.linalg.norm(moved, axis=2).mean())

    def edge_stretch(self, states: States) -> float:
        """Mean relative change of the lengths of edges, long ones counting more."""
        edges = unique_edges(self.rest.faces)
        before = np.linalg.norm(self.rest.vertices[edges[:, 0]] - self.rest.vertices[edges[:, 1]], axis=1)
        now = np.linalg.norm(states[:, edges[:, 0]] - states[:, edges[:, 1]], axis=2)
        return float(np.abs(now - before).mean(axis=0).sum() / before.sum())

    def part_stretch(self, states: States) -> float:
        """The same for pairs of surface points anywhere on one true part."""
        parts = self.articulation.vertex_parts[self.samples.faces[:, 0]]
        rng = seeded(self.case.name, 11)
        order = rng.permutation(len(parts))
        order = order[np.argsort(parts[order], kind="stable")]
        a, b = order[:-1], order[1:]
        same = parts[a] == parts[b]
        a, b = a[same], b[same]
        rest, moved = self.points(self.rest.vertices), self.points(states)
        before = np.linalg.norm(rest[a] - rest[b], axis=1)
        now = np.linalg.norm(moved[:, a] - moved[:, b], axis=2)
        return float(np.abs(now - before).mean(axis=0).sum() / max(before.sum(), 1e-12))

    def penetration(self, states: States) -> float | None:
        """Share of surface points inside another closed component that were outside at rest."""
        if not self.solids:
            return None
        before = self._inside(self.rest.vertices)
        return float(np.mean([(self._inside(x) & ~before).any(axis=0).mean() for x in states]))

    def _inside(self, x: Float[np.ndarray, "V 3"]) -> Bool[np.ndarray, "C P"]:
        points = self.points(x[None])[0]
        out = np.zeros((len(self.solids), len(points)), dtype=bool)
        for k, (faces, others) in enumerate(self.solids):
            out[k, others] = inside_closed(points[others], x, faces)
        return out

    def coverage(self, states: States, truth: Float[np.ndarray, "M V 3"]) -> float:
        """Distance from true states to the nearest of the states, as a fraction of the true displacement."""
        here, there = self.points(states), self.points(truth)
        moved = np.linalg.norm(there - self.points(self.rest.vertices[None]), axis=2).mean(axis=1)
        nearest = [np.linalg.norm(here - true, axis=2).mean(axis=1).min() for true in there]
        return float(np.sum(nearest) / max(moved.sum(), 1e-12))


def true_states(case: Case, count: int, stream: int) -> States:
    """States at random joint values."""
    assert case.articulation is not None
    values = random_states(case.articulation, count, seeded(case.name, stream))
    return np.stack([case.articulation.pose(q).vertices for q in values])


def random_rigid_states(case: Case, count: int, magnitude: float, probe: Probe) -> States:
    """Every component turned and shifted on its own at random; mean displacement brought to ``magnitude``."""
    rng = seeded(case.name, 14)
    vertices, faces = case.rest.vertices, case.rest.faces
    owner = vertex_labels(faces, face_components(vertices, faces, case.rest.face_surfaces), len(vertices))
    members = [np.flatnonzero(owner == k) for k in range(int(owner.max()) + 1)]
    turns, shifts = rng.normal(size=(2, count, len(members), 3))

    def at(size: float) -> States:
        out = np.repeat(vertices[None], count, axis=0)
        for k, rows in enumerate(members):
            center = vertices[rows].mean(axis=0)
            for n in range(count):
                angle = float(np.linalg.norm(turns[n, k])) * size
                rotation = lie.axis_angle_matrix(turns[n, k] / max(np.linalg.norm(turns[n, k]), 1e-12), angle)
                out[n, rows] = (vertices[rows] - center) @ rotation.T + center + 0.3 * size * shifts[n, k]
        return out

    low, high = 0.0, 4.0
    for _ in range(14):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if probe.displacement(at(middle)) < magnitude else (low, middle)
    return at(0.5 * (low + high))


def measure_states(
    case: Case, sample: Callable[[Mesh, int, int], States] | None, count: int = 24, truths: int = 16
) -> list[Row]:
    """Figures of prior samples (where a sampler is given), of random rigid motions, and of true states."""
    assert case.articulation is not None
    probe = Probe(case, case.articulation)
    truth = true_states(case, truths, 12)
    kinds: dict[str, States] = {}
    if sample is not None:
        kinds["prior samples"] = sample(case.rest, count, 0)
    size = probe.displacement(kinds.get("prior samples", truth))
    kinds["random rigid"] = random_rigid_states(case, count, size, probe)
    kinds["true states"] = true_states(case, count, 13)
    return [
        {
            "object": case.name,
            "group": case.group,
            "states": kind,
            "displacement": probe.displacement(states),
            "edge_stretch": probe.edge_stretch(states),
            "part_stretch": probe.part_stretch(states),
            "penetration": probe.penetration(states),
            "coverage": probe.coverage(states, truth),
        }
        for kind, states in kinds.items()
    ]


def summarise_states(rows: list[Row]) -> list[Row]:
    """Means per group and kind of states; objects without closed components do not count for penetration."""
    names = list(PLAUSIBILITY)[2:]
    groups = grouped(rows, "group", "states")
    return [{**about, "objects": len(mine), **means(mine, names)} for about, mine in groups]


def plausibility_table(title: str, summary: list[Row]) -> str:
    """A table per group of objects."""
    return group_tables(summary, PLAUSIBILITY, f"### Plausibility of states: {title}")


def prior_sampler(model: Any) -> Callable[[Mesh, int, int], States]:
    """Samples of the poses of a body plan, or of the latent of a network."""

    def sample(rest: Mesh, count: int, seed: int) -> States:
        from neurok.kinematics.space import decode
        from neurok.verbs import infer
        from neurok_lab.evaluation.methods import held_out_weights
        from neurok_lab.evaluation.registration import on_vertices

        space = infer(rest, **held_out_weights()) if model is None else infer(rest, model, latent=True)
        states = [decode(space, q) for q in space.sample(count, seed)]
        return np.stack([on_vertices(rest, space.rest, x) for x in states])

    return sample
