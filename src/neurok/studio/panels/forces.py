"""Gravity, wind, ground, a push, and the five actions."""

from __future__ import annotations

from typing import get_args

from neurok.core.select import SIDES
from neurok.scene.description import BaseName
from neurok.studio.forces import ActionChoice, EngineChoice, Forces
from neurok.studio.panels.base import Panel


class ForcesPanel(Panel):
    """The tab of forces."""

    def build(self) -> None:
        gui, forces = self.gui, Forces()
        put = lambda name: lambda value: self.scene.set_forces(**{name: value})  # noqa: E731
        self.inputs = {
            "gravity": gui.add_slider("Gravity", -2.0, 3.0, 0.05, forces.gravity, hint="in multiples of the earth's"),
            "wind": gui.add_slider("Wind", 0.0, 40.0, 0.5, forces.wind, hint="[m/s]"),
            "wind_to": gui.add_dropdown("Wind blows to", tuple(SIDES), initial_value=forces.wind_to),
            "ground": gui.add_checkbox("Ground", forces.ground),
            "base": gui.add_dropdown("Base", get_args(BaseName), initial_value=forces.base),
            "engine": gui.add_dropdown("Engine", get_args(EngineChoice), initial_value=forces.engine),
        }
        for name, made in self.inputs.items():
            self.input(made, self._ground if name == "ground" else put(name))
        with gui.add_folder("Action"):
            self.act = gui.add_dropdown("Do", [a for a in get_args(ActionChoice) if a != "none"])
            self.strength = gui.add_slider("Strength", 0.1, 5.0, 0.1, 1.0)
            self.button("Do it", self._act)
        with gui.add_folder("Push"):
            self.place = gui.add_dropdown("Place", ("top",))
            self.to = gui.add_dropdown("Towards", tuple(SIDES), initial_value="front")
            self.force = gui.add_slider("Push strength", 0.1, 10.0, 0.1, 1.0, hint="in halves of the weight")
            self.button("Push", lambda: self.scene.push(self.place.value, self.to.value, self.force.value))

    def _ground(self, there: bool) -> None:
        self.scene.set_forces(ground=there)
        self.session.drawn = (None, "object", None)

    def _act(self) -> None:
        """An action is a run of its own: from the pose that is shown, once."""
        if self.scene.mode in ("running", "paused"):
            self.scene.rest()
        before = self.scene.forces
        self.scene.set_forces(act=self.act.value, strength=float(self.strength.value))
        try:
            self.scene.run()
        finally:
            self.scene.set_forces(act=before.act, strength=before.strength)

    def opened(self) -> None:
        names = [name for name in self.scene.object_mesh.part_names if "/" not in name]
        self.place.options = ("top", "center", *dict.fromkeys(names[:40]))

    def refresh(self) -> None:
        for name, made in self.inputs.items():
            made.value = getattr(self.scene.forces, name)
