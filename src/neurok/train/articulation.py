"""Training of the joint model: the same loop for search results and for annotated joints."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from neurok.articulation.config import CloudConfig
from neurok.articulation.loss import TERMS, JointTask
from neurok.articulation.network import KINDS, SLIDE, TURN, JointConfig, JointModel
from neurok.articulation.predict import fuse, view_parts
from neurok.errors import NeurokError
from neurok.train.articulation_batches import Augment, Batches
from neurok.train.articulation_data import Example
from neurok.train.checkpoint import load_checkpoint, restore_rng, rng_state, save_checkpoint
from neurok.train.optimizer import Muon

CHECKPOINT, LOG = "checkpoint.safetensors", "log.jsonl"


@dataclass(frozen=True)
class JointTrainConfig:
    model: JointConfig = field(default_factory=JointConfig)
    steps: int = 4_000
    objects: int = 16
    """Objects in a batch."""

    points: int = 64
    """Points of each part."""

    shares: tuple[float, ...] = ()
    """How much is drawn of each source of examples; of all alike if empty."""

    smoothing: float = 0.1
    """Share of a target that is spread over all kinds, or all directions: labels of few objects are not the law."""

    augment: Augment = field(default_factory=Augment)
    warmup: int = 100
    decay: float = 0.5
    """Fraction of the run, at its end, over which the step size falls to zero."""

    matrix_rate: float = 2e-3
    rate: float = 1e-3
    weight_decay: float = 0.05
    clip: float = 1.0
    average: float = 0.998
    seed: int = 0
    evaluate_every: int = 200
    checkpoint_minutes: float = 3.0

    def rate_factor(self, step: int) -> float:
        """Share of the step size at a step: warm-up, plateau, linear decay."""
        left = (self.steps - step) / max(1.0, self.decay * self.steps)
        return max(0.0, min(1.0, (step + 1) / self.warmup, left))


def base() -> JointTrainConfig:
    """The shipped model: annotated joints of whole objects that stand."""
    return JointTrainConfig()


def tipped() -> JointTrainConfig:
    """The same in views from which a category is hard to tell: lying on another side, and incomplete."""
    return JointTrainConfig(augment=Augment(tipped=0.25, incomplete=0.3))


def pretraining() -> JointTrainConfig:
    """What comes before it: results of the search, as sure as the search is of them."""
    return JointTrainConfig(steps=2_000, smoothing=0.0)


def smoke() -> JointTrainConfig:
    """Seconds, to see that everything works."""
    return JointTrainConfig(
        JointConfig(width=16, heads=2, depth=1), 20, objects=2, points=24, warmup=2, evaluate_every=10
    )


RECIPES = {"base": base, "tipped": tipped, "pretraining": pretraining, "smoke": smoke}


def find_joint_recipe(name: str) -> JointTrainConfig:
    """The configuration of that name."""
    if name not in RECIPES:
        raise NeurokError(f"There is no recipe '{name}' for joints; known are {', '.join(RECIPES)}.")
    return RECIPES[name]()


def train_joints(
    config: JointTrainConfig,
    examples: Sequence[Example],
    watch: Mapping[str, Sequence[Example]],
    out: Path,
    *,
    resume: bool = False,
    start_from: Path | None = None,
    report: Callable[[dict[str, Any]], None] | None = None,
    stop_at: int | None = None,
    origin: dict[str, Any] | None = None,
) -> JointModel:
    """Train, write ``checkpoint.safetensors`` and ``log.jsonl`` into ``out``, return the averaged model.

    Ctrl-C writes a checkpoint first. ``resume`` goes on as if nothing had happened, ``start_from`` begins with the
    averaged weights of another run, ``stop_at`` leaves as an interruption would. ``origin`` holds facts for the card of
    the weights, such as data and licences; the checkpoint keeps them.
    """
    torch.manual_seed(config.seed)
    task = JointTask(config.model, config.smoothing)
    average = copy.deepcopy(task).requires_grad_(False)
    optimizers = _optimizers(task, config)
    rng, generator = np.random.default_rng(config.seed), torch.Generator().manual_seed(config.seed)
    step, seconds = 0, 0.0
    modules: dict[str, torch.nn.Module] = {"task": task, "average": average}
    if resume:
        facts = load_checkpoint(out / CHECKPOINT, modules, optimizers)
        step, seconds = int(facts["step"]), float(facts["seconds"])
        restore_rng(facts["rng"], rng, generator)
    elif start_from is not None:
        load_checkpoint(start_from, modules, [])
        task.load_state_dict(average.state_dict())
    batches = Batches(examples, config.objects, config.points, config.shares, rng, config.augment)
    started, saved, recent = time.monotonic() - seconds, time.monotonic(), []

    def save() -> None:
        facts = {"step": step, "seconds": time.monotonic() - started, "config": asdict(config), "origin": origin or {}}
        save_checkpoint(out / CHECKPOINT, modules, optimizers, {**facts, "rng": rng_state(rng, generator)})

    try:
        while step < min(config.steps, stop_at or config.steps):
            for optimizer, rate in zip(optimizers, (config.matrix_rate, config.rate), strict=True):
                for group in optimizer.param_groups:
                    group["lr"] = rate * config.rate_factor(step)
            terms = task(*batches.next())
            for optimizer in optimizers:
                optimizer.zero_grad()
            terms.loss.backward()
            torch.nn.utils.clip_grad_norm_(task.parameters(), config.clip)
            for optimizer in optimizers:
                optimizer.step()
            _follow(average, task, min(config.average, (1 + step) / (10 + step)))
            step += 1
            recent.append([float(terms.parts[name]) for name in TERMS])
            if step % config.evaluate_every == 0 or step == config.steps:
                spent = time.monotonic() - started
                figures: dict[str, Any] = {
                    "step": step,
                    **dict(zip(TERMS, np.mean(recent, axis=0).tolist(), strict=True)),
                }
                figures |= {"seconds": spent, "eta": (config.steps - step) / step * spent}
                figures |= {name: measure(average.model, some) for name, some in watch.items()}
                recent = []
                _log(out, figures)
                if report is not None:
                    report(figures)
            if time.monotonic() - saved > 60 * config.checkpoint_minutes:
                save()
                saved = time.monotonic()
    finally:
        save()
    return average.model


def measure(model: JointModel, examples: Sequence[Example]) -> dict[str, float]:
    """Shares of right kinds and parents, mean angle [degrees] and distance of axes, over parts whose joint is known."""
    kinds, parents, angles, offsets = [], [], [], []
    for example in examples:
        clouds, labels = example.clouds, example.labels
        posterior = fuse(view_parts([model], clouds, [np.eye(3)], CloudConfig(view_points=64)))
        known = labels.kinds.max(axis=1) > 0.99
        kinds += list((posterior.kinds.argmax(axis=1) == labels.kinds.argmax(axis=1))[known])
        above = np.where(posterior.parents < 0, np.arange(len(known)), posterior.parents)
        parents += list((above == labels.parents)[labels.parents >= 0])
        for owner, move, axis, origin in zip(labels.owners, labels.moves, labels.axes, labels.origins, strict=True):
            if not known[owner]:
                continue
            moving = posterior.kinds[owner] * (np.arange(len(KINDS)) > 0)
            guess = SLIDE if moving.argmax() == KINDS.index("prismatic") else TURN
            found = posterior.directions[owner, posterior.choices[owner, guess]]
            angles.append(np.degrees(np.arccos(np.clip(abs(found @ axis), 0.0, 1.0))))
            if move == TURN:
                across = posterior.pivots[owner, 0] - origin
                offsets.append(np.linalg.norm(across - axis * (across @ axis)))
    mean = lambda values: float(np.mean(values)) if values else 0.0  # noqa: E731
    return {"kind": mean(kinds), "parent": mean(parents), "axis": mean(angles), "pivot": mean(offsets)}


def _optimizers(task: JointTask, config: JointTrainConfig) -> list[torch.optim.Optimizer]:
    matrices = [p for name, p in task.named_parameters() if p.ndim == 2 and "blocks" in name]
    chosen = {id(p) for p in matrices}
    others = [p for p in task.parameters() if id(p) not in chosen]
    return [
        Muon(matrices, config.matrix_rate, weight_decay=config.weight_decay),
        torch.optim.AdamW(others, config.rate, weight_decay=config.weight_decay),
    ]


@torch.no_grad()
def _follow(average: torch.nn.Module, task: torch.nn.Module, decay: float) -> None:
    for mean, value in zip(average.parameters(), task.parameters(), strict=True):
        mean.lerp_(value, 1.0 - decay)


def _log(out: Path, figures: dict[str, Any]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with (out / LOG).open("a") as log:
        log.write(json.dumps(figures) + "\n")
