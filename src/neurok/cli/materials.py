"""``neurok materials``: what each part of an object is probably made of, drawn, written and open to corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.report import say
from neurok.errors import NeurokError

if TYPE_CHECKING:
    from neurok.inference.materials import Proposals

PICTURES = (".png", ".jpg", ".jpeg")
MODELS = (".glb", ".gltf", ".npz", ".usd", ".usda", ".usdc", ".usdz", ".urdf", ".mjcf", ".xml")
Words = tyro.conf.UseAppendAction[tuple[str, ...]]


@dataclass
class Materials:
    """Propose what each part of an object is made of, with a reason and a confidence; without an object, list all
    materials that have a name.

    Hand the JSON back to simulate with --materials, or write a model that carries its materials.
    """

    object: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="OBJECT")] = None
    """Object: a file, a PartNet-Mobility folder or sample:NAME."""

    set: Annotated[Words, tyro.conf.arg(metavar="PART=NAME")] = ()
    """What a part, a surface or all is made of: seat=foam, all=steel. May be repeated."""

    materials: Annotated[Path | None, tyro.conf.arg(metavar="FILE.json")] = None
    """Materials that were written and edited, to be drawn or written again."""

    out: tuple[Path, ...] = ()
    """Where to write: .json to edit, .png to look at, .glb .usd .npz .urdf .xml for a model; several may be given."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        if self.object is None:
            return self._list()
        from neurok.core.material_library import parse_material
        from neurok.inference.materials import propose_materials
        from neurok.io import load, save
        from neurok.io.materials_file import read_materials, write_materials

        for path in self.out:
            if path.suffix.lower() not in (".json", *PICTURES, *MODELS):
                known = ", ".join((".json", *PICTURES, *MODELS))
                raise NeurokError(f"'{path}' cannot hold materials; --out takes files that end in {known}.")
        given = dict(parse_material(text) for text in self.set)
        asset = load(self.object)
        if self.materials is not None:
            asset = replace(asset, materials=read_materials(self.materials, asset.mesh))
        found = propose_materials(asset, given=given)
        for path in self.out:
            if path.suffix.lower() == ".json":
                write_materials(found.field, found.mesh, path, found.told())
            elif path.suffix.lower() in PICTURES:
                from neurok.inference.material_drawing import save_materials_picture

                save_materials_picture(found, path)
            else:
                save(replace(asset, materials=found.field), path)
        self._print(found)
        return {"object": found.mesh.name, "parts": _rows(found), "files": [str(path) for path in self.out]}

    def _print(self, found: Proposals) -> None:
        rows = [(row["part"], row["material"], f"{row['confidence']:.2f}", row["reason"]) for row in _rows(found)]
        say(_table(("part", "material", "confidence", "reason"), rows), json=self.json)
        for path in self.out:
            say(f"Wrote {path}", json=self.json)

    def _list(self) -> dict[str, Any]:
        from neurok.core.material_library import library

        if self.set or self.out or self.materials:
            raise NeurokError("Name an object, such as sample:laptop, to set or write its materials.")
        entries = library()
        rows = [
            (name, e.family, f"{e.material.young:.2g}", f"{e.material.density:g}", ", ".join(e.aliases))
            for name, e in entries.items()
        ]
        say(_table(("material", "family", "E [Pa]", "density [kg/m³]", "also"), rows), json=self.json)
        return {
            "materials": [{"name": name, "family": e.family, **_figures(e.material)} for name, e in entries.items()]
        }


def _figures(material: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {key: value for key, value in asdict(material).items() if key != "name"}


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
