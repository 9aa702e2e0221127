"""The annotation of a household set: proposals, flags, what they were worth by eye, edits, and flags after them.

    python benchmarks/annotation_household.py --data DATA --out out/annotation [--write docs/annotation.md]

Needs ``household/sweethome3d`` in the data folder. It goes on where it stood. Edits and verdicts are files of names
beside this script; the limits were chosen on four fifths of the files, by a hash of the file's name, and the fifth that
was kept aside is counted apart.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from neurok.annotation.edits import read_edits
from neurok.annotation.records import Source, Store, find_sources
from neurok.annotation.verbs import check_folder, edit_folder, propose_folder
from neurok.data.folder import data_folder
from neurok.evaluation.tables import markdown, put_section, stamp

EDITS = Path(__file__).with_name("annotation_household_edits.json")
VERDICTS = Path(__file__).with_name("annotation_household_verdicts.json")
HELD_OUT = 5
"""One file in so many is kept aside."""

SECONDS = 1.0
"""Of each run."""

COLUMNS = {
    "kind": ("flag", "{}"),
    "before": ("objects, as proposed", "{}"),
    "aside": ("of these kept aside", "{}"),
    "material": ("material to blame", "{}"),
    "engine": ("simulation to blame", "{}"),
    "nothing": ("nothing to see", "{}"),
    "unread": ("not read", "{}"),
    "again": ("edited and run again", "{}"),
}
EDIT_COLUMNS = {
    "asset": ("object", "{}"),
    "part": ("part", "{}"),
    "change": ("change", "{}"),
    "why": ("why", "{}"),
    "left": ("flags left", "{}"),
}


@dataclass
class Annotate:
    """Propose, check, edit and check again; then write the tables."""

    data: Path | None = None
    """Folder of data sets."""

    out: Path = Path("out/annotation")
    write: Path | None = None
    """Markdown file to put the tables into."""

    limit: float = 300.0
    """For one object [s]; a busy machine needs more."""

    only_tables: bool = False
    """Make the tables of what was checked so far, and run nothing."""

    def run(self) -> None:
        folder = data_folder(self.data, "household/sweethome3d")
        first, second = self.out / "proposed", self.out / "edited"
        if not self.only_tables:
            propose_folder(folder, first, progress=tell)
            check_folder(folder, first, seconds=SECONDS, limit=self.limit, progress=tell)
            if not second.exists():
                shutil.copytree(first, second)
            edit_folder(folder, second, read_edits(EDITS))
            check_folder(folder, second, seconds=SECONDS, limit=self.limit, progress=tell)
        text = tables(find_sources(folder), Store(first), Store(second))
        print(text)
        if self.write is not None:
            put_section(self.write, "household", f"{stamp()}\n\n{text}")


def tell(done: int, total: int, name: str) -> None:
    print(f"{done}/{total} {name}", file=sys.stderr, flush=True)


def is_aside(source: Source) -> bool:
    """Whether no limit was chosen on it; the same files as for the words of the proposer."""
    file = f"{source.key}{source.path.suffix}"
    return int(hashlib.sha256(file.encode()).hexdigest(), 16) % HELD_OUT == 0


def kinds_of(store: Store, key: str) -> set[str]:
    return {flag["kind"] for flag in (store.check(key) or {}).get("flags", [])}


def tables(sources: list[Source], first: Store, second: Store) -> str:
    """All that is told about the set."""
    verdicts = json.loads(VERDICTS.read_text())
    before = {source.key: kinds_of(first, source.key) for source in sources}
    after = {source.key: kinds_of(second, source.key) for source in sources}
    aside = {source.key for source in sources if is_aside(source)}
    again = {source.key for source in sources if second.changed(source.key) and second.check(source.key)}
    after = {key: kinds for key, kinds in after.items() if key in again}
    rows = [kind_row(kind, before, after, aside, verdicts) for kind in _kinds(before, after)]
    whole = {key: {"any"} if kinds else set() for key, kinds in before.items()}
    whole_after = {key: {"any"} if kinds else set() for key, kinds in after.items()}
    judged = {
        key: {"any": _blame([said.get(kind, "unread") for kind in before[key]])} for key, said in verdicts.items()
    }
    rows.append({**kind_row("any", whole, whole_after, aside, judged), "kind": "any of them"})
    return "\n\n".join([_summary(sources, first, second, whole, aside), markdown(rows, COLUMNS), _edits(second)])


def _kinds(*found: dict[str, set[str]]) -> list[str]:
    counts = Counter(kind for each in found for kinds in each.values() for kind in kinds)
    return [kind for kind, _ in counts.most_common()]


def _blame(said: list[str]) -> str:
    """Of an object: a material that is wrong counts over a simulation that is, and both over nothing."""
    return next((word for word in ("material", "engine", "nothing") if word in said), "unread")


def kind_row(
    kind: str, before: dict[str, set[str]], after: dict[str, set[str]], aside: set[str], verdicts: dict[str, Any]
) -> dict[str, Any]:
    flagged = [key for key, kinds in before.items() if kind in kinds]
    blame = Counter(verdicts.get(key, {}).get(kind, "unread") for key in flagged)
    return {
        "kind": kind,
        "before": len(flagged),
        "aside": sum(key in aside for key in flagged),
        "again": f"{sum(key in after for key in flagged)} → {sum(kind in kinds for kinds in after.values())}",
        **{word: blame[word] for word in ("material", "engine", "nothing", "unread")},
    }


def _summary(sources: list[Source], first: Store, second: Store, whole: dict[str, set[str]], aside: set[str]) -> str:
    changed = {source.key: second.changed(source.key) for source in sources}
    parts = sum(len(first.annotation(source.key).rows) for source in sources)  # type: ignore[union-attr]
    flagged = [key for key, kinds in whole.items() if kinds]
    checks = {source.key: check for source in sources if (check := first.check(source.key))}
    checked = sum(not check["problem"] for check in checks.values())
    problems = [f"{key}: {check['problem']} " for key, check in checks.items() if check["problem"]]
    return (
        f"{len(sources)} objects with {parts} parts, {len(aside)} of them kept aside. {checked} were checked "
        f"({sum(key in aside for key in checks)} of those kept aside), {len(flagged)} of them are flagged "
        f"({sum(key in aside for key in flagged)} of those kept aside). {''.join(problems)}"
        f"{sum(map(len, changed.values()))} parts of {sum(map(bool, changed.values()))} objects were changed by hand."
    )


def _edits(second: Store) -> str:
    """Each part that was edited, and the flags of its object that are left."""
    rows = []
    for row in json.loads(EDITS.read_text()):
        found = second.check(row["asset"])
        left = ", ".join(sorted(kinds_of(second, row["asset"]))) or "none"
        change = second.changed(row["asset"])
        old = next((old for part, (old, new) in change.items() if row["part"] in part or row["part"] == "all"), "")
        told = f"{old} → {row['material']}" if old else row["material"]
        rows.append(
            {
                "asset": row["asset"],
                "part": "`{}`".format(row["part"].replace("|", "\\|")),
                "change": told,
                "why": row["why"],
                "left": left if found else "not run yet",
            }
        )
    return markdown(rows, EDIT_COLUMNS)


if __name__ == "__main__":
    tyro.cli(Annotate).run()
