import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from neurok.articulation.features import describe_parts
from neurok.articulation.views import labels_of
from neurok.core import Articulation, Joint
from neurok.errors import NeurokError
from neurok.io import save
from neurok.samples import make_sample
from neurok.train.articulation import CHECKPOINT, find_joint_recipe, smoke, train_joints
from neurok.train.articulation_batches import Batches
from neurok.train.articulation_data import (
    Example,
    Thing,
    decode,
    encode,
    find_things,
    make_examples,
    prepare,
    split_examples,
)
from neurok.train.articulation_versions import joints_of_pieces, posed

RUN = replace(smoke(), steps=6, evaluate_every=2)


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    found = []
    for name in ("laptop", "cabinet", "lamp"):
        joints = make_sample(name).articulation
        clouds = describe_parts(joints.mesh)
        found.append(Example(f"{name}.rest", clouds, labels_of(clouds, joints.joints), name != "lamp"))
    return found


def losses(folder: Path) -> list[float]:
    return [json.loads(line)["axes"] for line in (folder / "log.jsonl").read_text().splitlines()]


def test_a_resumed_run_of_joints_has_the_losses_of_an_uninterrupted_one(examples, tmp_path):
    whole = train_joints(RUN, examples, {"watch": examples[:1]}, tmp_path / "whole")
    train_joints(RUN, examples, {"watch": examples[:1]}, tmp_path / "parts", stop_at=4)
    resumed = train_joints(RUN, examples, {"watch": examples[:1]}, tmp_path / "parts", resume=True)
    assert losses(tmp_path / "whole") == losses(tmp_path / "parts")
    for one, two in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, two)


def test_an_interrupted_run_of_joints_leaves_a_checkpoint(examples, tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_joints(RUN, examples, {}, tmp_path, report=interrupt)
    assert (tmp_path / CHECKPOINT).exists()


def test_a_run_may_begin_with_the_weights_of_another(examples, tmp_path):
    first = train_joints(RUN, examples, {}, tmp_path / "first")
    second = train_joints(
        replace(RUN, steps=0), examples, {}, tmp_path / "second", start_from=tmp_path / "first" / CHECKPOINT
    )
    for one, two in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, two)


def test_every_source_has_its_share_of_the_draws(examples):
    mixed = [replace(example, source=k % 2) for k, example in enumerate(examples)]
    batches = Batches(mixed, 2, 24, (0.8, 0.2), np.random.default_rng(0))
    assert 0.1 < np.mean([batches._draw().source for _ in range(400)]) < 0.3
    with pytest.raises(NeurokError, match="no examples"):
        Batches([], 2, 24, (), np.random.default_rng(0))
    with pytest.raises(NeurokError, match="needs a share"):
        Batches(mixed, 2, 24, (1.0,), np.random.default_rng(0))


def test_categories_and_objects_left_out_are_watched_and_not_learned_from(tmp_path):
    for number in range(4):
        save(make_sample("laptop"), tmp_path / "data" / f"Laptop_{number}.npz")
        save(make_sample("cabinet"), tmp_path / "data" / f"TrashCan_{number}.npz")
    split = split_examples([tmp_path / "data"], "joints", tmp_path / "cache", leave_out=("trash_can",))
    assert {example.name.split("_")[0] for example in split.train + split.watch} == {"Laptop"}
    assert {example.name.split("_")[0] for example in split.left_out} == {"TrashCan"}
    split = split_examples([tmp_path / "data"], "joints", tmp_path / "cache", leave_out=("TrashCan_2", "Laptop"))
    assert "TrashCan_2" not in {example.name.split(".")[0] for example in split.train + split.watch}
    assert {name for example in split.left_out if (name := example.name.split(".")[0]).startswith("Trash")} == {
        "TrashCan_2"
    }
    with pytest.raises(NeurokError, match="no object or category 'Boat'"):
        split_examples([tmp_path / "data"], "joints", tmp_path / "cache", leave_out=("Boat",))


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
    again = decode(path)
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
    assert list(prepare([Thing("bad", True, fail)], "joints", tmp_path, told.append)) == []
    assert told == ["bad is left out: it is broken."]


@pytest.mark.slow
def test_an_object_becomes_examples_of_several_kinds():
    joints = make_sample("laptop").articulation
    thing = Thing("laptop", True, lambda: (joints.mesh, joints.joints))
    assert [example.name for example in make_examples(thing, "joints")] == [
        "laptop.rest",
        "laptop.posed",
        "laptop.pieces",
    ]
    searched = make_examples(thing, "search")[0]
    assert np.allclose(searched.labels.kinds.sum(axis=1), 1.0)


def test_an_unknown_recipe_is_named():
    with pytest.raises(NeurokError, match="known are base, tipped, pretraining, smoke"):
        find_joint_recipe("huge")
