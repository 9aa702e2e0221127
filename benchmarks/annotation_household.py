"""The annotation of a household set: proposals, flags, what they were worth by eye, edits, and flags after them.

    python benchmarks/annotation_household.py --data DATA --out OUT [--only sofa/] [--write docs/annotation.md]

Needs ``household/sweethome3d`` in the data folder. It goes on where it stood. Edits and verdicts are files of names
beside this script, and so are the flags of all runs: what was found earlier counts for objects that ``OUT`` has no run
of. The limits were chosen on four fifths of the files, by a hash of the file's name, and the fifth that was kept aside
is counted apart.
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

from neurok.folders.materials import check_folder, edit_folder, propose_folder, read_edits
from neurok.folders.records import AnnotationStore
from neurok.folders.store import ObjectFile, find_sources
from neurok_lab.data.still import data_folder
from neurok_lab.evaluation.tables import markdown, put_section, stamp

EDITS = Path(__file__).with_name("annotation_household_edits.json")
VERDICTS = Path(__file__).with_name("annotation_household_verdicts.json")
KNOWN = Path(__file__).with_name("annotation_household_flags.json")
"""Flags of each object, as proposed and after the edits; an object that is not named was not run."""

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

    only: tuple[str, ...] = ("",)
    """Beginnings of the names of objects to run; all by default."""

    only_tables: bool = False
    """Make the tables of what was checked so far, and run nothing."""

    def run(self) -> None:
        folder = data_folder(self.data, "household/sweethome3d")
        first, second = self.out / "proposed", self.out / "edited"
        if not self.only_tables:
            propose_folder(folder, first, progress=tell)
            check_folder(folder, first, seconds=SECONDS, limit=self.limit, only=self.only, progress=tell)
            if not second.exists():
                shutil.copytree(first, second)
            edit_folder(folder, second, read_edits(EDITS))
            edited = {row["asset"] for row in json.loads(EDITS.read_text())}
            chosen = sorted(name for name in edited if name.startswith(self.only)) or ["-"]
            check_folder(folder, second, seconds=SECONDS, limit=self.limit, only=chosen, progress=tell)
        sources = find_sources(folder)
        known = remember(sources, AnnotationStore(first), AnnotationStore(second))
        text = tables(sources, known, AnnotationStore(first), AnnotationStore(second))
        print(text)
        if self.write is not None:
            put_section(self.write, "household", f"{stamp()}\n\n{text}")


def tell(done: int, total: int, name: str) -> None:
    print(f"{done}/{total} {name}", file=sys.stderr, flush=True)


def is_aside(source: ObjectFile) -> bool:
    """Whether no limit was chosen on it; the same files as for the words of the proposer."""
    file = f"{source.key}{source.path.suffix}"
    return int(hashlib.sha256(file.encode()).hexdigest(), 16) % HELD_OUT == 0


def remember(sources: list[ObjectFile], first: AnnotationStore, second: AnnotationStore) -> dict[str, dict[str, Any]]:
    """Flags of all runs so far, kept in a file: those of this folder, and of earlier ones for other objects."""
    known: dict[str, dict[str, Any]] = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    for source in sources:
        key = source.key
        for word, store in (("proposed", first), ("edited", second)):
            check = store.check(key)
            if check is None or check["problem"] or (word == "edited" and not second.changed(key)):
                continue
            known.setdefault(key, {})[word] = sorted({flag["kind"] for flag in check["flags"]})
    KNOWN.write_text("{\n" + ",\n".join(f' "{k}": {json.dumps(known[k])}' for k in sorted(known)) + "\n}\n")
    return known


def tables(
    sources: list[ObjectFile], known: dict[str, dict[str, Any]], first: AnnotationStore, second: AnnotationStore
) -> str:
    """All that is told about the set."""
    verdicts = json.loads(VERDICTS.read_text())
    before = {source.key: set(known[source.key]["proposed"]) for source in sources if source.key in known}
    after = {key: set(row["edited"]) for key, row in known.items() if "edited" in row}
    aside = {source.key for source in sources if is_aside(source)}
    rows = [kind_row(kind, before, after, aside, verdicts) for kind in _kinds(before, after)]
    whole = {key: {"any"} if kinds else set() for key, kinds in before.items()}
    whole_after = {key: {"any"} if kinds else set() for key, kinds in after.items()}
    judged = {
        key: {"any": _blame([verdicts.get(key, {}).get(kind, "unread") for kind in kinds])}
        for key, kinds in before.items()
    }
    rows.append({**kind_row("any", whole, whole_after, aside, judged), "kind": "any of them"})
    summary = _summary(sources, first, second, whole, aside)
    return "\n\n".join([summary, markdown(rows, COLUMNS), _edits(second, after)])


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


def _summary(
    sources: list[ObjectFile],
    first: AnnotationStore,
    second: AnnotationStore,
    whole: dict[str, set[str]],
    aside: set[str],
) -> str:
    changed = {source.key: second.changed(source.key) for source in sources}
    parts = sum(len(first.annotation(source.key).rows) for source in sources)  # type: ignore[union-attr]
    flagged = [key for key, kinds in whole.items() if kinds]
    checks = {source.key: check for source in sources if (check := first.check(source.key))}
    problems = [f"{key}: {check['problem']} " for key, check in checks.items() if check["problem"]]
    here = sum(not check["problem"] for check in checks.values())
    return (
        f"{len(sources)} objects with {parts} parts, {len(aside)} of them kept aside. {len(whole)} were checked "
        f"({sum(key in aside for key in whole)} of those kept aside), {here} of them in this run; "
        f"{len(flagged)} are flagged ({sum(key in aside for key in flagged)} of those kept aside). {''.join(problems)}"
        f"{sum(map(len, changed.values()))} parts of {sum(map(bool, changed.values()))} objects were changed by hand."
    )


def _edits(second: AnnotationStore, after: dict[str, set[str]]) -> str:
    """Each part that was edited, and the flags of its object that are left."""
    rows = []
    for row in json.loads(EDITS.read_text()):
        left = ", ".join(sorted(after.get(row["asset"], ()))) or "none"
        change = second.changed(row["asset"])
        old = next((old for part, (old, new) in change.items() if row["part"] in part or row["part"] == "all"), "")
        told = f"{old} → {row['material']}" if old else row["material"]
        rows.append(
            {
                "asset": row["asset"],
                "part": "`{}`".format(row["part"].replace("|", "\\|")),
                "change": told,
                "why": row["why"],
                "left": left if row["asset"] in after else "not run yet",
            }
        )
    return markdown(rows, EDIT_COLUMNS)


if __name__ == "__main__":
    tyro.cli(Annotate).run()
