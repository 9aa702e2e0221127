"""``neurok sample``: plausible states of an object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.flags import ForceFlag, JsonFlag, NeededOut, PlanFlag, SeedFlag, UnitFlag, UpFlag, WeightsFlag, arg
from neurok.cli.frame import frame_facts, frame_words, understood
from neurok.cli.outputs import check_outputs
from neurok.cli.report import progress, say
from neurok.cli.space import SpaceName

if TYPE_CHECKING:
    from neurok.core import Asset
    from neurok.posing.verbs import Samples


@dataclass
class Sample:
    """Sample plausible states of an object: a contact sheet (.png), a motion through them, or a folder of meshes."""

    mesh: Annotated[tyro.conf.Positional[str], arg("OBJECT")]
    """Object: a file, a PartNet-Mobility folder or sample:NAME."""

    out: NeededOut
    """A .png for a contact sheet; .glb, .usd or .npz for one motion through all states, on joints or bones; a name
    without suffix is a folder, which gets state_0000.glb and so on."""

    count: Annotated[int, arg("N", aliases=("-n",))] = 8
    """How many states."""

    seed: SeedFlag = 0

    space: SpaceName = "auto"
    """Which states: those of its joints, of the bones recovered from its own clip, or learned ones of its body plan;
    auto takes the first one available."""

    plan: PlanFlag = None
    weights: WeightsFlag = None
    unit: UnitFlag = None
    up: UpFlag = None
    force: ForceFlag = False
    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.cli.space import facts_of, warn_of
        from neurok.posing.verbs import sample
        from neurok.staging import together

        self._check()
        model = understood(self.mesh, self.unit, self.up, plan=self.plan)
        states = sample(model, self.count, space=self.space, weights=self.weights, seed=self.seed)
        asset = model.asset
        warn_of(states.space)
        with together():
            files = [str(file) for path in self.out for file in self._write(asset, states, path)]
        names = ", ".join(map(str, self.out))
        say(f"{self.count} states of {states.space.dim} degrees of freedom: {names}", json=self.json)
        say(f"Read with {frame_words(asset.mesh)}. Space {states.why}", json=self.json)
        told = {"out": str(self.out[0]), "files": files, "count": self.count, **frame_facts(asset.mesh)}
        return {**told, **facts_of(states.space, states.why), "q": states.q.tolist()}

    def _check(self) -> None:
        from neurok.errors import NeurokError
        from neurok.io.formats import FORMATS

        moving = [suffix for suffix, holds in FORMATS.items() if holds.clips != "none" and holds.joints]
        for path in self.out:
            if path.suffix and path.suffix.lower() not in (".png", *moving):
                raise NeurokError(
                    f"States go into a .png sheet or a folder, or a motion ({', '.join(moving)}), got '{path}'."
                )
        check_outputs([path for path in self.out if path.suffix], [self.mesh, self.plan], force=self.force)

    def _write(self, asset: Asset, states: Samples, path: Path) -> list[Path]:
        if path.suffix and path.suffix.lower() != ".png":
            from neurok.io import save

            clip = states.clip()
            return save(replace(asset, mesh=clip.rest, clips=(clip,), articulation=states.space.articulation), path)
        if path.suffix:
            from neurok.rendering import contact_sheet, render_mesh, save_image

            drawn = progress(states, "drawing", total=len(states), json=self.json)
            save_image(contact_sheet([render_mesh(mesh, width=320, height=260) for mesh in drawn]), path)
            return [path]
        from neurok.io import save

        written = []
        for number, mesh in enumerate(progress(states, "writing", total=len(states), json=self.json)):
            written += save(mesh, path / f"state_{number:04d}.glb")
        return written
