"""``neurok render``: a picture or a film of anything that loads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from neurok import io, rendering
from neurok.cli.report import progress, say
from neurok.core import Asset, Clip
from neurok.errors import NeurokError
from neurok.rendering.files import FILMS, STILLS, check_suffix

TURN_SECONDS = 3.0


@dataclass
class Render:
    """Take a picture of an object, or film it: its animation, its joints from limit to limit, or one turn around."""

    input: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="IN")]
    """Mesh, animation or articulated object, or a built-in one such as sample:laptop."""

    out: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="OUT")]
    """Where to write: .png (also .jpg, .webp) for a picture, .mp4 or .gif for a film."""

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

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        check_suffix(self.out, STILLS if self.sheet is not None else STILLS + FILMS)
        width, height = parse_size(self.size)
        camera = rendering.Camera.parse(self.view)
        asset = io.load(self.input)
        options: dict[str, Any] = {
            "width": width,
            "height": height,
            "camera": camera,
            "shading": "flat" if self.flat else "smooth",
            "colors": "parts" if self.parts else "surface",
        }
        start = time.perf_counter()
        if self.out.suffix.lower() in FILMS:
            motion = motion_of(asset, self.clip)
            count = film(asset, motion, self.out, self.fps, json=self.json, **options)
        else:
            image, count = self._still(asset, options)
            height, width = image.shape[:2]
            rendering.save_image(image, self.out)
        seconds = time.perf_counter() - start
        say(f"{self.out}: {count} frames of {width}x{height} in {seconds:.1f} s", json=self.json)
        per_frame = 1000.0 * seconds / count
        return {
            "out": str(self.out),
            "frames": count,
            "width": width,
            "height": height,
            "seconds": round(seconds, 3),
            "ms_per_frame": round(per_frame, 2),
        }

    def _still(self, asset: Asset, options: dict[str, Any]) -> tuple[np.ndarray, int]:
        if self.sheet is None:
            mesh = asset.mesh if self.clip == "0" else asset.clip(self.clip).mesh(0)
            return rendering.render_mesh(mesh, **options), 1
        motion = motion_of(asset, self.clip)
        if motion is None:
            raise NeurokError(f"'{self.input}' does not move, so there is no sheet of it; leave out --sheet.")
        count = self.sheet[0] if self.sheet else 8
        return rendering.clip_sheet(motion, count, **options), min(count, motion.frame_count)


def film(
    asset: Asset, motion: Clip | None, path: Path, fps: float | None = None, *, json: bool = False, **options: Any
) -> int:
    """Film the motion, or one turn around an object that has none; returns the number of frames."""
    frames: Iterator[np.ndarray]
    if motion is None:
        rate = fps or 24.0
        total = max(2, round(TURN_SECONDS * rate))
        frames = rendering.render_turntable(asset.mesh, total, **options)
    else:
        motion = motion if fps is None else motion.resampled(fps)
        rate, total = motion.fps, motion.frame_count
        frames = rendering.render_clip(motion, **options)
    return rendering.save_video(progress(frames, "rendering", total=total, json=json), path, rate)


def motion_of(asset: Asset, which: str = "0") -> Clip | None:
    """The chosen animation, or the joints going from limit to limit, or nothing."""
    if asset.clips or which != "0":
        return asset.clip(which)
    if asset.articulation is not None and asset.articulation.dof:
        return asset.articulation.clip(asset.articulation.sweep())
    return None


def parse_size(text: str) -> tuple[int, int]:
    """Width and height out of ``WxH``."""
    try:
        width, height = (int(word) for word in text.lower().split("x"))
    except ValueError:
        raise NeurokError(f"The size {text!r} is not understood; write it like 640x480.") from None
    return width, height
