"""Bodies of raw meshes by the grouping network: what it says is what the plan has."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.plan import BodyPlan, PlannedBody
from neurok.bodyplan.plan_file import read_plan, write_plan
from neurok.core import Mesh
from neurok.geometry.level_set import MeltConfig
from neurok.inference.plan import plan, study
from neurok.learned.grouping import Grouper
from neurok.learned.grouping_network import PieceAnswers, PieceModel
from neurok.learned.joint_network import Parts
from neurok_lab.train.versions import single_surface
from solids import door_on_a_box

SURE = 6.0


class Says(PieceModel):
    """A grouping network with one opinion: the smaller of two pieces moves, or nothing does."""

    def __init__(self, smallest_moves: bool) -> None:
        nn.Module.__init__(self)
        self.smallest_moves = smallest_moves

    def forward(self, parts: Parts) -> PieceAnswers:
        small = parts.areas == parts.areas.amin(dim=1, keepdim=True)
        moving = small & self.smallest_moves
        moves = torch.stack([torch.zeros_like(parts.areas), SURE * (2.0 * moving - 1.0)], dim=-1)
        moves = torch.cat([moves, torch.full_like(moves[..., :1], -2 * SURE)], dim=-1)
        same = small[:, :, None] == small[:, None]
        anything = torch.full((len(small),), SURE if self.smallest_moves else -SURE)
        return PieceAnswers(moves, SURE * (2.0 * same - 1.0), anything)


@pytest.fixture(scope="module")
def raw() -> Mesh:
    return replace(door_on_a_box(), part_ids=None, part_names=())


def test_nothing_is_left_apart_of_what_stands_still(raw):
    found = study(raw, piece_weights=Grouper((Says(False),)))
    assert len(found.plan.bodies) == 1


def test_what_the_network_holds_for_a_body_is_one(raw):
    found = study(raw, piece_weights=Grouper((Says(True),)))
    assert len(found.plan.bodies) == 2
    assert [body.parent for body in found.plan.bodies] == [-1, 0]
    assert found.groups.moves[1] > 3.0
    (facts,) = [body.facts for body in found.evidence.values()]
    assert facts[0] == 1.0
    assert facts[2] == found.groups.moves[1]


def test_faces_stay_in_the_order_of_the_file(raw):
    found = plan(raw, piece_weights=Grouper((Says(True),)))
    corners = found.mesh.vertices[found.mesh.faces]
    np.testing.assert_array_equal(corners, raw.vertices[raw.faces])


def test_parts_of_a_file_stay_its_bodies_but_may_all_stand_still():
    still, moving = (study(door_on_a_box(), piece_weights=Grouper((Says(says),))) for says in (False, True))
    assert len(still.plan.bodies) == len(moving.plan.bodies) == 2
    assert moving.groups.chance > 0.9
    assert not still.plan.moving
    assert "Nothing seems to move" in still.plan.note
    unasked = study(door_on_a_box(), piece_weights="none")
    assert unasked.groups is None
    assert unasked.plan.moving


@pytest.fixture(scope="module")
def surface() -> Mesh:
    box = door_on_a_box()
    return single_surface(box, MeltConfig(cells=24, faces=1_500, samples=4_000))[0]


def test_a_single_surface_is_cut_only_where_something_moves(surface):
    moving = study(surface, piece_weights=Grouper((Says(True),)), view_weights="none", least=0.0)
    assert len(moving.plan.bodies) == 2
    assert moving.plan.bodies[1].joint is not None
    owners = [{body for body, one in enumerate(moving.plan.bodies) if piece in one.pieces} for piece in
              range(moving.plan.face_pieces.max() + 1)]  # fmt: skip
    assert all(len(some) == 1 for some in owners)
    for says, least in ((False, 0.0), (True, 2.0)):
        still = study(surface, piece_weights=Grouper((Says(says),)), view_weights="none", least=least)
        assert len(still.plan.bodies) == 1
        assert not still.plan.moving
        assert still.plan.face_pieces.max() == 0


def test_a_plan_of_a_cut_surface_can_be_handed_back(surface, tmp_path):
    found = study(surface, piece_weights=Grouper((Says(True),)), least=0.0).plan
    write_plan(found, tmp_path / "plan.json")
    again = read_plan(tmp_path / "plan.json", surface)
    np.testing.assert_array_equal(again.face_pieces, found.face_pieces)
    assert [body.pieces for body in again.bodies] == [body.pieces for body in found.bodies]


def test_the_network_is_left_out_where_it_is_not_wanted(raw):
    assert study(raw, piece_weights="none").groups is None
    assert study(raw, method="search").groups is None


@pytest.mark.parametrize(("least", "kept"), [(0.03, (1, 2, 3)), (0.3, (1, 2)), (0.5, (1,)), (0.95, ())])
def test_a_plan_has_the_joints_that_are_asked_for_and_only_corrections_of_a_person_stay(raw, least, kept):
    """Joints that are possible are known to the plan and need no second look at the mesh."""
    up, here = np.array([0.0, 1.0, 0.0]), np.zeros(3)
    lines = [Hypothesis(k, 0, "continuous", up, here, 0.0, 1.0, chance) for k, chance in ((1, 0.9), (2, 0.4), (3, 0.1))]
    bodies = (PlannedBody("base", (0,), -1), *(PlannedBody(f"b{k.part}", (k.part,), 0, (k,)) for k in lines))
    mesh = replace(raw, part_ids=np.zeros(raw.vertex_count, dtype=np.int64), part_names=("base", "b1", "b2", "b3"))
    found = BodyPlan(mesh, np.zeros(raw.face_count, dtype=np.int64), bodies)
    asked = found.above(least)
    assert tuple(k for k, body in enumerate(asked.bodies) if body.joint is not None) == kept
    assert [body.probability for body in asked.bodies[1:]] == pytest.approx(
        [line.probability if line.part in kept else 1.0 - line.probability for line in lines]
    )
    assert [body.joint for body in asked.above(0.03).bodies] == [body.joint for body in found.above(0.03).bodies]
    assert not replace(found, origin="edited").above(least).moving
    assert len(found.above(0.03).above(least).moving) == len(kept)
