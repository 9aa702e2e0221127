"""``neurok train plan``: calibrate the joints of body plans."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from neurok.cli.flags import JsonFlag, arg
from neurok.cli.report import progress, say


@dataclass
class TrainPlan:
    """Calibrate the joint probabilities of body plans, on annotated objects whose parts are hidden.

    From a folder of PartNet-Mobility objects only those are read that are held out from the training of the networks;
    the same holds for folders of static objects.
    """

    data: Annotated[tyro.conf.Positional[Path], arg("FOLDER")]
    """Folder of PartNet-Mobility objects."""

    weights: str = "articulation_held_out"
    """Articulation weights that were not trained on these objects."""

    static: Annotated[tuple[Path, ...], arg("FOLDER [FOLDER ...]", "none")] = ()
    """Folders of static objects."""

    pieces: Annotated[str | None, arg("WEIGHTS|none", "the shipped ones")] = None
    """Weights of the grouping network; 'none' omits it."""

    forms: Annotated[tuple[Literal["raw", "named", "melted"], ...], arg("raw|named|melted ...")] = ("raw",)
    """The form of the objects: raw meshes, with their parts, or fused into one surface."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from dataclasses import asdict

        from neurok.core import Articulation, Joint
        from neurok.train.pieces_sources import PieceSources, watched
        from neurok.train.plan_calibration import fit_plan

        things = watched(PieceSources((str(self.data),), tuple(map(str, self.static))))
        loaded = (thing.load() for thing in progress(things, "plans", total=len(things), json=self.json))
        objects = (
            Articulation(mesh, joints or tuple(Joint(parent=-1 if k == 0 else 0) for k in range(mesh.part_count)))
            for mesh, joints in loaded
        )
        fit = fit_plan(objects, self.weights, self.pieces, forms=self.forms)
        numbers = ", ".join(f"{value:.2f}" for value in fit.calibration)
        say(
            f"{fit.bodies} bodies of {fit.objects} objects: ({numbers}); "
            f"left-out objects {fit.log_likelihood:.3f} nats a body",
            json=self.json,
        )
        for least, kept, right in fit.thresholds:
            say(f"from {least:.2f} on: {kept:.2f} of the right joints are kept, {right:.2f} are right", json=self.json)
        return asdict(fit)
