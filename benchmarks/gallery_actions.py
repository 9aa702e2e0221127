"""Sheets of ten soft and ten hard objects under the five actions: a row for each action, six moments in it.

    python benchmarks/gallery_actions.py --data DATA [--again pillow sofa] [--only pillow] [--write docs/actions.md]

Sheets that exist are kept, so that a stopped run goes on. Samples and generated objects are our own, the files are CC0.
What was measured of each run goes to a file beside the sheets, which the pictures are read with.
"""

from __future__ import annotations

import json
import tempfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from neurok.core import Clip
from neurok.core.mesh import frame_change
from neurok.core.select import SIDES
from neurok.io import save
from neurok.kinematics.space import KinematicSpace
from neurok.rendering import Renderer, contact_sheet
from neurok.scene.description import Scene, SceneObject
from neurok.scene.run import SceneRun, prepare_scene, run_ready
from neurok_lab.evaluation.tables import markdown, put_section
from neurok_lab.worlds.articulated.families import generate as generate_hard
from neurok_lab.worlds.soft import generate as generate_soft

ACTIONS = ("drop", "throw", "tilt", "drag", "wind")
HOME = "household/sweethome3d"
SOFT = {
    "pillow": "sample:pillow",
    "teddy_bear": f"{HOME}/teddy_bear/BlendSwap-CC-0_teddyBear.glb",
    "potted_plant": f"{HOME}/potted_plant/BlendSwap-CC-0_augalas.glb",
    "sofa": f"{HOME}/sofa/BlendSwap-CC-0_L_shaped_sofa.glb",
    "bed": f"{HOME}/bed/BlendSwap-CC-0_bedWithTexture.glb",
    "curtain": "furniture_glb/quaternius__Curtains_Single.glb",
    "houseplant": "furniture_glb/quaternius__Houseplant_6.glb",
    "mattress": "soft:mattress",
    "bag": "soft:bag",
    "dinosaur": "animated_glb/dinosaurs_pack__Trex.glb",
}
HARD = {
    "laptop": "sample:laptop",
    "cabinet": "sample:cabinet",
    "lamp": "sample:lamp",
    "wooden_chair": f"{HOME}/chair/BlendSwap-CC-0_antiqueChair.glb",
    "steel_chair": f"{HOME}/chair/BlendSwap-CC-0_chair2.glb",
    "bench": f"{HOME}/chair/BlendSwap-CC-0_bench.glb",
    "briefcase": f"{HOME}/bag/BlendSwap-CC-0_briefcase.glb",
    "sink": "furniture_glb/quaternius__Bathroom_Sink.glb",
    "table": "furniture_glb/quaternius__Table_RoundLarge.glb",
    "oven": "hard:oven",
}
"""Name on the sheet, and a sample, a file of the data folder, or a generated family."""

FRESH_SOFT = {
    "couch": "furniture_glb/quaternius__Couch_Medium1.glb",
    "curtains": "furniture_glb/quaternius__Curtains_Double.glb",
}
FRESH_HARD = {
    "kitchen_drawers": "furniture_glb/quaternius__Kitchen_2Drawers.glb",
    "desk_light": "furniture_glb/quaternius__Light_Desk.glb",
    "cactus": "furniture_glb/quaternius__Houseplant_3.glb",
}
"""Files that are kept aside and were drawn once, after everything was done."""

UNITS = {"dinosaur": "cm"}
"""Of files that are far from life size: the dinosaur of 35 m becomes a toy."""

COLUMNS = {
    "object": ("object", "{}"),
    "stuff": ("materials", "{}"),
    "engine": ("engine", "{}"),
    "coordinates": ("coordinates", "{}"),
    "size": ("size [m]", "{:.2f}"),
    "mass": ("mass [kg]", "{:.3g}"),
    "lost": ("diverged", "{}"),
    "depth": ("deepest [% of size]", "{:.2f}"),
    "stretch": ("largest stretch", "{:.2f}"),
    "last": ("at the end", "{:.2f}"),
    "moving": ("not at rest", "{}"),
}

REST = 0.02
"""Mean speed below which an object rests [sizes per second]."""

ASIDE = 5
"""One file in so many is kept aside, by a checksum of its name: nothing was tuned on it."""


@dataclass(frozen=True)
class Look:
    """How a sheet is laid out."""

    moments: int = 6
    width: int = 200
    """Of a picture [pixels]."""

    height: int = 150
    early: float = 1.5
    """Power by which moments crowd at the start, where most happens."""

    far: float = 2.5
    """What has gone further is not followed: it would be too small to see [sizes]."""

    strained: float = 1e-6
    """Squared strain above which the frame of the largest is shown."""

    quality: int = 82
    """Of the JPEG files; a sheet then stays below 200 kB."""


