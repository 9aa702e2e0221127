import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from neurok.data.subject import Subject, subject_of
from neurok.data.view import ViewConfig, draw, stack
from neurok.deformation.handles import HandleConfig
from neurok.deformation.loss import DeformationTask, PairTensors
from neurok.deformation.points import PointConfig
from neurok.errors import NeurokError
from neurok.hub import load_card, load_model, save_model
from neurok.samples import make_sample
from neurok.train.loop import CHECKPOINT, Split, train
from neurok.train.optimizer import Muon, orthogonalise
from neurok.train.recipes import RECIPES, find_recipe, smoke

RUN = replace(smoke(), steps=8, evaluate_every=2, warmup=2, kl_start=2, kl_ramp=4)

POINTS = PointConfig(width=32, heads=2, tokens=4, latent=4, prior_depth=1, pose_depth=1, decoder_depth=1, octaves=4)


@pytest.fixture(scope="module")
def subjects() -> list[Subject]:
    return [subject_of(make_sample(name)) for name in ("laptop", "cabinet", "lamp")]


def losses(folder: Path) -> list[float]:
    return [json.loads(line)["relative"] for line in (folder / "log.jsonl").read_text().splitlines()]


def test_a_resumed_run_has_the_losses_of_an_uninterrupted_one(subjects, tmp_path):
    split = Split(subjects, {"watch": subjects[:1]})
    whole = train(RUN, split, tmp_path / "whole")
    train(RUN, split, tmp_path / "parts", stop_at=4)
    resumed = train(RUN, split, tmp_path / "parts", resume=True)
    assert losses(tmp_path / "whole") == losses(tmp_path / "parts")
    for one, two in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, two)


def test_an_interruption_leaves_a_checkpoint(subjects, tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(RUN, Split(subjects, {}), tmp_path, report=interrupt)
    assert (tmp_path / CHECKPOINT).exists()
    train(RUN, Split(subjects, {}), tmp_path, resume=True)
    assert len(losses(tmp_path)) == 4


@pytest.mark.slow
@pytest.mark.parametrize("model", [smoke().model, POINTS], ids=lambda model: model.decoder)
def test_half_precision_learns(subjects, tmp_path, model):
    view = ViewConfig(subjects=2, targets=4, points=4, augment=False)
    config = replace(RUN, model=model, view=view, bf16=True, steps=80, evaluate_every=10, warmup=5, decay=0.0)
    train(replace(config, kl_start=1000), Split(subjects[:1], {}), tmp_path)
    assert np.isfinite(losses(tmp_path)).all()
    assert losses(tmp_path)[-1] < 0.7 * losses(tmp_path)[0]


def test_without_rotations_handles_only_shift(subjects):
    config = HandleConfig(width=32, heads=2, rotations=False)
    task = DeformationTask(config)
    batch = PairTensors.of(stack([draw(subjects[0], ViewConfig(targets=1), np.random.default_rng(0))]))
    motion = task.model.decode(task.model.encode_rest(batch.rest), torch.randn(1, task.model.latent_size))
    assert torch.equal(motion.rotations, torch.eye(3).expand(1, 32, 3, 3))
    assert float(motion.shifts.detach().abs().max()) > 0.01


def test_ablations_differ_in_one_choice_alone():
    full = find_recipe("ablate_full")
    assert full.kl_start + full.kl_ramp <= full.steps / 2
    for name in RECIPES:
        if name.startswith("ablate_") and "points" not in name:
            other = find_recipe(name)
            assert replace(other, model=full.model, view=full.view) == full
            assert replace(other.view, augment=True) == full.view
    dual, plain = find_recipe("ablate_points"), find_recipe("ablate_points_no_dual")
    assert plain != dual == replace(plain, model=dual.model)
    assert replace(plain.model, dual_quaternions=True) == dual.model
    assert dual.steps == full.steps
    assert dual.weights(dual.steps // 2) == full.weights(full.steps // 2)


@pytest.mark.slow
def test_two_processes_train_together(tmp_path):
    code = (
        "import sys, torch\nfrom pathlib import Path\nfrom dataclasses import replace\n"
        "from neurok.data.subject import subject_of\nfrom neurok.samples import make_sample\n"
        "from neurok.train.loop import Split, train\nfrom neurok.train.recipes import smoke\n"
        "run = replace(smoke(), steps=12, evaluate_every=6, checkpoint_minutes=0)\n"
        "model = train(run, Split([subject_of(make_sample('laptop'))], {}), Path(sys.argv[1]))\n"
        "total = sum(float(p.double().sum()) for p in model.parameters())\n"
        "Path(sys.argv[1], f'sum{torch.distributed.get_rank()}').write_text(repr(total))\n"
    )
    script = tmp_path / "run.py"
    script.write_text(code)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=29517", str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, str(tmp_path)], check=True, env=environment, timeout=300)
    assert (tmp_path / "sum0").read_text() == (tmp_path / "sum1").read_text()
    assert (tmp_path / CHECKPOINT).exists()


def test_orthogonalised_matrices_have_singular_values_near_one():
    for shape in ((3, 16, 48), (2, 48, 16)):
        matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        values = torch.linalg.svdvals(orthogonalise(matrices))
        assert 0.5 < float(values.min()) <= float(values.max()) < 1.5


def test_muon_descends_a_quadratic():
    weight = torch.nn.Parameter(torch.randn(8, 8, generator=torch.Generator().manual_seed(1)))
    optimizer = Muon([weight], lr=0.04, weight_decay=0.0)
    first = float((weight**2).sum().detach())
    for _ in range(100):
        optimizer.zero_grad()
        (weight**2).sum().backward()
        optimizer.step()
    assert float((weight**2).sum().detach()) < 0.1 * first


def test_weights_keep_their_meaning_in_float16_and_are_checked(subjects, tmp_path):
    model = train(RUN, Split(subjects, {}), tmp_path).model
    path = tmp_path / "mine.safetensors"
    save_model(model, path, {"data": "samples"})
    again = load_model(path)
    for one, two in zip(model.parameters(), again.parameters(), strict=True):
        np.testing.assert_allclose(one.detach(), two, rtol=1e-3, atol=1e-4)
    assert load_card(path)["data"] == "samples"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    other = tmp_path / "other.safetensors"
    other.write_bytes(path.read_bytes() + b"\0")
    other.with_suffix(".json").write_bytes(path.with_suffix(".json").read_bytes())
    with pytest.raises(NeurokError, match="checksum"):
        load_model(other)


def test_unknown_names_get_a_sentence(tmp_path):
    with pytest.raises(NeurokError, match="known are base"):
        find_recipe("big")
    with pytest.raises(NeurokError, match="no weights"):
        load_model("nothing")
