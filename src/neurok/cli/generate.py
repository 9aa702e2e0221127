"""``neurok generate``: objects from words or a picture."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from neurok.cli.flags import ForceFlag, JsonFlag, NeededOut, SeedFlag, arg, one_of
from neurok.cli.frame import frame_facts
from neurok.cli.report import progress, say

if TYPE_CHECKING:
    from neurok.inference.generate import Generated

Action = Literal["drop", "throw", "tilt", "drag", "wind"]


@dataclass(frozen=True)
class MotionFlags:
    """Simulation settings for --act."""

    engine: Literal["auto", "reduced", "mujoco", "particles"] = "auto"
    """The simulation engine."""

    seconds: Annotated[float | None, arg("S", "2")] = None
    """Length of the motion [s]."""


@dataclass
class Generate:
    """Generate an object from words, a picture or both: parts, colours, materials and joints, ready to simulate.

    With --act the motion is written instead: the object is dropped, thrown, tilted, dragged or exposed to wind.
    """

    out: NeededOut
    """Where to write: any format that neurok writes objects in (.glb, .usda, .urdf, .obj ...), a .png for a contact
    sheet; with --act the same as 'simulate --out'. If there are several objects, each file gets a number."""

    text: Annotated[str, arg("WORDS", "none", aliases=("-t",))] = ""
    """What to make, in English: "a red velvet sofa on oak legs"."""

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

    weights: Annotated[str, arg("FILE|ID", "the shipped ones")] = "generation"
    """A .safetensors file or a hub id."""

    force: ForceFlag = False
    json: JsonFlag = False

    motion: tyro.conf.OmitArgPrefixes[MotionFlags] = field(default_factory=MotionFlags)

    exit_code: int = field(default=0, init=False)
    _moved: dict[str, Any] = field(default_factory=dict, init=False)

    def run(self) -> dict[str, Any]:
        with loading():
            from neurok.inference.generate import generate
        from neurok.staging import together

        self._check()
        if self.like is not None:
            from neurok.inference.vary import vary

            found = vary(
                self.like, edit=self.edit or "", text=self.text, count=self.count, seed=self.seed, weights=self.weights
            )
        else:
            found = generate(self.text, self.image, count=self.count, seed=self.seed, weights=self.weights)
        for one in found:
            self._tell(one)
        with together():
            written = self._act(found) if self.act else self._write(found)
        files = [str(path) for path in written]
        return {
            "out": files,
            "files": files,
            **frame_facts(found[0].asset.mesh),
            **self._moved,
            "objects": [one.report() for one in found],
        }

    def _check(self) -> None:
        from neurok.cli.outputs import check_outputs
        from neurok.errors import NeurokError
        from neurok.io.formats import WRITERS

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

    def _tell(self, one: Generated) -> None:
        names = ", ".join(
            f"{part['count']} x {part['part']}" if part["count"] > 1 else part["part"] for part in one.report()["parts"]
        )
        joints = sum(part.hinge is not None for part in one.assembly.parts)
        mass = f", {joints} joints" if joints else ""
        say(f"{one.assembly.category} (seed {one.seed}): {names}{mass}", json=self.json)
        if one.ignored:
            print(f"neurok: Not in the tables: {', '.join(one.ignored[:8])}.", file=sys.stderr)
        for note in one.notes:
            print(f"neurok: {note}", file=sys.stderr)

    def _write(self, found: list[Generated]) -> list[Path]:
        from neurok.io import save

        written = []
        for path in self.out:
            if path.suffix.lower() == ".png":
                from neurok.rendering import contact_sheet, render_mesh, save_image

                drawn = progress(found, "drawing", total=len(found), json=self.json)
                save_image(contact_sheet([render_mesh(one.asset.mesh, width=420, height=340) for one in drawn]), path)
                written.append(path)
                continue
            for number, one in enumerate(found):
                target = numbered(path, number, len(found))
                save(one.asset, target)
                written.append(target)
        for path in written:
            say(f"{path}", json=self.json)
        return written

    def _act(self, found: list[Generated]) -> list[Path]:
        from neurok.cli.simulate import simulate_and_write
        from neurok.scene.description import Scene, SceneObject

        written = list[Path]()
        for number, one in enumerate(found):
            targets = tuple(numbered(path, number, len(found)) for path in self.out)
            scene = Scene((SceneObject(one.asset, act=self.act),), engine=self.motion.engine, seed=self.seed)
            if self.motion.seconds is not None:
                scene = replace(scene, seconds=self.motion.seconds)
            figures, code = simulate_and_write(scene, targets, json=self.json)
            self._moved = {name: figures[name] for name in ("engine", "space")}
            self.exit_code = max(self.exit_code, code)
            written += targets
        return written


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
