"""What an object is probably made of: names, looks and shapes are weighed once, for each region.

Every source of evidence gives log-odds to the materials of the library; they are added to the prior and normalised
(naive Bayes). What nothing is known about is stiff: no look or shape alone makes a thing soft.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from neurok.core import Asset, Material, MaterialField, Mesh
from neurok.core.material_library import is_soft, library, soft_vertices
from neurok.core.select import Region, regions_of, select_stuff
from neurok.errors import NeurokError
from neurok.geometry.operators import closed_components, face_areas
from neurok.geometry.topology import face_components
from neurok.inference.material_looks import look_words, shape_words
from neurok.inference.material_words import evidence, odds_of, read_name


@dataclass(frozen=True)
class ProposalConfig:
    """How much each source counts."""

    surface: float = 1.0
    """A word in the name of the surface, which usually is the material's."""

    part: float = 0.75
    """A word in the name of the part."""

    object: float = 0.7
    """A word in the name of the object or its category: a sofa has legs, too."""

    stuff: float = 1.5
    """A word for a material, beside one for a thing that is usually made of it."""

    object_stuff: float = 0.25
    """The same in the name of the object: an iron bed has a mattress."""

    told: float = 0.5
    """Log-odds from which a piece of evidence is named in the reason."""

    alternatives: int = 3


PROPOSAL = ProposalConfig()

BY_HAND = "set by hand"
"""Reason of a material that somebody named."""

IN_FILE = "the file says so"


@dataclass(frozen=True, eq=False)
class Proposal:
    """What one region is probably made of."""

    region: Region
    material: Material
    confidence: float
    """Probability, as the evidence has it; 1 where somebody said so."""

    reason: str
    alternatives: tuple[tuple[str, float], ...] = ()
    """Other materials and their probabilities."""

    @property
    def is_soft(self) -> bool:
        return is_soft(self.material)

    @property
    def is_known(self) -> bool:
        """Whether somebody said so, in the file or by hand."""
        return self.reason in (BY_HAND, IN_FILE)


@dataclass(frozen=True, eq=False)
class Proposals:
    """What all regions of an object are made of."""

    mesh: Mesh
    items: tuple[Proposal, ...]

    @cached_property
    def field(self) -> MaterialField:
        """The proposed materials over the mesh."""
        used = list(dict.fromkeys(item.material for item in self.items))
        ids = np.zeros(self.mesh.vertex_count, dtype=np.int64)
        for item in self.items:
            ids[item.region.vertices] = used.index(item.material)
        return MaterialField(tuple(used), ids)

    def names_regions(self, name: str) -> bool:
        """Whether a name stands for whole regions: one of them, a part, a surface, or ``all``."""
        surfaces = (surface.name for surface in self.mesh.surfaces)
        return name in {"all", *(item.region.name for item in self.items), *self.mesh.part_names, *surfaces}

    def with_material(self, part: str, stuff: Material, reason: str = BY_HAND) -> Proposals:
        """The same with a part, a surface or ``all`` set by hand.

        Raises:
            NeurokError: If there is no such part, or it is only a piece of one.
        """
        chosen = np.zeros(self.mesh.vertex_count, dtype=bool)
        chosen[select_stuff(self.mesh, part)] = True
        hit = [len(item.region.vertices) > 0 and bool(chosen[item.region.vertices].all()) for item in self.items]
        if not any(hit):
            raise NeurokError(f"{part!r} is only a piece of a part; materials are set for whole parts or surfaces.")
        items = (
            Proposal(item.region, stuff, 1.0, reason) if set_now else item
            for item, set_now in zip(self.items, hit, strict=True)
        )
        return Proposals(self.mesh, tuple(items))

    def told(self) -> dict[str, dict[str, Any]]:
        """Confidence and reason of each region, by its name."""
        return {
            item.region.name: {"confidence": round(item.confidence, 3), "reason": item.reason} for item in self.items
        }


def soft_share(mesh: Mesh, field: MaterialField) -> float:
    """Share of the surface that is made of something soft."""
    soft = soft_vertices(field)[mesh.faces].all(axis=1)
    areas = face_areas(mesh.vertices, mesh.faces)
    return float((areas * soft).sum() / max(float(areas.sum()), 1e-300))


WALLS = {
    # family or material: (volume by area from which on it is hollow, usual wall of sheets, mouldings, boards) [m]
    "metal": (0.008, 0.0015),
    "plastic": (0.006, 0.0025),
    "ceramic": (0.012, 0.006),
    "glass": (0.010, 0.004),
    "wood": (0.030, 0.018),
    "paper": (0.003, 0.002),
    "rubber": (0.015, 0.008),
    **dict.fromkeys(("marble", "granite", "concrete", "brick", "plaster"), (np.inf, 0.0)),
}
"""Closed surfaces of files are solid inside; things of these families are hollow where they are thicker than this."""


