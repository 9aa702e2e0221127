"""Who says what parts are made of: the rules of ``neurok``, or a plug-in such as a vision-language model.

A plug-in is any function from a ``Question`` to a list of ``(part, material, confidence, reason)``. Parts that it
leaves out are proposed by the rules.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from neurok.core import Asset, material
from neurok.core.material_library import library
from neurok.core.select import Region
from neurok.errors import NeurokError, shown
from neurok.geometry.operators import face_areas
from neurok.inference.materials import Proposal, Proposals, propose

VIEWS = (30.0, 120.0, 210.0, 300.0)
"""Directions from which pictures are taken, around the up axis [degrees]."""

PICTURE = 384
"""Width and height of these pictures [pixels]."""

RULES = "rules"
"""Name of the proposer that reads names, looks and shapes."""

Answer = tuple[str, str, float, str]
"""Part, material, confidence from 0 to 1, reason."""


@dataclass(frozen=True, eq=False)
class PartView:
    """What is known of one part (a region: part or surface) before its material is."""

    name: str
    """As answers must name it."""

    part: str
    surface: str
    """Names in the file; empty where it has none."""

    share: float
    """Of the object's surface."""

    extent: tuple[float, float, float]
    """Of its box [m]."""


@dataclass(frozen=True, eq=False)
class Question:
    """All that a proposer may look at."""

    name: str
    """Of the object."""

    category: str
    """Empty where nobody said."""

    asset: Asset
    regions: tuple[Region, ...]

    @cached_property
    def parts(self) -> tuple[PartView, ...]:
        """The parts to name materials for."""
        mesh = self.asset.mesh
        areas = face_areas(mesh.vertices, mesh.faces)
        total = max(float(areas.sum()), 1e-300)
        out = []
        for region in self.regions:
            extent = np.ptp(mesh.vertices[mesh.faces[region.faces]].reshape(-1, 3), axis=0) * mesh.unit
            seen = region.surface.name if region.surface is not None else ""
            share = float(areas[region.faces].sum()) / total
            out.append(PartView(region.name, region.part, seen, share, tuple(float(x) for x in extent)))  # type: ignore[arg-type]
        return tuple(out)

    @cached_property
    def pictures(self) -> tuple[np.ndarray, ...]:
        """The object in its own look from four sides; rendered when somebody looks."""
        return self._views(None)

    @cached_property
    def part_pictures(self) -> tuple[np.ndarray, ...]:
        """The same views with a colour for each part, in the order of ``neurok.rendering.palette``."""
        from neurok.rendering.palette import PLAIN, part_colors

        mesh = self.asset.mesh
        ids = np.zeros(mesh.vertex_count, dtype=np.int64)
        for number, region in enumerate(self.regions):
            ids[region.vertices] = number
        return self._views(
            replace(mesh, surfaces=(PLAIN,), face_surfaces=None, uv=None, vertex_colors=part_colors(ids))
        )

    @property
    def materials(self) -> tuple[str, ...]:
        """Names that may be answered; aliases are understood too."""
        return tuple(library())

    def _views(self, mesh: Any) -> tuple[np.ndarray, ...]:
        from neurok.geometry import lie
        from neurok.rendering import Renderer

        mesh = self.asset.mesh if mesh is None else mesh
        middle = mesh.bounds.mean(axis=0)
        poses = [
            lie.apply(lie.rotation_about(mesh.up_vector, middle, np.radians(view)), mesh.vertices) for view in VIEWS
        ]
        with Renderer(mesh, width=PICTURE, height=PICTURE, fit_to=poses) as renderer:
            return tuple(renderer.render(pose) for pose in poses)


@runtime_checkable
class MaterialProposer(Protocol):
    """Looks at an object and says what its parts are made of."""

    def __call__(self, question: Question) -> Sequence[Answer]:
        """``(part, material, confidence, reason)`` for the parts it knows."""
        ...


