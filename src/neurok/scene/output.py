"""Where the result of a simulation may go, and how it gets there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurok import io
from neurok.errors import NeurokError
from neurok.io.files import check_writable, is_pattern
from neurok.io.formats import WRITERS
from neurok.rendering.files import FILMS, STILLS
from neurok.scene.loose import pictures

if TYPE_CHECKING:
    from neurok.scene.run import SceneRun

LAST_FRAME = (".obj", ".ply", ".stl", ".off")
"""Formats of still meshes; they get the object as it is in the end."""

JOINTS_ONLY = (".urdf", ".xml", ".mjcf")

SHEET_PICTURES = 8


def check_output(out: Path) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    suffix = out.suffix.lower()
    known = [s for s in (*WRITERS, *FILMS, *STILLS) if s not in JOINTS_ONLY]
    if suffix not in known:
        raise NeurokError(f"A motion cannot be written to '{out}'; the name must end in {', '.join(sorted(known))}.")
    check_writable(out)


Watch = Callable[[Iterable[Any], int], Iterable[Any]]
"""Sees frames and their number on their way into a film."""


def write_output(run: SceneRun, out: Path, *, watch: Watch | None = None) -> list[Path]:
    """Write the motion, a film, a sheet or the last frame, as the suffix says; tell which files that made."""
    suffix = out.suffix.lower()
    if suffix in FILMS or suffix in STILLS:
        from neurok import rendering

        clip = run.clip()
        loose = any(rollout.grains for rollout in run.rollouts)
        if suffix in STILLS:
            rendering.save_image(_loose_sheet(run) if loose else rendering.clip_sheet(clip, SHEET_PICTURES), out)
            return [out]
        frames = pictures(run, range(clip.frame_count), 640, 480) if loose else rendering.render_clip(clip)
        seen = frames if watch is None else watch(frames, clip.frame_count)
        rendering.save_video(seen, out, clip.fps)
        return [out]
    if suffix in LAST_FRAME and not is_pattern(out):
        return io.save(run.clip().mesh(-1), out)
    return io.save(run.asset(), out)


def _loose_sheet(run: SceneRun) -> np.ndarray:
    """Moments of a scene with sand or water."""
    from neurok.rendering import contact_sheet

    count, dt = run.rollout.frame_count, run.rollout.dt
    chosen = np.unique(np.round(np.linspace(0, count - 1, SHEET_PICTURES)).astype(int)).tolist()
    return contact_sheet(list(pictures(run, chosen)), labels=[f"{i * dt:.2f} s" for i in chosen])
