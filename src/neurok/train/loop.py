"""The training loop: one file, top to bottom."""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from neurok.data.subject import Subject
from neurok.data.view import ViewConfig, draw, pairs, stack
from neurok.deformation.loss import DeformationTask, PairTensors
from neurok.train.checkpoint import load_checkpoint, load_weights, restore_rng, rng_state, save_checkpoint
from neurok.train.config import TrainConfig
from neurok.train.curve import CURVE, draw_curve, read_log
from neurok.train.optimizer import Muon

Report = Callable[[dict[str, Any]], None]
CHECKPOINT = "checkpoint.safetensors"
LOG = "log.jsonl"
PULSE = 10
"""Steps between signs of life, and between agreements of several processes."""


@dataclass(frozen=True, eq=False)
class Split:
    """Subjects to learn from, and named sets to watch."""

    train: Sequence[Subject]
    watch: dict[str, Sequence[Subject]]
    data: Sequence[dict[str, Any]] = ()
    """Names, sizes and licences of the data sets behind them, for the card of the weights."""


def train(
    config: TrainConfig,
    split: Split,
    out: Path,
    *,
    resume: bool = False,
    start_from: Path | None = None,
    report: Report | None = None,
    pulse: Report | None = None,
    origin: dict[str, Any] | None = None,
    stop_at: int | None = None,
) -> DeformationTask:
    """Train, write ``checkpoint.safetensors``, ``log.jsonl`` and ``curve.png`` into ``out``, return the averaged model.

    Under ``torchrun`` every process draws its own batches and gradients are averaged. Ctrl-C writes a checkpoint first.

    Args:
        config: The run.
        split: Data.
        out: Folder of the run.
        resume: Go on from the checkpoint in ``out``; losses are those of an uninterrupted run.
        start_from: Weights to begin with instead of random ones: a checkpoint, or weights that were shipped.
        report: Told the figures of every log line ...
        pulse: ... and what is known of those in between.
        origin: Facts for the card of the weights, such as data and licences; kept in the checkpoint.
        stop_at: Leave after this step, as an interruption would.
    """
    rank, world = _join()
    torch.manual_seed(config.seed)
    task = DeformationTask(config.model)
    average = copy.deepcopy(task).requires_grad_(False)
    optimizers = _optimizers(task, config)
    rng = np.random.default_rng([config.seed, rank])
    generator = torch.Generator().manual_seed(config.seed * 1000 + rank)
    step, seconds = 0, 0.0
    modules: dict[str, torch.nn.Module] = {"task": task, "average": average}
    if resume:
        facts = load_checkpoint(out / CHECKPOINT, modules, optimizers)
        step, seconds = int(facts["step"]), float(facts["seconds"])
        restore_rng(facts["rng"][rank], rng, generator)
    elif start_from is not None:
        load_weights(start_from, modules)
    wrapped = torch.nn.parallel.DistributedDataParallel(task) if world > 1 else task
    batches = pairs(split.train, config.view, rng)
    started, saved, recent = time.monotonic() - seconds, time.monotonic(), []

    def save() -> None:
        states = _gather(rng_state(rng, generator), world)
        facts = {"step": step, "seconds": time.monotonic() - started, "rng": states, "config": config.as_dict()}
        if rank == 0:
            facts["origin"] = origin or {}
            save_checkpoint(out / CHECKPOINT, modules, optimizers, facts)

    try:
        while step < (config.steps if stop_at is None else min(config.steps, stop_at)):
            _set_rates(optimizers, config, step)
            batch = PairTensors.of(next(batches))
            count = batch.displaced.shape[0] * batch.targets
            noise = torch.randn((count, task.model.latent_size), generator=generator) * config.noise_factor(step)
            with torch.autocast("cpu", torch.bfloat16, enabled=config.bf16):
                terms = wrapped(batch, config.weights(step), noise)
            for optimizer in optimizers:
                optimizer.zero_grad()
            terms.loss.backward()
            torch.nn.utils.clip_grad_norm_(task.parameters(), config.clip)
            for optimizer in optimizers:
                optimizer.step()
            _follow(average, task, min(config.average, (1 + step) / (10 + step)))
            step += 1
            recent.append(
                [float(terms.relative), float(terms.nats), float(terms.error.sum() / terms.displacement.sum())]
            )
            if step % config.evaluate_every == 0 or step == config.steps:
                figures = _figures(step, recent, time.monotonic() - started, config, world)
                figures |= {name: evaluate(average, subjects) for name, subjects in split.watch.items()}
                recent = []
                if rank == 0:
                    _log(out, figures)
                    if report is not None:
                        report(figures)
            elif step % PULSE == 0 and pulse is not None and rank == 0:
                pulse(_figures(step, recent, time.monotonic() - started, config, world))
            due = time.monotonic() - saved > 60 * config.checkpoint_minutes
            if (world == 1 or step % PULSE == 0) and _agree(due, world):
                save()
                saved = time.monotonic()
    finally:
        save()
    return average


