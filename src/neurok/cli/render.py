"""``neurok render``: a picture or a film of anything that loads."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok import rendering
from neurok.cli.frame import UnitFlag, UpFlag, load_framed
from neurok.cli.report import progress, say
from neurok.errors import NeurokError
from neurok.rendering.files import FILMS, STILLS, check_suffix
from neurok.scene.picture import motion_of, render


@dataclass
class Render:
    """Take a picture of an object, or film it: its animation, its joints from limit to limit, or one turn around."""

    input: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="IN")]
    """Mesh, animation or articulated object, or a built-in one such as sample:laptop."""

    out: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="OUT")]
    """Where to write: .png (also .jpg, .webp) for a picture, .mp4 or .gif for a film, .html for a page to turn and
    play in a browser."""

    sheet: Annotated[tuple[int, ...] | None, tyro.conf.arg(metavar="[N]")] = None
    """Instead of one picture, N (8 if not given) moments of the motion side by side."""

    clip: str = "0"
    """Name or number of the animation, when there are several."""

    size: str = "640x480"
    """Width and height in pixels."""

    view: str = "three-quarter"
    """three-quarter, front, side, back, top, or azimuth,elevation in degrees."""

    flat: bool = False
    """Show every face flat instead of smooth."""

    parts: bool = False
    """Give every part a colour of its own."""

    fps: Annotated[float | None, tyro.conf.arg(metavar="FLOAT")] = None
    """Frames per second of the film; the animation's own if not given. Its speed stays the same."""

    unit: UnitFlag = None
    up: UpFlag = None

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        if self.out.suffix.lower() == ".html":
            return self._page()
        check_suffix(self.out, STILLS if self.sheet is not None else STILLS + FILMS)
        width, height = parse_size(self.size)
        options: dict[str, Any] = {
            "width": width,
            "height": height,
            "camera": rendering.Camera.parse(self.view),
            "shading": "flat" if self.flat else "smooth",
            "colors": "parts" if self.parts else "surface",
        }
        sheet = None if self.sheet is None else (self.sheet[0] if self.sheet else 8)
        watch = lambda frames, total: progress(frames, "rendering", total=total, json=self.json)  # noqa: E731
        asset = load_framed(self.input, self.unit, self.up)
        start = time.perf_counter()
        made = render(asset, self.out, clip=self.clip, sheet=sheet, fps=self.fps, watch=watch, **options)
        seconds = time.perf_counter() - start
        motion = motion_of(asset, self.clip) if sheet is not None else None
        count = made if isinstance(made, int) else 1 if motion is None else min(sheet or 1, motion.frame_count)
        if not isinstance(made, int):
            height, width = made.shape[:2]
        say(f"{self.out}: {count} frames of {width}x{height} in {seconds:.1f} s", json=self.json)
        return {
            "out": str(self.out),
            "frames": count,
            "width": width,
            "height": height,
            "seconds": round(seconds, 3),
            "ms_per_frame": round(1000.0 * seconds / count, 2),
        }

    def _page(self) -> dict[str, Any]:
        """One file that needs no server; the reader turns it, so what a camera needs is refused."""
        import neurok

        plain = Render(self.input, self.out)
        given = [
            name
            for name in ("sheet", "size", "view", "flat", "parts", "fps")
            if getattr(self, name) != getattr(plain, name)
        ]
        if given:
            raise NeurokError(f"A page is turned and played by its reader; leave out --{given[0]}.")
        asset = load_framed(self.input, self.unit, self.up)
        start = time.perf_counter()
        motion = motion_of(asset, self.clip)
        neurok.show(asset, clip=self.clip).save(self.out)
        seconds, size = time.perf_counter() - start, self.out.stat().st_size
        frames = 1 if motion is None else motion.frame_count
        say(f"{self.out}: a page of {size / 1e6:.1f} MB with {frames} frames in {seconds:.1f} s", json=self.json)
        return {"out": str(self.out), "frames": frames, "bytes": size, "seconds": round(seconds, 3)}


def parse_size(text: str) -> tuple[int, int]:
    """Width and height out of ``WxH``."""
    try:
        width, height = (int(word) for word in text.lower().split("x"))
    except ValueError:
        raise NeurokError(f"The size {text!r} is not understood; write it like 640x480.") from None
    return width, height
