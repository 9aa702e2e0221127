"""Pictures of loose stuff: sand and water as a surface that is made anew in every frame, instead of grains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, UInt8

from neurok.core import Mesh, Rollout
from neurok.geometry.surface_nets import surface_nets
from neurok.rendering import Renderer
from neurok.scene.merge import merge_meshes, unique_names

if TYPE_CHECKING:
    from neurok.scene.run import SceneRun


@dataclass(frozen=True)
class LooseConfig:
    """How a surface is put around grains."""

    cell: float = 0.8
    """Of the grid on which they are counted, in distances between grains ..."""

    blur: float = 1.1
    """... and by how many cells the counts are smoothed: less shows every grain, more rounds all edges."""

    level: float = 0.35
    """The surface lies where the count is this share of that within."""


LOOSE = LooseConfig()


def frame_meshes(run: SceneRun, frames: Sequence[int], config: LooseConfig = LOOSE) -> Iterator[Mesh]:
    """The whole scene at some frames; each mesh has faces of its own."""
    obstacles = [obstacle.mesh for obstacle in run.ready.world.obstacles]
    names = unique_names([*run.ready.names, *(mesh.name for mesh in obstacles)])
    for frame in frames:
        meshes = [surfaced(rollout, frame, config) for rollout in run.rollouts]
        yield merge_meshes([*meshes, *obstacles], names) if len(names) > 1 else meshes[0]


def surfaced(rollout: Rollout, frame: int, config: LooseConfig = LOOSE) -> Mesh:
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
    points, triangles = surface_around(centres, radius / 0.62, config)
    like = mesh.vertex_count - 6 * count + 6 * cKDTree(centres).query(points)[1]
    more = lambda rows: None if rows is None else np.concatenate([rows, rows[like]])  # noqa: E731
    looks = mesh.face_surfaces
    if looks is not None:
        looks = np.concatenate([looks[: -8 * count], np.full(len(triangles), looks[-1])])
    return replace(
        mesh,
        vertices=np.concatenate([mesh.vertices, points]),
        faces=np.concatenate([faces, triangles + mesh.vertex_count]),
        uv=more(mesh.uv),
        vertex_colors=more(mesh.vertex_colors),
        part_ids=more(mesh.part_ids),
        face_surfaces=looks,
    )


def surface_around(
    points: Float[np.ndarray, "n 3"], spacing: float, config: LooseConfig = LOOSE
) -> tuple[Float[np.ndarray, "V 3"], np.ndarray]:
    """A surface around points that are about ``spacing`` apart where they lie together; lone ones may be lost."""
    from scipy.ndimage import gaussian_filter, map_coordinates

    cell = config.cell * spacing
    low = points.min(axis=0) - 4.0 * cell
    shape = np.ceil((points.max(axis=0) - low) / cell).astype(np.int64) + 5
    counts = np.zeros(tuple(shape))
    np.add.at(counts, tuple(np.floor((points - low) / cell).astype(np.int64).T), 1.0)
    within = config.cell**3
    smooth = gaussian_filter(counts, config.blur, mode="constant")

    def field(x: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, " N"]:
        place = (x - low) / cell - 0.5
        found = map_coordinates(smooth, place.T, order=1, mode="constant")
        return (config.level - found / within) * spacing

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
