"""Milliseconds per frame of the renderer, by size of the mesh; run: python benchmarks/bench_render.py

Wall time depends on what else the machine does; processor time (all threads) does not.
"""

import argparse
import time

import numpy as np
import trimesh
from figures import write_table

from neurok.core import Mesh
from neurok.rendering import Renderer

SUBDIVISIONS = {1_280: 3, 5_120: 4, 20_480: 5, 81_920: 6, 1_310_720: 8}


def ball(face_count: int) -> Mesh:
    made = trimesh.creation.icosphere(SUBDIVISIONS[face_count])
    return Mesh(made.vertices, made.faces)


def pillar(face_count: int) -> Mesh:
    """About as many faces in a shape that covers less of the picture."""
    made = trimesh.creation.cylinder(0.12, 1.0, sections=face_count // 4)
    return Mesh(made.vertices, made.faces, up="z")


def measure(mesh: Mesh, quality: str, frames: int) -> dict[str, float]:
    start = time.perf_counter()
    with Renderer(mesh, quality=quality) as renderer:
        renderer.render()
        first = time.perf_counter() - start
        wall, processor = [], []
        for i in range(frames):
            moved = mesh.vertices * (1.0 - 0.01 * (i % 2))
            before = time.perf_counter(), time.process_time()
            renderer.render(moved)
            wall.append(time.perf_counter() - before[0])
            processor.append(time.process_time() - before[1])
    return {
        "first_frame_ms": round(1e3 * first, 1),
        "wall_ms": round(1e3 * float(np.median(wall)), 1),
        "wall_best_ms": round(1e3 * min(wall), 1),
        "processor_ms": round(1e3 * float(np.median(processor)), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=10)
    parser.add_argument("--faces", type=int, nargs="*", choices=list(SUBDIVISIONS), default=[1_280, 5_120, 20_480])
    options = parser.parse_args()
    with Renderer(ball(1_280)) as renderer:
        info = renderer.stage.context.info["GL_RENDERER"]
        renderer.render()
    rows: list[list[object]] = []
    for count in options.faces:
        for shape in (ball, pillar):
            mesh = shape(count)
            for quality in ("fine", "fast"):
                figures = measure(mesh, quality, options.frames)
                rows.append([f"{shape.__name__}, {info}", mesh.face_count, quality, *figures.values()])
    columns = ["640x480", "faces", "quality", "first frame, wall ms", "wall ms", "best wall ms", "processor ms"]
    write_table("render", columns, rows)


if __name__ == "__main__":
    main()
