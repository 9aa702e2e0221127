"""Pictures and films of meshes and clips, and their files."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from neurok.core import Clip, Mesh
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.rendering.markers import Marker
from neurok.rendering.renderer import Renderer
from neurok.staging import staged

STILLS = (".png", ".jpg", ".jpeg", ".webp")
FILMS = (".mp4", ".gif")
H264 = ("-crf", "18", "-preset", "medium", "-movflags", "+faststart")
REPEATABLE = ("-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact")
"""One thread and no version string: the same frames give the same bytes."""


def save_image(image: UInt8[np.ndarray, "H W C"], path: str | Path) -> None:
    """Write one picture; the suffix picks the format."""
    from PIL import Image

    path = Path(path)
    check_suffix(path, STILLS)
    picture = Image.fromarray(np.ascontiguousarray(image))
    if path.suffix.lower() in (".jpg", ".jpeg"):
        picture = picture.convert("RGB")
    with staged(path) as temporary:
        picture.save(temporary)


def save_video(frames: Iterable[UInt8[np.ndarray, "H W C"]], path: str | Path, fps: float = 24.0) -> int:
    """Write frames as they come, as .mp4 (H.264, plays everywhere) or .gif; returns how many there were.

    Odd sizes lose a row or column in .mp4, which cannot store them.
    """
    path = Path(path)
    check_suffix(path, FILMS)
    if not 0.1 <= fps <= 240.0:
        raise NeurokError(f"fps must be 0.1 to 240, got {fps}.")
    frames = iter(frames)
    first = next(frames, None)
    if first is None:
        raise NeurokError(f"There are no frames to write to '{path}'.")
    every = itertools.chain([first], frames)
    write = _write_gif if path.suffix.lower() == ".gif" else _write_mp4
    with staged(path) as temporary:
        return write(every, temporary, fps)


def check_suffix(path: Path, allowed: tuple[str, ...]) -> None:
    if path.suffix.lower() not in allowed:
        raise NeurokError(f"A picture cannot be written to '{path}'; the name must end in {', '.join(allowed)}.")


def _write_mp4(frames: Iterable[np.ndarray], path: Path, fps: float) -> int:
    import imageio_ffmpeg

    frames = iter(frames)
    first = next(frames)
    height, width = first.shape[0] // 2 * 2, first.shape[1] // 2 * 2
    writer = imageio_ffmpeg.write_frames(
        str(path),
        (width, height),
        fps=fps,
        codec="libx264",
        pix_fmt_out="yuv420p",
        macro_block_size=2,
        quality=None,
        output_params=[*H264, *REPEATABLE],
        ffmpeg_log_level="error",
    )
    writer.send(None)
    count = 0
    try:
        for frame in itertools.chain([first], frames):
            writer.send(np.ascontiguousarray(frame[:height, :width, :3]))
            count += 1
    finally:
        writer.close()
    return count


def _write_gif(frames: Iterable[np.ndarray], path: Path, fps: float) -> int:
    """One palette for all frames, taken from a few of them, so that colours do not flicker."""
    from PIL import Image

    pictures = [Image.fromarray(np.ascontiguousarray(frame[..., :3])) for frame in frames]
    probe = np.concatenate([np.asarray(p)[::2, ::2] for p in pictures[:: max(1, len(pictures) // 8)]])
    palette = Image.fromarray(probe).quantize(255, method=Image.Quantize.MEDIANCUT)
    coded = [picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG) for picture in pictures]
    # GIF counts in hundredths of a second, and viewers slow down below two.
    duration = max(20, round(100.0 / fps) * 10)
    coded[0].save(path, save_all=True, append_images=coded[1:], duration=duration, loop=0, optimize=False, disposal=1)
    return len(coded)


Picture = UInt8[np.ndarray, "H W C"]


def render_mesh(
    mesh: Mesh, width: int = 640, height: int = 480, *, markers: Sequence[Marker] = (), **options: Any
) -> Picture:
    """A picture of a mesh; ``options`` are those of ``Renderer``."""
    with Renderer(mesh, width=width, height=height, **options) as renderer:
        return renderer.render(markers=markers)


def render_clip(clip: Clip, width: int = 640, height: int = 480, **options: Any) -> Iterator[Picture]:
    """The frames of a clip one after the other, seen by one camera that holds the whole motion."""
    options.setdefault("fit_to", clip.positions)
    with Renderer(clip.rest, width=width, height=height, **options) as renderer:
        yield from renderer.frames(clip.positions)


def render_turntable(
    mesh: Mesh, frame_count: int = 72, width: int = 640, height: int = 480, **options: Any
) -> Iterator[Picture]:
    """The object turns once around its up axis, in light that stands still."""
    angles = np.linspace(0.0, 2.0 * np.pi, frame_count, endpoint=False)
    low, high = mesh.bounds
    middle = (low + high) / 2.0
    options.setdefault("fit_to", [_turned(mesh, middle, a) for a in np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)])
    with Renderer(mesh, width=width, height=height, **options) as renderer:
        yield from renderer.frames(_turned(mesh, middle, angle) for angle in angles)


def _turned(mesh: Mesh, middle: Float[np.ndarray, "3"], angle: float) -> Float[np.ndarray, "V 3"]:
    return lie.apply(lie.rotation_about(mesh.up_vector, middle, angle), mesh.vertices)


def clip_sheet(clip: Clip, count: int = 8, width: int = 320, height: int = 240, **options: Any) -> Picture:
    """Moments spread evenly over a clip, side by side, with their times."""
    if count < 1:
        raise NeurokError(f"A sheet needs at least one picture, got {count}.")
    chosen = np.unique(np.round(np.linspace(0, clip.frame_count - 1, count)).astype(int))
    options.setdefault("fit_to", clip.positions)
    with Renderer(clip.rest, width=width, height=height, **options) as renderer:
        images = [renderer.render(clip.positions[i]) for i in chosen]
    return contact_sheet(images, labels=[f"{i / clip.fps:.2f} s" for i in chosen])


def render_grid(
    meshes: Sequence[Mesh],
    columns: int | None = None,
    width: int = 240,
    height: int = 240,
    labels: Sequence[str] | None = None,
    **options: Any,
) -> Picture:
    """Several objects, each seen by a camera of its own."""
    images = [render_mesh(mesh, width, height, **options) for mesh in meshes]
    return contact_sheet(images, columns, labels)


def contact_sheet(
    images: Sequence[Picture], columns: int | None = None, labels: Sequence[str] | None = None, gap: int = 4
) -> Picture:
    """Pictures of one size in rows, with a small label in the corner of each."""
    if not images or len({image.shape for image in images}) != 1:
        raise NeurokError("A sheet needs at least one picture, and all of the same size.")
    height, width, channels = images[0].shape
    columns = columns or best_columns(len(images), width / height)
    rows = math.ceil(len(images) / columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, channels), 255, dtype=np.uint8)
    for i, image in enumerate(images):
        y, x = i // columns * (height + gap), i % columns * (width + gap)
        sheet[y : y + height, x : x + width] = image
    return sheet if labels is None else _write_labels(sheet, labels, columns, (width + gap, height + gap), height)


def best_columns(count: int, aspect: float) -> int:
    """Columns for a sheet that is about 16:9 and wastes few places."""

    def badness(columns: int) -> float:
        rows = math.ceil(count / columns)
        shape = abs(math.log(columns * aspect / rows / (16 / 9)))
        return shape + 2.0 * (rows * columns - count) / count

    return min(range(1, count + 1), key=badness)


def _write_labels(sheet: Picture, labels: Sequence[str], columns: int, pitch: tuple[int, int], height: int) -> Picture:
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.fromarray(sheet)
    draw = ImageDraw.Draw(picture)
    size = max(11, height // 17)
    font = ImageFont.load_default(size)
    for i, label in enumerate(labels):
        corner = (i % columns * pitch[0] + size // 2, i // columns * pitch[1] + size // 3)
        draw.text(corner, str(label), fill=(70, 74, 82), font=font)
    return np.asarray(picture)
