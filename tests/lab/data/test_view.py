from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.learned.subject import HANDLES, POINTS, subject_of
from neurok.learned.view import ViewConfig, draw, pairs
from neurok_lab.data.shards import decode_asset, decode_subject, encode_asset, encode_subject


def test_joints_of_a_subject_move_parts_as_those_of_the_object_stretched_or_not(chest):
    articulation, motion = chest.articulation, subject_of(chest).motion
    movable = np.array([joint.dof > 0 for joint in articulation.joints])
    values = np.random.default_rng(0).normal(size=(3, len(movable))) * movable
    q = values[:, movable]
    np.testing.assert_allclose(motion.transforms(values, np.ones(3)), articulation.transforms(q), atol=1e-12)
    scale = np.array([0.8, 1.2, 1.1])
    joints = [replace(joint, axis=joint.axis * scale, origin=joint.origin * scale) for joint in articulation.joints]
    slides = np.array([joint.kind == "prismatic" for joint in articulation.joints])
    lengths = np.where(slides, np.linalg.norm([joint.axis * scale for joint in articulation.joints], axis=1), 1.0)
    expected = replace(articulation, joints=tuple(joints)).transforms((values * lengths)[:, movable])
    np.testing.assert_allclose(motion.transforms(values, scale), expected, atol=1e-12)


def test_rest_states_fill_the_unit_box_and_displacements_differ(chest, wobble):
    subjects = [subject_of(chest), subject_of(wobble)]
    batch = next(pairs(subjects, ViewConfig(subjects=8), np.random.default_rng(0)))
    for row, present in zip(batch.points, batch.present, strict=True):
        extent = np.ptp(row[present].reshape(-1, 3), axis=0).max()
        assert extent == pytest.approx(1.0, abs=1e-5)
    moved = np.abs(batch.displaced - batch.points[:, None]).max(axis=(2, 3, 4))
    assert (moved.max(axis=1) > 0.02).all()


def test_without_augmentation_the_rest_state_is_the_stored_one(chest):
    subject = subject_of(chest)
    row = draw(subject, ViewConfig(augment=False, points=POINTS), np.random.default_rng(0))
    assert row["points"].shape == (HANDLES, POINTS, 3)
    stored, drawn = subject.points[subject.present], row["points"][subject.present]
    pick = np.random.default_rng(0).integers(POINTS, size=(HANDLES, POINTS))[subject.present]
    chosen = np.take_along_axis(stored, pick[..., None], axis=1)
    low, high = chosen.min(axis=(0, 1)), chosen.max(axis=(0, 1))
    np.testing.assert_allclose(drawn, (chosen - (low + high) / 2) / (high - low).max(), atol=1e-6)


def test_the_same_seed_draws_the_same_bits(chest):
    subject = subject_of(chest)
    one, two = (draw(subject, ViewConfig(), np.random.default_rng(5)) for _ in range(2))
    for key in one:
        np.testing.assert_array_equal(one[key], two[key])


def test_items_survive_their_compact_form(chest, wobble):
    again = decode_asset(encode_asset(chest))
    np.testing.assert_allclose(again.mesh.vertices, chest.mesh.vertices, atol=1e-7)
    assert again.articulation is not None
    q = np.array([-0.7, 0.2])
    np.testing.assert_allclose(again.articulation.pose(q).vertices, chest.articulation.pose(q).vertices, atol=1e-6)
    moved = decode_asset(encode_asset(wobble)).clips[0].positions
    np.testing.assert_allclose(moved, wobble.clips[0].positions, atol=0.1 / 30000)
    for asset in (chest, wobble):
        subject = subject_of(asset)
        twin = decode_subject(encode_subject(subject))
        one, two = (draw(s, ViewConfig(), np.random.default_rng(1)) for s in (subject, twin))
        np.testing.assert_allclose(one["displaced"], two["displaced"], atol=1e-5)


def test_an_object_that_cannot_move_is_refused(chest):
    with pytest.raises(NeurokError, match="neither joints nor a clip"):
        subject_of(Asset(chest.mesh))


def test_some_draws_lack_components_but_never_the_largest_nor_all_that_moves(chest):
    subject = subject_of(chest)
    largest = np.bincount(subject.groups[subject.present], subject.areas[subject.present]).argmax()
    lacking = 0
    for seed in range(200):
        row = draw(subject, ViewConfig(), np.random.default_rng(seed))
        present = row["present"]
        lacking += (present != subject.present).any()
        for group in np.unique(subject.groups[subject.present]):
            members = present[(subject.groups == group) & subject.present]
            assert members.all() or not members.any()
        assert present[(subject.groups == largest) & subject.present].all()
        assert subject.motion.moves(present)
        assert (row["areas"][~present] == 0).all()
    assert 4 <= lacking <= 40


def test_half_of_the_draws_show_the_object_as_it_is_stored(chest):
    subject = subject_of(chest)
    sizes = []
    for seed in range(60):
        points = draw(subject, ViewConfig(points=POINTS), np.random.default_rng(seed))["points"][subject.present]
        sizes.append(np.ptp(points.reshape(-1, 3), axis=0))
    stored = np.ptp(subject.points[subject.present].reshape(-1, 3), axis=0)
    alike = (np.abs(np.array(sizes) - stored / stored.max()) < 0.02).all(axis=1)
    assert 20 <= alike.sum() <= 40


def test_an_object_whose_up_axis_is_z_is_drawn_upright(chest):
    subject = replace(subject_of(chest), up=2)
    row = draw(subject, ViewConfig(augment=False, points=POINTS), np.random.default_rng(0))
    tall = np.ptp(subject.points[subject.present][..., 2]) / np.ptp(subject.points[subject.present], axis=(0, 1)).max()
    assert np.ptp(row["points"][subject.present][..., 1]) == pytest.approx(tall, rel=0.05)


def test_some_draws_lie_on_another_side(chest):
    subject = subject_of(chest)
    heights = []
    for seed in range(40):
        row = draw(subject, ViewConfig(), np.random.default_rng(seed))
        heights.append(np.ptp(row["points"][row["present"]][..., 1]))
    upright = draw(subject, ViewConfig(augment=False), np.random.default_rng(0))
    tall = np.ptp(upright["points"][upright["present"]][..., 1])
    assert np.std(np.array(heights) / tall) > 0.05
