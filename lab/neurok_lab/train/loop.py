"""The training loop: one for every task, top to bottom; its optimizers, several processes of one run, and Ctrl-C."""

from __future__ import annotations

import atexit
import copy
import gc
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from neurok_lab.train.checkpoint import RunState, load_weights
from neurok_lab.train.config import RunConfig
from neurok_lab.train.log import Line, draw_curve, drop_lines, read_log, write_line


@dataclass(frozen=True)
class Team:
    """This process among those that ``torchrun`` has started for a run; alone without it."""

    rank: int = 0
    size: int = 1

    @staticmethod
    def join() -> Team:
        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            return Team()
        if not dist.is_initialized():
            dist.init_process_group("gloo")
            # Threads that are still running when the interpreter is torn down abort the process.
            atexit.register(_leave)
        return Team(dist.get_rank(), size)

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files of the run."""
        return self.rank == 0

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module with gradients that are means over all processes."""
        return nn.parallel.DistributedDataParallel(module) if self.size > 1 else module

    def gather(self, fact: Any) -> list[Any]:
        """What all processes say, in the order of their ranks."""
        facts = [fact] * self.size
        if self.size > 1:
            dist.all_gather_object(facts, fact)
        return facts


def _leave() -> None:
    if dist.is_initialized():
        # A wrapped module that waits in a cycle of references would keep the group's threads beyond the interpreter.
        gc.collect()
        dist.destroy_process_group()


class CtrlC:
    """Makes Ctrl-C wait while something is done that must be done as a whole."""

    def __init__(self) -> None:
        self.is_asked = False
        self._holds = 0
        self._before: Any = None

    def __enter__(self) -> CtrlC:
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def hold(self, really: bool = True) -> Iterator[None]:
        """Within, Ctrl-C only sets ``is_asked``; behind, it is heard."""
        self._holds += really
        try:
            yield
        finally:
            self._holds -= really
        if self.is_asked and not self._holds:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: Any) -> None:
        if self._holds:
            self.is_asked = True
        else:
            self._before(number, frame)


def make_optimizers(module: torch.nn.Module, run: RunConfig) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the blocks, AdamW for everything else; what has learned before moves less."""
    matrices = [p for name, p in module.named_parameters() if p.ndim == 2 and "blocks" in name]
    trunk = [p for name, p in module.named_parameters() if ".trunk." in name]
    chosen = {id(p) for p in matrices + trunk}
    others = [p for p in module.parameters() if id(p) not in chosen]
    groups = [{"params": others, "share": 1.0}, {"params": trunk, "share": run.trunk}]
    adam = torch.optim.AdamW([group for group in groups if group["params"]], run.rate, weight_decay=run.weight_decay)
    if not matrices:
        return [adam]
    return [Muon(matrices, run.matrix_rate, weight_decay=run.weight_decay, bf16=run.bf16), adam]


def set_rates(optimizers: list[torch.optim.Optimizer], run: RunConfig, step: int) -> None:
    """Step sizes of a step, for the optimizers that ``make_optimizers`` makes."""
    for optimizer in optimizers:
        rate = run.matrix_rate if isinstance(optimizer, Muon) else run.rate
        for group in optimizer.param_groups:
            group["lr"] = rate * group.get("share", 1.0) * run.rate_factor(step)


def orthogonalise(matrices: Tensor, rounds: int = 5) -> Tensor:
    """The nearest orthogonal matrices, roughly, of a batch (Newton–Schulz with the quintic of Jordan et al.)."""
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.transpose(-1, -2) if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(rounds):
        gram = x @ x.transpose(-1, -2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.transpose(-1, -2) if tall else x


class Muon(torch.optim.Optimizer):
    """Momentum, then orthogonalised steps; for 2D weights of hidden layers only.

    ``bf16`` orthogonalises in half precision, as its authors do: steps need not be exact.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.01,
        bf16: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self.precision = torch.bfloat16 if bf16 else None

    @torch.no_grad()
    def step(self, closure=None):  # type: ignore[no-untyped-def, override]
        for group in self.param_groups:
            shapes: dict[torch.Size, list[Tensor]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    shapes.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in shapes.items():
                updates = []
                for parameter in parameters:
                    assert parameter.grad is not None
                    buffer = self.state[parameter].setdefault("momentum", torch.zeros_like(parameter))
                    buffer.lerp_(parameter.grad, 1 - group["momentum"])
                    updates.append(parameter.grad.lerp(buffer, group["momentum"]))
                size = max(1.0, shape[0] / shape[1]) ** 0.5
                stacked = torch.stack(updates)
                turned = orthogonalise(stacked.to(self.precision or stacked.dtype))
                for parameter, update in zip(parameters, turned, strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    parameter.add_(update, alpha=-group["lr"] * size)


Report = Callable[[Line], None]
CHECKPOINT, LOG, CURVE = "checkpoint.safetensors", "log.jsonl", "curve.png"


class Task(ABC):
    """What is learned: a recipe and the data for it."""

    unit: ClassVar[str]
    """What batches hold, such as pairs."""

    meaning: ClassVar[str]
    """What the figures of the curve are, in a few words."""

    recipe: Any

    @property
    def batch_size(self) -> int:
        return int(self.recipe.view.objects)

    @abstractmethod
    def draw(self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator) -> tuple[Any, ...]:
        """A batch: what the network with its loss is called with; ``loss`` of what it returns is made small."""

    def figures(self, terms: Any) -> dict[str, float]:
        """What the log tells of the terms of a batch."""
        return {name: float(value) for name, value in terms.parts.items()}

    @abstractmethod
    def evaluate(self, module: Any) -> dict[str, float]:
        """Figures of the averaged network on watched sets."""

    @abstractmethod
    def curve(self, line: Line) -> dict[str, float]:
        """What the curve shows of a line of the log."""

    def mean_figures(self, count: int, size: int, measure: Callable[[np.ndarray], Any]) -> dict[str, float]:
        """Means over batches of so many watched examples, which are counted; ``measure`` gives the terms of a batch."""
        starts = range(0, count, size)
        found = [self.figures(measure(np.arange(start, min(start + size, count)))) for start in starts]
        return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


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
    for mean, value in zip(_floats(state.average), _floats(state.module), strict=True):
        mean.lerp_(value, 1.0 - run.average_decay(state.step))
    state.step += 1
    state.recent.append(task.figures(terms))
    state.keep_random()


def _floats(module: nn.Module) -> list[Tensor]:
    """All that an average is taken of: parameters, and statistics of batches, but no counters."""
    return [value for value in module.state_dict().values() if value.is_floating_point()]


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
