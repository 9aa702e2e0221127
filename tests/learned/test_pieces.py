"""Pieces of a raw mesh: what the grouping network sees of them, and what is made of its answers."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from neurok.bodyplan.bodies import label_faces
from neurok.catalogue.samples import make_sample
from neurok.hub import load_model, save_model
from neurok.learned import grouping as pieces_predict
from neurok.learned.grouping import (
    PIECE_CLOUDS,
    Grouper,
    PieceCalibration,
    PieceOdds,
    cut_pieces,
    find_groups,
    group_pieces,
    join_tiny,
    linked_clusters,
    piece_odds,
)
from neurok.learned.grouping_network import PieceConfig, PieceModel
from neurok.learned.joint_network import JointConfig, Parts
from neurok.learned.part_features import describe_parts
from neurok.learned.part_views import stack_clouds


@pytest.fixture(scope="module")
def mesh():
    return replace(make_sample("cabinet").articulation.mesh, part_ids=None, part_names=())


@pytest.fixture(scope="module")
def grouper():
    torch.manual_seed(0)
    config = PieceConfig(JointConfig(width=16, heads=2, depth=1), depth=1, pair_width=8)
    return Grouper((PieceModel(config).eval().requires_grad_(False),))


@pytest.fixture(scope="module")
def clouds(mesh):
    return describe_parts(label_faces(mesh, cut_pieces(mesh)), config=PIECE_CLOUDS)


def block_affinity(groups, sure=4.0):
    groups = np.array(groups)
    return np.where(groups[:, None] == groups, sure, -sure)


def odds_of(groups, moving, anything=3.0):
    count = len(groups)
    moves = np.where(np.isin(groups, moving), 3.0, -3.0)
    return PieceOdds(np.ones(count), moves, block_affinity(groups), anything)


def test_answers_follow_the_order_of_pieces(grouper, clouds):
    parts = stack_clouds([clouds], 96, np.random.default_rng(0))
    order = torch.randperm(parts.points.shape[1], generator=torch.Generator().manual_seed(1))
    moved = Parts(*(getattr(parts, name)[:, order] if name != "pairs" else None for name in Parts._fields))
    moved = moved._replace(pairs=parts.pairs[:, order][:, :, order])
    first, second = grouper.members[0](parts), grouper.members[0](moved)
    assert torch.allclose(first.moves[:, order], second.moves, atol=1e-5)
    assert torch.allclose(first.affinity[:, order][:, :, order], second.affinity, atol=1e-5)
    assert torch.allclose(first.anything, second.anything, atol=1e-5)


def test_padding_changes_nothing(grouper, clouds):
    alone = stack_clouds([clouds], 96, np.random.default_rng(0))
    count = alone.points.shape[1]
    pad = lambda t: torch.cat([t, torch.zeros_like(t)], dim=1)  # noqa: E731
    padded = Parts(*(pad(getattr(alone, name)) if name != "pairs" else None for name in Parts._fields))
    pairs = torch.zeros(1, 2 * count, 2 * count, alone.pairs.shape[-1])
    pairs[:, :count, :count] = alone.pairs
    first, second = grouper.members[0](alone), grouper.members[0](padded._replace(pairs=pairs))
    assert torch.allclose(first.moves, second.moves[:, :count], atol=1e-5)
    assert torch.allclose(first.anything, second.anything, atol=1e-5)


def test_affinity_is_symmetric(grouper, clouds):
    found = piece_odds(grouper, clouds)
    assert np.allclose(found.affinity, found.affinity.T)


def test_known_affinities_give_back_their_groups():
    groups = [0, 0, 1, 1, 2, 1, 0, 2]
    found = group_pieces(odds_of(groups, moving=[1, 2]))
    assert (found.labels[np.array(groups) == 0] == 0).all()
    assert len(set(found.labels[[2, 3, 5]])) == 1
    assert len(set(found.labels[[4, 7]])) == 1
    assert found.labels[2] != found.labels[4]
    assert found.moves[0] == -np.inf
    assert (found.moves[1:] > 0).all()


def test_a_doubtful_piece_goes_with_its_body():
    odds = odds_of([0, 0, 1, 1, 1], moving=[1])
    odds.moves[4] = -0.5
    assert group_pieces(odds).labels.tolist() == [0, 0, 1, 1, 1]


def test_what_stands_still_is_one_body():
    found = group_pieces(odds_of([0, 1, 2, 3], moving=[], anything=-4.0))
    assert found.labels.tolist() == [0, 0, 0, 0]
    assert len(found.moves) == 1


def test_something_is_always_the_base():
    odds = odds_of([1, 1, 2], moving=[1, 2])
    found = group_pieces(replace(odds, areas=np.array([1.0, 1.0, 5.0])))
    assert found.labels[2] == 0
    assert found.labels[0] == found.labels[1] != 0


def test_clusters_stop_at_the_threshold():
    affinity = np.array([[9.0, 2.0, -1.0], [2.0, 9.0, -1.0], [-1.0, -1.0, 9.0]])
    apart = np.arange(3)
    assert sorted(map(sorted, linked_clusters(affinity, apart, 0.0))) == [[0, 1], [2]]
    assert len(linked_clusters(affinity, apart, 3.0)) == 3
    assert len(linked_clusters(affinity, apart, -2.0)) == 1


def test_few_pieces_are_left_and_no_face_is_lost(mesh, monkeypatch):
    pieces = cut_pieces(mesh)
    monkeypatch.setattr(pieces_predict, "SEEN_PIECES", 3)
    few = join_tiny(mesh, pieces)
    assert len(few) == mesh.face_count
    assert set(few) == {0, 1, 2}
    for piece in np.unique(pieces):  # pieces are joined, never cut
        assert len(set(few[pieces == piece])) == 1


def test_groups_of_a_mesh_cover_its_faces(mesh, grouper, monkeypatch):
    monkeypatch.setattr(pieces_predict, "MOVING_PIECE", 1e-3)
    found = find_groups(mesh, grouper)
    assert len(found.face_bodies) == mesh.face_count
    assert set(found.face_bodies) == set(range(len(found.groups.moves)))


@pytest.fixture(scope="module")
def other(grouper):
    torch.manual_seed(1)
    return Grouper((PieceModel(grouper.members[0].config).eval().requires_grad_(False),))


def test_networks_answer_together_with_their_mean_odds(grouper, other, clouds):
    one, two = piece_odds(grouper, clouds), piece_odds(other, clouds)
    both = piece_odds(Grouper((*grouper.members, *other.members)), clouds)
    assert not np.allclose(one.moves, two.moves)
    np.testing.assert_allclose(both.moves, (one.moves + two.moves) / 2, atol=1e-5)
    np.testing.assert_allclose(both.affinity, (one.affinity + two.affinity) / 2, atol=1e-5)
    assert both.anything == pytest.approx((one.anything + two.anything) / 2, abs=1e-5)


def test_weights_come_back_from_a_file(tmp_path, grouper, other, clouds):
    calibrated = Grouper((*grouper.members, *other.members), PieceCalibration(moves=(0.5, 1.0)))
    save_model(calibrated, tmp_path / "pieces.safetensors", {})
    again = load_model(tmp_path / "pieces.safetensors", "pieces")
    assert again.calibration == calibrated.calibration
    assert np.allclose(piece_odds(again, clouds).moves, piece_odds(calibrated, clouds).moves, atol=0.02)


def test_bodies_of_copies_are_put_together_alike():
    """Two upper doors with a handle each are two bodies; the lower ones, taken for one and without a handle, are so
    too."""
    areas = np.array([5.0, 1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 0.1])
    copies = np.array([0, 1, 1, 1, 1, 5, 5, 5, 5])
    doors = [(-0.2, 0.2), (0.2, 0.2), (-0.2, -0.2), (0.2, -0.2)]
    handles = [(0.1 * np.sign(x) * 0.5, y) for x, y in doors]
    centers = np.array([(0.0, 0.0, 0.0), *((x, y, 0.3) for x, y in (*doors, *handles))])
    found = pieces_predict.share_among_copies([[1, 5], [2, 6], [3, 4, 7]], areas, copies, centers)
    assert sorted(map(sorted, found)) == [[1, 5], [2, 6], [3, 7], [4, 8]]


def test_a_body_of_two_copies_stays_one_where_no_other_has_a_single_one():
    areas, copies = np.array([5.0, 1.0, 1.0]), np.array([0, 1, 1])
    centers = np.array([(0.0, 0.0, 0.0), (0.2, 0.0, 0.3), (-0.2, 0.0, 0.3)])
    assert pieces_predict.share_among_copies([[1, 2]], areas, copies, centers) == [[1, 2]]