@torch.no_grad()
def evaluate(task: DeformationTask, subjects: Sequence[Subject], seed: int = 1) -> float:
    """Mean point error over mean displacement when the pose encoder sees the target: 0 is perfect, 1 is no motion."""
    rng = np.random.default_rng(seed)
    view = ViewConfig(targets=3, points=16, augment=False)
    error = displacement = 0.0
    for start in range(0, len(subjects), 8):
        terms = task(PairTensors.of(stack([draw(s, view, rng) for s in subjects[start : start + 8]])))
        error += float(terms.error.sum())
        displacement += float(terms.displacement.sum())
    return error / max(displacement, 1e-12)


def _optimizers(task: DeformationTask, config: TrainConfig) -> list[torch.optim.Optimizer]:
    matrices = [p for name, p in task.named_parameters() if p.ndim == 2 and "blocks" in name]
    chosen = {id(p) for p in matrices}
    others = [p for p in task.parameters() if id(p) not in chosen]
    return [
        Muon(matrices, config.matrix_rate, weight_decay=config.weight_decay),
        torch.optim.AdamW(others, config.rate, weight_decay=config.weight_decay),
    ]


def _set_rates(optimizers: list[torch.optim.Optimizer], config: TrainConfig, step: int) -> None:
    for optimizer, rate in zip(optimizers, (config.matrix_rate, config.rate), strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate * config.rate_factor(step)


@torch.no_grad()
def _follow(average: torch.nn.Module, task: torch.nn.Module, decay: float) -> None:
    for mean, value in zip(average.parameters(), task.parameters(), strict=True):
        mean.lerp_(value, 1.0 - decay)


def _figures(step: int, recent: list[list[float]], seconds: float, config: TrainConfig, world: int) -> dict[str, Any]:
    relative, nats, error = np.mean(recent, axis=0).tolist()
    rate = step * config.view.subjects * config.view.targets * world / seconds
    return {
        "step": step,
        "relative": relative,
        "nats": nats,
        "train": error,
        "seconds": seconds,
        "pairs_per_second": rate,
        "eta": (config.steps - step) / step * seconds,
    }


def _log(out: Path, figures: dict[str, Any]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with (out / LOG).open("a") as log:
        log.write(json.dumps(figures) + "\n")
    draw_curve(read_log(out / LOG), out / CURVE)


def _join() -> tuple[int, int]:
    """Rank and number of processes; more than one only under ``torchrun``."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world > 1 and not dist.is_initialized():
        dist.init_process_group("gloo")
    return (dist.get_rank(), world) if world > 1 else (0, 1)


def _agree(due: bool, world: int) -> bool:
    """What the first process says; clocks differ, and a checkpoint needs all of them."""
    if world == 1:
        return due
    word = [due]
    dist.broadcast_object_list(word, src=0)
    return word[0]


def _gather(state: dict[str, Any], world: int) -> list[dict[str, Any]]:
    if world == 1:
        return [state]
    states: list[Any] = [None] * world
    dist.all_gather_object(states, state)
    return states
