"""``neurok sample``: plausible states of an object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

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

    weights: str | None = None
    """Of the learned space: a .safetensors file or a hub id; the shipped ones by default."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.cli.space import facts_of, find_space
        from neurok.errors import NeurokError
        from neurok.io import load, save
        from neurok.kinematics.space import decode

        if self.count < 1:
            raise NeurokError(f"The number of states must be 1 or more, got {self.count}.")
        if self.out.suffix and self.out.suffix.lower() != ".png":
            raise NeurokError(f"States go into a .png sheet or a folder, got '{self.out}'.")
        asset = load(self.mesh)
        space = find_space(asset, self.mesh, self.space, self.weights)
        states = space.sample(self.count, self.seed)
        meshes = [asset.mesh.with_vertices(decode(space, q)) for q in states]
        if self.out.suffix:
            from neurok.rendering import contact_sheet, render_mesh, save_image

            images = [render_mesh(m, width=320, height=260) for m in progress(meshes, "drawing", json=self.json)]
            save_image(contact_sheet(images), self.out)
        else:
            for number, mesh in enumerate(progress(meshes, "writing", json=self.json)):
                save(mesh, self.out / f"state_{number:04d}.glb")
        say(f"{self.count} states of {space.dim} degrees of freedom: {self.out}", json=self.json)
        return {"out": str(self.out), "count": self.count, **facts_of(space), "q": states.tolist()}
