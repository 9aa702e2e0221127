"""Bodies of raw meshes by the grouping network: what it says is what the plan has."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from neurok.articulation.network import Parts
from neurok.articulation.pieces_network import PieceAnswers, PieceModel
from neurok.articulation.pieces_predict import Grouper
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.plan_file import read_plan, write_plan
from neurok.core import Mesh
from neurok.geometry.single_surface import MeltConfig
from neurok.inference.plan import _held, plan, study
from neurok.inference.plan_evidence import PlanConfig, calibration_for
from neurok.train.versions import single_surface
from solids import door_on_a_box

SURE = 6.0
EAGER = PlanConfig(least=0.0, soft=0.0, beside=0.0)
BY_NETWORK, BY_RULES = PlanConfig(group_by="network"), PlanConfig(group_by="rules")


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


def test_what_the_network_holds_for_static_has_no_joint(raw):
    asked, unasked = (
        study(raw, piece_weights=some, use_prior=False, config=BY_RULES) for some in (Grouper((Says(False),)), "none")
    )
    assert asked.groups.anything == pytest.approx(-SURE)
    assert asked.plan.articulation.dof == 0
    assert unasked.plan.articulation.dof > 0
    first, second = (found.plan.bodies[1].hypotheses[0].probability for found in (asked, unasked))
    assert first == pytest.approx(second * asked.groups.chance)


def test_nothing_is_left_apart_of_what_stands_still(raw):
    found = study(raw, piece_weights=Grouper((Says(False),)), use_prior=False, config=BY_NETWORK)
    assert len(found.plan.bodies) == 1


def test_what_the_network_holds_for_a_body_is_one(raw):
    found = study(raw, piece_weights=Grouper((Says(True),)), use_prior=False, config=BY_NETWORK)
    assert len(found.plan.bodies) == 2
    assert [body.parent for body in found.plan.bodies] == [-1, 0]
    assert found.groups.moves[1] > 3.0
    (facts,) = [weighed.facts for weighed in found.weighed.values()]
    assert facts[0] == 1.0
    assert facts[2:] == (found.groups.moves[1],)


def test_faces_stay_in_the_order_of_the_file(raw):
    found = plan(raw, piece_weights=Grouper((Says(True),)), config=BY_NETWORK)
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
    moving = study(surface, piece_weights=Grouper((Says(True),)), use_prior=False, config=EAGER)
    assert len(moving.plan.bodies) == 2
    assert moving.plan.bodies[1].joint is not None
    owners = [{body for body, one in enumerate(moving.plan.bodies) if piece in one.pieces} for piece in
              range(moving.plan.face_pieces.max() + 1)]  # fmt: skip
    assert all(len(some) == 1 for some in owners)
    for says, config in ((False, EAGER), (True, PlanConfig(least=2.0))):
        still = study(surface, piece_weights=Grouper((Says(says),)), use_prior=False, config=config)
        assert len(still.plan.bodies) == 1
        assert not still.plan.moving
        assert still.plan.face_pieces.max() == 0


def test_a_plan_of_a_cut_surface_can_be_handed_back(surface, tmp_path):
    found = plan(surface, piece_weights=Grouper((Says(True),)), config=EAGER)
    write_plan(found, tmp_path / "plan.json")
    again = read_plan(tmp_path / "plan.json", surface)
    np.testing.assert_array_equal(again.face_pieces, found.face_pieces)
    assert [body.pieces for body in again.bodies] == [body.pieces for body in found.bodies]


def test_the_network_is_left_out_where_it_is_not_wanted(raw):
    assert study(raw, piece_weights="none", use_prior=False).groups is None
    assert study(raw, method="search", use_prior=False).groups is None


@pytest.mark.slow
def test_every_calibration_has_a_weight_for_every_fact(raw):
    for with_prior in (False, True):
        for grouper, config in ((Grouper((Says(True),)), BY_RULES), (Grouper((Says(True),)), None), ("none", None)):
            found = study(raw, piece_weights=grouper, use_prior=with_prior, config=config)
            asked = found.groups is not None
            calibration = calibration_for(config or PlanConfig(), found.prior is not None, asked)
            assert all(len(weighed.facts) == len(calibration) for weighed in found.weighed.values())


@pytest.mark.parametrize(
    ("chances", "kept"),
    [((0.9, 0.55, 0.45), (0, 1)), ((0.3, 0.26, 0.2), (0, 1)), ((0.09, 0.08, 0.01), ()), ((0.6, 0.5, 0.5), (0, 1, 2))],
)
def test_joints_count_that_are_likely_or_nearly_as_likely_as_the_surest(chances, kept):
    up, here = np.array([0.0, 1.0, 0.0]), np.zeros(3)
    ranked = {
        part: [Hypothesis(part, 0, "revolute", up, here, 0.0, 1.0, chance)] for part, chance in enumerate(chances)
    }
    held = _held(ranked, np.zeros(3, dtype=bool), 1.0, 1.0, True, PlanConfig(least=0.1, likely=0.5, beside=0.8))
    assert tuple(part for part, joint in held.items() if joint is not None) == kept
    unasked = _held(ranked, np.zeros(3, dtype=bool), 1.0, 1.0, False, PlanConfig(least=0.1, likely=0.5, beside=0.8))
    assert [joint is not None for joint in unasked.values()] == [chance >= 0.1 for chance in chances]
