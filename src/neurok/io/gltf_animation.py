"""Animations of a glTF file: key frames sampled at even times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.geometry import lie
from neurok.io.gltf_document import Document, Record, natural

DEFAULT_FPS = 24.0
"""Used when the key frames of a file follow no even rate."""

MAX_FPS = 120.0
MAX_FRAMES = 3000
WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
STEP_SLACK = 1e-5
"""Seconds by which a frame may come before a step and still see it; key times are stored in single precision."""


@dataclass(frozen=True, eq=False)
class Track:
    """One animated quantity of one node."""

    node: int
    path: str
    times: Float[np.ndarray, " N"]
    values: Float[np.ndarray, "N C"]
    """``(N, 3, C)`` for cubic splines: in-tangent, value, out-tangent."""

    interpolation: str

    def at(self, times: Float[np.ndarray, " T"]) -> Float[np.ndarray, "T C"]:
        """The value at each time; held before the first and after the last key."""
        if self.interpolation == "STEP" or len(self.times) == 1:
            keys = self.values[:, 1] if self.interpolation == "CUBICSPLINE" else self.values
            index = np.searchsorted(self.times, times + STEP_SLACK, side="right") - 1
            return keys[index.clip(0, len(self.times) - 1)]
        left = (np.searchsorted(self.times, times, side="right") - 1).clip(0, len(self.times) - 2)
        step = self.times[left + 1] - self.times[left]
        u = ((times - self.times[left]) / np.where(step > 0, step, 1.0)).clip(0.0, 1.0)[:, None]
        if self.interpolation == "CUBICSPLINE":
            return self._spline(left, step[:, None], u)
        if self.path == "rotation":
            return lie.slerp(self.values[left], self.values[left + 1], u)
        return (1.0 - u) * self.values[left] + u * self.values[left + 1]

    def _spline(self, left: np.ndarray, step: np.ndarray, u: np.ndarray) -> Float[np.ndarray, "T C"]:
        """Hermite cubic; a rotation is normalised by whoever uses it."""
        start, end = self.values[left, 1], self.values[left + 1, 1]
        leaving, arriving = step * self.values[left, 2], step * self.values[left + 1, 0]
        return (
            (2 * u**3 - 3 * u**2 + 1) * start
            + (u**3 - 2 * u**2 + u) * leaving
            + (-2 * u**3 + 3 * u**2) * end
            + (u**3 - u**2) * arriving
        )


def read_tracks(doc: Document, animation: Record) -> list[Track]:
    """All tracks that move a node of the file."""
    samplers = animation.get("samplers", [])
    tracks = []
    for channel in animation.get("channels", []):
        target = channel["target"]
        if "node" not in target or target["path"] not in (*WIDTHS, "weights"):
            continue
        index = natural(channel, "sampler")
        if index >= len(samplers):
            raise doc.error(f"an animation refers to sampler {index} of {len(samplers)}")
        doc.item("nodes", target["node"])
        tracks.append(_track(doc, target["node"], target["path"], samplers[index]))
    return tracks


def _track(doc: Document, node: int, path: str, sampler: Record) -> Track:
    times = doc.array(sampler["input"])[:, 0].astype(np.float64)
    values = doc.array(sampler["output"]).astype(np.float64)
    kind = sampler.get("interpolation", "LINEAR")
    if kind not in ("STEP", "LINEAR", "CUBICSPLINE"):
        raise doc.error(f"an animation has the unknown interpolation {kind!r}")
    if not len(times) or not np.isfinite(times).all() or (np.diff(times) < 0).any():
        raise doc.error("the key times of an animation must be finite and must not go back")
    keys = (len(times), 3) if kind == "CUBICSPLINE" else (len(times),)
    width = WIDTHS.get(path) or values.size // int(np.prod(keys))
    if values.size != int(np.prod(keys)) * width or not width:
        raise doc.error(f"an animation has {values.size} numbers for {len(times)} keys of a {path}")
    return Track(node, path, times, values.reshape(*keys, width), kind)


def frame_times(
    tracks: list[Track], max_frames: int, stored: tuple[float, int] | None = None
) -> tuple[Float[np.ndarray, " T"], float, bool]:
    """Even times from the first key to the last, their rate, and whether the rate had to be lowered.

    Where all keys lie on an even grid, the rate is that of the grid (or its smallest multiple from 24 on), so every
    key is met exactly; otherwise it is 24. ``stored`` (rate and frame count) is what neurok wrote itself.
    """
    keys = np.unique(np.concatenate([track.times for track in tracks]))
    if stored is not None and stored[1] <= max_frames:
        return keys[0] + np.arange(stored[1]) / stored[0], stored[0], False
    span = float(keys[-1] - keys[0])
    if span <= 0.0:
        return keys[:1], DEFAULT_FPS, False
    fps = _even_rate(keys)
    count = int(np.ceil(min(span * fps, 1e9) - 1e-3)) + 1
    if count > max_frames:
        count = max(2, max_frames)
        return np.linspace(keys[0], keys[-1], count), (count - 1) / span, True
    return keys[0] + np.arange(count) / fps, fps, False


def _even_rate(keys: Float[np.ndarray, " N"]) -> float:
    steps = np.diff(keys)
    steps = steps[steps > 1e-4]
    if not len(steps):
        return DEFAULT_FPS
    rate = 1.0 / float(steps.min())
    rate *= max(1.0, float(np.ceil(DEFAULT_FPS / rate - 1e-3)))
    if abs(rate - round(rate)) < 1e-2 * rate:
        rate = float(round(rate))
    ticks = (keys - keys[0]) * rate
    return rate if rate <= MAX_FPS and np.abs(ticks - np.round(ticks)).max() < 0.01 else DEFAULT_FPS
