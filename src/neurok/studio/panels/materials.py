"""What each region is made of: proposed, or named by hand."""

from __future__ import annotations

from typing import Any

from neurok.core.material_library import library
from neurok.rendering.palette import part_color
from neurok.studio.panels.base import Panel

MOST_ROWS = 40
"""Regions that are listed."""


class MaterialsPanel(Panel):
    """The tab of materials."""

    def build(self) -> None:
        gui = self.gui
        self.shows = self.input(gui.add_checkbox("Colour by material", False), self._show)
        self.region = gui.add_dropdown("Region", ("all",))
        self.stuff = gui.add_dropdown("Material", tuple(sorted(library())))
        self.button("Set material", lambda: self.scene.set_material(self.region.value, self.stuff.value))
        self.list = gui.add_markdown("")
        self.known: Any = None

    def _show(self, on: bool) -> None:
        self.session.look = "materials" if on else "object"

    def opened(self) -> None:
        self.known = None
        self.refresh()

    def refresh(self) -> None:
        key = (self.scene.asset, self.scene.plan, self.scene.is_edited, tuple(self.scene.materials.items()))
        if self.scene.asset is None or (
            self.known is not None and all(a is b or a == b for a, b in zip(key, self.known))
        ):
            return
        self.known = key
        found = self.scene.proposals()
        names = list(dict.fromkeys(item.region.name for item in found.items))
        self.region.options = ("all", *names)
        order = {name: k for k, name in enumerate(dict.fromkeys(m.name for m in found.field.materials))}
        rows = []
        for item in found.items[:MOST_ROWS]:
            red, green, blue = (int(255 * c) for c in part_color(order[item.material.name]))
            dot = f'<span style="color:rgb({red},{green},{blue})">&#9632;</span>'
            rows.append(f"{dot} {item.region.name}: **{item.material.name}** ({item.confidence:.2f})")
        self.list.content = "  \n".join(rows)
