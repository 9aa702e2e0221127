"""A motion that was kept, and where a person is in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.core import Clip, Mesh
from neurok.errors import NeurokError
from neurok.studio.motion import skinned_clip


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion that was kept, with what is plotted beside it."""

    clip: Clip
    energies: Float[np.ndarray, " T"]
    """Of the whole scene [J]; NaN where the engine does not say."""

    depths: Float[np.ndarray, " T"]
    """How deep things were in each other at most so far [m]."""

    @staticmethod
    def of_clip(clip: Clip) -> Recording:
        """A motion of which nothing else is known."""
        nothing = np.full(clip.frame_count, np.nan)
        return Recording(clip, nothing, nothing)

    @staticmethod
    def read(path: Path, mesh: Mesh, stiff: float) -> Recording:
        """What the simulation of a mesh has kept in a file.

        Raises:
            NeurokError: If it kept no frame.
        """
        with np.load(path, allow_pickle=False) as kept:
            positions, fps = kept["positions"], float(kept["fps"])
            energies, depths = kept["energies"], kept["depths"]
        if len(positions) == 0:
            raise NeurokError("Nothing was recorded: the simulation did not run meanwhile.")
        return Recording(skinned_clip(mesh, positions, fps, stiff), energies, depths)


@dataclass(frozen=True, eq=False)
class Playback:
    """A recording, if there is one, and the frame that is shown."""

    recording: Recording | None = None
    loop: bool = True
    seconds: float = 0.0
    """From the start of the recording [s]."""

    @property
    def recorded(self) -> Recording:
        if self.recording is None:
            raise NeurokError("There is no recording yet; press Record, then Run.")
        return self.recording

    @property
    def last(self) -> int:
        """Number of the last frame."""
        return self.recorded.clip.frame_count - 1

    @property
    def frame(self) -> int:
        """Number of the frame that is shown."""
        if self.recording is None:
            return 0
        return min(int(self.seconds * self.recording.clip.fps + 1e-6), self.last)

    @property
    def positions(self) -> Float[np.ndarray, "V 3"]:
        """Of the vertices in the frame that is shown."""
        return self.recorded.clip.positions[self.frame].astype(np.float64)

    @property
    def is_over(self) -> bool:
        """Whether the last frame is shown, and nothing follows."""
        return self.frame >= self.last and not self.loop

    def at(self, frame: int) -> Playback:
        """At one frame, or at the nearest that there is."""
        return replace(self, seconds=float(np.clip(frame, 0, self.last)) / self.recorded.clip.fps)

    def begun(self) -> Playback:
        """From where it stands, or from the start if it stands at the end."""
        return self.at(0) if self.frame >= self.last else self

    def advanced(self, seconds: float) -> Playback:
        """So much later: from the start again, or at the end."""
        clip = self.recorded.clip
        length = clip.frame_count / clip.fps
        now = self.seconds + seconds
        if now < length:
            return replace(self, seconds=now)
        return replace(self, seconds=now % length) if self.loop else self.at(self.last)
