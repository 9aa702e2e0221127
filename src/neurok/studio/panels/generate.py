"""Objects from words or a picture."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurok.errors import NeurokError
from neurok.studio.panels.base import Panel

if TYPE_CHECKING:
    from neurok.inference.generate import Generated


class GeneratePanel(Panel):
    """The tab of generation."""

    def build(self) -> None:
        gui = self.gui
        self.words = gui.add_text("Words", "a wooden cabinet with two doors")
        self.seed = gui.add_number("Seed", 0, min=0, max=1_000_000, step=1)
        gui.add_button("Make it").on_click(lambda _: self._make(None))
        self.picture = gui.add_upload_button("Make it from a picture ...", mime_type="image/*")
        self.picture.on_upload(self._take)
        self.facts = gui.add_markdown("")

    def _take(self, event: Any) -> None:
        file = event.target.value
        if len(file.content) > self.session.config.upload_bytes:
            self.session.say(f"The picture has {len(file.content) / 1e6:.0f} MB, which is too large.", bad=True)
            return
        self._make(file)

    def _make(self, file: Any) -> None:
        words, seed = self.words.value, int(self.seed.value)

        def work() -> Generated:
            # Networks come along, which the first picture can do without.
            from neurok.inference.generate import generate

            if file is None:
                return generate(words, seed=seed)[0]
            with tempfile.TemporaryDirectory(dir=self.session.folder) as folder:
                path = Path(folder) / f"picture{Path(file.name).suffix.lower()[:6]}"
                path.write_bytes(file.content)
                found = generate("", path, seed=seed)
            if not found:
                raise NeurokError("Nothing was made of the picture.")
            return found[0]

        self.session.later("Making it ...", work, self._show)

    def _show(self, made: Generated) -> None:
        self.session.open(made.asset, made.notes)
        said = [f"Made: {made.assembly.category}, seed {made.seed}."]
        if made.ignored:
            said.append(f"Not understood: {', '.join(made.ignored)}.")
        self.facts.content = " ".join(said)
