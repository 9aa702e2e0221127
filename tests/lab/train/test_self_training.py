"""Objects without labels are learned from only where their own plans are sure."""

from dataclasses import replace

import pytest

from neurok import load, save
from neurok.errors import NeurokError
from neurok_lab.data.still import moving_files, static_files
from neurok_lab.train.examples import PieceSources, piece_examples, training_things
from neurok_lab.train.versions import PieceDataConfig


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    room = tmp_path_factory.mktemp("unlabelled")
    save(load("sample:cabinet").mesh, room / "cabinet.glb")
    save(load("sample:pillow").mesh, room / "pillow.glb")
    return room


def things(folder, sure):
    return training_things(PieceSources(unlabelled=(str(folder),), generated=0, sure=sure))


def test_files_whose_names_tell_of_motion_are_neither_static_nor_forgotten(folder):
    assert [path.stem for path in moving_files(folder)] == ["cabinet"]
    learned, kept = static_files(folder)
    assert [path.stem for path in (*learned, *kept)] == ["pillow"]


@pytest.mark.slow
def test_a_plan_that_is_sure_enough_labels_its_own_object(folder):
    (thing,) = things(folder, sure=0.0)
    mesh, joints = thing.load()
    assert thing.source == "real"
    assert any(joint.kind != "fixed" for joint in joints)
    assert len(joints) == mesh.part_count


@pytest.mark.slow
def test_a_plan_that_is_not_sure_teaches_nothing(folder):
    (thing,) = things(folder, sure=0.9999)
    with pytest.raises(NeurokError, match="is not learned from: its plan is not sure of what moves"):
        thing.load()


def test_an_object_said_to_stand_still_is_a_static_example(folder):
    (thing,) = things(folder, sure=0.0)
    mesh, _ = thing.load()
    examples = piece_examples(replace(thing, load=lambda: (mesh, None)), PieceDataConfig())
    assert examples
    assert {example.source for example in examples} == {"static"}
    assert not any(example.moves.any() for example in examples)
