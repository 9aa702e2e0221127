"""What names of parts tell: which parts are one body, and which of them turn or slide."""

import numpy as np
import pytest

from neurok.errors import NeurokError
from neurok.io import save
from neurok.modelling.shapes import slab
from neurok_lab.data.still import named_files, named_joints
from neurok_lab.train.examples import PieceSources, training_things, watched
from neurok_lab.train.versions import STATIC, TURNS, bodies_of
from solids import of_parts


def fridge(**names: str):
    """A case and a door of two surfaces."""
    boxes = {
        "case": slab((0, 0, 0), (1, 1.8, 0.5)),
        "door": slab((0, 0, 0.5), (1, 1.8, 0.55)),
        "handle": slab((0.9, 0.8, 0.55), (0.95, 1.2, 0.6)),
    }
    return of_parts(**{names.get(name, name): [box] for name, box in boxes.items()})


def test_surfaces_of_one_part_are_one_body_that_turns_and_the_rest_is_the_base():
    joints = named_joints(fridge(case="fridge_a", door="doorTop_b", handle="doorTop_c"), "fridge")
    assert [joint.kind for joint in joints] == ["fixed", "revolute", "fixed"]
    assert [joint.parent for joint in joints] == [-1, 0, 1]
    assert joints[1].lower == joints[1].upper == 0.0
    bodies, moves = bodies_of(joints)
    np.testing.assert_array_equal(bodies, [0, 1, 1])
    np.testing.assert_array_equal(moves, [STATIC, TURNS])


def test_what_is_called_as_the_object_is_its_base_though_its_name_tells_of_drawers():
    joints = named_joints(fridge(case="tableDrawers", door="drawerLeft", handle="drawerRight"), "tableDrawers")
    assert [joint.kind for joint in joints] == ["fixed", "prismatic", "prismatic"]


@pytest.mark.parametrize("names", [{"door": "front", "handle": "bar"}, {"case": "door_a", "handle": "door_b"}])
def test_nothing_is_told_where_no_part_or_every_part_has_such_a_name(names):
    assert named_joints(fridge(**names), "fridge") is None


def test_every_fifth_object_is_watched_and_not_learned_from(tmp_path):
    for number in range(6):
        save(fridge(handle="door_b"), tmp_path / f"fridge{number}.glb")
    learned, kept = named_files(tmp_path)
    assert [path.stem for path in kept] == ["fridge0", "fridge5"]
    assert len(learned) == 4
    sources = PieceSources(named=(str(tmp_path),), generated=0)
    asked, aside = training_things(sources), watched(sources)
    assert not {thing.name for thing in asked} & {thing.name for thing in aside}
    mesh, joints = asked[0].load()
    assert sorted(joint.kind for joint in joints) == ["fixed", "fixed", "revolute"]
    assert len(joints) == mesh.part_count


def test_a_folder_without_such_names_is_refused(tmp_path):
    save(fridge(door="front", handle="bar"), tmp_path / "box.glb")
    with pytest.raises(NeurokError, match="no object with parts named as door or drawer"):
        named_files(tmp_path)
