"""Every number of the studio."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StudioConfig:
    """Limits and rates; those of people who share a server are kept small enough for a common machine."""

    fps: float = 24.0
    """Frames per second of a live simulation and of recordings [1/s]; as ``simulate`` writes them."""

    picture_rate: float = 30.0
    """How often the window is brought up to date [1/s]: what comes faster is dropped."""

    meter_rate: float = 4.0
    """How often steps per second, energy and real-time factor are told [1/s]."""

    upload_bytes: int = 200_000_000
    """Largest file that may be opened from a browser [bytes]."""

    check_seconds: float = 90.0
    """Time that the check of an upload may take [s]."""

    check_bytes: int = 3_000_000_000
    """Memory that it may take beyond what the program needs [bytes]."""

    most_vertices: int = 400_000
    """Larger meshes are refused: a browser would not draw them smoothly."""

    record_bytes: int = 400_000_000
    """Of the positions of one recording; it ends when they are full [bytes]."""

    undo: int = 100
    """Edits that can be undone."""

    sessions: int = 16
    """People at once: each has a simulation of their own."""

    reach_iterations: int = 12
    """Of inverse kinematics per picture; it goes on from where it was."""

    push_force: float = 0.5
    """A push of strength 1, in weights of the object."""

    push_reach: float = 4.0
    """How far away the spring that pushes is hung up, in sizes of the object: far, so that its force hardly changes."""

    stiff: float = 1e-4
    """A part whose vertices fit a rigid motion this well [sizes of the object] is shown by moving it as a whole."""

    sent_vertices: int = 50_000
    """A bending part with more vertices is shown by bones: a frame of vertices would be more than half a megabyte."""

    bones: int = 64
    """Of an object that bends; its parts share them by their vertices."""

    least_bones: int = 8
    """Of a bending part."""

    bone_messages: int = 512
    """A frame of a part may take so many, two for each bone in each colour; else its vertices are sent."""

    fitted_vertices: int = 60
    """For each bone: what bones are fitted to and judged by, spread over the part."""

    near_vertices: int = 12
    """Of them nearest to each bone, so that none is without."""

    bone_gap: float = 4e-3
    """How far bones may be off a vertex [sizes of the object], about two pixels; else its vertices are sent."""

    colors: int = 16
    """In which a part with a texture is shown while it bends: each is a node of its own."""

    still_seconds: float = 0.6
    """What has bent and stands still for so long gets its texture again [s]."""

    textures_bytes: int = 24_000_000
    """Textures beyond this are not sent for every part; mean colours stand in [bytes]."""


CONFIG = StudioConfig()
