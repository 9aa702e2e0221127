"""Sheets of both engines side by side: eight objects under the five actions, then sand, jelly and water.

    python benchmarks/gallery_particles.py [--only pillow] [--again pillow] [--data DATA] [--write docs/particles.md]

Sheets that exist are kept, so that a stopped run goes on. All objects are our own: generated, or built here with the
modelling kit; with ``--data`` the teddy bear and the sofa are files of the household set instead.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from gallery_actions import ACTIONS, LOOK, keep, moments, rows_of

from neurok.core import Asset, MaterialField, Mesh, material
from neurok.dynamics.particles.binding import ground_height
from neurok.io import load
from neurok.modelling import surfaces
from neurok.modelling.shapes import Shape, box, cylinder, join, lathe
from neurok.rendering import Renderer, contact_sheet
from neurok.scene.description import Scene, SceneGround, SceneObject, SceneWorld
from neurok.scene.output import pictures
from neurok.scene.run import SceneRun, prepare_scene, run_ready
from neurok_lab.evaluation.dynamics import member, stored
from neurok_lab.evaluation.tables import markdown, put_section, stamp

HOME = "household/sweethome3d"
FILES = {
    "teddy_bear": f"{HOME}/teddy_bear/BlendSwap-CC-0_teddyBear.glb",
    "sofa": f"{HOME}/sofa/BlendSwap-CC-0_L_shaped_sofa.glb",
}
FAMILIES = {
    "chair": "rocking_chair",
    "potted_plant": "potted_plant",
    "bag": "bag",
    "teddy_bear": "plush",
    "sofa": "sofa",
}

COLUMNS = {
    "object": ("object", "{}"),
    "stuff": ("materials", "{}"),
    "particles": ("particles", "{:,}"),
    "rigid_parts": ("rigid parts", "{}"),
    "triangles": ("sheet triangles", "{:,}"),
    "lost": ("diverged", "{}"),
    "depth": ("deepest [% of size]", "{:.2f}"),
    "hover": ("hovers [% of size]", "{:.2f}"),
    "stretch": ("largest stretch", "{:.2f}"),
    "grew": ("energy grew without work", "{}"),
    "factor": ("x real time", "{:.3f}"),
}


def made(shape: Shape, stuff: str, look: Any, name: str) -> Asset:
    """A solid of one material, standing on the ground."""
    vertices = shape.vertices - (0.0, shape.vertices[:, 1].min(), 0.0)
    mesh = Mesh(vertices, shape.faces, surfaces=(look,), name=name)
    return Asset(mesh, materials=MaterialField.uniform(material(stuff), mesh.vertex_count))


def vase() -> Asset:
    """Turned, with a wall of 6 mm, open at the top."""
    outer = np.array([(0.0, 0.0), (0.055, 0.0), (0.085, 0.09), (0.08, 0.15), (0.04, 0.22), (0.05, 0.27)])
    inner = np.array([(0.044, 0.27), (0.034, 0.22), (0.074, 0.15), (0.079, 0.09), (0.05, 0.008), (0.0, 0.008)])
    return made(lathe(np.concatenate([outer, inner]), 48), "porcelain", surfaces.paint("#3b6ea5", 0.25), "vase")


def can() -> Asset:
    """A closed can with a wall of a millimetre and air in it."""
    body, air = cylinder(0.033, 0.12, 40, chamfer=0.004), cylinder(0.032, 0.118, 40, chamfer=0.004)
    hollow = Shape(air.vertices, air.faces[:, ::-1])
    return made(join([body, hollow]), "aluminium", surfaces.metal("steel"), "can")


def castle() -> Asset:
    """Four towers on a wall, of sand."""
    shapes = [box((0.3, 0.08, 0.3), (0, 0.04, 0)), cylinder(0.08, 0.16, 32).move(0, 0.16, 0)]
    for x in (-0.11, 0.11):
        shapes += [cylinder(0.045, 0.1, 24).move(x, 0.13, z) for z in (-0.11, 0.11)]
    return made(join(shapes), "sand", surfaces.paint("#d8b377", 0.95), "castle")


def glass() -> Asset:
    """A tumbler with a thick bottom."""
    outer = np.array([(0.0, 0.0), (0.034, 0.0), (0.042, 0.13)])
    inner = np.array([(0.037, 0.13), (0.029, 0.012), (0.0, 0.012)])
    return made(lathe(np.concatenate([outer, inner]), 48), "glass", surfaces.glass(), "glass")


def water() -> Asset:
    """What fits into the tumbler, to two thirds."""
    shape = lathe([(0.0, 0.015), (0.027, 0.015), (0.0335, 0.09), (0.0, 0.09)], 40)
    vertices = shape.vertices
    mesh = Mesh(vertices, shape.faces, surfaces=(surfaces.paint("#5aa7d6", 0.15),), name="water")
    return Asset(mesh, materials=MaterialField.uniform(material("water"), mesh.vertex_count))


@dataclass
class Gallery:
    """Draw all sheets that are missing."""

    data: Path | None = None
    """Folder of data sets; generated objects are taken for what is absent."""

    out: Path = Path("docs/images/particles")
    seconds: float = 1.5
    resolution: str = "coarse"
    only: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    write: Path | None = None
    """Markdown file to put the table of the runs into."""

    def run(self) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        names = ("pillow", "chair", "potted_plant", "bag", "vase", "teddy_bear", "sofa", "can")
        for name in (*names, "castle", "jelly", "glass_of_water"):
            path = self.out / f"{name}.jpg"
            wanted = (name in self.again or not path.exists()) and (not self.only or name in self.only)
            if wanted:
                with tempfile.TemporaryDirectory() as folder:
                    self._sheet(name, Path(folder), path, name in names)
        if self.write is not None:
            put_section(self.write, "gallery", f"{table(rows_of(self.out / 'runs.jsonl'))}\n\n{stamp()}")

    def _sheet(self, name: str, folder: Path, path: Path, both: bool) -> None:
        images: list[np.ndarray] = []
        labels: list[str] = []
        for action in ACTIONS if both else ("drop",):
            for engine in ("particles", "reduced") if both else ("particles",):
                scene = self._scene(name, folder, action, engine)
                run = run_ready(prepare_scene(scene), say=print)
                row = {"object": name, "action": f"{action} {engine}", **measured(run)}
                print(json.dumps(row), flush=True)
                keep(self.out / "runs.jsonl", row)
                drawn, times = pictured(run)
                images += drawn
                labels += [f"{action}, {engine}", *(f"{time:.2f} s" for time in times[1:])]
        write_small(contact_sheet(images, LOOK.moments, labels), path)

    def _scene(self, name: str, folder: Path, action: str, engine: str) -> Scene:
        common: dict[str, Any] = {"seconds": self.seconds, "engine": engine, "resolution": self.resolution}
        if name == "glass_of_water":
            sources = stored(glass(), folder / "glass.glb"), stored(water(), folder / "water.glb")
            things = tuple(SceneObject(source, position=(0.0, 0.04, 0.0), base="free") for source in sources)
            pushed = replace(things[0], velocity=(0.5, 0.0, 0.0), spin=(0.0, 0.0, -4.0))
            return Scene((pushed, things[1]), SceneWorld(ground=SceneGround(0.0)), **common)
        if name in ("castle", "jelly"):
            asset = castle() if name == "castle" else member("jelly")
            return Scene(
                (SceneObject(stored(asset, folder / f"{name}.glb"), drop=0.0 if name == "castle" else 0.1),), **common
            )
        source = stored(self._asset(name), folder / f"{name}.glb")
        return Scene((SceneObject(source, act=action),), **common)  # type: ignore[arg-type]

    def _asset(self, name: str) -> Asset:
        if self.data is not None and name in FILES:
            return load(self.data / FILES[name])
        if name in FAMILIES:
            return member(FAMILIES[name])
        return {"pillow": lambda: load("sample:pillow"), "vase": vase, "can": can}[name]()


def write_small(sheet: np.ndarray, path: Path, most: int = 200_000) -> None:
    """As good a JPEG as fits into so many bytes."""
    from PIL import Image

    for quality in range(LOOK.quality, 40, -6):
        Image.fromarray(sheet).convert("RGB").save(path, quality=quality, optimize=True)
        if path.stat().st_size <= most:
            return


def pictured(run: SceneRun) -> tuple[list[np.ndarray], list[float]]:
    """Moments of one run, seen by one camera, and their times."""
    clip = run.clip()
    chosen = moments(clip)
    times = [i / clip.fps for i in chosen]
    if any(rollout.grains for rollout in run.rollouts):
        return list(pictures(run, chosen, LOOK.width, LOOK.height)), times
    poses = [np.asarray(clip.positions[i], dtype=np.float64) for i in chosen]
    surfaces = tuple(replace(surface, double_sided=True) for surface in clip.rest.surfaces)
    mesh = replace(clip.rest, surfaces=surfaces)
    with Renderer(mesh, width=LOOK.width, height=LOOK.height, fit_to=poses) as renderer:
        return [renderer.render(pose) for pose in poses], times


def measured(run: SceneRun) -> dict[str, Any]:
    """What a picture cannot show."""
    rollout, body, report = run.rollout, run.ready.bodies[0], run.rollout.report
    mesh = body.mesh
    x = rollout.clip().positions[:, : mesh.vertex_count]
    faces = rollout.rest.faces[: len(rollout.rest.faces) - 8 * rollout.grains]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    rest = np.linalg.norm(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]], axis=1)
    moved = np.linalg.norm(x[:, edges[:, 0]] - x[:, edges[:, 1]], axis=2)
    stretch = np.ones(1)
    if len(edges):
        stretch = np.quantile(moved / np.maximum(rest, 1e-3 * mesh.size), 0.99, axis=1)
    total = rollout.energies["total"]
    stuff = sorted({one.stuff.materials[i].name for one in run.ready.bodies for i in np.unique(one.stuff.ids)})
    return {
        "status": rollout.status,
        "engine": report["engine"],
        "stuff": ", ".join(stuff),
        "particles": report.get("particles", 0),
        "rigid_parts": report.get("rigid_parts", 0),
        "triangles": report.get("sheet_triangles", 0),
        "depth": float(report["max_penetration"] or 0.0) / (mesh.size * mesh.unit),
        "hover": hovering(run),
        "stretch": float(stretch.max()),
        "grew": float((total - np.minimum.accumulate(total)).max() / max(np.ptp(total), 1e-12)),
        "factor": float(report["real_time_factor"] or 0.0),
    }


def hovering(run: SceneRun) -> float:
    """Least height of what is drawn above the ground in a run [sizes]: zero where it touches."""
    body, rollout, ground = run.ready.bodies[0], run.rollout, run.ready.world.ground
    if ground is None:
        return 0.0
    normal = body.mesh.up_vector if ground.normal is None else np.asarray(ground.normal)
    floor = ground_height(run.ready.bodies, normal) if ground.height is None else ground.height * body.mesh.unit
    shown = rollout.clip().positions[:, np.unique(rollout.rest.faces)]
    return max(0.0, float((shown @ normal).min()) - floor / body.mesh.unit) / body.mesh.size


def table(rows: list[dict[str, Any]]) -> str:
    """A row for each object: the worst of its runs with particles."""
    out = []
    for name in dict.fromkeys(row["object"] for row in rows):
        mine = [row for row in rows if row["object"] == name and row["engine"] == "particles"]
        still = [row["grew"] for row in mine if row["action"].split()[0] in ("drop", "throw", "tilt")]
        worst = {
            "lost": sum(row["status"] != "ok" for row in mine),
            "depth": 100.0 * max(row["depth"] for row in mine),
            "hover": 100.0 * max(row["hover"] for row in mine) if all("hover" in row for row in mine) else None,
            "stretch": max(row["stretch"] for row in mine),
            "grew": f"{100.0 * max(still):.1f} %" if still else "-",
            "factor": float(np.median([row["factor"] for row in mine])),
        }
        out.append({**mine[0], **worst, "object": name.replace("_", " ")})
    return markdown(out, COLUMNS)


if __name__ == "__main__":
    tyro.cli(Gallery).run()
