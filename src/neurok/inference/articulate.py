"""Joints of a mesh with parts by whichever method there is, kept where the parts hold on to each other."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from neurok.bodyplan.hold import hold_limits
from neurok.bodyplan.hypothesis import Candidate
from neurok.bodyplan.search import Search, search_joints
from neurok.core import Articulation, Joint, Mesh
from neurok.hub import find_weights, has_weights, load_model

Method = Literal["auto", "learned", "search"]


def settle_method(method: Method, weights: Path | str | None = None) -> Literal["learned", "search"]:
    """What ``auto`` comes to: learned if there are weights. Weights that are asked for must be there."""
    if method == "search" or (method == "auto" and weights is None and not has_weights("articulation")):
        return "search"
    find_weights(weights or "articulation", "articulation")
    return "learned"


def find_joints(
    mesh: Mesh, method: Method = "auto", weights: Path | str | None = None, pieces: bool = False
) -> tuple[list[Candidate], Search]:
    """A joint for every part but the base, with its confidence as ``score``; and all that the search had tried.

    ``pieces`` says that the parts are connected pieces, which lowers confidence.
    """
    if settle_method(method, weights) == "search" or mesh.part_count == 1:
        search = search_joints(mesh)
        answers = [best for part in range(mesh.part_count) if (best := search.best(part)) is not None]
    else:
        from neurok.articulation.predict import predict_joints

        prediction = predict_joints(mesh, load_model(weights or "articulation", "articulation"), pieces=pieces)
        assert prediction.search is not None, "it was asked"
        answers, search = [answer for answer in prediction.answers if answer.parent >= 0], prediction.search
    return [hold_limits(answer, search.contacts) for answer in answers], search


def joined(mesh: Mesh, answers: list[Candidate]) -> Articulation:
    """The object with these joints; parts without one are roots."""
    given = {answer.part: answer for answer in answers}
    joints = [
        given[part].joint(name) if part in given else Joint("fixed", -1, name=name)
        for part, name in enumerate(mesh.part_names or ("part_0",))
    ]
    return Articulation(mesh, tuple(joints), name=mesh.name)
