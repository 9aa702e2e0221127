"""What a run of the joint model leaves behind, and what it does not learn from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.cli import main
from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.hub import load_card, load_model
from neurok.io import save
from neurok.io.files import read_card
from neurok.learned.joints import predict_joints
from neurok.learned.part_features import describe_parts
from neurok.learned.part_views import labels_of
from neurok_lab.data.annotate import SelfMade
from neurok_lab.data.build import RECIPES, Recipe, build
from neurok_lab.data.still import UNSEEN_CATEGORIES, category, find_still_sources
from neurok_lab.evaluation.articulation import find_joint_method
from neurok_lab.train.batches import JointViewConfig, augmented, without_some
from neurok_lab.train.examples import Example, JointDataConfig, describe_data, find_things, joint_examples
from neurok_lab.train.ship import HELD_OUT, ship

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("joints")
    for number in range(7):
        save(make_sample("laptop" if number % 2 else "cabinet"), folder / "data" / f"Laptop_{number}.npz")
    args = ["--recipe", "smoke", "--steps", "2", str(folder / "data"), "--out", str(folder / "run")]
    main(["train", "articulation", *args, "--json"])
    return folder / "run"


def test_a_run_leaves_calibrated_weights_with_a_card_that_says_where_they_come_from(run, tmp_path):
    card = ship([run], tmp_path / "joints.safetensors", note="a try")
    assert card["runs"][0]["steps"] == 2
    assert card["note"] == "a try"
    assert card["runs"][0]["started_from"] is None
    assert card["data"] == [describe_data(run.parent / "data")]
    assert card["data"][0]["items"] == 7
    assert card["calibrated_on"]["objects"] == 1
    assert card["calibrated_on"]["parts"] > 1
    model = load_model(tmp_path / "joints.safetensors")
    assert model.piece_calibration != (1.0, 0.0) != model.calibration
    assert str(run) not in (tmp_path / "joints.json").read_text()
    with pytest.raises(NeurokError, match=r"\.safetensors file"):
        ship([run], tmp_path / "joints.pt")


def test_confidence_in_pieces_has_a_calibration_of_its_own(run, tmp_path):
    ship([run], tmp_path / "joints.safetensors")
    model = load_model(tmp_path / "joints.safetensors")
    mesh = make_sample("laptop").mesh
    model.piece_calibration = (1.0, -8.0)
    sure, doubtful = (predict_joints(mesh, model, pieces=pieces) for pieces in (False, True))
    for one, other in zip(sure.answers, doubtful.answers, strict=True):
        assert (one.kind, one.lower) == (other.kind, other.lower)
        assert other.probability < 0.01 < one.probability


def test_weights_for_use_may_learn_from_everything_and_are_not_measured_by_what_they_have_seen(run, tmp_path):
    data = run.parent / "data"
    assert len(find_things(data)) == 5
    assert {thing.name for thing in find_things(data, everything=True)} == {f"Laptop_{number}" for number in range(7)}
    args = ["--recipe", "smoke", "--steps", "1", str(data), "--out", str(tmp_path / "all"), "--everything"]
    main(["train", "articulation", *args, "--json"])
    for folder, held_out in ((tmp_path / "all", None), (run, HELD_OUT)):
        card = read_card(folder / "articulation.json")
        assert card["held_out"] == held_out
        assert ("Laptop_5" in card["learned_from"]) == (held_out is None)
    names = ["Laptop_5"]
    with pytest.raises(NeurokError, match=r"have learned from 1 of the objects to be measured, such as 'Laptop_5'"):
        find_joint_method(f"learned@{tmp_path / 'all' / 'articulation.safetensors'}", names)
    assert find_joint_method(f"learned@{run / 'articulation.safetensors'}", names).label == "articulation"
    with pytest.raises(NeurokError, match="ship them separately"):
        ship([run, tmp_path / "all"], tmp_path / "both.safetensors")
    begun = ["--start-from", str(tmp_path / "all" / "checkpoint.safetensors"), "--json"]
    main(["train", "articulation", *args[:-1], *begun])
    again = read_card(tmp_path / "all" / "articulation.json")
    assert again["held_out"] is None
    assert "Laptop_5" in again["learned_from"]


def test_shipped_weights_are_measured_by_their_twin_where_they_have_learned_from_the_objects():
    known, twin = (load_card(name) for name in ("articulation", "articulation_held_out"))
    assert (known["held_out"], twin["held_out"]) == (None, HELD_OUT)
    assert set(twin["learned_from"]) < set(known["learned_from"])
    assert not {category(name) for name in twin["learned_from"]} & set(UNSEEN_CATEGORIES)
    unknown = next(name for name in known["learned_from"] if name not in twin["learned_from"])
    assert find_joint_method("learned", ["Laptop_0"]).label == "shipped"
    assert find_joint_method("learned", ["Laptop_0", unknown]).label == "held-out twin"
    with pytest.raises(NeurokError, match=r"articulation_held_out.safetensors' have learned from 1 of"):
        find_joint_method("learned", twin["learned_from"][:1])


def test_generated_objects_of_two_seeds_have_names_of_their_own(tmp_path):
    recipe = Recipe("two", 2, 0, families=("box",))
    names = []
    for seed in (0, 1):
        build(recipe, tmp_path / str(seed), seed=seed)
        names += [thing.name for thing in find_things(tmp_path / str(seed))]
    assert len(set(names)) == len(names) == 4


def test_held_out_families_and_samples_without_a_seed_are_found(tmp_path):
    save(make_sample("laptop"), tmp_path / "files" / "laptop.npz")
    build(Recipe("two", 2, 0, folders=(str(tmp_path / "files"),), families=("cart", "box")), tmp_path / "out")
    assert [category(thing.name) for thing in find_things(tmp_path / "out")] == ["box", "laptop"]
    assert len(find_things(tmp_path / "out", everything=True)) == 3


@pytest.mark.slow
def test_raw_objects_are_known_by_the_same_name_in_a_folder_and_in_a_data_set(real_data, tmp_path):
    raw = real_data / "partnet_mobility" / "raw"
    plain = {thing.name for thing in find_things(raw, everything=True)}
    build(replace(RECIPES["real"], folders=(str(raw),)), tmp_path / "out")
    assert {thing.name for thing in find_things(tmp_path / "out", everything=True)} == plain
    assert plain == {folder.name for folder in raw.iterdir()}


def test_joints_that_neurok_found_itself_teach_nothing(tmp_path):
    for name in ("held_out", "laptop"):
        save(Asset(make_sample("laptop").mesh), tmp_path / "still" / f"{name}.glb")
    build(RECIPES["real"], tmp_path / "out", still=find_still_sources([tmp_path / "still"], SelfMade.by("search")))
    (thing,) = find_things(tmp_path / "out")
    mesh, joints = thing.load()
    assert mesh.part_count == 2
    assert joints is None
    assert joint_examples(thing, JointDataConfig(())) == []
    assert len(joint_examples(thing, JointDataConfig((), "search"))) == 1


@pytest.fixture(scope="module")
def cabinet() -> Example:
    joints = make_sample("cabinet").articulation
    clouds = describe_parts(joints.mesh)
    return Example("cabinet.rest", clouds, labels_of(clouds, joints.joints), True)


def test_an_object_without_some_parts_keeps_a_root_and_the_joints_of_the_rest(cabinet):
    rng, sizes = np.random.default_rng(0), set()
    for _ in range(40):
        clouds, labels = without_some(cabinet.clouds, cabinet.labels, 0.6, rng)
        count = len(clouds.parts)
        sizes.add(count)
        assert clouds.pairs.shape[:2] == (count, count)
        assert (labels.parents == np.arange(count)).sum() == 1
        assert set(labels.parents.tolist()) <= set(range(count))
        for owner, axis in zip(labels.owners, labels.axes, strict=True):
            part = clouds.parts[owner]
            before = np.flatnonzero(cabinet.clouds.parts[cabinet.labels.owners] == part)
            assert np.allclose(cabinet.labels.axes[before], axis)
    assert min(sizes) >= 2
    assert len(sizes) > 1


def test_a_tipped_view_lies_on_another_side_and_its_axes_with_it(cabinet):
    rng = np.random.default_rng(0)
    height = np.ptp(cabinet.clouds.points, axis=(0, 1))[1]
    lying = 0
    for _ in range(12):
        clouds, labels = augmented(cabinet, rng, JointViewConfig(tipped=1.0, stretch=0.0))
        lying += abs(np.ptp(clouds.points, axis=(0, 1))[1] - height) > 0.05
        for owner, axis in zip(labels.owners, labels.axes, strict=True):
            nearest = np.abs(clouds.directions[owner] @ axis).max()
            assert nearest > 0.999
    assert lying > 4
