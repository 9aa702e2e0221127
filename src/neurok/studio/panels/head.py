"""What is always in sight: run, pause, reset, the meter, and what was said last."""

from __future__ import annotations

import math
from typing import Any

from neurok.studio.panels.base import Panel


class HeadPanel(Panel):
    """The top of the window."""

    def build(self) -> None:
        self.said = ""
        self.status = self.gui.add_markdown("")
        self.run = self.button("Run", self._run, icon="player-play")
        self.reset = self.button("Reset", self.scene.rest, icon="player-skip-back")
        self.button("Look at it", self.session.look_at_object, icon="focus-2")
        self.message = self.gui.add_markdown("")

    def _run(self) -> None:
        if self.scene.mode in ("running", "playing"):
            self.scene.pause()
        else:
            self.scene.run()

    def tell(self, text: str) -> None:
        """Keep a sentence in sight."""
        self.said = text
        self.message.content = _plain(text)

    def refresh(self) -> None:
        scene = self.scene
        is_going = scene.mode in ("running", "playing")
        self.run.label = "Pause" if is_going else "Run"
        self.run.icon = "player-pause" if is_going else "player-play"
        name = "nothing open" if scene.asset is None else _plain(scene.open_asset.mesh.name)
        lines = [f"**{name}** · {scene.mode}"]
        if scene.mode in ("running", "paused"):
            lines.append(meter_line(scene.meter))
        self.status.content = "  \n".join(lines)
        if scene.notes and scene.notes[-1] and scene.notes[-1] not in self.said:
            self.tell(scene.notes[-1])


def meter_line(meter: dict[str, Any]) -> str:
    """Steps per second, energy and real-time factor in one line."""
    if "time" not in meter:
        return "getting ready ..."
    said = [f"{meter['time']:.1f} s"]
    if meter.get("steps_per_second"):
        said.append(f"{meter['steps_per_second']:.0f} steps/s")
    total = (meter.get("energy") or {}).get("total")
    if total is not None and math.isfinite(total):
        said.append(f"{total:.3g} J")
    if meter.get("real_time_factor"):
        said.append(f"{meter['real_time_factor']:.1f}x real time")
    if meter.get("pieces"):
        said.append(f"next frame: {meter['pieces']} steps done")
    if meter.get("engine"):
        said.append(str(meter["engine"]))
    return " · ".join(said)


def _plain(text: str) -> str:
    """Text of files and users, without markdown."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+!|<>~$" else c for c in text)
