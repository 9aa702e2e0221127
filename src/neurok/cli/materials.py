"""``neurok materials``: what parts of an object, or of a folder of them, are made of; drawn, checked and corrected."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.flags import ForceFlag, JsonFlag, MassFlags, NodesFlag, OutFlag, UnitFlag, UpFlag, arg
from neurok.cli.outputs import (
    PICTURES,
    Command,
    check_outputs,
    counting,
    frame_facts,
    frame_words,
    load_framed,
    written,
)
from neurok.dynamics.choice import EngineName
from neurok.errors import NeurokError

if TYPE_CHECKING:
    from neurok.inference.materials import Proposals
    from neurok.model import Model

MODELS = (".glb", ".gltf", ".npz", ".usd", ".usda", ".usdc", ".usdz", ".urdf", ".mjcf", ".xml")
KNOWN = (".json", *PICTURES[:3], *MODELS)
Words = tyro.conf.UseAppendAction[tuple[str, ...]]


@dataclass(frozen=True)
class FolderFlags:
    """For a folder of objects."""

    check: bool = False
    """Run the five actions on all objects of a folder that changed since, and flag implausible motion."""

    edit: Annotated[Path | None, arg("EDITS", "none")] = None
    """Read corrections of a folder from a .json or .csv: asset, part, material, accept, why."""

    accept: Annotated[tuple[str, ...], arg("ASSET [ASSET ...]", "none")] = ()
    """Accept proposals of a folder unchanged: names, all, or unflagged; written to accepted/ as JSON."""

    models: bool = False
    """Also write accepted objects as GLB with their materials."""

    proposer: Annotated[str, arg("rules|MODULE:FUNCTION")] = "rules"
    """How materials are proposed for a folder: rules, or a plug-in."""

    engine: EngineName = "auto"
    """The engine used for checks."""

    seconds: Annotated[float | None, arg("S", "as suits the size of the object")] = None
    """Length of each run of a check."""

    limit: Annotated[float, arg("S")] = 300.0
    """Longest time for the check of one object; if exceeded, it is stopped and the next one starts."""


@dataclass
class Materials(Command):
    """Propose a material for each part of an object, with a reason and a confidence; without an object, list the
    material library.

    Pass the JSON to simulate with --materials, or write a model that contains its materials. With --propose, --check,
    --edit or --accept the object is a folder (or a .csv or .txt that lists files) and --out one folder, which gets an
    overview of all objects, index.html; run again, it continues.
    """

    object: Annotated[tyro.conf.Positional[str | None], arg("[OBJECT]", "all materials are listed")] = None
    """Object: a file, a PartNet-Mobility folder or sample:NAME; or a folder of objects."""

    set: Annotated[Words, arg("PART=NAME")] = ()
    """The material of a part, a surface or all: seat=foam, all=steel; in a folder chair/oak:seat=foam. May be
    repeated."""

    materials: Annotated[Path | None, arg("FILE.json", "they are proposed")] = None
    """A materials file written before and possibly edited, to be drawn or written again."""

    out: OutFlag = ()
    """Where to write: .json to edit, .png for a picture, .glb .usd .npz .urdf .xml for a model."""

    unit: UnitFlag = None
    up: UpFlag = None
    nodes: NodesFlag = ()

    propose: bool = False
    """Propose materials for all objects of a folder."""

    paint: bool = False
    """Give what has no textures the look of its materials: wood with grain, woven cloth, brushed steel."""

    force: ForceFlag = False
    json: JsonFlag = False

    weighing: tyro.conf.OmitArgPrefixes[MassFlags] = field(default_factory=MassFlags)
    folder: tyro.conf.OmitArgPrefixes[FolderFlags] = field(default_factory=FolderFlags)

    @property
    def _is_of_folder(self) -> bool:
        return self.propose or self.folder.check or self.folder.edit is not None or bool(self.folder.accept)

    def check_flags(self) -> None:
        if not self._is_of_folder:
            inputs = [self.object, self.materials]
            check_outputs(self.out, inputs, force=self.force, known=KNOWN, what="materials")
        elif self.object is None:
            raise NeurokError("Name a folder of objects, or a .csv or .txt that lists them.")
        elif len(self.out) != 1 or self.out[0].suffix.lower() in KNOWN:
            raise NeurokError("Many objects are annotated in a folder; name one with --out, for instance --out sheet.")
        elif self.materials is not None:
            raise NeurokError("--materials is of one object; correct a folder with --set or --edit.")

    def run(self) -> dict[str, Any]:
        if self._is_of_folder:
            return self._folder()
        if self.object is None:
            return self._list()
        from neurok.core.material_library import parse_material
        from neurok.model import understand
        from neurok.verbs import propose_materials

        given = dict(parse_material(text) for text in self.set)
        asset = load_framed(self.object, self.unit, self.up, self.nodes)
        weighing = self.weighing.given()
        if "thickness" in weighing:
            weighing["thickness"] *= asset.mesh.unit
        model = understand(asset, materials=self.materials, **weighing)
        found = propose_materials(model, given=given)
        model = model.with_materials(given) if given else model
        files, parts = written(self.out, lambda path: _write(model, found, path, self.paint)), _rows(found)
        rows = [(row["part"], row["material"], f"{row['confidence']:.2f}", row["reason"]) for row in parts]
        self.say(_table(("part", "material", "confidence", "reason"), rows), *(f"Wrote {path}" for path in self.out))
        estimate = model.mass
        low, high = estimate.interval
        self.say(f"It is {model.matter} and weighs {estimate.mass:.3g} kg: {estimate.reason}.")
        self.say(f"Read with {frame_words(asset.mesh)}.")
        about = {
            "matter": model.matter,
            "mass": estimate.mass,
            "mass_range": [low, high],
            "mass_reason": estimate.reason,
        }
        return {"object": found.mesh.name, **about, **frame_facts(asset.mesh), "parts": parts, "files": files}

    def _folder(self) -> dict[str, Any]:
        assert self.object is not None
        from neurok.folders.materials import (
            accepting,
            check_edits,
            check_folder,
            edit_folder,
            parse_set,
            propose_folder,
            read_edits,
            summary,
        )
        from neurok.folders.proposers import find_proposer
        from neurok.folders.records import AnnotationStore
        from neurok.folders.store import find_sources

        folder, out = Path(self.object), self.out[0]
        sources, store, plugin = find_sources(folder), AnnotationStore(out), find_proposer(self.folder.proposer)
        edits = [parse_set(text, [source.key for source in sources]) for text in self.set]
        edits += read_edits(self.folder.edit) if self.folder.edit is not None else []
        check_edits(edits, sources, store, before_proposing=True)
        try:
            if self.propose or any(store.annotation(source.key) is None for source in sources):
                with counting("proposals", json=self.json) as tell:
                    propose_folder(folder, out, proposer=plugin, name=self.folder.proposer, progress=tell)
            if edits:
                edit_folder(folder, out, edits, models=self.folder.models)
            if self.folder.check:
                with counting("checks", json=self.json) as tell:
                    flags = self.folder
                    how: dict[str, Any] = {"engine": flags.engine, "seconds": flags.seconds, "limit": flags.limit}
                    check_folder(folder, out, **how, progress=tell)
            if self.folder.accept:
                edit_folder(folder, out, accepting(self.folder.accept, sources, store), models=self.folder.models)
        except KeyboardInterrupt:
            print(f"What is finished is kept in {out}; the same command goes on from there.", file=sys.stderr)
            raise
        return self._report(summary(sources, store))

    def _report(self, figures: dict[str, Any]) -> dict[str, Any]:
        status = ", ".join(f"{count} {name}" for name, count in figures["status"].items())
        self.say(f"{figures['objects']} objects: {status}; {figures['changed_parts']} parts changed by hand")
        if figures["checked"]:
            kinds = ", ".join(f"{kind} {count}" for kind, count in figures["flags"].items()) or "none"
            self.say(f"{figures['checked']} checked, {figures['flagged']} flagged: {kinds}")
        self.say(*(f"  {name}: {problem}" for name, problem in figures["problems"].items()))
        self.say(f"Wrote {figures['out']}/index.html")
        return figures

    def _list(self) -> dict[str, Any]:
        from neurok.core.material_library import library

        if self.set or self.out or self.materials:
            raise NeurokError("Name an object, such as sample:laptop, to set or write its materials.")
        entries = library()
        rows = [
            (name, e.family, f"{e.material.young:.2g}", f"{e.material.density:g}", ", ".join(e.aliases))
            for name, e in entries.items()
        ]
        self.say(_table(("material", "family", "E [Pa]", "density [kg/m³]", "also"), rows))
        return {"materials": [{**asdict(e.material), "name": name, "family": e.family} for name, e in entries.items()]}


def _write(model: Model, found: Proposals, path: Path, is_painted: bool) -> list[Path]:
    from neurok.inference.material_drawing import save_materials_picture
    from neurok.io import save
    from neurok.io.materials_file import write_materials
    from neurok.rendering import render_mesh, save_image

    if path.suffix.lower() == ".json":
        write_materials(found.field, found.mesh, path, found.records())
    elif path.suffix.lower() in PICTURES and is_painted:
        save_image(render_mesh(model.painted().mesh, 960, 720), path)
    elif path.suffix.lower() in PICTURES:
        save_materials_picture(found, path)
    elif is_painted:
        return save(model.painted(), path)
    else:
        return save(replace(model.asset, materials=model.field), path)
    return [path]


def _rows(found: Proposals) -> list[dict[str, Any]]:
    return [
        {
            "part": item.region.name,
            "material": item.material.name,
            "confidence": round(item.confidence, 3),
            "reason": item.reason,
            "alternatives": dict(item.alternatives),
        }
        for item in found.items
    ]


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    widths = [min(44, max(len(row[k]) for row in (head, *rows))) for k in range(len(head) - 1)]
    lines = ["  ".join([*(f"{row[k]:{widths[k]}}" for k in range(len(widths))), row[-1]]) for row in (head, *rows)]
    return "\n".join(line.rstrip() for line in lines)