LOOK = Look()


@dataclass
class Gallery:
    """Draw all sheets that are missing."""

    data: Path
    """Folder of data sets."""

    out: Path = Path("docs/images/actions")
    seconds: float = 2.5
    only: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    """Names of objects to draw although their sheets exist."""

    actions: tuple[str, ...] = ACTIONS
    write: Path | None = None
    """Markdown file to put the table of the runs into."""

    def run(self) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        for kind, things, fresh in (("soft", SOFT, FRESH_SOFT), ("hard", HARD, FRESH_HARD)):
            for name, where in (things | fresh).items():
                path = self.out / f"{kind}_{name}.jpg"
                wanted = name in self.again or not path.exists()
                if wanted and (not self.only or name in self.only):
                    self._sheet(name, where, path)
            overview(self.out, kind, list(things))
        if self.write is not None:
            put_section(self.write, "runs", table(rows_of(self.out / "runs.jsonl")))

    def _sheet(self, name: str, where: str, path: Path) -> None:
        images: list[np.ndarray] = []
        labels: list[str] = []
        spaces: dict[int, KinematicSpace] = {}  # what an object can do is found once
        with tempfile.TemporaryDirectory() as folder:
            source = source_of(name, where, self.data, Path(folder))
            for action in self.actions:
                thing = SceneObject(source, act=action, unit=UNITS.get(name))  # type: ignore[arg-type]
                ready = prepare_scene(Scene((thing,), seconds=self.seconds), spaces=spaces)
                if not ready.scene.objects[0].pins:
                    spaces[0] = ready.bodies[0].poses
                run = run_ready(ready)
                row = {"object": name, "action": action, "aside": is_aside(where), **measured(run)}
                print(json.dumps(row), flush=True)
                keep(self.out / "runs.jsonl", row)
                pictures, times = drawn(run)
                images += pictures
                labels += [f"{action}  0 s", *(f"{time:.2f} s" for time in times[1:])]
        write(contact_sheet(images, LOOK.moments, labels), path)


def source_of(name: str, where: str, data: Path, folder: Path) -> str:
    """What a scene can load; generated things are written to a folder, soft ones without their motion."""
    if where.startswith("sample:"):
        return where
    if ":" not in where:
        return str(data / where)
    kind, family = where.split(":")
    for index in range(20):
        asset, _ = (generate_soft if kind == "soft" else generate_hard)(family, 0, index)
        if asset is not None:
            path = folder / f"{name}.glb"
            save(replace(asset, clips=()), path)
            return str(path)
    raise SystemExit(f"No {family} passed its checks.")


def is_aside(where: str) -> bool:
    """Whether nothing was tuned on it."""
    return ":" not in where and zlib.crc32(Path(where).name[::-1].encode()) % ASIDE == 0


def measured(run: SceneRun) -> dict[str, Any]:
    """What a picture cannot show: depth, height above the ground and speed at the end, largest stretch of an edge."""
    rollout, mesh, report = run.rollout, run.ready.bodies[0].mesh, run.rollout.report
    used = np.unique(mesh.faces)
    steps = np.linalg.norm(np.diff(rollout.positions[-4:, used], axis=0), axis=2).mean(axis=1)
    heights = rollout.positions[:, used] @ mesh.up_vector
    ground = run.ready.world.ground
    edges = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    rest = np.linalg.norm(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]], axis=1)
    moved = np.linalg.norm(rollout.positions[:, edges[:, 0]] - rollout.positions[:, edges[:, 1]], axis=2)
    stretch = np.quantile(moved / np.maximum(rest, 1e-3 * mesh.size), 0.99, axis=1)
    stuff = run.ready.bodies[0].materials
    return {
        "status": rollout.status,
        "engine": report.get("engine"),
        "coordinates": report["dof"],
        "size": round(mesh.size * mesh.unit, 3),
        "mass": round(run.ready.mass, 3),
        "materials": sorted({stuff.materials[i].name for i in np.unique(stuff.ids)}) if stuff is not None else [],
        "depth": round((report["max_penetration"] or 0.0) / mesh.size, 5),
        "above": round(float(heights[-1].min() - ground.height) / mesh.size, 5) if ground is not None else None,
        "speed": round(float(steps.mean() / rollout.dt / mesh.size), 4),
        "stretch": [round(float(stretch.max()), 3), round(float(stretch[-1]), 3)],
        "factor": round(report["real_time_factor"], 2),
    }


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    """A row for each object: the worst of its five runs, and which of them had not come to rest."""
    out = []
    for name in (*SOFT, *FRESH_SOFT, *HARD, *FRESH_HARD):
        mine = [row for row in rows if row["object"] == name]
        if mine:
            moving = [row["action"] for row in mine if row["speed"] > REST]
            worst = {
                "stretch": max(row["stretch"][0] for row in mine),
                "last": max(row["stretch"][1] for row in mine),
                "depth": 100.0 * max(row["depth"] for row in mine),
                "lost": sum(row["status"] != "ok" for row in mine),
            }
            named = {"stuff": ", ".join(mine[0]["materials"]) or "-", "moving": ", ".join(moving) or "-"}
            out.append({**mine[0], **worst, **named, "object": name.replace("_", " ")})
    return markdown(out, COLUMNS)


