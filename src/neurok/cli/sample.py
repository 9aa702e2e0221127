"""``neurok sample``: plausible states of an object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.frame import UnitFlag, UpFlag, load_framed
from neurok.cli.report import progress, say
from neurok.cli.space import SpaceName


@dataclass
class Sample:
    """Draw plausible states of an object: a contact sheet (.png), or a folder of meshes."""

    mesh: tyro.conf.Positional[str]
    """Object: a file, a PartNet-Mobility folder or sample:NAME."""

    out: Path
    """A .png for a sheet of pictures; otherwise a folder, which gets state_0000.glb and so on."""

    count: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 8
    """How many states."""

    seed: int = 0
    """Same seed, same states."""

    space: SpaceName = "auto"
    """Whose states: those of its joints, of its own clip, or learned ones; auto takes the first of these there is."""

    plan: Path | None = None
    """A body plan that 'neurok plan' wrote and somebody may have edited."""

    weights: str | None = None
    """Of the learned space: a .safetensors file or a hub id; the shipped ones by default."""

    unit: UnitFlag = None
    up: UpFlag = None

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.cli.space import facts_of, warn_of
        from neurok.errors import NeurokError
        from neurok.io import save
        from neurok.posing.verbs import sample

        if self.out.suffix and self.out.suffix.lower() != ".png":
            raise NeurokError(f"States go into a .png sheet or a folder, got '{self.out}'.")
        asset = load_framed(self.mesh, self.unit, self.up)
        states = sample(asset, self.count, space=self.space, weights=self.weights, plan=self.plan, seed=self.seed)
        warn_of(states.space)
        if self.out.suffix:
            from neurok.rendering import contact_sheet, render_mesh, save_image

            drawn = progress(states, "drawing", total=len(states), json=self.json)
            save_image(contact_sheet([render_mesh(mesh, width=320, height=260) for mesh in drawn]), self.out)
        else:
            for number, mesh in enumerate(progress(states, "writing", total=len(states), json=self.json)):
                save(mesh, self.out / f"state_{number:04d}.glb")
        say(f"{self.count} states of {states.space.dim} degrees of freedom: {self.out}", json=self.json)
        return {"out": str(self.out), "count": self.count, **facts_of(states.space), "q": states.q.tolist()}
