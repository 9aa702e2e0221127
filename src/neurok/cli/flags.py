"""Flags that mean the same in every command, and how help shows what is taken when one is not given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args

import tyro

from neurok.errors import NeurokError


def arg(
    metavar: str | None = None, unless: str | None = None, aliases: tuple[str, ...] = (), help: str | None = None
) -> Any:
    """How help shows a flag: what its value is called, and what is taken unless it is given."""
    hint = None if unless is None else f"(default: {unless})"
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=hint, aliases=aliases or None, help=help)


def one_of(names: Any, unless: str) -> Any:
    """A flag with a choice of names that may be left open."""
    return arg("|".join(map(str, get_args(names))), unless)


def several(name: str) -> Any:
    """Inputs of one kind, one or more; ``need`` refuses none."""
    return tyro.conf.arg(metavar=f"{name} [{name} ...]", help_behavior_hint="(required)")


def need(inputs: tuple[Any, ...], what: str) -> None:
    """Refuse a command line without its inputs."""
    if not inputs:
        raise NeurokError(f"Name at least one {what}; inputs come right after the command.")


OutFlag = Annotated[tuple[Path, ...], arg("FILE [FILE ...]", "nothing is written")]
"""Where a command writes; all files appear, or none."""

NeededOut = Annotated[tuple[Path, ...], arg("FILE [FILE ...]")]
"""The same where nothing else would make sense."""

JsonFlag = Annotated[bool, arg(help="Print one JSON object and nothing else.")]

ForceFlag = Annotated[bool, arg(help="Allow an output to overwrite an input.")]

SeedFlag = Annotated[int, arg("N", help="Random seed: the same seed gives the same files.")]

TrainSeed = Annotated[int | None, arg("N", "0", help="Random seed: the same seed gives the same losses.")]

UnitFlag = Annotated[
    str | None,
    arg("m|cm|mm|in|METRES", "as in the file, unless that is clearly wrong", help="The unit of the object's file."),
]

UpFlag = Annotated[
    str | None,
    arg("x|y|z", "as in the file, or a confident guess", help="The axis of the object's file that points up."),
]

WeightsFlag = Annotated[
    str | None,
    arg("FILE|ID", "the shipped ones", help="Weights of the learned space: a .safetensors file or a hub id."),
]

RayFlag = Annotated[
    str | None, arg("ADDRESS", "processes on this machine", help="Work on a Ray cluster: its address, or 'local'.")
]

PlanFlag = Annotated[
    Path | None,
    arg("PLAN.json", "it is computed", help="A body plan written by 'neurok plan', possibly edited."),
]
