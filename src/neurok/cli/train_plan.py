"""``neurok train plan``: calibrate the joints of body plans."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurok.cli.report import progress, say


@dataclass
class TrainPlan:
    """Fit how sure body plans are of their joints, on annotated objects whose parts are hidden.

    Of a folder of PartNet-Mobility objects those are read that the articulation network's training keeps aside.
    """

    data: Path
    """Folder of PartNet-Mobility objects."""

    weights: str = "articulation_held_out"
    """Articulation weights that have not learned from these objects."""

    prior: bool = True
    """Whether the learned prior is a source, too."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from dataclasses import asdict

        from neurok.core import Articulation
        from neurok.train.articulation_data import JointDataConfig, watched_things
        from neurok.train.plan_calibration import fit_plan

        things = watched_things(JointDataConfig((str(self.data),)))
        loaded = (thing.load() for thing in progress(things, "plans", total=len(things), json=self.json))
        objects = (Articulation(mesh, joints) for mesh, joints in loaded if joints is not None)
        fit = fit_plan(objects, self.weights, self.prior)
        numbers = ", ".join(f"{value:.2f}" for value in fit.calibration)
        say(
            f"{fit.bodies} bodies of {fit.objects} objects: ({numbers}); "
            f"left-out objects {fit.log_likelihood:.3f} nats a body",
            json=self.json,
        )
        return asdict(fit)
