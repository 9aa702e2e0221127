"""One loop for every task: what it leaves behind, and that interruptions leave no trace."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from neurok.errors import FormatError, NeurokError
from neurok.hub import load_card, load_model
from neurok_lab.train.checkpoint import read_facts, recipe_for
from neurok_lab.train.loop import CHECKPOINT, CURVE, LOG, _begin, train
from neurok_lab.train.ship import ship


def figures(folder: Path) -> list[dict]:
    """The log without what clocks say."""
    clocks = ("seconds", "eta", "per_second")
    lines = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in clocks} for line in lines]


def same_state(one: Path, two: Path) -> bool:
    """Whether two checkpoints have the same tensors, to the bit, and will draw the same batches."""
    tensors, others = load_file(one / CHECKPOINT), load_file(two / CHECKPOINT)
    facts, other_facts = read_facts(one / CHECKPOINT), read_facts(two / CHECKPOINT)
    return (
        tensors.keys() == others.keys()
        and all(torch.equal(value, others[name]) for name, value in tensors.items())
        and all(facts[name] == other_facts[name] for name in ("step", "random", "recent", "recipe"))
    )


def interrupt_in(task, method: str, call: int, act):
    """Let one of the task's methods act at its so-manyth call."""
    calls, original = [], getattr(task, method)

    def wrapped(*arguments):
        calls.append(arguments)
        if len(calls) == call:
            act()
        return original(*arguments)

    object.__setattr__(task, method, wrapped)
    return task


def ctrl_c() -> None:
    raise KeyboardInterrupt


def test_a_resumed_run_is_an_uninterrupted_one(make_task, whole, tmp_path):
    train(make_task(), tmp_path / "parts", stop_at=3)
    train(make_task(), tmp_path / "parts", resume=True)
    assert same_state(whole, tmp_path / "parts")
    assert figures(whole) == figures(tmp_path / "parts")
    assert [line["step"] for line in figures(whole)] == [2, 4, 6, 8]
    assert (whole / CURVE).read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("step", [1, 4, 5])
