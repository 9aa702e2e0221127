"""Single surfaces that are seen from outside: who is looked at, lines in the frame of the mesh, and how they count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.core import Mesh
from neurok.core.mesh import UnitBox
from neurok.inference.evidence import _seen_lines
from neurok.inference.plan import see_surface, study
from neurok.learned.views.lines import BodyVotes
from neurok.learned.views.network import ViewModel
from neurok.learned.views.sight import Votes
from neurok.learned.views.source import SeenObject
from neurok.modelling.shapes import box


def _front() -> tuple[Mesh, Votes]:
    """A front of 20 by 20 squares in the unit box, and votes on it: its left half is a door about its left edge."""
    across = np.linspace(-0.5, 0.5, 21)
    x, y = np.meshgrid(across, across)
    vertices = np.stack([x.ravel(), y.ravel(), np.full(x.size, 0.5)], axis=1)
    corner = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (some.ravel() for some in (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]))
    mesh = Mesh(vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]), up="y")
    points = mesh.vertices[mesh.faces].mean(axis=1)
    count, is_door = len(points), points[:, 0] < 0
    number = np.arange(count // 2).reshape(20, 20)
    pairs = np.concatenate([
        np.stack([number[:, :-1], number[:, 1:]], -1).reshape(-1, 2),
        np.stack([number[:-1], number[1:]], -1).reshape(-1, 2),
        np.stack([number.ravel(), number.ravel() + count // 2], 1),
    ])  # fmt: skip
    spots = np.full((count, 3, 3, 3), 0.01)
    spots[:, 1, 0, 1] = 0.9
    return mesh, Votes(
        points, np.tile([0.0, 0.0, 1.0], (count, 1)), np.arange(count), np.where(is_door, 3.0, -3.0),
        np.full(count, 3.0), np.tile([0.02, 0.94, 0.02, 0.02], (count, 1)),
        np.tile(np.diag([0.0, 1.0, 0.0]), (count, 1, 1)),
        np.stack([np.full(count, -0.5), points[:, 1], np.full(count, 0.5)], axis=1), spots,
        np.tile([-0.5, -0.5, 0.5], (count, 1)), np.tile([0.0, 0.5, 0.5], (count, 1)), pairs,
        np.where(is_door[pairs[:, 0]] == is_door[pairs[:, 1]], 3.0, -3.0),
    )  # fmt: skip


@pytest.fixture(scope="module")
def seen() -> SeenObject:
    mesh, votes = _front()
    turn = UnitBox.around(np.zeros((1, 3)), "z").turn
    return SeenObject(mesh, UnitBox(np.array([1.0, 2.0, 3.0]), 4.0, turn), votes)


def test_only_single_surfaces_are_looked_at() -> None:
    one, other = box((1.0, 1.0, 1.0)), box((1.0, 1.0, 1.0), (2.0, 0.0, 0.0))
    both = Mesh(np.concatenate([one.vertices, other.vertices]), np.concatenate([one.faces, other.faces + 8]), up="y")
    assert see_surface(both, ViewModel().eval()) is None
    assert see_surface(Mesh(one.vertices, one.faces, up="y"), None) is None
    found = see_surface(Mesh(one.vertices, one.faces, up="y"), ViewModel().eval())
    assert found is not None
    assert len(found.votes) > 100


def test_a_surface_of_which_nothing_is_seen_to_move_stays_one_body() -> None:
    whole = box((1.0, 0.5, 0.7))
    model = ViewModel().eval()
    model.head.bias.data[0] = -9.0  # nothing moves
    found = study(Mesh(whole.vertices, whole.faces, up="y"), view_weights=model)
    assert not found.plan.moving
    assert len(found.plan.bodies) == 1


def test_bodies_that_are_seen_are_groups_with_the_base_first(seen: SeenObject) -> None:
    groups = seen.find_groups()
    assert groups.groups.moves[0] == -np.inf
    assert groups.groups.moves[1] > 0
    middles = seen.mesh.vertices[seen.mesh.faces].mean(axis=1)
    assert ((groups.face_bodies == 1) == (middles[:, 0] < 0)).mean() >= 0.95


def test_lines_are_told_in_the_frame_of_the_mesh(seen: SeenObject) -> None:
    (body,) = seen.bodies(np.where(seen.votes.points[:, 0] < 0, 0, 1), 1)
    assert body is not None
    best = seen.lines(body)[0]
    assert np.allclose(np.abs(best.axis), [0, 0, 1])  # up is z there
    assert seen.likelihood(body, True, best.axis, best.origin) == pytest.approx(
        body.likelihood(True, np.array([0.0, 1.0, 0.0]), seen.box.to_box(best.origin))
    )
    across = seen.box.to_box(best.origin)
    assert across[0] == pytest.approx(-0.5, abs=0.03)


def test_what_is_seen_outweighs_a_wrong_line_and_keeps_the_sum(seen: SeenObject) -> None:
    mine = np.flatnonzero(seen.votes.points[:, 0] < 0)
    body = BodyVotes.of(seen.votes, mine)
    wrong = Hypothesis(1, 0, "prismatic", np.array([1.0, 0.0, 0.0]), np.zeros(3), 0.0, 1.0, 0.7)
    lines = _seen_lines([wrong, replace(wrong, axis=np.array([0.0, 1.0, 0.0]), probability=0.1)], seen, body, 4.0)
    assert lines[0].kind == "revolute"
    assert np.allclose(np.abs(lines[0].axis), [0, 0, 1])
    assert sum(line.probability for line in lines) == pytest.approx(0.8)