def keep(path: Path, row: dict[str, Any]) -> None:
    """Put a row in the place of the older one of the same run."""
    rows = [old for old in rows_of(path) if (old["object"], old["action"]) != (row["object"], row["action"])]
    path.write_text("".join(json.dumps(one) + "\n" for one in [*rows, row]))


def drawn(run: SceneRun) -> tuple[list[np.ndarray], list[float]]:
    """Moments of one run, seen by one camera, and their times."""
    clip = run.clip()
    chosen = moments(clip)
    poses = [np.asarray(clip.positions[i], dtype=np.float64) for i in chosen]
    surfaces = tuple(replace(surface, double_sided=True) for surface in clip.rest.surfaces)
    with Renderer(
        replace(clip.rest, surfaces=surfaces), width=LOOK.width, height=LOOK.height, fit_to=poses
    ) as renderer:
        return [renderer.render(pose) for pose in poses], [i / clip.fps for i in chosen]


def moments(clip: Clip) -> list[int]:
    """Frames that crowd at the start, up to the last or to where it has gone too far, with the most strained one."""
    right = frame_change("y", clip.rest.up) @ SIDES["right"]
    middles = clip.positions[:, np.unique(clip.rest.faces)].mean(axis=1)
    gone = np.abs((middles - middles[0]) @ right) > LOOK.far * clip.rest.size
    last = int(np.argmax(gone)) if gone.any() else clip.frame_count - 1
    shares = np.linspace(0.0, 1.0, LOOK.moments) ** LOOK.early
    chosen = np.round(shares * last).astype(int)
    worst = int(np.argmax(_strain(clip)[: last + 1]))
    if _strain(clip)[worst] > LOOK.strained:
        chosen[1 + np.argmin(np.abs(chosen[1:-1] - worst))] = worst
    return sorted(int(i) for i in chosen)


def _strain(clip: Clip) -> np.ndarray:
    """How much the edges of each frame differ from those at rest, in the mean of their squares."""
    edges = clip.rest.faces[:, :2]
    rest = np.linalg.norm(clip.rest.vertices[edges[:, 0]] - clip.rest.vertices[edges[:, 1]], axis=1)
    moved = np.linalg.norm(clip.positions[:, edges[:, 0]] - clip.positions[:, edges[:, 1]], axis=2)
    return np.asarray(((moved / np.maximum(rest, 1e-3 * clip.rest.size) - 1.0) ** 2).mean(axis=1))


def overview(out: Path, kind: str, names: list[str]) -> None:
    """A late moment of every action of all objects on one sheet, cut from their own."""
    from PIL import Image

    images, labels = [], []
    for name in names:
        path = out / f"{kind}_{name}.jpg"
        if not path.exists():
            return
        sheet = np.asarray(Image.open(path))
        x = (LOOK.moments - 3) * (LOOK.width + 4)
        for row, action in enumerate(ACTIONS):
            y = row * (LOOK.height + 4)
            image = sheet[y : y + LOOK.height, x : x + LOOK.width].copy()
            image[: LOOK.height // 10, : LOOK.width // 3] = image[: LOOK.height // 10, LOOK.width // 3, None]
            images.append(image)
            labels.append(f"{name}: {action}".replace("_", " "))
    write(contact_sheet(images, len(ACTIONS), labels), out / f"{kind}.jpg")


def write(sheet: np.ndarray, path: Path) -> None:
    from PIL import Image

    Image.fromarray(sheet).convert("RGB").save(path, quality=LOOK.quality, optimize=True)


if __name__ == "__main__":
    tyro.cli(Gallery).run()
