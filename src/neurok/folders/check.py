"""One object under the five actions: runs, figures, flags, pictures and clips."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Clip, Mesh
from neurok.core.material import STANDARD_GRAVITY
from neurok.core.mesh import frame_change
from neurok.core.select import SIDES
from neurok.dynamics.choice import EngineName
from neurok.errors import MissingDependencyError, NeurokError
from neurok.folders.flags import ACTIONS, Bulk, Flag, LimitConfig, TriedPart, flags_of
from neurok.folders.processes import Limited
from neurok.folders.proposers import one_line
from neurok.folders.records import AnnotationStore
from neurok.folders.store import ObjectFile, write_json
from neurok.inference.material_drawing import in_colours
from neurok.inference.materials import Proposals
from neurok.io.files import write_files
from neurok.model import understand
from neurok.rendering import Renderer, contact_sheet, render_mesh, save_video
from neurok.sandbox import Ended
from neurok.scene.description import Scene, SceneGround, SceneObject, SceneWorld
from neurok.scene.outcome import TrialConfig, measure, probes_of, weights_of
from neurok.scene.run import ReadyScene, prepare_scene, run_ready

PICTURE_SIZE, MOMENT_SIZE, FILM_SIZE = (320, 240), (160, 120), (240, 180)
"""Of a picture of an object, of a moment in the row of a run, and of a film [pixels]."""

MOMENTS = 6
"""Pictures in the row of a run."""

FILM_FPS = 12.0
FAR = 2.5
"""What has gone further is not followed: it would be too small to see [sizes]."""

JPEG_QUALITY = 80


def save_materials(proposals: Proposals, folder: Path) -> None:
    """The object in its own look, and in a colour for each material."""
    mesh = proposals.mesh
    plain = render_mesh(mesh, *PICTURE_SIZE)
    tinted = render_mesh(in_colours(mesh, proposals.field), *PICTURE_SIZE)
    _save_jpeg(plain, folder / "look.jpg")
    _save_jpeg(tinted, folder / "materials.jpg")


def save_runs(clips: Mapping[str, Clip], path: Path) -> None:
    """A row for each run, with moments from its start to its end, or to where the object has gone too far."""
    images: list[np.ndarray] = []
    labels: list[str] = []
    width, height = MOMENT_SIZE
    for name, clip in clips.items():
        chosen = np.round(np.linspace(0, _last(clip), MOMENTS)).astype(int)
        poses = [np.asarray(clip.positions[i], dtype=np.float64) for i in chosen]
        with Renderer(_double_sided(clip), width=width, height=height, fit_to=poses) as renderer:
            images += [renderer.render(pose) for pose in poses]
        labels += [name, *(f"{i / clip.fps:.2f} s" for i in chosen[1:])]
    _save_jpeg(contact_sheet(images, MOMENTS, labels), path)


def save_clip(clip: Clip, path: Path) -> None:
    """A small film of a run, up to where the object has gone too far."""
    step = max(1, round(clip.fps / FILM_FPS))
    frames = [np.asarray(pose, dtype=np.float64) for pose in clip.positions[: _last(clip) + 1 : step]]
    width, height = FILM_SIZE
    with Renderer(_double_sided(clip), width=width, height=height, fit_to=frames) as renderer:
        save_video((renderer.render(frame) for frame in frames), path, clip.fps / step)


def _double_sided(clip: Clip) -> Mesh:
    return replace(clip.rest, surfaces=tuple(replace(each, double_sided=True) for each in clip.rest.surfaces))


def _last(clip: Clip) -> int:
    right = frame_change("y", clip.rest.up) @ SIDES["right"]
    middles = clip.positions[:, np.unique(clip.rest.faces)].mean(axis=1)
    gone = np.abs((middles - middles[0]) @ right) > FAR * clip.rest.size
    return max(1, int(np.argmax(gone))) if gone.any() else clip.frame_count - 1


def _save_jpeg(image: np.ndarray, path: Path) -> None:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).convert("RGB").save(
        buffer, "JPEG", quality=JPEG_QUALITY, optimize=True
    )
    write_files(path, {path.name: buffer.getvalue()})


VERSION = 1
JUDGED = 2
"""Raised when the same limits judge the same runs otherwise."""

OVERTIME = "overtime"
THINNEST = 0.05
"""Least side of the box that mass is compared with [sizes]: a sheet of paper has a volume, too."""


@dataclass(frozen=True)
class Job:
    """Everything a process needs to check one object."""

    source: ObjectFile
    store: AnnotationStore
    engine: EngineName
    seconds: float | None
    """Of each run; by default as long as suits the object's size."""

    trial: TrialConfig
    limits: LimitConfig

    @property
    def key(self) -> str:
        """Of all that the runs depend on: the object, its materials, the settings."""
        path = self.store.materials(self.source.key)
        data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        for entry in data.get("parts", {}).values():
            if isinstance(entry, dict):
                entry.pop("confidence", None)
                entry.pop("reason", None)
        text = json.dumps([VERSION, self.source.digest, data, self.engine, self.seconds, asdict(self.trial)])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def limits_key(self) -> str:
        """Of the limits by which runs are judged."""
        return hashlib.sha256(json.dumps([JUDGED, asdict(self.limits)]).encode()).hexdigest()[:16]


def run_check(job: Job) -> dict[str, Any]:
    """Check one object and write ``check.json``, its pictures and clips; a problem is one sentence in it.

    What goes wrong inside is written down, since one object must not stop the others.
    """
    job.store.clear(job.source.key)
    try:
        record = _record(job, job.store.of(job.source.key))
    except NeurokError as error:
        record = {"problem": str(error)}
    except Exception as error:  # a fault of ours in one object
        record = {"problem": f"The check failed: {one_line(error)}."}
    return store_record(job, record)


