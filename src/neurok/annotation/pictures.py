"""Pictures of an annotation: the object by material, its runs on one sheet, and films of those that have a flag."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from neurok.core import Clip
from neurok.core.mesh import frame_change
from neurok.core.select import SIDES
from neurok.inference.material_drawing import painted
from neurok.inference.materials import Proposals
from neurok.io.files import write_files
from neurok.rendering import Renderer, contact_sheet, render_mesh, save_video


@dataclass(frozen=True)
class PictureConfig:
    """How pictures are laid out."""

    width: int = 320
    """Of a picture of an object [pixels]."""

    height: int = 240
    moments: int = 6
    """Pictures in the row of a run."""

    small: tuple[int, int] = (160, 120)
    """Of a picture in a row [pixels]."""

    film: tuple[int, int] = (240, 180)
    film_fps: float = 12.0
    far: float = 2.5
    """What has gone further is not followed: it would be too small to see [sizes]."""

    quality: int = 80
    """Of JPEG files."""


PICTURES = PictureConfig()


def save_materials(proposals: Proposals, folder: Path, config: PictureConfig = PICTURES) -> None:
    """The object in its own look, and in a colour for each material."""
    mesh = proposals.mesh
    look = render_mesh(mesh, config.width, config.height)
    tinted = render_mesh(painted(mesh, proposals.field), config.width, config.height)
    _save_jpeg(look, folder / "look.jpg", config)
    _save_jpeg(tinted, folder / "materials.jpg", config)


def save_runs(clips: Mapping[str, Clip], path: Path, config: PictureConfig = PICTURES) -> None:
    """A row for each run, with moments from its start to its end, or to where the object has gone too far."""
    images: list[np.ndarray] = []
    labels: list[str] = []
    width, height = config.small
    for name, clip in clips.items():
        chosen = np.round(np.linspace(0, _last(clip, config), config.moments)).astype(int)
        poses = [np.asarray(clip.positions[i], dtype=np.float64) for i in chosen]
        with Renderer(_double(clip), width=width, height=height, fit_to=poses) as renderer:
            images += [renderer.render(pose) for pose in poses]
        labels += [name, *(f"{i / clip.fps:.2f} s" for i in chosen[1:])]
    _save_jpeg(contact_sheet(images, config.moments, labels), path, config)


def save_clip(clip: Clip, path: Path, config: PictureConfig = PICTURES) -> None:
    """A small film of a run, up to where the object has gone too far."""
    step = max(1, round(clip.fps / config.film_fps))
    frames = [np.asarray(pose, dtype=np.float64) for pose in clip.positions[: _last(clip, config) + 1 : step]]
    width, height = config.film
    with Renderer(_double(clip), width=width, height=height, fit_to=frames) as renderer:
        save_video((renderer.render(frame) for frame in frames), path, clip.fps / step)


def _double(clip: Clip):  # type: ignore[no-untyped-def]
    return replace(clip.rest, surfaces=tuple(replace(each, double_sided=True) for each in clip.rest.surfaces))


def _last(clip: Clip, config: PictureConfig) -> int:
    right = frame_change("y", clip.rest.up) @ SIDES["right"]
    middles = clip.positions[:, np.unique(clip.rest.faces)].mean(axis=1)
    gone = np.abs((middles - middles[0]) @ right) > config.far * clip.rest.size
    return max(1, int(np.argmax(gone))) if gone.any() else clip.frame_count - 1


def _save_jpeg(image: np.ndarray, path: Path, config: PictureConfig) -> None:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).convert("RGB").save(
        buffer, "JPEG", quality=config.quality, optimize=True
    )
    write_files(path, {path.name: buffer.getvalue()})
