"""``neurok render``: a picture or a film of anything that loads."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok import rendering
from neurok.cli.flags import ForceFlag, JsonFlag, NeededOut, NodesFlag, UnitFlag, UpFlag, arg
from neurok.cli.outputs import Command, check_outputs, frame_facts, frame_words, load_framed
from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.rendering.files import FILMS, STILLS, check_suffix
from neurok.scene.output import motion_of, render
from neurok.staging import together

PAGE = ".html"
SHEET_PICTURES = 8


@dataclass(frozen=True)
class ShadingFlags:
    """Shading."""

    flat: bool = False
    """Flat shading instead of smooth shading."""

    parts: bool = False
    """Give every part its own colour."""


@dataclass
class Render(Command):
    """Render a picture or a video of an object: its animation, its joints from limit to limit, or a turntable view."""

    input: Annotated[tyro.conf.Positional[str], arg("IN")]
    """Mesh, animation or articulated object, or a built-in one such as sample:laptop."""

    out: NeededOut
    """Where to write: .png (also .jpg, .webp) for a picture, .mp4 or .gif for a video, .html for an interactive
    page."""

    sheet: Annotated[tuple[int, ...] | None, arg("[N]", "one picture")] = None
    """Instead of one picture, N (8 if not given) frames of the motion side by side."""

    clip: Annotated[str, arg("NAME|NUMBER")] = "0"
    """Which animation, if there are several."""

    size: Annotated[str, arg("WxH")] = "640x480"
    """Width and height in pixels."""

    view: Annotated[str, arg("NAME|AZIMUTH,ELEVATION")] = "three-quarter"
    """three-quarter, front, side, back, top, or azimuth,elevation in degrees."""

    fps: Annotated[float | None, arg("RATE", "the animation's own")] = None
    """Frames per second of the video. Its speed stays the same."""

    unit: UnitFlag = None
    up: UpFlag = None
    nodes: NodesFlag = ()
    force: ForceFlag = False
    json: JsonFlag = False

    shading: tyro.conf.OmitArgPrefixes[ShadingFlags] = field(default_factory=ShadingFlags)

    def run(self) -> dict[str, Any]:
        asset = load_framed(self.input, self.unit, self.up, self.nodes)
        with together():
            outputs = [self._page(asset, path) if _is_page(path) else self._draw(asset, path) for path in self.out]
        for path, figures in zip(self.out, outputs):
            figures["bytes"] = path.stat().st_size
            self.say(_sentence(figures))
        self.say(f"Read with {frame_words(asset.mesh)}.")
        files = [str(path) for path in self.out]
        return {"input": self.input, **frame_facts(asset.mesh), **outputs[0], "files": files, "outputs": outputs}

    def check_flags(self) -> None:
        pictures = STILLS if self.sheet is not None else STILLS + FILMS
        for path in self.out:
            if not _is_page(path):
                check_suffix(path, (*pictures, *([] if self.sheet is not None else [PAGE])))
        if all(map(_is_page, self.out)):
            self._check_page()
        check_outputs(self.out, [self.input], force=self.force)

    def _draw(self, asset: Asset, path: Path) -> dict[str, Any]:
        width, height = parse_size(self.size)
        options: dict[str, Any] = {
            "width": width,
            "height": height,
            "camera": rendering.Camera.parse(self.view),
            "shading": "flat" if self.shading.flat else "smooth",
            "colors": "parts" if self.shading.parts else "surface",
        }
        sheet = None if self.sheet is None else (self.sheet[0] if self.sheet else SHEET_PICTURES)
        start = time.perf_counter()
        made = render(asset, path, clip=self.clip, sheet=sheet, fps=self.fps, watch=self.watch, **options)
        seconds = time.perf_counter() - start
        motion = motion_of(asset, self.clip) if sheet is not None else None
        count = made if isinstance(made, int) else 1 if motion is None else min(sheet or 1, motion.frame_count)
        if not isinstance(made, int):
            height, width = made.shape[:2]
        return {
            "out": str(path),
            "frames": count,
            "width": width,
            "height": height,
            "seconds": round(seconds, 3),
            "ms_per_frame": round(1000.0 * seconds / count, 2),
        }

    def _check_page(self) -> None:
        """A page is turned by its reader, so what a camera needs is refused."""
        plain = Render(self.input, self.out)
        given = [name for name in ("sheet", "size", "view", "fps") if getattr(self, name) != getattr(plain, name)]
        given += [name for name in ("flat", "parts") if getattr(self.shading, name)]
        if given:
            raise NeurokError(f"--{given[0]} does not apply to an interactive page (.html); leave it out.")

    def _page(self, asset: Asset, path: Path) -> dict[str, Any]:
        """One file that needs no server."""
        import neurok

        start = time.perf_counter()
        motion = motion_of(asset, self.clip)
        neurok.show(asset, clip=self.clip).save(path)
        seconds = time.perf_counter() - start
        return {"out": str(path), "frames": 1 if motion is None else motion.frame_count, "seconds": round(seconds, 3)}


def _is_page(path: Path) -> bool:
    return path.suffix.lower() == PAGE


def _sentence(figures: dict[str, Any]) -> str:
    if "width" in figures:
        made = f"{figures['frames']} frames of {figures['width']}x{figures['height']}"
    else:
        made = f"a page of {figures['bytes'] / 1e6:.1f} MB with {figures['frames']} frames"
    return f"{figures['out']}: {made} in {figures['seconds']:.1f} s"


def parse_size(text: str) -> tuple[int, int]:
    """Width and height out of ``WxH``."""
    try:
        width, height = (int(word) for word in text.lower().split("x"))
    except ValueError:
        raise NeurokError(f"The size {text!r} is not understood; write it like 640x480.") from None
    return width, height