def store_record(job: Job, record: dict[str, Any]) -> dict[str, Any]:
    """Write what was found, last of all files of an object."""
    record = {"neurok_check": VERSION, "key": job.key, "limits": job.limits_key, "problem": "", **record}
    write_json(job.store.of(job.source.key) / "check.json", record)
    return record


def _record(job: Job, folder: Path) -> dict[str, Any]:
    asset, proposals = job.store.load(job.source)
    trial = job.trial
    thing = SceneObject(understand(asset, materials=job.store.materials(job.source.key)))
    runs: dict[str, dict[str, Any]] = {}
    films: dict[str, Clip] = {}
    ready: ReadyScene | None = None
    for action in ACTIONS:
        known = None if ready is None else {0: ready.bodies[0].poses}
        scene = _scene(thing, action, _seconds(job, ready, asset.mesh.size * asset.mesh.unit), job)
        done = run_ready(fresh := prepare_scene(scene, spaces=known))
        ready = fresh if ready is None else ready
        body = fresh.bodies[0]
        probes = probes_of(body.mesh, body.stuff, trial)
        runs[action] = measure(done.rollout, body, fresh.world.ground, probes, trial)
        films[action] = done.clip()
    assert ready is not None
    weights = weights_of(ready.bodies[0], tuple(item.region for item in proposals.items))
    parts = parts_of(proposals, weights)
    bulk = _bulk(ready)
    flags = flags_of(runs, parts, bulk, job.limits)
    with suppress(MissingDependencyError):  # a machine that cannot draw checks all the same
        _draw(films, flags, proposals, folder)
    return {
        "engine": job.engine,
        "moves": ready.bodies[0].poses.kind,
        "size": bulk.size,
        "mass": bulk.mass,
        "box_density": bulk.density,
        "masses": weights,
        "flags": [flag.record for flag in flags],
        "runs": runs,
    }


def _bulk(ready: ReadyScene) -> Bulk:
    mesh = ready.bodies[0].mesh
    box = np.maximum(np.ptp(mesh.bounds, axis=0), THINNEST * mesh.size) * mesh.unit
    numbers = (mesh.size * mesh.unit, ready.mass, ready.mass / float(np.prod(box)))
    return Bulk(*(float(f"{number:.4g}") for number in numbers))


def _seconds(job: Job, ready: ReadyScene | None, size: float) -> float:
    if job.seconds is not None:
        return job.seconds
    if ready is not None:
        size = ready.bodies[0].mesh.size * ready.bodies[0].mesh.unit
    return max(job.trial.least_seconds, job.trial.falls * math.sqrt(size / STANDARD_GRAVITY))


def _scene(thing: SceneObject, action: str, seconds: float, job: Job) -> Scene:
    settings: dict[str, Any] = {"seconds": seconds, "fps": job.trial.fps, "engine": job.engine}
    if action == "stand":
        return Scene((thing,), world=SceneWorld(ground=SceneGround()), **settings)
    return Scene((replace(thing, act=action),), **settings)  # type: ignore[arg-type]


def parts_of(proposals: Proposals, weights: Mapping[str, float]) -> tuple[TriedPart, ...]:
    """The parts of an object with what they weigh."""
    return tuple(
        TriedPart(item.region.name, item.material, item.alternatives, weights.get(item.region.name, 0.0))
        for item in proposals.items
    )


def judge_again(job: Job, record: dict[str, Any]) -> dict[str, Any] | None:
    """Flags by other limits from runs that were made; nothing if one of them has no film yet."""
    _, proposals = job.store.load(job.source)
    parts = parts_of(proposals, record["masses"])
    bulk = Bulk(record["size"], record["mass"], record["box_density"])
    found = flags_of(record["runs"], parts, bulk, job.limits)
    folder = job.store.of(job.source.key)
    films = {flag.run for flag in found if flag.run}
    drawn = {path.stem for path in folder.glob("*.mp4")}
    if films - drawn and (folder / "runs.jpg").exists():
        return None
    for name in drawn - films:
        (folder / f"{name}.mp4").unlink()
    return store_record(job, {**record, "limits": job.limits_key, "flags": [flag.record for flag in found]})


def _draw(films: dict[str, Clip], flags: list[Flag], proposals: Proposals, folder: Path) -> None:
    """A sheet of all runs, and a film of each run that has a flag, in the colours of the materials."""
    clips = {name: replace(clip, rest=in_colours(clip.rest, proposals.field)) for name, clip in films.items()}
    save_runs(clips, folder / "runs.jpg")
    for name in dict.fromkeys(flag.run for flag in flags if flag.run):
        save_clip(clips[name], folder / f"{name}.mp4")


def check_within(limited: Limited, job: Job) -> dict[str, Any]:
    """What ``run_check`` finds in a process within limits, or why it found nothing: what hangs or crashes is noted."""
    try:
        return limited.call(job)
    except Ended as end:
        job.store.clear(job.source.key)
        limit = limited.limits.seconds
        if end.cause == "time":
            problem = f"It took longer than {limit:g} s; allow more with --limit, or ask for fewer --seconds."
            return store_record(job, {"problem": problem, "cause": OVERTIME, "limit": limit})
        problem = f"While it was checked, {end.text}, perhaps for want of memory."
        return store_record(job, {"problem": problem, "cause": "crash"})
