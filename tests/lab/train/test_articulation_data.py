from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.core import Articulation, Joint
from neurok.errors import NeurokError
from neurok.io import save
from neurok_lab.train.articulation import RECIPES
from neurok_lab.train.batches import Batches, JointViewConfig
from neurok_lab.train.examples import (
    Example,
    JointDataConfig,
    Thing,
    decode,
    encode,
    find_things,
    joint_examples,
    prepare_joints,
    split_examples,
)
from neurok_lab.train.versions import joints_of_pieces, posed

SEARCH, JOINTS = JointDataConfig((), "search"), JointDataConfig(())


def test_every_source_has_its_share_of_the_draws(examples):
    mixed = [replace(example, folder=k % 2) for k, example in enumerate(examples)]
    batches, rng = Batches(mixed, JointViewConfig(shares=(0.8, 0.2))), np.random.default_rng(0)
    assert 0.1 < np.mean([batches.draw_example(rng).folder for _ in range(400)]) < 0.3
    with pytest.raises(NeurokError, match="no examples"):
        Batches([], JointViewConfig())
    with pytest.raises(NeurokError, match="needs a share"):
        Batches(mixed, JointViewConfig(shares=(1.0,)))


@pytest.mark.slow
def test_categories_and_objects_left_out_are_watched_and_not_learned_from(tmp_path):
    for number in range(4):
        save(make_sample("laptop"), tmp_path / "data" / f"Laptop_{number}.npz")
        save(make_sample("cabinet"), tmp_path / "data" / f"TrashCan_{number}.npz")
    source = JointDataConfig((str(tmp_path / "data"),))
    split = split_examples(replace(source, leave_out=("trash_can",)), tmp_path / "cache")
    assert {example.name.split("_")[0] for example in split.train + split.watch} == {"Laptop"}
    assert {example.name.split("_")[0] for example in split.left_out} == {"TrashCan"}
    split = split_examples(replace(source, leave_out=("TrashCan_2", "Laptop")), tmp_path / "cache")
    assert "TrashCan_2" not in {example.name.split(".")[0] for example in split.train + split.watch}
    assert {name for example in split.left_out if (name := example.name.split(".")[0]).startswith("Trash")} == {
        "TrashCan_2"
    }
    with pytest.raises(NeurokError, match="no object or category 'Boat'"):
        split_examples(replace(source, leave_out=("Boat",)), tmp_path / "cache")
    with pytest.raises(NeurokError, match="limit must be at least 1, got -1"):
        replace(source, limit=-1)


def test_another_state_of_an_object_has_the_same_states():
    joints = make_sample("lamp").articulation
    mesh, moved = posed(joints, np.random.default_rng(3))
    again = Articulation(mesh, moved)
    shift = np.array([old.lower - new.lower for old, new in zip(joints.joints, moved, strict=True) if old.dof])
    assert (np.abs(shift) > 0).any()
    q = 0.3 * np.ones(joints.dof)
    assert np.allclose(again.pose(q).vertices, joints.pose(q + shift).vertices)


def test_pieces_inherit_the_joint_of_their_part():
    joints = (Joint("fixed", -1), Joint("revolute", 0, lower=0.0, upper=1.0))
    part_of = np.array([0, 0, 1, 1, 1])
    piece_of = np.array([0, 1, 2, 2, 3])
    found = joints_of_pieces(piece_of, part_of, np.array([5.0, 1.0, 2.0, 2.0, 1.0]), joints)
    assert [joint.kind for joint in found] == ["fixed", "fixed", "revolute", "fixed"]
    assert [joint.parent for joint in found] == [-1, 0, 0, 2]


def test_examples_survive_their_file(examples, tmp_path):
    path = tmp_path / "some.npz"
    path.write_bytes(encode(examples))
    again = decode(path, Example)
    assert [example.name for example in again] == [example.name for example in examples]
    assert np.allclose(again[1].clouds.points, examples[1].clouds.points, atol=1e-6)
    assert again[0].clouds.to_box(np.ones(3)) == pytest.approx(examples[0].clouds.to_box(np.ones(3)), abs=1e-5)


def test_held_out_files_are_never_prepared(tmp_path):
    joints = make_sample("laptop")
    for number in range(6):
        save(joints, tmp_path / "data" / f"Laptop_{number}.npz")
    save(joints, tmp_path / "data" / "Cart_1.npz")
    assert [thing.name for thing in find_things(tmp_path / "data")] == [f"Laptop_{n}" for n in (0, 1, 2, 3, 5)]


def test_objects_that_fail_are_told_and_left_out(tmp_path):
    def fail():
        raise NeurokError("it is broken.")

    told: list[str] = []
    assert list(prepare_joints([Thing("bad", "real", fail)], JOINTS, tmp_path, told.append)) == []
    assert told == ["bad is left out: it is broken."]


@pytest.mark.slow
def test_an_object_becomes_examples_of_several_kinds():
    joints = make_sample("laptop").articulation
    thing = Thing("laptop", "real", lambda: (joints.mesh, joints.joints))
    assert [example.name for example in joint_examples(thing, JOINTS)] == [
        "laptop.rest",
        "laptop.posed",
        "laptop.pieces",
    ]
    searched = joint_examples(thing, SEARCH)[0]
    assert np.allclose(searched.labels.kinds.sum(axis=1), 1.0)


def test_an_unknown_recipe_is_named():
    with pytest.raises(NeurokError, match="known are base, tipped, pretraining, smoke"):
        RECIPES["huge"]
