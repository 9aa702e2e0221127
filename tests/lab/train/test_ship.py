import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from neurok.catalogue.samples import make_sample
from neurok.cli import main
from neurok.errors import NeurokError
from neurok.hub import load_card, load_model
from neurok.io import save
from neurok_lab.data.build import Recipe, build
from neurok_lab.train.articulation import RECIPES as JOINT_RECIPES
from neurok_lab.train.articulation import ArticulationTraining
from neurok_lab.train.deformation import RECIPES, DeformationTraining, split_subjects
from neurok_lab.train.loop import CHECKPOINT, train
from neurok_lab.train.run import DeformationData, train_model
from neurok_lab.train.ship import ship

TINY = replace(RECIPES["smoke"], steps=2, evaluate_every=2, warmup=1, seed=3)


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Five laptops, of which one is held out and watched."""
    folder = tmp_path_factory.mktemp("data")
    for number in range(5):
        save(make_sample("laptop").articulation, folder / "files" / f"Laptop_{number}.npz")
    build(Recipe("real", 0, 0, folders=(str(folder / "files"),)), folder / "set")
    return folder / "set"


def test_a_run_is_shipped_with_its_card_and_can_be_gone_on_with(data, tmp_path, capsys):
    line = ["train", "deformation", "--recipe", "smoke", "--steps", "4", "--seed", "3", str(data), "--json"]
    main([*line, "--out", str(tmp_path / "run")])
    assert json.loads(capsys.readouterr().out)["step"] == 4
    out = tmp_path / "mine.safetensors"
    main(["train", "ship", str(tmp_path / "run"), "--out", str(out), "--note", "a try", "--json"])
    assert json.loads(capsys.readouterr().out)["steps"] == 4
    card = load_card(out)
    assert card["data"][0]["items"] == 5
    assert (card["steps"], card["note"], card["runs"][0]["training"]["seed"]) == (4, "a try", 3)
    assert card["runs"][0]["commit"]
    assert 0 < card["metrics"]["seen"] < 2
    assert "--start-from" in card["go_on"]
    main([*line, "--out", str(tmp_path / "next"), "--start-from", str(out)])
    main(["train", "ship", str(tmp_path / "next"), "--out", str(tmp_path / "next.safetensors"), "--json"])
    begun = load_card(tmp_path / "next.safetensors")["runs"][0]["started_from"]
    assert (begun["name"], begun["steps"], begun["sha256"]) == ("mine", 4, card["sha256"])


def test_python_trains_by_one_function(data, tmp_path):
    lines: list[str] = []
    told = train_model(DeformationData((str(data),)), tmp_path / "run", recipe="smoke", steps=2, tell=lines.append)
    assert told["step"] == 2
    assert lines[0] == "40 subjects to learn from"
    going_on = {"steps": 3, "resume": True, "tell": lines.append}
    assert train_model(DeformationData((str(data),)), tmp_path / "run", **going_on)["step"] == 3


def test_several_runs_of_one_line_are_shipped_as_their_mean(data, tmp_path, capsys):
    split, runs = split_subjects([data]), [tmp_path / "first", tmp_path / "second"]
    first = train(DeformationTraining(TINY, split), runs[0])
    longer = DeformationTraining(replace(TINY, steps=4), split)
    second = train(longer, runs[1], start_from=runs[0] / CHECKPOINT)
    out = tmp_path / "mean.safetensors"
    line = ["train", "ship", *map(str, runs), "--out", str(out), "--json"]
    with pytest.raises(SystemExit):
        main(line)
    assert "name their data sets" in capsys.readouterr().err
    main([*line, "--data", str(data)])
    for one, two, mean in zip(*(m.parameters() for m in (first.model, second.model, load_model(out))), strict=True):
        torch.testing.assert_close((one + two) / 2, mean, rtol=1e-3, atol=1e-4)
    card = load_card(out)
    assert card["steps"] == 6
    assert [run["steps"] for run in card["runs"]] == [2, 4]
    assert 0 < card["metrics"]["seen"] < 2


def test_runs_of_two_tasks_or_models_are_not_shipped_together(data, examples, tmp_path):
    split = split_subjects([data])
    train(DeformationTraining(TINY, split), tmp_path / "one")
    train(DeformationTraining(replace(TINY, model=replace(TINY.model, tokens=6)), split), tmp_path / "two")
    train(ArticulationTraining(replace(JOINT_RECIPES["smoke"], steps=1), examples), tmp_path / "joints")
    for others, word in (
        (("two",), "different models"),
        (("joints",), "articulation and deformation; ship them separately"),
    ):
        with pytest.raises(NeurokError, match=word):
            ship([tmp_path / name for name in ("one", *others)], tmp_path / "out.safetensors", [data])


def test_what_is_no_run_gets_a_sentence(tmp_path, capsys):
    for arguments, word in (
        (["train", "ship", str(tmp_path), "--out", str(tmp_path / "mine.safetensors")], "There is no file"),
        (["train", "ship", str(tmp_path), "--out", "mine.bin"], "are written to a .safetensors file"),
        (["train", "deformation", "none", "--out", str(tmp_path), "--resume"], "There is no file"),
        (["train", "articulation", "none", "--out", str(tmp_path), "--start-from", "no"], "no weights 'no'"),
        (["train", "deformation", "none", "--out", str(tmp_path), "--steps", "-3"], "steps must be above 0"),
        (["train", "articulation", "none", "--out", str(tmp_path), "--steps", "-3"], "steps must be above 0"),
        (["train", "articulation", "none", "--out", str(tmp_path), "--limit", "0"], "limit must be at least"),
        (["train", "parts", str(tmp_path), "--out", str(tmp_path), "--objects", "-1"], "objects must be 1 or more"),
        (["train", "parts", str(tmp_path), "--out", str(tmp_path), "--recipe", "big"], "no recipe 'big' for parts"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(arguments)
        told = capsys.readouterr().err
        assert word in told
        assert told.count("\n") == 1
