import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from neurok.cli import main
from neurok.data.subject import subject_of
from neurok.deformation.handles import HandleConfig
from neurok.deformation.points import PointConfig
from neurok.errors import FormatError, NeurokError
from neurok.hub import load_card, load_model
from neurok.samples import make_sample
from neurok.train.config import TrainConfig
from neurok.train.loop import Split, train
from neurok.train.recipes import smoke

POINTS = PointConfig(width=32, heads=2, tokens=4, latent=4, prior_depth=1, pose_depth=1, decoder_depth=1, octaves=4)
ORIGIN = {"data": [{"name": "made", "items": 1, "licenses": {"CC0-1.0": 1}}], "commit": "abc"}


@pytest.fixture(scope="module")
def split() -> Split:
    subjects = [subject_of(make_sample("laptop"))]
    return Split(subjects, {"watch": subjects})


@pytest.mark.parametrize("model", [smoke().model, POINTS])
def test_a_run_is_shipped_with_its_card_and_can_be_gone_on_with(split, tmp_path, capsys, model):
    config = replace(smoke(), model=model, steps=4, evaluate_every=2, warmup=1, seed=3)
    average = train(config, split, tmp_path / "run", origin=ORIGIN)
    out = tmp_path / "mine.safetensors"
    main(["train", "ship", str(tmp_path / "run"), "--out", str(out), "--json"])
    assert json.loads(capsys.readouterr().out)["steps"] == 4

    shipped, card = load_model(out), load_card(out)
    assert type(shipped) is type(average.model)
    for one, two in zip(average.model.parameters(), shipped.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-3, atol=1e-4)
    assert card["data"] == ORIGIN["data"]
    assert (card["steps"], card["seed"], card["commit"]) == (4, 3, "abc")
    assert 0 < card["metrics"]["watch"] < 2
    assert "--start-from" in card["go_on"]

    begun = train(config, split, tmp_path / "next", start_from=out, stop_at=0)
    for one, two in zip(begun.model.parameters(), shipped.parameters(), strict=True):
        assert torch.equal(one, two)


def test_several_runs_of_one_line_are_shipped_as_their_mean(split, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("neurok.train.subjects.split_subjects", lambda folders: split)
    monkeypatch.setattr("neurok.train.subjects.licenses_of", lambda folder: {"name": str(folder)})
    config, runs = replace(smoke(), steps=2, evaluate_every=2, warmup=1), [tmp_path / "first", tmp_path / "second"]
    first = train(config, split, runs[0])
    second = train(replace(config, steps=4), split, runs[1], start_from=runs[0] / "checkpoint.safetensors")
    out = tmp_path / "mean.safetensors"
    line = ["train", "ship", *map(str, runs), "--out", str(out), "--json"]
    with pytest.raises(SystemExit):
        main(line)
    assert "name their data sets" in capsys.readouterr().err
    main([*line, "--data", "made"])
    for one, two, mean in zip(*(m.parameters() for m in (first.model, second.model, load_model(out))), strict=True):
        torch.testing.assert_close((one + two) / 2, mean, rtol=1e-3, atol=1e-4)
    card = load_card(out)
    assert card["steps"] == 6
    assert [part["steps"] for part in card["mean_of"]] == [2, 4]
    assert 0 < card["metrics"]["watch"] < 2


def test_going_on_takes_the_model_of_the_weights_whatever_the_recipe(split, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("neurok.train.subjects.split_subjects", lambda folders: split)
    train(replace(smoke(), model=POINTS, steps=1, warmup=1), split, tmp_path / "run")
    run, out = tmp_path / "run", tmp_path / "mine.safetensors"
    main(["train", "ship", str(run), "--out", str(out), "--json"])
    line = ["train", "deformation", "--recipe", "smoke", "--steps", "2", "--data", "none", "--json"]
    main([*line, "--out", str(run), "--resume"])
    for number, start in enumerate((run / "checkpoint.safetensors", out)):
        main([*line, "--out", str(tmp_path / f"next{number}"), "--start-from", str(start)])
        main(["train", "ship", str(tmp_path / f"next{number}"), "--out", str(out.with_stem(f"next{number}")), "--json"])
        assert load_model(out.with_stem(f"next{number}")).config == POINTS
    with pytest.raises(SystemExit):
        main([*line, "--out", str(tmp_path / "other"), "--start-from", str(tmp_path / "none.safetensors")])
    assert "no weights to go on with" in capsys.readouterr().err


def test_weights_of_another_model_get_a_sentence(split, tmp_path):
    small = replace(smoke(), steps=1, warmup=1)
    train(small, split, tmp_path / "run")
    main(["train", "ship", str(tmp_path / "run"), "--out", str(tmp_path / "mine.safetensors"), "--json"])
    with pytest.raises(FormatError, match="do not fit this model"):
        train(replace(small, model=POINTS), split, tmp_path / "next", start_from=tmp_path / "mine.safetensors")


def test_what_is_no_run_gets_a_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["train", "ship", str(tmp_path), "--out", str(tmp_path / "mine.safetensors")])
    assert "neurok:" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["train", "ship", str(tmp_path), "--out", str(Path("mine.bin"))])
    assert ".safetensors" in capsys.readouterr().err


def test_a_configuration_from_before_there_were_two_models_still_reads():
    values = TrainConfig().as_dict()
    old = {k: v for k, v in values["model"].items() if k not in ("decoder", "rotations")}
    again = TrainConfig.from_dict({**values, "model": old})
    assert again == TrainConfig(model=HandleConfig())
    with pytest.raises(NeurokError, match="known are handles, points"):
        TrainConfig.from_dict({**values, "model": {"decoder": "none"}})
