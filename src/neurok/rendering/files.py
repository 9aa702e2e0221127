"""Pictures and films into files: whole or not at all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from neurok.errors import NeurokError
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
