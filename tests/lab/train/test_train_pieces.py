"""Learning which pieces are one body: examples, batches, and a run that goes on where it stood."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from neurok.bodyplan.plan import connected_pieces
from neurok.catalogue.samples import make_sample
from neurok.core import Joint
from neurok.errors import NeurokError
from neurok.learned.grouping_network import SLIDES, STATIC, TURNS
from neurok_lab.data.still import static_files
from neurok_lab.train.articulation import PIECE_RECIPES as RECIPES
from neurok_lab.train.articulation import PieceTraining, measure_pieces
from neurok_lab.train.batches import augmented_pieces
from neurok_lab.train.calibration import calibrate_pieces
from neurok_lab.train.checkpoint import load_weights
from neurok_lab.train.examples import PieceExample, Thing, piece_examples, plain_examples, prepare_pieces
from neurok_lab.train.loop import CHECKPOINT, train
from neurok_lab.train.versions import (
    FORMS,
    HANDLE_LENGTH,
    HANDLE_MOST,
    PieceDataConfig,
    bodies_of,
    merge_some,
    plain_pieces,
    with_handles,
)


@pytest.fixture(scope="module")
def examples() -> list[PieceExample]:
    cabinet = make_sample("cabinet").articulation
    moving = PieceExample("cabinet.0", *plain_pieces(cabinet.mesh, cabinet.joints), "real")
    still = PieceExample("still.0", *plain_pieces(cabinet.mesh, None), "static")
    return [moving, still]


def test_bodies_are_what_is_fixed_together():
    joints = (
        Joint("fixed", -1),
        Joint("prismatic", 0, axis=np.array([0.0, 0.0, 1.0])),
        Joint("fixed", 1),
        Joint("revolute", 2, axis=np.array([0.0, 1.0, 0.0])),
        Joint("fixed", 0),
    )
    bodies, moves = bodies_of(joints)
    assert bodies.tolist() == [0, 1, 1, 2, 0]
    assert moves.tolist() == [STATIC, SLIDES, TURNS]


def test_hidden_parts_come_back_as_truth(examples):
    moving, still = examples
    assert set(moving.moves) > {STATIC}
    assert (still.moves == STATIC).all()
    assert (still.bodies == 0).all()
    assert ((moving.bodies == 0) == (moving.moves == STATIC)).all()


def test_an_object_is_known_in_three_forms():
    cabinet = make_sample("cabinet").articulation
    found = plain_examples(Thing("cabinet", "real", lambda: (cabinet.mesh, cabinet.joints)))
    assert [example.name for example in found] == [f"cabinet.{form}" for form in FORMS]
    moving = sum(joint.kind != "fixed" for joint in cabinet.joints)
    named, melted = found[1], found[2]
    assert len(named.bodies) == len(cabinet.joints)
    assert len(set(named.bodies)) == moving + 1
    assert {STATIC} < set(melted.moves.tolist())
    assert len(set(melted.bodies)) > 1


def test_only_pieces_that_may_are_merged():
    may = np.zeros((6, 6), dtype=bool)
    may[:3, :3] = may[3:, 3:] = True
    for seed in range(20):
        groups = merge_some(may, np.random.default_rng(seed))
        assert not set(groups[:3]) & set(groups[3:])


def test_an_emptied_object_stands_still():
    cabinet = make_sample("cabinet").articulation
    thing = Thing("cabinet", "real", lambda: (cabinet.mesh, cabinet.joints))
    found = piece_examples(thing, PieceDataConfig(versions=(3, 0, 0), emptied=1.0))
    assert (found[0].moves > STATIC).any()
    assert all((example.moves == STATIC).all() for example in found[1:])


def test_handles_stand_on_the_body_they_belong_to():
    cabinet = make_sample("cabinet").articulation.mesh
    for seed in range(6):
        grown, goes_with = with_handles(cabinet, np.random.default_rng(seed))
        count = cabinet.face_count
        assert np.array_equal(grown.vertices[grown.faces[:count]], cabinet.vertices[cabinet.faces])
        assert goes_with[:count].tolist() == list(range(count))
        pieces = connected_pieces(grown)
        added = np.unique(pieces[count:])
        assert 1 <= len(added) <= 2 * HANDLE_MOST
        assert not set(added) & set(pieces[:count])
        for piece in added:
            mine = np.flatnonzero(pieces == piece)
            corners = grown.vertices[grown.faces[mine]].reshape(-1, 3)
            place = cabinet.vertices[cabinet.faces[goes_with[mine[0]]]].mean(axis=0)
            assert len(np.unique(goes_with[mine])) == 1
            assert np.linalg.norm(np.ptp(corners, axis=0)) < 2 * HANDLE_LENGTH[1] * cabinet.size
            assert (np.linalg.norm(corners - place, axis=1) < HANDLE_LENGTH[1] * cabinet.size).any()


def test_the_last_versions_have_handles_added():
    cabinet = make_sample("cabinet").articulation
    thing = Thing("cabinet", "real", lambda: (cabinet.mesh, cabinet.joints))
    plain = {"posed": 0.0, "named": 0.0, "melted": 0.0, "emptied": 0.0, "thinned": 0.0}
    plain |= {"holed": 0.0, "plain": 0.0, "split": 0.0, "merged": 0.0}
    found = piece_examples(thing, PieceDataConfig(versions=(3, 0, 0), handles=(1, 0, 0), **plain))
    assert len(found[0].bodies) == len(found[1].bodies) < len(found[2].bodies)
    assert set(found[2].bodies) == set(found[0].bodies)


def test_prepared_examples_are_kept(tmp_path):
    cabinet = make_sample("cabinet").articulation
    thing = Thing("cabinet", "real", lambda: (cabinet.mesh, cabinet.joints))
    config = PieceDataConfig(versions=(2, 0, 0))
    first = list(prepare_pieces([thing], config, tmp_path))
    gone = Thing("cabinet", "real", lambda: pytest.fail("it was kept"))
    again = list(prepare_pieces([gone], config, tmp_path))
    assert [e.name for e in first] == [e.name for e in again]
    assert np.array_equal(first[1].clouds.points, again[1].clouds.points)
    assert again[1].bodies.tolist() == first[1].bodies.tolist()


def test_views_keep_the_truth_in_step_with_the_pieces(examples):
    how = RECIPES["smoke"].view
    for seed in range(10):
        view = augmented_pieces(examples[0], np.random.default_rng(seed), how)
        assert len(view.clouds.points) == len(view.bodies) == len(view.moves) == len(view.clouds.pairs)


def test_an_interrupted_run_ends_as_an_uninterrupted_one(examples, tmp_path):
    recipe = replace(RECIPES["smoke"], steps=6, evaluate_every=6)
    task = PieceTraining(recipe, examples, {"real": examples[:1]})
    whole = train(task, tmp_path / "whole")
    train(task, tmp_path / "cut", stop_at=3)
    resumed = train(task, tmp_path / "cut", resume=True)
    for first, second in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(first, second)
    module = recipe.build()
    load_weights(tmp_path / "cut" / CHECKPOINT, "pieces", [module])
    assert measure_pieces(module.model, examples) == measure_pieces(resumed.model, examples)


def test_calibration_never_surprises_more(examples):
    torch.manual_seed(0)
    model = RECIPES["smoke"].build().model.eval()
    _, facts = calibrate_pieces((model,), examples)
    for name in ("moves", "anything"):
        assert facts["nats"][name]["after"] <= facts["nats"][name]["before"] + 1e-3


def test_things_that_open_are_not_called_static(tmp_path: Path):
    names = [f"chair_{k}" for k in range(6)] + ["kitchen_cabinet", "Door_1"]
    for name in names:
        (tmp_path / f"{name}.glb").touch()
    learned, kept = static_files(tmp_path)
    assert [path.stem for path in kept] == ["chair_0", "chair_5"]
    assert {path.stem for path in learned} == {"chair_1", "chair_2", "chair_3", "chair_4"}
    with pytest.raises(NeurokError, match="holds no static objects"):
        static_files(tmp_path / "nowhere")


def test_unknown_recipes_are_named():
    with pytest.raises(NeurokError, match="base, further, smoke"):
        RECIPES["grand"]