def test_ctrl_c_within_the_loss_of_a_step_leaves_the_step_before(make_task, whole, tmp_path, monkeypatch, step):
    train(make_task(), tmp_path / "before", stop_at=step - 1)
    task = make_task()
    loss = type(task.recipe.build())
    calls, forward = [], loss.forward

    def interrupted(self, *arguments, **keywords):
        calls.append(self.training and torch.is_grad_enabled())
        if sum(calls) == step and calls[-1]:
            raise KeyboardInterrupt
        return forward(self, *arguments, **keywords)

    with monkeypatch.context() as patched:
        patched.setattr(loss, "forward", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(task, tmp_path / "parts")
    assert same_state(tmp_path / "before", tmp_path / "parts")
    train(make_task(), tmp_path / "parts", resume=True)
    assert same_state(whole, tmp_path / "parts")
    assert figures(whole) == figures(tmp_path / "parts")


@pytest.mark.parametrize(("method", "call"), [("draw", 4), ("evaluate", 2), ("curve", 2)])
def test_ctrl_c_anywhere_else_leaves_no_trace_either(make_task, whole, tmp_path, method, call):
    with pytest.raises(KeyboardInterrupt):
        train(interrupt_in(make_task(), method, call, ctrl_c), tmp_path / "parts")
    train(make_task(), tmp_path / "parts", resume=True)
    assert same_state(whole, tmp_path / "parts")
    assert figures(whole) == figures(tmp_path / "parts")


def test_ctrl_c_while_weights_change_waits_for_the_end_of_the_step(make_task, tmp_path):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells switch it off for jobs in the background
    train(make_task(), tmp_path / "before", stop_at=3)
    task = interrupt_in(make_task(), "figures", 3, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        train(task, tmp_path / "parts")
    assert same_state(tmp_path / "before", tmp_path / "parts")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_half_made_step_is_not_saved(make_task, whole, tmp_path):
    def fail():
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError):
        train(interrupt_in(make_task(checkpoint_minutes=0.0), "figures", 4, fail), tmp_path / "parts")
    assert read_facts(tmp_path / "parts" / CHECKPOINT)["step"] == 3
    train(make_task(), tmp_path / "parts", resume=True)
    assert same_state(whole, tmp_path / "parts")


def test_lines_that_are_younger_than_the_checkpoint_are_written_again(make_task, whole, tmp_path):
    train(make_task(), tmp_path / "parts", stop_at=3)
    old = (tmp_path / "parts" / CHECKPOINT).read_bytes()
    train(make_task(), tmp_path / "parts", resume=True)
    (tmp_path / "parts" / CHECKPOINT).write_bytes(old)
    with (tmp_path / "parts" / LOG).open("a") as log:
        log.write('{"step": 10, "tr')
    train(make_task(), tmp_path / "parts", resume=True)
    assert figures(tmp_path / "parts") == figures(whole)


def test_another_run_in_the_same_folder_has_a_log_of_its_own(make_task, whole, tmp_path):
    train(make_task(), tmp_path, stop_at=5)
    train(make_task(), tmp_path)
    assert figures(tmp_path) == figures(whole)


def test_an_interrupted_report_is_made_again(make_task, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(make_task(), tmp_path, report=lambda line: ctrl_c())
    assert read_facts(tmp_path / CHECKPOINT)["step"] == 2
    told = []
    train(make_task(), tmp_path, resume=True, report=told.append)
    assert [line["step"] for line in told] == [2, 4, 6, 8] == [line["step"] for line in figures(tmp_path)]


def test_a_run_tells_what_it_does_between_evaluations(make_task, tmp_path):
    told: list[tuple[str, int]] = []
    report, pulse = (lambda f: told.append(("report", f["step"]))), (lambda f: told.append(("pulse", f["step"])))
    train(make_task(evaluate_every=6, pulse_every=4), tmp_path, report=report, pulse=pulse)
    assert told == [("pulse", 4), ("report", 6), ("report", 8)]


def test_a_run_may_begin_with_the_weights_of_another_or_with_shipped_ones(make_task, tmp_path):
    first = train(make_task(steps=3), tmp_path / "first")
    begun = train(make_task(), tmp_path / "second", start_from=tmp_path / "first" / CHECKPOINT, stop_at=0)
    for name, value in first.state_dict().items():
        assert torch.equal(begun.state_dict()[name], value)
    tensors = load_file(tmp_path / "second" / CHECKPOINT)
    for name, value in first.state_dict().items():
        assert torch.equal(tensors[f"module.{name}"], value)
    ship([tmp_path / "first"], tmp_path / "mine.safetensors")
    begun = train(make_task(), tmp_path / "third", start_from=tmp_path / "mine.safetensors", stop_at=0)
    for name, value in first.model.state_dict().items():
        assert torch.equal(begun.model.state_dict()[name], value.half().float())


def test_going_on_takes_the_recipe_of_the_run_and_starting_the_model_of_the_weights(make_task, tmp_path):
    task = make_task(seed=5)
    train(task, tmp_path, stop_at=0)
    other = make_task(steps=20, warmup=7).recipe
    assert recipe_for(other, tmp_path / CHECKPOINT) == task.recipe
    assert recipe_for(other, tmp_path / CHECKPOINT, seed=None, steps=9).steps == 9
    narrow = make_task(model=type(other.model)(width=8, heads=2)).recipe
    assert recipe_for(narrow, None, tmp_path / CHECKPOINT) == make_task(model=other.model).recipe
    ship([tmp_path], tmp_path / "mine.safetensors")
    assert recipe_for(narrow, None, tmp_path / "mine.safetensors").model == other.model


def test_weights_and_checkpoints_of_another_kind_get_a_sentence(make_task, tmp_path):
    task = make_task(steps=1)
    train(task, tmp_path / "run")
    checkpoint = tmp_path / "run" / CHECKPOINT
    other = "deformation" if task.recipe.task == "articulation" else "articulation"
    with pytest.raises(NeurokError, match=f"a checkpoint for {task.recipe.task}, but one for {other} is needed"):
        read_facts(checkpoint, other)
    ship([tmp_path / "run"], tmp_path / "mine.safetensors")
    narrow = make_task(model=type(task.recipe.model)(width=8, heads=2))
    for weights in (checkpoint, tmp_path / "mine.safetensors"):
        with pytest.raises(FormatError, match="do not fit this model"):
            train(narrow, tmp_path / "next", start_from=weights)
    with pytest.raises(FormatError, match="no checkpoint"):
        read_facts(tmp_path / "mine.safetensors")
    with pytest.raises(NeurokError, match="no weights"):
        train(task, tmp_path / "next", start_from=tmp_path / "nothing.safetensors")
    (tmp_path / "text.safetensors").write_text("not a safetensors file")
    with pytest.raises(FormatError, match="no safetensors file"):
        read_facts(tmp_path / "text.safetensors")


@pytest.mark.parametrize(
    "change", [{"steps": -3}, {"steps": 0}, {"warmup": 0}, {"rate": -1e-3}, {"clip": np.nan}, {"seed": -1}]
)
def test_numbers_that_make_no_sense_are_refused(make_task, change):
    (name,) = change
    with pytest.raises(NeurokError, match=rf"configuration is invalid: {name} must be (above|at least) 0, got"):
        make_task(**change)
    with pytest.raises(NeurokError, match="steps must be above 0, got -3; average must be at most 1, got 2"):
        make_task(steps=-3, average=2)


def test_weights_ship_with_their_task(make_task, tmp_path):
    average = train(make_task(steps=2), tmp_path / "run")
    card = ship([tmp_path / "run"], tmp_path / "mine.safetensors", note="a try")
    assert (card["steps"], card["note"], card["runs"][0]["training"]["seed"]) == (2, "a try", 0)
    assert load_card(tmp_path / "mine.safetensors")["task"] == make_task().recipe.task
    model = load_model(tmp_path / "mine.safetensors")
    network = getattr(model, "members", [model])[0]
    for one, two in zip(average.model.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-3, atol=1e-4)


def test_a_run_of_two_processes_cannot_go_on_alone(make_task, tmp_path):
    task = make_task()
    state = _begin(task.recipe, 0)
    facts = {"task": task.recipe.task, "recipe": asdict(task.recipe), "origin": {}, "random": [state.random] * 2}
    state.save(tmp_path / CHECKPOINT, facts)
    with pytest.raises(NeurokError, match="used 2 processes; resume with as many"):
        train(task, tmp_path, resume=True)


PROCESSES = """
import os, signal, sys, torch
from dataclasses import replace
from pathlib import Path
from neurok.learned.subject import subject_of
from neurok.learned.part_features import describe_parts
from neurok.learned.part_views import labels_of
from neurok.catalogue.samples import make_sample
from neurok_lab.train import articulation, deformation
from neurok_lab.train.examples import Example
from neurok_lab.train.deformation import Split
from neurok_lab.train.loop import train
out, name, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
short = {"steps": 12, "evaluate_every": 6, "pulse_every": 4}
sample = make_sample("laptop")
if name == "deformation":
    recipe = replace(deformation.RECIPES["smoke"], **short)
    task = deformation.DeformationTraining(recipe, Split([subject_of(sample)], {}))
else:
    clouds = describe_parts(sample.articulation.mesh)
    example = Example("laptop.rest", clouds, labels_of(clouds, sample.articulation.joints), True)
    task = articulation.ArticulationTraining(replace(articulation.RECIPES["smoke"], **short), [example])
if how == "interrupt" and os.environ["RANK"] == "1":
    draw = task.draw
    def interrupted(module, step, rng, generator):
        if step == 5:
            signal.raise_signal(signal.SIGINT)
        return draw(module, step, rng, generator)
    object.__setattr__(task, "draw", interrupted)
try:
    model = train(task, out, resume=how == "resume")
except KeyboardInterrupt:
    assert how == "interrupt"
else:
    total = sum(float(p.double().sum()) for p in model.parameters())
    (out / f"sum{os.environ['RANK']}").write_text(repr(total))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deformation", "articulation"])
def test_two_processes_train_together_and_stop_together(tmp_path, name):
    script = tmp_path / "run.py"
    script.write_text(PROCESSES)

    def start(out: str, how: str) -> None:
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run(
            [*command, str(script), str(tmp_path / out), name, how], check=True, env=environment, timeout=300
        )

    start("whole", "run")
    assert (tmp_path / "whole" / "sum0").read_text() == (tmp_path / "whole" / "sum1").read_text()
    start("parts", "interrupt")
    assert read_facts(tmp_path / "parts" / CHECKPOINT)["step"] == 8
    start("parts", "resume")
    assert same_state(tmp_path / "whole", tmp_path / "parts")
    assert figures(tmp_path / "whole") == figures(tmp_path / "parts")
