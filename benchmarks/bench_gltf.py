"""glTF: time to load a million faces against trimesh, and size of low-rank motion against plain morph targets.

Run ``python benchmarks/bench_gltf.py``; it prints a table and, on the last line, the same figures as JSON.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from figures import write_table

from neurok.core import Clip, Mesh
from neurok.io import load, save
from neurok.io.gltf_build import ARRAY_BUFFER, ELEMENT_BUFFER, Builder
from neurok.io.gltf_write import TOLERANCE


def sheet(columns: int, rows: int) -> Mesh:
    """A wavy sheet of ``2 (columns - 1) (rows - 1)`` triangles."""
    x, z = np.meshgrid(np.linspace(-1, 1, columns), np.linspace(-1, 1, rows), indexing="ij")
    here = np.arange(columns * rows).reshape(columns, rows)
    a, b, c, d = (here[i : i + columns - 1, j : j + rows - 1] for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)))
    faces = np.concatenate([np.stack(f, -1).reshape(-1, 3) for f in ((a, b, c), (c, b, d))])
    vertices = np.column_stack([x.reshape(-1), 0.1 * np.sin(5 * x * z).reshape(-1), z.reshape(-1)])
    return Mesh(vertices, faces, name="sheet")


def soft_wobble(frame_count: int) -> Clip:
    """A 10,000-vertex cushion struck off centre: its waves run apart, so that no few shapes give it exactly."""
    rest = sheet(100, 100)
    x, y, z = rest.vertices.T
    frames = []
    for t in np.arange(frame_count) / 30.0:
        radius = np.hypot(x - 0.3, z + 0.2)
        wave = 0.25 * np.exp(-0.25 * t - radius) * np.cos(6 * radius - (7 + radius) * t)
        sway = 0.15 * np.exp(-0.1 * t) * np.sin((3 + 0.2 * x) * t + 0.5 * x)
        frames.append(np.column_stack([x + sway * z, y + wave, z - sway * x + 0.1 * wave**2]))
    return Clip(rest, np.stack(frames), 30.0, "wobble")


def plain_morph_bytes(clip: Clip, path: Path) -> int:
    """Size of the same motion with one morph target per frame, as most exporters write it."""
    builder = Builder()
    put = lambda array, **more: builder.array(array.astype(np.float32), **more)  # noqa: E731
    primitive: dict[str, Any] = {
        "attributes": {"POSITION": put(clip.rest.vertices, target=ARRAY_BUFFER, bounds=True)},
        "indices": builder.array(clip.rest.faces.reshape(-1).astype(np.uint16), ELEMENT_BUFFER),
        "targets": [{"POSITION": put(frame - clip.rest.vertices, bounds=True)} for frame in clip.positions],
    }
    node = builder.add("nodes", {"mesh": builder.add("meshes", {"primitives": [primitive]})})
    times = put(np.arange(clip.frame_count) / clip.fps, bounds=True)
    sampler = {"input": times, "output": put(np.eye(clip.frame_count).reshape(-1))}
    channel = {"sampler": 0, "target": {"node": node, "path": "weights"}}
    builder.add("animations", {"samplers": [sampler], "channels": [channel]})
    return len(builder.files(path)[path.name])


def interleaved(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each call, taken in turns so that a busy machine is busy for all."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn:  # the first turn warms caches and imports
                seconds[name].append(time.perf_counter() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    import trimesh

    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.glb"
        mesh = sheet(708, 708)
        save(mesh, large)
        times = interleaved({"neurok": lambda: load(large), "trimesh": lambda: trimesh.load(large)}, repeats)
        figures["load_faces"] = mesh.face_count
        for name, seconds in times.items():
            figures[f"load_{name}_best_ms"] = 1e3 * min(seconds)
            figures[f"load_{name}_median_ms"] = 1e3 * statistics.median(seconds)
        figures["load_ratio_best"] = figures["load_neurok_best_ms"] / figures["load_trimesh_best_ms"]
        figures["load_ratio_median"] = figures["load_neurok_median_ms"] / figures["load_trimesh_median_ms"]

        soft = Path(folder) / "soft.glb"
        clip = soft_wobble(300)
        start = time.perf_counter()
        save(clip, soft)
        figures["lowrank_write_s"] = time.perf_counter() - start
        offsets = np.linalg.norm(load(soft).clips[0].positions - clip.positions, axis=-1)
        figures["lowrank_error_of_box"] = float(offsets.max() / clip.rest.size)
        figures["lowrank_tolerance"] = TOLERANCE
        figures["lowrank_mb"] = soft.stat().st_size / 1e6
        figures["plain_mb"] = plain_morph_bytes(clip, soft) / 1e6
        figures["plain_over_lowrank"] = figures["plain_mb"] / figures["lowrank_mb"]
    write_table("gltf", ["figure", "value"], [[name, float(value)] for name, value in figures.items()])


if __name__ == "__main__":
    main()
