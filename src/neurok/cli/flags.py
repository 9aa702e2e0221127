"""Flags that mean the same in every command, and how help shows what is taken when one is not given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from neurok.errors import NeurokError

if TYPE_CHECKING:
    from neurok.core import Asset


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


@dataclass(frozen=True)
class MassFlags:
    """Mass of the object."""

    mass: Annotated[float | None, arg("KG", "by its geometry and things of its kind")] = None
    """Mass of the whole object [kg]."""

    thickness: Annotated[float | None, arg("T", "that of its materials")] = None
    """Thickness of walls and open surfaces, in the unit of the object."""

    hollow: bool = False
    """Take closed surfaces for hollow."""

    solid: bool = False
    """Take closed surfaces for solid."""

    def given(self) -> dict[str, Any]:
        """What was said, as for ``neurok.understand``, the thickness in the unit of the object."""
        if self.hollow and self.solid:
            raise NeurokError("An object cannot be --hollow and --solid at once; choose one.")
        stated: dict[str, Any] = {"mass": self.mass, "hollow": self.hollow if self.hollow or self.solid else None}
        stated["thickness"] = self.thickness
        return {name: value for name, value in stated.items() if value is not None}


UnitFlag = Annotated[
    str | None,
    arg("m|cm|mm|in|METRES", "as in the file, or a likelier one", help="The unit of the object's file."),
]

UpFlag = Annotated[
    str | None,
    arg("x|y|z", "as in the file, or a likelier one", help="The axis of the object's file that points up."),
]

NodesFlag = Annotated[
    tuple[str, ...],
    arg(
        "GLOB [GLOB ...]",
        "all but helpers and coarser copies",
        help="The nodes of the file to take, such as 'body*'; '!wheel*' leaves nodes out.",
    ),
]

NoInteriorFlag = Annotated[
    bool, arg(help="Give parts that are cut out of a closed surface no inside: an opened door shows a hole.")
]

WeightsFlag = Annotated[
    str | None,
    arg("FILE|ID", "the shipped ones", help="Weights of the latent space: a .safetensors file or a hub id."),
]

RayFlag = Annotated[
    str | None, arg("ADDRESS", "processes on this machine", help="Work on a Ray cluster: its address, or 'local'.")
]

PlanFlag = Annotated[
    Path | None,
    arg("PLAN.json", "it is computed", help="A body plan written by 'neurok plan', possibly edited."),
]


@dataclass(frozen=True)
class PhysicsFlags:
    """Output for simulators: .urdf, .xml (MJCF), .usd."""

    free_base: tyro.conf.FlagCreatePairsOff[bool] = False
    """The whole object can move and fall."""

    fixed_base: tyro.conf.FlagCreatePairsOff[bool] = False
    """The root is fixed to the world; this is the default."""

    servo: tyro.conf.FlagCreatePairsOff[bool] = False
    """Give each joint a position servo (MJCF, USD)."""

    scene: tyro.conf.FlagCreatePairsOff[bool] = False
    """Also write a scene with ground and light beside an MJCF file."""

    mass: Annotated[float | None, arg("KG", "what its materials weigh")] = None
    """Mass of the whole object."""

    size: Annotated[float | None, arg("METRES", "as it is")] = None
    """Longest side of the object."""

    def given(self) -> list[str]:
        """The flags that were set and mean something to simulators only."""
        flags = {"--free-base": self.free_base, "--fixed-base": self.fixed_base, "--servo": self.servo}
        return [name for name, value in {**flags, "--scene": self.scene, "--mass": self.mass}.items() if value]

    def check(self, paths: tuple[Path, ...]) -> None:
        """Refuse what contradicts itself, or has no file to go to."""
        from neurok.io.physics import ROBOTS

        if self.free_base and self.fixed_base:
            raise NeurokError("--free-base and --fixed-base were both given; give one of them.")
        if self.given() and not any(path.suffix.lower() in ROBOTS for path in paths):
            raise NeurokError(f"{self.given()[0]} is for files of simulators, which end in {', '.join(ROBOTS)}.")

    def scaled(self, asset: Asset) -> Asset:
        """The object in the size that was asked for."""
        from neurok.io.physics import resized

        return asset if self.size is None else resized(asset, self.size)

    def options(self, path: Path) -> dict[str, Any]:
        """What the writer of a file is told; nothing where it is not for simulators."""
        from neurok.io.physics import ROBOTS

        if path.suffix.lower() not in ROBOTS:
            return {}
        return {"free_base": self.free_base, "servo": self.servo, "scene": self.scene, "mass": self.mass}

    def left_out(self, asset: Asset, path: Path) -> list[str]:
        """What the format of a file cannot hold, one sentence each."""
        from neurok.io.formats import WRITERS
        from neurok.io.physics import ROBOTS, Physics, left_out

        suffix = path.suffix.lower()
        if self.given() and suffix in WRITERS and suffix not in ROBOTS:
            return [f"'{suffix}' files are not for simulators: {', '.join(self.given())} left out."]
        return left_out(asset, path.suffix, Physics(**self.options(path)))
