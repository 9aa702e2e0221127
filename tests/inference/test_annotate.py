"""Joints for collections without labels: what is kept, and why other things are not."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from neurok import io
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.cli import main
from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.inference.plan import study
from neurok.modelling.shapes import slab
from neurok_lab.data.annotate import SelfMade
from neurok_lab.data.build import RECIPES, build
from neurok_lab.data.shards import ShardSet
from neurok_lab.data.still import find_still_sources
from solids import door_on_a_box, drawer_in_a_box, knob_on_a_block, of_parts

SEARCH = SelfMade.by("search")


@pytest.fixture
def folder(tmp_path):
    """Two that can move, one of a single piece, one that cannot be read, one that moves already."""
    out = tmp_path / "meshes"
    io.save(drawer_in_a_box(), out / "drawer.glb")
    io.save(door_on_a_box(), out / "deeper" / "door.obj")
    io.save(of_parts(only=[slab((0, 0, 0), (1, 1, 1))]), out / "block.obj")
    (out / "broken.glb").write_bytes(b"glTF nonsense")
    found, _ = SEARCH(Asset(knob_on_a_block()))
    io.save(found, out / "knob.npz")
    return out


@pytest.mark.parametrize(
    ("mesh", "kind"),
    [(drawer_in_a_box(), "prismatic"), (door_on_a_box(), "revolute"), (knob_on_a_block(), "continuous")],
)
def test_what_moves_freely_is_kept(mesh, kind):
    made, reasons = SEARCH(Asset(mesh))
    assert reasons == []
    assert [joint.kind for joint in made.articulation.joints] == ["fixed", kind]


def test_reasons_are_named_for_all_that_is_turned_away():
    assert SEARCH(Asset(of_parts(only=[slab((0, 0, 0), (1, 1, 1))]))) == (None, ["object of one piece"])
    assert replace(SEARCH, sure=1.1)(Asset(drawer_in_a_box())) == (
        None,
        ["joint that is not sure enough", "object without a joint that holds"],
    )


@pytest.mark.parametrize(("axis", "reason"), [(0, "joint that collides or comes loose at once"), (2, None)])
def test_a_joint_along_which_nothing_can_go_is_turned_away(axis, reason):
    found = study(drawer_in_a_box(), method="search")
    slide = Hypothesis(1, 0, "prismatic", np.eye(3)[axis], np.zeros(3), 0.0, 0.4, 1.0)
    kept, said = SEARCH._checked(slide, found.plan.mesh, found.search, (-1, 0))
    assert said == reason
    assert (kept is None) == (reason is not None)


def test_it_can_be_sent_to_other_processes_and_knows_its_weights():
    assert pickle.loads(pickle.dumps(SEARCH)) == SEARCH
    assert SEARCH.name == "search"
    learned = SelfMade.by()
    assert learned.name.startswith("learned ")
    assert len(learned.digest) == 12


def test_meshes_that_stand_still_become_items_that_move(folder, tmp_path):
    sources = find_still_sources([folder], SEARCH)
    manifest = build(RECIPES["real"], tmp_path / "out", still=sources)
    assert manifest["items"] == 2
    assert manifest["rejected"] == {
        "object of one piece": 1,
        "source that cannot be read": 1,
        "source that moves already: it belongs to --add": 1,
    }
    items = list(ShardSet.open(tmp_path / "out"))
    assert [item.info["joints"] for item in items] == [["revolute"], ["prismatic"]]
    assert {item.info["source"] for item in items} == {"drawer.glb", "door.obj"}
    for item in items:
        assert item.info["provenance"]["joints"] == "found by neurok, search"
        assert item.subject().motion.can_move.any()
    again = build(RECIPES["real"], tmp_path / "again", still=sources)
    assert [shard["sha256"] for shard in again["shards"]] == [shard["sha256"] for shard in manifest["shards"]]
    with pytest.raises(NeurokError, match="another recipe"):
        build(RECIPES["real"], tmp_path / "out", still=find_still_sources([folder], SelfMade.by()))


@pytest.mark.slow
def test_two_processes_and_the_network_give_the_bytes_of_one(folder, tmp_path):
    digests = []
    for workers in ("1", "2"):
        out = tmp_path / workers
        main(
            ["data", "build", "--recipe", "real", "--articulate", str(folder), "--out", str(out), "--workers", workers]
        )
        digests.append([shard["sha256"] for shard in json.loads((out / "manifest.json").read_text())["shards"]])
    assert digests[0] == digests[1]


def test_folders_without_meshes_get_a_sentence(tmp_path):
    for folder, word in ((tmp_path, "holds no mesh"), (tmp_path / "none", "not a folder")):
        with pytest.raises(NeurokError, match=word):
            find_still_sources([folder], SEARCH)
