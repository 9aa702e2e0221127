"""The flags of every command that writes for simulators, and what they do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.flags import arg
from neurok.errors import NeurokError

if TYPE_CHECKING:
    from neurok.core import Asset


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
        told = {"--free-base": self.free_base, "--fixed-base": self.fixed_base, "--servo": self.servo}
        return [name for name, value in {**told, "--scene": self.scene, "--mass": self.mass}.items() if value]

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