def hollowed(mesh: Mesh, field: MaterialField, guessed: Bool[np.ndarray, " V"]) -> MaterialField:
    """The field in which closed pieces that would be hollow in life weigh what their walls weigh.

    Only vertices whose material was guessed count: what somebody names is as solid as its surface says.
    """
    piece = face_components(mesh.vertices, mesh.faces, mesh.face_parts)
    areas = np.bincount(piece, face_areas(mesh.vertices, mesh.faces)) * mesh.unit**2
    corners = mesh.vertices[mesh.faces] - mesh.vertices.mean(axis=0)
    volumes = np.abs(np.bincount(piece, np.linalg.det(corners) / 6.0)) * mesh.unit**3
    closed = closed_components(mesh.vertices, mesh.faces, piece)
    materials, ids = list(field.materials), field.ids.copy()
    for number in np.flatnonzero(closed):
        vertices = np.unique(mesh.faces[piece == number])
        vertices = vertices[guessed[vertices]]
        for kind in np.unique(field.ids[vertices]):
            made_of = field.materials[kind]
            known = library().get(made_of.name)
            family = WALLS.get("" if known is None else known.family, (np.inf, 0.0))
            limit, wall = WALLS.get(made_of.name, family)
            if volumes[number] > limit * areas[number]:
                thinner = replace(made_of, density=made_of.density * wall * areas[number] / volumes[number])
                materials.append(thinner)
                ids[vertices[field.ids[vertices] == kind]] = len(materials) - 1
    return MaterialField(tuple(materials), ids)


def propose(asset: Asset, *, names: bool = True, config: ProposalConfig = PROPOSAL) -> Proposals:
    """A material for each region (part or surface) of an object, with a reason and a confidence.

    Args:
        asset: The object.
        names: Whether words in names are read; without them only looks and shapes count.
        config: How much each source counts.
    """
    mesh = asset.mesh
    words = [mesh.name, asset.provenance.get("category", "")] if names else []
    own = asset.materials if asset.materials is not None and len(asset.materials.ids) == mesh.vertex_count else None
    items = [_in_file(r, own) if own is not None else _propose(mesh, r, words, names, config) for r in regions_of(mesh)]
    return Proposals(mesh, tuple(items))


def _in_file(region: Region, field: MaterialField) -> Proposal:
    """What the file says, where most of a region is of one material."""
    ids = np.bincount(field.ids[region.vertices], minlength=len(field.materials)) if len(region.vertices) else [1]
    return Proposal(region, field.materials[int(np.argmax(ids))], 1.0, IN_FILE)


def _propose(mesh: Mesh, region: Region, words: list[str], names: bool, config: ProposalConfig) -> Proposal:
    """All evidence on one region, added up."""
    found = _evidence(mesh, region, words, names, config)
    score = odds_of(evidence()["prior"]) + sum((odds for _, odds in found), np.zeros(len(library())))
    probability = np.exp(score - score.max())
    probability /= probability.sum()
    order = np.argsort(-probability, kind="stable")
    known = list(library())
    soft = np.array([is_soft(library()[name].material) for name in known])
    believed = soft == (float(probability[soft].sum()) > 0.5)  # soft or stiff is decided first: it matters most
    best = int(next(i for i in order if believed[i]))
    others = tuple((known[i], round(float(probability[i]), 3)) for i in order if i != best)[: config.alternatives]
    stuff = library()[known[best]].material
    return Proposal(region, stuff, float(probability[best]), _reason(found, best, config), others)


def _evidence(
    mesh: Mesh, region: Region, words: list[str], names: bool, config: ProposalConfig
) -> list[tuple[str, Float[np.ndarray, " M"]]]:
    """What is seen, and the log-odds that it gives; each meaning counts once, where it counts most."""
    out: dict[str, tuple[str, Float[np.ndarray, " M"]]] = {}
    if names:
        look = region.surface.name if region.surface is not None else ""
        places = [(look, config.surface, "surface"), (region.part, config.part, "part")]
        places += [(name, config.object, "object") for name in words]
        for name, weight, place in places:
            for said in read_name(name):
                stuff = (config.object_stuff / weight if place == "object" else 1.0) * config.stuff
                scale = weight * said.trust * (stuff if said.is_stuff else 1.0)
                out.setdefault(said.meaning, (f"the {place} is called '{said.word}'", scale * said.odds))
    for word in look_words(mesh, region):
        out[f"looks {word}"] = (f"it looks {word}", odds_of(evidence()["looks"][word]))
    for word, share in shape_words(mesh, region):
        out[f"is {word}"] = (f"it is {word}", share * odds_of(evidence()["shapes"][word]))
    return list(out.values())


def _reason(found: list[tuple[str, Float[np.ndarray, " M"]]], best: int, config: ProposalConfig) -> str:
    """What spoke for the winner, the strongest first."""
    spoke = sorted((pair for pair in found if pair[1][best] >= config.told), key=lambda pair: -pair[1][best])
    return "; ".join(dict.fromkeys(words for words, _ in spoke)) or "nothing is known, so something stiff"
