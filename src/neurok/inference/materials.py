"""What an object is probably made of: names, appearance and shape are weighed once, for each region.

Every source of evidence gives log-odds to the materials of the library; they are added to the prior and normalised
(naive Bayes), and the scores are divided by a temperature that makes the probabilities hold on labelled sets. What
nothing is known about is stiff: neither appearance nor shape alone makes a thing soft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core import Asset, Material, MaterialField, Mesh
from neurok.core.material_library import library
from neurok.core.select import Region, regions_of, select_region
from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas
from neurok.inference.material_appearance import appearance_words, shape_words
from neurok.inference.material_words import evidence, nouns_of, odds_of, read_name
from neurok.inference.things import Identity, identify, toy


@dataclass(frozen=True)
class ProposalConfig:
    """How much each source counts."""

    surface: float = 1.0
    """A word in the name of the surface, which usually is the material's."""

    part: float = 0.75
    """A word in the name of the part."""

    object: float = 0.7
    """A word in the name of an object of several regions, or in its category: a sofa has legs, too."""

    material_word: float = 1.5
    """A word for a material, beside one for a thing that is usually made of it."""

    object_material_word: float = 0.25
    """The same in the name of an object of several regions: an iron bed has a mattress."""

    closed_shape: float = 0.3
    """Shape, of a region that only the object's name says something of: a scan is closed whatever it shows."""

    temperature: float = 0.8
    """Of the scores, for which labelled surfaces are likeliest (docs/materials.md)."""

    least_reason: float = 0.5
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
    def is_known(self) -> bool:
        """Whether somebody said so, in the file or by hand."""
        return self.reason in (BY_HAND, IN_FILE)


@dataclass(frozen=True, eq=False)
class Proposals:
    """What all regions of an object are made of."""

    mesh: Mesh
    items: tuple[Proposal, ...]
    identity: Identity | None = None
    """What the object was recognised as."""

    stated: MaterialField | None = None
    """What a file says, with numbers that vary within a region."""

    @cached_property
    def field(self) -> MaterialField:
        """The proposed materials over the mesh."""
        if self.stated is not None:
            found = self.stated
            for item in self.items:
                found = found if item.reason == IN_FILE else found.with_part(item.region.vertices, item.material)
            return found
        used = list(dict.fromkeys(item.material for item in self.items))
        ids = np.zeros(self.mesh.vertex_count, dtype=np.int64)
        for item in self.items:
            ids[item.region.vertices] = used.index(item.material)
        return MaterialField(tuple(used), ids)

    def names_regions(self, name: str) -> bool:
        """Whether a name stands for whole regions: one of them, a part, a surface, or ``all``."""
        surfaces = (surface.name for surface in self.mesh.surfaces)
        return name in {"all", *(item.region.name for item in self.items), *self.mesh.part_names, *surfaces}

    def with_material(self, part: str, material: Material, reason: str = BY_HAND) -> Proposals:
        """The same with a part, a surface or ``all`` set by hand.

        Raises:
            NeurokError: If there is no such part, or it is only a piece of one.
        """
        chosen = np.zeros(self.mesh.vertex_count, dtype=bool)
        chosen[select_region(self.mesh, part)] = True
        hit = [len(item.region.vertices) > 0 and bool(chosen[item.region.vertices].all()) for item in self.items]
        if not any(hit):
            raise NeurokError(f"{part!r} is only a piece of a part; materials are set for whole parts or surfaces.")
        items = tuple(
            Proposal(item.region, material, 1.0, reason) if set_now else item
            for item, set_now in zip(self.items, hit, strict=True)
        )
        return Proposals(self.mesh, items, self._identity_of(items), self.stated)

    def with_field(self, field: MaterialField) -> Proposals:
        """The same with the materials of a file."""
        items = tuple(_in_file(item.region, field) for item in self.items)
        return Proposals(self.mesh, items, self._identity_of(items), field)

    def _identity_of(self, items: tuple[Proposal, ...]) -> Identity | None:
        """What the object is, unless somebody says that it is made otherwise than such things are."""
        family = lambda item: library()[item.material.name].family if item.material.name in library() else ""  # noqa: E731
        same = all(family(new) == family(old) for new, old in zip(items, self.items, strict=True))
        return self.identity if same else None

    def records(self) -> dict[str, dict[str, Any]]:
        """Confidence and reason of each region, by its name."""
        return {
            item.region.name: {"confidence": round(item.confidence, 3), "reason": item.reason} for item in self.items
        }


def soft_share(mesh: Mesh, field: MaterialField) -> float:
    """Share of the surface that is made of something soft."""
    soft = field.is_soft[mesh.faces].all(axis=1)
    areas = face_areas(mesh.vertices, mesh.faces)
    return float((areas * soft).sum() / max(float(areas.sum()), 1e-300))


def propose(asset: Asset, *, names: bool = True, config: ProposalConfig = PROPOSAL) -> Proposals:
    """A material for each region (part or surface) of an object, with a reason and a confidence.

    Args:
        asset: The object.
        names: Whether words in names are read; without them only appearance and shape count.
        config: How much each source counts.
    """
    mesh, regions = asset.mesh, regions_of(asset.mesh)
    words = [mesh.name, asset.provenance.get("category", "")] if names else []
    identity = _identity(mesh, regions, words) if names else None
    stated = asset.materials if asset.materials is not None and len(asset.materials.ids) == mesh.vertex_count else None
    if stated is not None:
        items = [_in_file(region, stated) for region in regions]
    else:
        seen = _Seen(mesh, regions, words if names else None, identity, config)
        items = [seen.propose(region) for region in regions]
    return Proposals(mesh, tuple(items), identity, stated)


