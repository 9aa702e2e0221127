"""A slider for each coordinate, a random state, back to rest; the mouse grabs the surface."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

from neurok.studio.panels.base import Panel

MOST_SLIDERS = 24
"""Coordinates with a slider of their own; the others move by hand or at random."""


class PosesPanel(Panel):
    """The tab of poses."""

    def build(self) -> None:
        self.seeds = itertools.count()
        self.button("Random state", lambda: self.scene.random_pose(next(self.seeds)))
        self.button("Back to rest", self.scene.rest)
        self.gui.add_markdown(
            "Drag a point of the surface: it follows by itself while paused, on a spring while running."
        )
        self.folder = self.gui.add_folder("Coordinates")
        self.sliders: list[Any] = []
        self.space: Any = None

    def refresh(self) -> None:
        space = self.scene.space
        if space is not self.space:
            self._rebuild()
        for slider, value in zip(self.sliders, self.scene.q, strict=False):
            slider.value = _near(float(value), slider.step)

    def opened(self) -> None:
        self._rebuild()

    def _rebuild(self) -> None:
        space = self.space = self.scene.space
        for slider in self.sliders:
            slider.remove()
        self.sliders = []
        if space is None or not space.dim:
            return
        with self.folder:
            for index in range(min(space.dim, MOST_SLIDERS)):
                low, high, step = scale_of(*(float(value) for value in space.ranges[index]))
                value = min(max(_near(float(self.scene.q[index]), step), low), high)
                unit = "length" if space.is_length[index] else "rad"
                made = self.gui.add_slider(space.names[index], low, high, step, value, hint=f"[{unit}]")
                self.input(made, partial(self.scene.set_coordinate, index))
                self.sliders.append(made)

    def ticked(self) -> None:
        if self.scene.mode == "posing":
            self.refresh()


def scale_of(low: float, high: float) -> tuple[float, float, float]:
    """Ends and step of a slider over a range, in round numbers: a hundred to a thousand steps."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-6) / 100.0))
    first, last = math.floor(low / step + 1e-6), math.ceil(high / step - 1e-6)
    return _near(first * step, step), _near(max(last, first + 1) * step, step), step


def _near(value: float, step: float) -> float:
    """The nearest number on the scale, without digits that mean nothing."""
    return round(round(value / step) * step, max(0, -math.floor(math.log10(step))))
