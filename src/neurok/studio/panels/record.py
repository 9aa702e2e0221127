"""Record what runs, go through it, plot it, and take it away as a file."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from neurok.studio.exports import FORMATS, export
from neurok.studio.panels.base import Panel


class RecordPanel(Panel):
    """The tab of recordings and files."""

    def build(self) -> None:
        gui = self.gui
        self.record = self.button("Record", lambda: self.scene.record(not self.scene.records), icon="player-record")
        self.frame = self.input(gui.add_slider("Frame", 0, 1, 1, 0), lambda value: self.scene.scrub(int(value)))
        self.loop = self.input(gui.add_checkbox("Loop", True), self.scene.set_loop)
        self.button("Play", self.scene.play)
        self.plots: list[Any] = []
        self.plotted: Any = None
        self.plot_folder = gui.add_folder("Plots")
        with gui.add_folder("Download"):
            self.format = gui.add_dropdown("Format", tuple(FORMATS))
            gui.add_button("Download", icon="download").on_click(lambda _: self._download())

    def _download(self) -> None:
        chosen = self.format.value
        with self.session.lock:
            still = copy.copy(self.scene)  # what happens while it is written is not in the file

        def work() -> tuple[str, bytes]:
            return export(still, chosen)

        def give(file: tuple[str, bytes]) -> None:
            self.session.client.send_file_download(*file, save_immediately=True)

        self.session.later(f"Writing {chosen} ...", work, give)

    def opened(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        recording = self.scene.playback.recording
        self.record.label = "Stop recording" if self.scene.records else "Record"
        if recording is not None:
            last = max(recording.clip.frame_count - 1, 1)
            if self.frame.max != last:
                self.frame.max = last
            self.frame.value = min(int(self.scene.playback.frame), last)
        if recording is not self.plotted:
            self._plot()

    def ticked(self) -> None:
        self.refresh()

    def _plot(self) -> None:
        for plot in self.plots:
            plot.remove()
        self.plots, recording = [], self.scene.playback.recording
        self.plotted = recording
        if recording is None:
            return
        times = np.arange(recording.clip.frame_count) / recording.clip.fps
        with self.plot_folder:
            for label, values in (("energy [J]", recording.energies), ("deepest so far [m]", recording.depths)):
                if np.isfinite(values).any():
                    series = ({"label": "s"}, {"label": label, "stroke": "#1f77b4", "width": 1.5})
                    self.plots.append(
                        self.gui.add_uplot(
                            (times, np.nan_to_num(values)),
                            series,
                            scales={"x": {"time": False}},
                            title=label,
                            height=140,
                        )
                    )