def find_proposer(word: str) -> MaterialProposer | None:
    """The proposer of a name: ``rules`` (which is ``None``), or ``module:function`` of a plug-in.

    Raises:
        NeurokError: If there is no such module or function.
    """
    if word == RULES:
        return None
    module, colon, name = word.partition(":")
    if not colon or not module or not name:
        raise NeurokError(f"The proposer {word!r} is not understood; write rules, or module:function of a plug-in.")
    try:
        found = getattr(importlib.import_module(module), name)
    except Exception as error:  # a plug-in may fail in any way while it is imported
        raise NeurokError(f"The proposer {word!r} cannot be loaded: {one_line(error)}.") from error
    if not callable(found):
        raise NeurokError(f"The proposer {word!r} is no function; it must take a question and return answers.")
    return found  # type: ignore[no-any-return]


def ask(proposer: MaterialProposer | None, asset: Asset, category: str = "") -> Proposals:
    """What a proposer says, checked; the rules where it says nothing.

    Raises:
        NeurokError: One sentence, when the plug-in raises or answers what cannot be.
    """
    if category and not asset.provenance.get("category"):
        asset = replace(asset, provenance={**asset.provenance, "category": category})
    by_rules = propose(asset)
    if proposer is None:
        return by_rules
    question = Question(asset.mesh.name, category, asset, tuple(item.region for item in by_rules.items))
    try:
        answers = proposer(question)
    except Exception as error:  # whatever a plug-in does, the next object comes all the same
        raise NeurokError(f"The proposer failed on '{asset.mesh.name}': {one_line(error)}.") from error
    answered = _checked(answers, question)
    items = tuple(answered.get(item.region.name, lambda old: old)(item) for item in by_rules.items)
    return Proposals(asset.mesh, items)


def _checked(answers: Any, question: Question) -> dict[str, Any]:
    """How each part that was answered changes; all complaints in one sentence."""
    if isinstance(answers, str | bytes | dict) or not hasattr(answers, "__iter__"):
        raise NeurokError(
            f"The proposer must return a list of (part, material, confidence, reason), got {type(answers).__name__}."
        )
    known = {region.name for region in question.regions}
    out: dict[str, Any] = {}
    wrong: list[str] = []
    for answer in answers:
        if not isinstance(answer, tuple | list) or len(answer) != 4:
            wrong.append(f"{shown(answer)} is no (part, material, confidence, reason)")
            continue
        part, name, sure, reason = answer
        problem = _problem(part, name, sure, reason, known)
        if not problem and part in out:
            problem = f"{part!r} was answered twice"
        if problem:
            wrong.append(problem)
            continue
        out[part] = _answered(material(name), float(sure), " ".join(reason.split()))
    if wrong:
        more = f", and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise NeurokError(f"The proposer gave invalid answers: {'; '.join(wrong[:3])}{more}.")
    return out


def _answered(material: Any, sure: float, reason: str) -> Any:
    return lambda old: Proposal(old.region, material, sure, reason, ((old.material.name, round(old.confidence, 3)),))


def _problem(part: Any, name: Any, sure: Any, reason: Any, known: set[str]) -> str:
    if not isinstance(part, str) or part not in known:
        return f"there is no part {shown(part)}"
    if not isinstance(name, str):
        return f"the material of {part!r} is no name"
    try:
        material(name)
    except NeurokError as error:
        return str(error).removesuffix(".")
    is_number = isinstance(sure, int | float | np.floating) and not isinstance(sure, bool)
    if not is_number or not math.isfinite(sure) or not 0.0 <= sure <= 1.0:
        return f"the confidence of {part!r} must be a number from 0 to 1, got {shown(sure)}"
    return "" if isinstance(reason, str) else f"the reason for {part!r} is no text"


def one_line(error: BaseException) -> str:
    """An error of somebody else's code as a piece of a sentence."""
    text = " ".join(str(error).split())[:200].removesuffix(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
