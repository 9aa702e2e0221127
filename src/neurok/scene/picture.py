"""The verb ``render``: a picture or a film of anything that has a shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neurok import rendering
from neurok.bodyplan.plan import BodyPlan
from neurok.core import Articulation, Asset, Clip, Mesh, Rollout
from neurok.errors import NeurokError
from neurok.rendering.files import FILMS, STILLS, check_suffix

TURN_SECONDS = 3.0
"""One turn around an object that does not move."""

Watch = Callable[[Iterable[Any], int], Iterable[Any]]
"""Sees frames and their number on their way into a film."""


def render(
    thing: Asset | Mesh | Clip | Rollout | Articulation | BodyPlan | str | Path,
    out: str | Path | None = None,
    *,
    clip: str = "0",
    sheet: int | None = None,
    fps: float | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> np.ndarray | int:
    """Take a picture of an object, a sheet of its motion, or a film.

    Args:
        thing: An object, a motion, a rollout, a body plan, or what ``neurok.load`` reads.
        out: Where to write: .png, .jpg for a picture, .mp4, .gif for a film; nothing to get the pixels.
        clip: Which animation of the object, by name or number.
        sheet: Show so many moments of the motion on one picture.
        fps: Frames per second of a film; the animation's own by default.
        watch: Sees the frames of a film on their way.
        options: Those of ``neurok.rendering.Renderer``: width, height, camera, shading, colors.

    Returns:
        The pixels of a picture, or the number of frames of a film.
    """
    path = None if out is None else Path(out)
    if path is not None:
        check_suffix(path, STILLS if sheet is not None else STILLS + FILMS)
    if isinstance(thing, BodyPlan):
        from neurok.bodyplan.plan_file import draw_plan

        return _kept(draw_plan(thing), path)
    asset = _asset(thing)
    if path is not None and path.suffix.lower() in FILMS:
        return _film(asset, motion_of(asset, clip), path, fps, watch, options)
    if sheet is None:
        mesh = asset.mesh if clip == "0" else asset.clip(clip).mesh(0)
        return _kept(rendering.render_mesh(mesh, **options), path)
    motion = motion_of(asset, clip)
    if motion is None:
        raise NeurokError(f"'{asset.mesh.name}' does not move, so there is no sheet of it; leave out --sheet.")
    return _kept(rendering.clip_sheet(motion, sheet, **options), path)


def motion_of(asset: Asset, which: str = "0") -> Clip | None:
    """The chosen animation, or the joints going from limit to limit, or nothing."""
    if asset.clips or which != "0":
        return asset.clip(which)
    if asset.articulation is not None and asset.articulation.dof:
        return asset.articulation.clip(asset.articulation.sweep())
    return None


def _asset(thing: Any) -> Asset:
    if isinstance(thing, str | Path):
        from neurok.io import load

        return load(thing)
    if isinstance(thing, Rollout):
        thing = thing.clip()
    if isinstance(thing, Clip):
        return Asset(thing.rest, clips=(thing,))
    if isinstance(thing, Articulation):
        return Asset(thing.mesh, articulation=thing)
    return Asset(thing) if isinstance(thing, Mesh) else thing


def _kept(image: np.ndarray, path: Path | None) -> np.ndarray:
    if path is not None:
        rendering.save_image(image, path)
    return image


def _film(
    asset: Asset, motion: Clip | None, path: Path, fps: float | None, watch: Watch | None, options: dict[str, Any]
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
    return rendering.save_video(frames if watch is None else watch(frames, total), path, rate)
