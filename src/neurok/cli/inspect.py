"""``neurok inspect`` and ``neurok check``: what a mesh is and what is wrong with it; what works on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.flags import ForceFlag, JsonFlag, NodesFlag, OutFlag, UnitFlag, UpFlag, arg
from neurok.cli.outputs import Command, check_outputs, written
from neurok.errors import counted

if TYPE_CHECKING:
    from neurok.core import Asset
    from neurok.doctor import Diagnosis


MARKS = {"error": "[red]error[/red]", "warning": "[yellow]warning[/yellow]", "info": "[dim]info[/dim]"}


@dataclass
class Inspect(Command):
    """Report the properties and defects of a mesh; with --out, repair it.

    Exit code 0 if the file could be inspected, even if the mesh is bad (see "is_usable" in --json), and 2 if the file
    cannot be read, or nothing in it can be repaired.
    """

    mesh: Annotated[str, tyro.conf.Positional, arg("MESH")]
    """A mesh file, a PartNet-Mobility folder, or a built-in object such as sample:laptop."""

    out: OutFlag = ()
    """Write the repaired mesh to these files; the suffix determines the format."""

    unit: UnitFlag = None
    up: UpFlag = None
    nodes: NodesFlag = ()
    force: ForceFlag = False
    json: JsonFlag = False

    def check_flags(self) -> None:
        from neurok.io.formats import WRITERS

        check_outputs(self.out, [self.mesh], force=self.force, known=tuple(WRITERS))

    def run(self) -> dict[str, Any]:
        from neurok.doctor import diagnose, mend, mended_asset
        from neurok.io import save
        from neurok.io.formats import states_frame

        asset = self._relabelled(load_broken(self.mesh, self.nodes))
        diagnosis = diagnose(asset.mesh, is_stated=states_frame(self.mesh))
        figures = {"input": self.mesh, **diagnosis.as_dict(), **_extras(asset), "repairs": [], "files": []}
        if not self.json:
            _print(self.mesh, diagnosis, asset, mending=bool(self.out))
        if self.out:
            mended = mend(asset.mesh)
            files = written(self.out, lambda path: save(mended_asset(asset, mended), path))
            figures |= {"repairs": list(mended.notes), "files": files}
            notes = mended.notes or ("Nothing needed mending.",)
            self.say("", *notes, *(f"Wrote {path}." for path in self.out))
        return figures

    def _relabelled(self, asset: Asset) -> Asset:
        """The asset in the frame that the flags say; a guess is shown here, not acted on."""
        from neurok.core import Asset
        from neurok.doctor.frame import parse_unit, parse_up
        from neurok.errors import MeshError

        mesh = asset.mesh
        unit = mesh.unit if self.unit is None else parse_unit(self.unit)
        up = mesh.up if self.up is None else parse_up(self.up)
        if (unit, up) == (mesh.unit, mesh.up):
            return asset
        try:
            return asset.relabelled(up, unit)
        except MeshError as error:
            return Asset(error.draft)


def load_broken(path: str, nodes: Sequence[str] = ()) -> Asset:
    """The asset in a file, with an unchecked mesh when it is broken in a way the doctor can look at."""
    from neurok.core import Asset
    from neurok.errors import MeshError
    from neurok.io import load

    try:
        return load(path, nodes=nodes)
    except MeshError as error:
        return Asset(error.draft)


def _extras(asset: Asset) -> dict[str, Any]:
    joints = asset.articulation.joints if asset.articulation is not None else ()
    return {
        "clips": [{"name": c.name, "frames": c.frame_count, "seconds": c.duration} for c in asset.clips],
        "joints": [{"part": n, "kind": j.kind} for n, j in zip(asset.mesh.part_names, joints) if j.kind != "fixed"],
        "left_out": list(asset.left_out),
        "notes": list(asset.notes),
    }


def _print(source: str, diagnosis: Diagnosis, asset: Asset, mending: bool) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    table = Table(title=escape(source), title_justify="left", show_header=False, box=None, padding=(0, 2))
    for label, value in _rows(diagnosis, asset):
        table.add_row(f"[bold]{label}[/bold]", escape(value))
    console.print(table)
    if not diagnosis.problems:
        console.print("\n[green]Nothing is wrong with it.[/green]")
        return
    verb = "does" if mending else "would do with --out FILE"
    wrong = Table(title=f"What is wrong, and what neurok {verb}", title_justify="left", box=None, padding=(0, 2))
    for column in ("", "problem", "remedy"):
        wrong.add_column(column)
    for problem in diagnosis.problems:
        wrong.add_row(MARKS[problem.severity], escape(problem.sentence), escape(problem.remedy))
    console.print()
    console.print(wrong)
    if not diagnosis.is_usable:
        console.print("\n[red]It cannot be used as it is.[/red]")


def _rows(diagnosis: Diagnosis, asset: Asset) -> list[tuple[str, str]]:
    from neurok.doctor.frame import METRES

    scale = METRES.get(diagnosis.unit.value, asset.mesh.unit) / asset.mesh.unit  # all rows are in one unit
    sides = " x ".join(f"{side * scale:.4g}" for side in diagnosis.size)
    rows = [
        ("mesh", f"{counted(diagnosis.vertices, 'vertex')}, {counted(diagnosis.faces, 'face')}"),
        ("parts", f"{len(diagnosis.parts)}: {_few(diagnosis.parts)}" if diagnosis.parts else "not labelled"),
        ("components", f"{diagnosis.components:,}"),
        ("surfaces", f"{len(diagnosis.surfaces)}, {diagnosis.textures} with a texture"),
        ("watertight", f"yes, {diagnosis.volume * scale**3:.4g} m³" if diagnosis.volume is not None else "no"),
        ("area", f"{diagnosis.area * scale**2:.4g} m²"),
        ("size", f"{sides} m"),
        ("unit", f"{diagnosis.unit.value}, {diagnosis.unit.confidence:.0%} sure: {diagnosis.unit.reason}"),
        ("up", f"{diagnosis.up.value}, {diagnosis.up.confidence:.0%} sure: {diagnosis.up.reason}"),
    ]
    if asset.clips:
        rows.append(("clips", _few([f"{c.name} ({c.duration:.1f} s)" for c in asset.clips])))
    if asset.articulation is not None:
        kinds = [joint.kind for joint in asset.articulation.joints if joint.kind != "fixed"]
        rows.append(("joints", ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds))) or "all fixed"))
    rows += [("left out", _few(asset.left_out))] if asset.left_out else []
    return rows + [("note", note) for note in asset.notes]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


@dataclass
class Check(Command):
    """Test everything that depends on the machine: weights, simulation, pictures, videos, optional packages.

    Exit code 0 if everything that neurok needs works, 2 if not.
    """

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.readiness import check_machine

        findings = check_machine()
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            mark = "works  " if finding.works else "BROKEN " if finding.is_needed else "missing"
            remedy = f"; {finding.remedy}" if finding.remedy else ""
            self.say(f"{mark}  {finding.name:{width}}  {finding.what}{remedy}")
        broken = [finding.name for finding in findings if finding.is_needed and not finding.works]
        self.exit_code = 2 if broken else 0
        self.say(f"Broken: {', '.join(broken)}." if broken else "Everything that neurok needs works.")
        return {"ready": not broken, "findings": [asdict(finding) for finding in findings]}
