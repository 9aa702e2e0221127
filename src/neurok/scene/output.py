"""Pictures, films and files of objects and of scenes that have moved.

Loose stuff, sand and water, is shown as a surface that is made anew in every frame, instead of grains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, UInt8

from neurok import io, rendering
from neurok.bodyplan.plan import BodyPlan
from neurok.core import Articulation, Asset, Clip, Mesh, Rollout
from neurok.errors import NeurokError
from neurok.geometry.level_set import surface_nets
from neurok.io.files import check_writable, is_pattern, unique_names
from neurok.io.formats import WRITERS, as_asset
from neurok.rendering import Renderer
from neurok.rendering.files import FILMS, STILLS, check_suffix

if TYPE_CHECKING:
    from neurok.scene.run import SceneRun


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
    return io.load(thing) if isinstance(thing, str | Path) else as_asset(thing)


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


CELL = 0.8
"""Of the grid on which grains are counted, in distances between them ..."""

BLUR = 1.1
"""... and by how many cells the counts are smoothed: less shows every grain, more rounds all edges."""

LEVEL = 0.35
"""The surface lies where the count is this share of that within."""


def frame_meshes(run: SceneRun, frames: Sequence[int]) -> Iterator[Mesh]:
    """The whole scene at some frames; each mesh has faces of its own."""
    from neurok.scene.run import merge_meshes  # with all that simulates, which a picture does without

    obstacles = [obstacle.mesh for obstacle in run.ready.world.obstacles]
    names = unique_names([*run.ready.names, *(mesh.name for mesh in obstacles)])
    for frame in frames:
        meshes = [surfaced(rollout, frame) for rollout in run.rollouts]
        yield merge_meshes([*meshes, *obstacles], names) if len(names) > 1 else meshes[0]


def surfaced(rollout: Rollout, frame: int) -> Mesh:
    """One object at a frame, with a surface around its grains instead of these."""
    assert rollout.positions is not None
    mesh = replace(rollout.rest, vertices=rollout.positions[frame])
    if not rollout.grains:
        return mesh
    from scipy.spatial import cKDTree

    count, faces = rollout.grains, mesh.faces[: -8 * rollout.grains]
    corners = mesh.vertices[-6 * count :].reshape(count, 6, 3)
    centres = corners.mean(axis=1)
    radius = float(np.linalg.norm(corners[0, 0] - centres[0]))
    points, triangles = surface_around(centres, radius / 0.62)
    like = mesh.vertex_count - 6 * count + 6 * cKDTree(centres).query(points)[1]

    def more(rows: np.ndarray | None) -> np.ndarray | None:
        return None if rows is None else np.concatenate([rows, rows[like]])

    surfaces = mesh.face_surfaces
    if surfaces is not None:
        surfaces = np.concatenate([surfaces[: -8 * count], np.full(len(triangles), surfaces[-1])])
    return replace(
        mesh,
        vertices=np.concatenate([mesh.vertices, points]),
        faces=np.concatenate([faces, triangles + mesh.vertex_count]),
        uv=more(mesh.uv),
        vertex_colors=more(mesh.vertex_colors),
        part_ids=more(mesh.part_ids),
        face_surfaces=surfaces,
    )


def surface_around(points: Float[np.ndarray, "n 3"], spacing: float) -> tuple[Float[np.ndarray, "V 3"], np.ndarray]:
    """A surface around points that are about ``spacing`` apart where they lie together; lone ones may be lost."""
    from scipy.ndimage import gaussian_filter, map_coordinates

    cell = CELL * spacing
    low = points.min(axis=0) - 4.0 * cell
    shape = np.ceil((points.max(axis=0) - low) / cell).astype(np.int64) + 5
    counts = np.zeros(tuple(shape))
    np.add.at(counts, tuple(np.floor((points - low) / cell).astype(np.int64).T), 1.0)
    within = CELL**3
    smooth = gaussian_filter(counts, BLUR, mode="constant")

    def field(x: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, " N"]:
        place = (x - low) / cell - 0.5
        found = map_coordinates(smooth, place.T, order=1, mode="constant")
        return (LEVEL - found / within) * spacing

    bounds = np.stack([points.min(axis=0) - 2.0 * cell, points.max(axis=0) + 2.0 * cell])
    vertices, faces = surface_nets(field, bounds, cell)
    return vertices, faces


def pictures(
    run: SceneRun, frames: Sequence[int], width: int = 320, height: int = 240, **options: Any
) -> Iterator[UInt8[np.ndarray, "H W C"]]:
    """Frames of a scene with loose stuff, seen by one camera that holds all of them."""
    clips = [rollout.clip() for rollout in run.rollouts]
    moving = [clip.positions[list(frames)][:, np.unique(clip.rest.faces)].reshape(-1, 3) for clip in clips]
    everything = np.concatenate([*moving, *(obstacle.mesh.vertices for obstacle in run.ready.world.obstacles)])
    low, high = everything.min(axis=0), everything.max(axis=0)
    box = np.stack([np.where([i & 1, i & 2, i & 4], high, low) for i in range(8)])
    for mesh in frame_meshes(run, frames):
        corners = box[np.arange(mesh.vertex_count) % 8]
        with Renderer(mesh, width=width, height=height, fit_to=[corners], **options) as renderer:
            yield renderer.render(mesh.vertices)


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
