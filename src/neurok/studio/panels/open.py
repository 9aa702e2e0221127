"""Open a sample, a file from the browser, or a saved scene."""

from __future__ import annotations

from typing import Any

from neurok.io import load
from neurok.samples import SAMPLES
from neurok.studio.intake import Taken, take_file
from neurok.studio.panels.base import Panel
from neurok.studio.scene_file import restore


class OpenPanel(Panel):
    """The first tab."""

    def build(self) -> None:
        self.sample = self.gui.add_dropdown("Sample", tuple(SAMPLES))
        self.button("Open sample", lambda: self.session.open(load(f"sample:{self.sample.value}")))
        limit = self.session.config.upload_bytes / 1e6
        self.upload = self.gui.add_upload_button(
            "Open a file ...", hint=f"GLB, OBJ, PLY, STL, USD, NPZ or a scene of the studio, up to {limit:.0f} MB"
        )
        self.upload.on_upload(self._take)
        self.facts = self.gui.add_markdown("")

    def _take(self, event: Any) -> None:
        file = event.target.value
        name = "".join(c for c in file.name if c.isprintable())[:80]
        work = lambda: take_file(name, file.content, self.session.folder, self.session.config)  # noqa: E731
        self.session.later(f"Reading '{name}' ...", work, self._show)

    def _show(self, taken: Taken) -> None:
        if taken.scene is None:
            self.session.open(taken.asset, taken.notes)
        else:
            restore(self.scene, taken.scene, taken.notes)
            self.session.opened()

    def opened(self) -> None:
        asset = self.scene.open_asset
        mesh, joints = asset.mesh, self.scene.made_asset().articulation
        low, high = mesh.bounds
        sides = " x ".join(f"{side * mesh.unit:.3g}" for side in high - low)
        dof = 0 if joints is None else joints.dof
        self.facts.content = (
            f"{mesh.vertex_count:,} vertices, {mesh.face_count:,} faces, {mesh.part_count} parts, {dof} joint values, "
            f"{len(asset.clips)} animations. {sides} m, {mesh.up} up."
        )
