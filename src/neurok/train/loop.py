"""The training loop: one for every task, top to bottom."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import nn

from neurok.train.checkpoint import RunState, load_weights
from neurok.train.config import RunConfig
from neurok.train.curve import draw_curve
from neurok.train.log import Line, drop_lines, read_log, write_line
from neurok.train.optimizer import make_optimizers, set_rates
from neurok.train.processes import CtrlC, Team

Report = Callable[[Line], None]
CHECKPOINT, LOG, CURVE = "checkpoint.safetensors", "log.jsonl", "curve.png"


class Task(Protocol):
    """What is learned: a recipe and the data for it."""

    unit: ClassVar[str]
    """What batches hold, such as pairs."""

    meaning: ClassVar[str]
    """What the figures of the curve are, in a few words."""

    @property
    def recipe(self) -> RunConfig: ...

    @property
    def batch_size(self) -> int: ...

    def draw(
        self, module: nn.Module, step: int, rng: np.random.Generator, generator: torch.Generator
    ) -> tuple[Any, ...]:
        """A batch: what the network with its loss is called with; ``loss`` of what it returns is made small."""
        ...

    def figures(self, terms: Any) -> dict[str, float]:
        """What the log tells of the terms of a batch."""
        ...

    def evaluate(self, module: nn.Module) -> dict[str, float]:
        """Figures of the averaged network on watched sets."""
        ...

    def curve(self, line: Line) -> dict[str, float]:
        """What the curve shows of a line of the log."""
        ...


def train(
    task: Task,
    out: Path,
    *,
    resume: bool = False,
    start_from: str | Path | None = None,
    prepare: Callable[[nn.Module], None] | None = None,
    report: Report | None = None,
    pulse: Report | None = None,
    origin: dict[str, Any] | None = None,
    stop_at: int | None = None,
) -> nn.Module:
    """Train, write ``checkpoint.safetensors``, ``log.jsonl`` and ``curve.png``, return the averaged network.

    Under ``torchrun`` every process draws its own batches and gradients are averaged. Ctrl-C writes a checkpoint first:
    the state after the last step that was finished.

    Args:
        task: What to learn.
        out: Folder of the run.
        resume: Go on from the checkpoint in ``out``; weights and log are those of an uninterrupted run.
        start_from: Weights to begin with instead of random ones: the averaged ones of a checkpoint, or shipped ones.
        prepare: Called with the network before the first step, such as to put in what a part of it has learned.
        report: Told every line of the log ...
        pulse: ... and what is known of those in between.
        origin: Facts for the card of the weights, such as data and licences; kept in the checkpoint.
        stop_at: Leave after this step, as an interruption would.
    """
    run, team = task.recipe, Team.join()
    state = _begin(run, team.rank)
    if resume:
        state.load(out / CHECKPOINT, run.task, team.rank, team.size)
    elif start_from is not None:
        load_weights(start_from, run.task, [state.module, state.average])
    if prepare is not None and not resume:
        prepare(state.module)
        state.average.load_state_dict(state.module.state_dict())
    if team.is_first:
        drop_lines(out / LOG, state.step + 1 if resume and not state.recent else state.step)
    network = team.wrap(state.module)
    end = run.steps if stop_at is None else min(run.steps, stop_at)
    started, saved, is_whole, is_stopped = time.monotonic() - state.seconds, time.monotonic(), True, False

    def line() -> Line:
        state.seconds = time.monotonic() - started
        return _line(task, state, team.size)

    def save() -> None:
        state.seconds = time.monotonic() - started
        facts = {"task": run.task, "recipe": asdict(run), "origin": origin or {}}
        facts["random"] = team.gather(state.random)
        if team.is_first:
            state.save(out / CHECKPOINT, facts)

    with CtrlC() as ctrl_c, ctrl_c.hold(team.size > 1):
        try:
            while not is_stopped:
                if state.recent and (state.step % run.evaluate_every == 0 or state.step == run.steps):
                    if team.is_first:
                        _tell({**line(), "watched": task.evaluate(state.average)}, task, out, report)
                    state.recent = []
                elif state.recent and state.step % run.pulse_every == 0 and team.is_first and pulse is not None:
                    pulse(line())
                if state.step >= end:
                    break
                set_rates(state.optimizers, run, state.step)
                batch = task.draw(state.module, state.step, state.rng, state.generator)
                with torch.autocast("cpu", torch.bfloat16, enabled=run.bf16):
                    terms = network(*batch)
                for optimizer in state.optimizers:
                    optimizer.zero_grad()
                terms.loss.backward()
                with ctrl_c.hold():
                    is_whole = False
                    _finish_step(state, task, terms)
                    is_whole = True
                if team.size == 1 or state.step % run.pulse_every == 0:
                    asked = team.gather((time.monotonic() - saved > 60 * run.checkpoint_minutes, ctrl_c.is_asked))
                    is_stopped = any(stop for _, stop in asked)
                    if asked[0][0]:
                        save()
                        saved = time.monotonic()
        except BaseException:
            # Other processes may be anywhere, so several of them leave the checkpoint they agreed on last.
            if is_whole and team.size == 1:
                save()
            raise
        save()
        if is_stopped:
            raise KeyboardInterrupt
    return state.average


def _begin(run: RunConfig, rank: int) -> RunState:
    """Random weights; every process has random streams of its own."""
    torch.manual_seed(run.seed)
    module = run.build()
    rng = np.random.default_rng([run.seed, rank])
    generator = torch.Generator().manual_seed(run.seed * 1000 + rank)
    average = copy.deepcopy(module).requires_grad_(False)
    return RunState(module, average, make_optimizers(module, run), rng, generator)


@torch.no_grad()
def _finish_step(state: RunState, task: Task, terms: Any) -> None:
    """From gradients to the next state."""
    run = task.recipe
    nn.utils.clip_grad_norm_(state.module.parameters(), run.clip)
    for optimizer in state.optimizers:
        optimizer.step()
    for mean, value in zip(state.average.parameters(), state.module.parameters(), strict=True):
        mean.lerp_(value, 1.0 - run.average_decay(state.step))
    state.step += 1
    state.recent.append(task.figures(terms))
    state.keep_random()


def _line(task: Task, state: RunState, processes: int) -> Line:
    means = np.mean([list(figures.values()) for figures in state.recent], axis=0).tolist()
    return {
        "step": state.step,
        "seconds": state.seconds,
        "eta": (task.recipe.steps - state.step) / state.step * state.seconds,
        "per_second": state.step * task.batch_size * processes / state.seconds,
        "training": dict(zip(state.recent[0], means, strict=True)),
    }


def _tell(line: Line, task: Task, out: Path, report: Report | None) -> None:
    write_line(out / LOG, line)
    rows = [{"step": one["step"], **task.curve(one)} for one in read_log(out / LOG)]
    draw_curve(rows, out / CURVE, task.meaning)
    if report is not None:
        report(line)
