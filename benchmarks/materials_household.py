"""Materials proposed for a household set, beside what names in its files say; writes the tables of docs/materials.md.

``python benchmarks/materials_household.py`` reads ``household/sweethome3d`` in the folder that NEUROK_DATA names. The
words and weights of the proposer were set with four fifths of the files in view; the rest, chosen by a hash of the
file's name, were looked at when they were done, but for four rows that were in sight before.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from neurok.core.material_library import library
from neurok.io import load
from neurok.verbs import propose_materials

ROOT = Path(__file__).parents[1]
DOC = ROOT / "docs" / "materials.md"
KEY = Path(__file__).with_name("materials_household_key.json")

HELD_OUT = 5
"""One file in so many is held out."""

SOFT = 1e8
"""[Pa] below which a material counts as soft."""


@dataclass(frozen=True)
class Answer:
    """One region of one object, and what was proposed."""

    file: str
    part: str
    surface: str
    material: str
    confidence: float
    blind: str
    """What was proposed when the names were hidden."""

    held_out: bool


def answers(folder: Path) -> list[Answer]:
    """Proposals for every region of every file."""
    out = []
    with (folder / "categories.csv").open() as lines:
        files = [row["file"] for row in csv.DictReader(lines)]
    for file in files:
        asset = load(folder / file)
        held = int(hashlib.sha256(file.encode()).hexdigest(), 16) % HELD_OUT == 0
        seen, blind = propose_materials(asset), propose_materials(asset, names=False)
        for item, hidden in zip(seen.items, blind.items, strict=True):
            look = item.region.surface.name if item.region.surface is not None else ""
            name, sure = item.material.name, item.confidence
            out.append(Answer(file, item.region.part, look, name, sure, hidden.material.name, held))
    return out


def families(key: Mapping[str, Mapping[str, list[str]]], section: str) -> dict[str, set[str]]:
    """Families that are right, by the name of the surface."""
    return {name: set(right.split()) for right, names in key[section].items() for name in names}


def distinct(given: Iterable[Answer]) -> list[Answer]:
    """Each surface of a file once for each answer: a plant of a hundred leaves shall not count a hundred times."""
    return list({(a.file, a.surface, a.material): a for a in given}.values())


def agreement(given: list[Answer], right: Mapping[str, set[str]], blind: bool = False) -> tuple[int, int]:
    """How many agree, of how many that the key speaks of."""
    judged = [a for a in given if a.surface in right]
    said = lambda a: library()[a.blind if blind else a.material].family  # noqa: E731
    return sum(said(a) in right[a.surface] for a in judged), len(judged)


def summary(given: list[Answer]) -> str:
    """The table of agreement."""
    key = json.loads(KEY.read_text())
    lines = [
        "| the name of the surface says | four fifths in view | held-out fifth | names hidden, all |",
        "|---|---|---|---|",
    ]
    for section, title in (("materials", "a material"), ("things", "a thing")):
        right = families(key, section)
        cells = []
        for chosen, blind in ((False, False), (True, False), (None, True)):
            agree, count = agreement([a for a in given if chosen is None or a.held_out == chosen], right, blind)
            cells.append(f"{agree} of {count} ({agree / max(count, 1):.0%})")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", _softness(given, key), "", _calibration(given, key)])


def _softness(given: list[Answer], key: Mapping[str, Mapping[str, list[str]]]) -> str:
    """How often what is stiff was called soft, which is the costly mistake, and the other way round."""
    right = families(key, "materials") | families(key, "things")
    soft_families = {"fabric", "foam", "leather", "rubber", "plant", "tissue", "fluid"}
    judged = [a for a in given if a.surface in right and "ground" not in right[a.surface]]
    stiff = [a for a in judged if not right[a.surface] & soft_families]
    soft = [a for a in judged if right[a.surface] <= soft_families]
    is_soft = lambda a: library()[a.material].family in soft_families  # noqa: E731
    return (
        f"Of {len(stiff)} stiff surfaces {sum(map(is_soft, stiff))} are called soft, of {len(soft)} soft ones "
        f"{sum(not is_soft(a) for a in soft)} stiff."
    )


def _calibration(given: list[Answer], key: Mapping[str, Mapping[str, list[str]]]) -> str:
    right = families(key, "materials") | families(key, "things")
    lines = ["| confidence | surfaces | right family |", "|---|---|---|"]
    for low, high in ((0.0, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 1.01)):
        agree, count = agreement([a for a in given if low <= a.confidence < high], right)
        lines.append(f"| {low:g} to {min(high, 1.0):g} | {count} | {agree / max(count, 1):.0%} |")
    return "\n".join(lines)


def object_table(given: list[Answer]) -> str:
    """One line for each object: how many parts, and what each surface is proposed to be."""
    lines = ["| object | parts | name in the file: proposal (confidence) |", "|---|---|---|"]
    by_file: dict[str, list[Answer]] = defaultdict(list)
    for answer in given:
        by_file[answer.file].append(answer)
    for file, rows in by_file.items():
        best: dict[tuple[str, str], float] = {}
        for row in rows:
            best[row.surface, row.material] = max(best.get((row.surface, row.material), 0.0), row.confidence)
        said = "; ".join(f"`{look}`: {name} ({sure:.2f})" for (look, name), sure in best.items())
        mark = " *" if rows[0].held_out else ""
        lines.append(f"| {file.removesuffix('.glb')}{mark} | {len(rows)} | {said} |")
    return "\n".join(lines)


def library_table() -> str:
    """The library as a table."""
    lines = [
        "| material | family | E [Pa] | ν | ρ [kg/m³] | law | yield [Pa] | φ [°] | ζ | μ | sheet [mm] |",
        "|" + "---|" * 11,
    ]
    for name, entry in library().items():
        m = entry.material
        angle = "" if m.friction_angle is None else f"{m.friction_angle * 57.29578:.0f}"
        sheet = "" if m.thickness is None else f"{1000 * m.thickness:g}"
        give = "" if m.yield_stress is None else f"{m.yield_stress:.2g}"
        figures = f"{m.young:.3g} | {m.poisson:g} | {m.density:g} | {m.kind} | {give} | {angle}"
        lines.append(f"| {name} | {entry.family} | {figures} | {m.damping_ratio:g} | {m.friction:g} | {sheet} |")
    return "\n".join(lines)


def put(text: str, mark: str, table: str) -> str:
    """A page with the table between two marks replaced."""
    start, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    before, rest = text.split(start)
    return f"{before}{start}\n\n{table}\n\n{end}{rest.split(end)[1]}"


def main() -> None:
    """Measure, print and write."""
    folder = Path(os.environ["NEUROK_DATA"]) / "household" / "sweethome3d"
    given = answers(folder)
    once = distinct(given)
    print(summary(once))
    page = put(DOC.read_text(), "library", library_table())
    page = put(page, "agreement", summary(once))
    DOC.write_text(put(page, "objects", object_table(given)))


if __name__ == "__main__":
    main()
