"""``neurok generate``: objects from words or a picture, and scenes from words."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from neurok.cli.flags import ForceFlag, JsonFlag, NeededOut, SeedFlag, arg, one_of
from neurok.cli.outputs import Command, check_outputs, frame_facts, warn, written
from neurok.errors import NeurokError, counted

if TYPE_CHECKING:
    from neurok.generation.verb import Generated

Action = Literal["drop", "throw", "tilt", "drag", "wind"]


@dataclass(frozen=True)
class MotionFlags:
    """Simulation settings for --act."""

    engine: Literal["auto", "reduced", "mujoco", "particles"] = "auto"
    """The simulation engine."""

    seconds: Annotated[float | None, arg("S", "2")] = None
    """Length of the motion [s]."""


@dataclass(frozen=True)
class ReadingFlags:
    """How words and pictures are read."""

    best: bool = False
    """Take the likeliest category of a doubtful picture, which otherwise ends in a question and exit code 6."""

    weights: Annotated[str, arg("FILE|ID", "the shipped ones")] = "generation"
    """A .safetensors file or a hub id."""


@dataclass
class Generate(Command):
    """Generate an object from words, a picture or both: parts, colours, materials and joints, ready to simulate.

    With --act the motion is written instead: the object is dropped, thrown, tilted, dragged or exposed to wind. With
    --scene several objects are made and put in their places.
    """

    out: NeededOut
    """Where to write: any format that neurok writes objects in (.glb, .usda, .urdf, .obj ...), a .png for a contact
    sheet; with --act the same as 'simulate --out'. If there are several objects, each file gets a number."""

    text: Annotated[str, arg("WORDS", "none", aliases=("-t",))] = ""
    """What to make, in English: "a red velvet sofa on oak legs"."""

    scene: Annotated[str, arg("WORDS", "one object")] = ""
    """A whole scene: "a desk with a lamp on it, a chair in front. The lamp falls off." A .yaml keeps it as a scene
    whose objects are files of their own, which can be edited; .xml and .usda hold bodies that are free to move."""

    image: Annotated[Path | None, arg("FILE", "none")] = None
    """A picture of one object (.png, .jpg, .webp), best with a plain background."""

    count: Annotated[int, arg("N", aliases=("-n",))] = 1
    """How many different objects."""

    like: Annotated[str | None, arg("FILE", "none")] = None
    """Make variations of this object: one that neurok generated, or any mesh, of which a rendered picture is used."""

    edit: Annotated[str | None, arg("WORDS", "nothing is kept")] = None
    """Change the object of --like and keep the rest: "make the legs metal", "wider", "replace the back"."""

    act: Annotated[Action | None, one_of(Action, "it is not moved")] = None
    """Apply this action, and write the motion."""

    seed: SeedFlag = 0

    force: ForceFlag = False
    json: JsonFlag = False

    reading: tyro.conf.OmitArgPrefixes[ReadingFlags] = field(default_factory=ReadingFlags)
    motion: tyro.conf.OmitArgPrefixes[MotionFlags] = field(default_factory=MotionFlags)

    def run(self) -> dict[str, Any]:
        if self.scene:
            return self._compose()
        with loading():
            from neurok.generation.verb import generate

        if self.like is not None:
            from neurok.generation.vary import vary

            found = vary(
                self.like,
                edit=self.edit or "",
                text=self.text,
                count=self.count,
                seed=self.seed,
                weights=self.reading.weights,
            )
        else:
            found = generate(
                self.text,
                self.image,
                count=self.count,
                seed=self.seed,
                weights=self.reading.weights,
                best=self.reading.best,
            )
        for one in found:
            self._describe(one)
        frame, objects = frame_facts(found[0].asset.mesh), [one.report() for one in found]
        if self.act:
            files, moved = self._act(found)
        else:
            files, moved = written(self.out, lambda path: self._write(found, path)), {}
            self.say(*files)
        return {"out": files, "files": files, **frame, **moved, "objects": objects}

    def check_flags(self) -> None:
        from neurok.io.formats import WRITERS

        if self.scene:
            self._check_scene()
            return
        if self.edit is not None and self.like is None:
            raise NeurokError("--edit changes an object; name it with --like FILE.")
        if self.like is not None and self.image is not None:
            raise NeurokError("--like and --image both say what it should look like; give one of them.")
        check_outputs(self.out, [self.image, self.like], force=self.force)
        for path in self.out:
            if self.act:
                from neurok.scene.output import check_output

                check_output(path)
            elif path.suffix.lower() not in (*WRITERS, ".png"):
                known = ", ".join(sorted(WRITERS))
                raise NeurokError(f"'{path}' is no format of an object; write {known} or .png, or ask for --act.")

    def _describe(self, one: Generated) -> None:
        names = ", ".join(
            f"{part['count']} x {part['part']}" if part["count"] > 1 else part["part"] for part in one.report()["parts"]
        )
        joints = sum(part.hinge is not None for part in one.assembly.parts)
        moving = f", {counted(joints, 'joint')}" if joints else ""
        self.say(f"{one.assembly.category} (seed {one.seed}): {names}{moving}")
        if one.seen:
            self.say("seen: " + ", ".join(f"{category} {share:.0%}" for category, share in one.seen))
        if one.ignored:
            warn(f"Not understood: {', '.join(one.ignored[:8])}.")
        warn(*one.notes)

    def _write(self, found: list[Generated], path: Path) -> list[Path]:
        from neurok.io import save

        if path.suffix.lower() == ".png":
            from neurok.rendering import contact_sheet, render_mesh, save_image

            drawn = self.progress(found, "drawing", len(found))
            save_image(contact_sheet([render_mesh(one.asset.mesh, width=420, height=340) for one in drawn]), path)
            return [path]
        targets = [numbered(path, number, len(found)) for number in range(len(found))]
        for one, target in zip(found, targets, strict=True):
            save(one.asset, target)
        return targets

    def _check_scene(self) -> None:
        from neurok.io.formats import WRITERS
        from neurok.rendering.files import FILMS
        from neurok.scene.files import SUFFIXES

        others = ("text", "image", "like", "edit", "act")
        if extra := [f"--{name}" for name in others if getattr(self, name)]:
            raise NeurokError(f"--scene describes everything in its own words; leave out {', '.join(extra)}.")
        check_outputs(self.out, [], force=self.force)
        known = (*WRITERS, ".png", *FILMS, *SUFFIXES[:1])
        for path in self.out:
            if path.suffix.lower() not in known:
                raise NeurokError(f"'{path}' is no format of a scene; write {', '.join(sorted(known))}.")

    def _compose(self) -> dict[str, Any]:
        """Make a scene and write it; what moves in it is simulated for films, pictures and .glb."""
        from neurok.generation.arrangement import summary
        from neurok.scene.composition import compose, write_composition

        made = compose(self.scene, seed=self.seed, progress=self.progress)
        self.say(summary(made.arrangement))
        for one in made.objects:
            self._describe(one.made)
        if made.arrangement.unread:
            warn(f"Not understood: {', '.join(made.arrangement.unread)}.")
        warn(*made.notes)
        files, status = write_composition(made, self.out)
        self.say(*map(str, files))
        return {"out": list(map(str, files)), "files": list(map(str, files)), "status": status, **made.report()}

    def _act(self, found: list[Generated]) -> tuple[list[str], dict[str, Any]]:
        """Simulate each object and write its motion; the files, and how the last one was moved."""
        from neurok.cli.simulate import simulate_and_write
        from neurok.scene.description import Scene, SceneObject
        from neurok.staging import together

        files, figures = list[str](), dict[str, Any]()
        with together():
            for number, one in enumerate(found):
                targets = [numbered(path, number, len(found)) for path in self.out]
                scene = Scene((SceneObject(one.asset, act=self.act),), engine=self.motion.engine, seed=self.seed)
                if self.motion.seconds is not None:
                    scene = replace(scene, seconds=self.motion.seconds)
                figures, code = simulate_and_write(self, scene, targets)
                self.exit_code = max(self.exit_code, code)
                files += map(str, targets)
        return files, {name: figures[name] for name in ("engine", "space")}


@contextmanager
def loading() -> Iterator[None]:
    """While modules are read no garbage is looked for: they leave none, and looking takes a tenth of their time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def numbered(path: Path, number: int, count: int) -> Path:
    """The file of one of several objects."""
    return path if count == 1 else path.with_name(f"{path.stem}_{number}{path.suffix}")
