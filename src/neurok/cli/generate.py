"""``neurok generate``: objects from words or a picture."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from neurok.cli.report import progress, say

if TYPE_CHECKING:
    from neurok.inference.generate import Generated


@dataclass
class Generate:
    """Make an object from words, a picture or both: parts, colours, materials and joints, ready to simulate.

    With --act the motion is written instead: the object is dropped, thrown, tilted, dragged or blown at.
    """

    out: tuple[Path, ...]
    """Where to write: any format that neurok writes objects in (.glb, .usda, .urdf, .obj ...), a .png for a sheet of
    pictures; with --act what 'simulate --out' takes. Of several objects each file gets a number."""

    text: Annotated[str, tyro.conf.arg(aliases=["-t"])] = ""
    """What to make, in English: "a red velvet sofa on oak legs"."""

    image: Path | None = None
    """A picture of one object (.png, .jpg, .webp), best before a plain background."""

    count: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 1
    """How many different objects."""

    like: Annotated[str | None, tyro.conf.arg(metavar="FILE")] = None
    """Make variations of this object: one that neurok generated, or any mesh, which is then looked at as a picture."""

    edit: str | None = None
    """Change the object of --like and keep the rest: "make the legs metal", "wider", "replace the back"."""

    act: Literal["drop", "throw", "tilt", "drag", "wind"] | None = None
    """Move it, and write the motion."""

    engine: Literal["auto", "reduced", "mujoco", "particles"] = "auto"
    """What moves it."""

    seconds: float | None = None
    """Length of the motion [s]."""

    seed: int = 0
    """Same seed, same objects."""

    weights: str = "generation"
    """A .safetensors file or a hub id; the shipped ones by default."""

    json: bool = False
    """Print one JSON object and nothing else."""

    exit_code: int = field(default=0, init=False)

    def run(self) -> dict[str, Any]:
        from neurok.inference.generate import generate

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
        written = self._act(found) if self.act else self._write(found)
        return {"out": [str(path) for path in written], "objects": [one.report() for one in found]}

    def _check(self) -> None:
        from neurok.errors import NeurokError
        from neurok.io.formats import WRITERS
        from neurok.scene.output import check_output

        if self.edit is not None and self.like is None:
            raise NeurokError("--edit changes an object; name it with --like FILE.")
        if self.like is not None and self.image is not None:
            raise NeurokError("--like and --image both say what it should look like; give one of them.")
        for path in self.out:
            if self.act:
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
        """Scenes name files, so each object is written into a folder that is thrown away, and moved from there."""
        from neurok.io import save

        written = []
        with tempfile.TemporaryDirectory() as folder:
            for number, one in enumerate(found):
                source = Path(folder) / f"object_{number}.glb"
                save(one.asset, source)
                for path in self.out:
                    target = numbered(path, number, len(found))
                    self._move(source, target)
                    written.append(target)
        return written

    def _move(self, source: Path, target: Path) -> None:
        from neurok.cli.simulate import Simulate

        command = Simulate(
            str(source), out=target, act=self.act, engine=self.engine, seconds=self.seconds, seed=self.seed,
            json=self.json,
        )  # fmt: skip
        command.run()
        self.exit_code = max(self.exit_code, command.exit_code)


def numbered(path: Path, number: int, count: int) -> Path:
    """The file of one of several objects."""
    return path if count == 1 else path.with_name(f"{path.stem}_{number}{path.suffix}")