def _identity(mesh: Mesh, regions: Sequence[Region], words: Sequence[str]) -> Identity | None:
    """What the object is: its own name says so, or its category, or the name of its largest region."""
    largest = max(regions, key=lambda region: len(region.faces))
    names = [*words, largest.part, "" if largest.surface is None else largest.surface.name]
    longest = float(np.ptp(mesh.vertices[mesh.faces].reshape(-1, 3), axis=0).max()) * mesh.unit
    return identify((nouns_of(name) for name in names), longest)


def _in_file(region: Region, field: MaterialField) -> Proposal:
    """What the file says, where most of a region is of one material."""
    ids = np.bincount(field.ids[region.vertices], minlength=len(field.materials)) if len(region.vertices) else [1]
    return Proposal(region, field.materials[int(np.argmax(ids))], 1.0, IN_FILE)


Evidence = list[tuple[str, Float[np.ndarray, " M"]]]
"""What was observed, in words, and the log-odds that it gives to each material."""


@dataclass(frozen=True, eq=False)
class _Seen:
    """What all regions of an object share while they are weighed."""

    mesh: Mesh
    regions: Sequence[Region]
    names: Sequence[str] | None
    """Of the object and its category; ``None`` where no names are read."""

    identity: Identity | None
    config: ProposalConfig

    @property
    def is_alone(self) -> bool:
        """Whether the object has one region, so that its name is that of the region."""
        return len(self.regions) == 1

    @cached_property
    def _largest(self) -> float:
        return max(self._area(region) for region in self.regions)

    def _area(self, region: Region) -> float:
        return float(face_areas(self.mesh.vertices, self.mesh.faces[region.faces]).sum())

    def _stands_for_all(self, region: Region) -> float:
        """How far the name of the object is that of a region: nothing else names it, and it is large."""
        if self.is_alone:
            return 1.0
        own = [region.part, "" if region.surface is None else region.surface.name]
        if self.names is None or any(read_name(name) for name in own):
            return 0.0
        return self._area(region) / max(self._largest, 1e-300)

    def propose(self, region: Region) -> Proposal:
        """All evidence on one region, added up."""
        found, config = self._evidence(region), self.config
        score = odds_of(evidence()["prior"]) + sum((odds for _, odds in found), np.zeros(len(library())))
        probability = np.exp((score - score.max()) / config.temperature)
        probability /= probability.sum()
        order = np.argsort(-probability, kind="stable")
        known = list(library())
        soft = np.array([library()[name].material.is_soft for name in known])
        believed = soft == (float(probability[soft].sum()) > 0.5)  # soft or stiff is decided first: it matters most
        best = int(next(i for i in order if believed[i]))
        others = tuple((known[i], round(float(probability[i]), 3)) for i in order if i != best)[: config.alternatives]
        material = library()[known[best]].material
        return Proposal(region, material, float(probability[best]), _reason(found, best, config), others)

    def _evidence(self, region: Region) -> Evidence:
        """What is seen of a region; each meaning counts once, where it counts most."""
        out: dict[str, tuple[str, Float[np.ndarray, " M"]]] = {}
        if self.names is not None:
            out |= self._of_names(region, self.names)
        for word in appearance_words(self.mesh, region):
            out[f"looks {word}"] = (f"it looks {word}", odds_of(evidence()["appearance"][word]))
        share = self._stands_for_all(region) if self.identity is not None else 0.0
        weight = 1.0 + share * (self.config.closed_shape - 1.0)
        for word, extent in shape_words(self.mesh, region):
            out[f"is {word}"] = (f"it is {word}", weight * extent * odds_of(evidence()["shapes"][word]))
        return list(out.values())

    def _of_names(self, region: Region, names: Sequence[str]) -> dict[str, tuple[str, Float[np.ndarray, " M"]]]:
        config = self.config
        out: dict[str, tuple[str, Float[np.ndarray, " M"]]] = {}
        surface = region.surface.name if region.surface is not None else ""
        places = [(surface, config.surface, "surface"), (region.part, config.part, "part")]
        whole = config.object + self._stands_for_all(region) * (config.surface - config.object)
        places += [(name, whole, "object") for name in names]
        for name, weight, place in places:
            for found in read_name(name, whole=self.is_alone or place == "object", product=place == "object"):
                meaning, scale = found.meaning, weight * found.trust
                if meaning.thing is not None and self.identity is not None and self.identity.excludes(meaning.thing):
                    continue
                if meaning.kind == "material":
                    aside = place == "object" and not self.is_alone
                    scale *= config.material_word * (config.object_material_word / weight if aside else 1.0)
                out.setdefault(meaning.name, (f"the {place} is called '{found.word}'", scale * meaning.odds))
        if self.identity is not None and self.identity.is_toy:
            reason = f"it is a toy, by '{self.identity.word}' and its size"
            out.setdefault(toy().name, (reason, odds_of(toy().made_of)))
        return out


def _reason(found: Evidence, best: int, config: ProposalConfig) -> str:
    """What spoke for the winner, the strongest first."""
    spoke = sorted((pair for pair in found if pair[1][best] >= config.least_reason), key=lambda pair: -pair[1][best])
    return "; ".join(dict.fromkeys(words for words, _ in spoke)) or "nothing is known, so something stiff"
