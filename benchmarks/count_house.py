"""Size of the house and the lab beside an earlier commit: files, lines, classes, numbers in configurations.

    python benchmarks/count_house.py [--before COMMIT] [--write docs/architecture.md]

A tuned number is a field of a class ``*Config`` with a number (or a tuple of numbers) as its default.
"""

from __future__ import annotations

import ast
import io
import subprocess
import tarfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import tyro

from neurok_lab.evaluation.tables import markdown, put_section, stamp

ROOT = Path(__file__).parents[1]
COLUMNS = {"what": ("what", "{}"), "before": ("before", "{:,}"), "now": ("now", "{:,}")}
Sources = dict[str, str]
"""Python files by their paths in the repository."""


@dataclass
class Count:
    """Count the source of this checkout beside that of an earlier commit."""

    before: str = "5f39b59"
    """The commit before house and lab were parted."""

    write: Path | None = None
    """Page whose section is written anew."""

    def run(self) -> None:
        old, new = at_commit(self.before), checkout()
        rows = [{"what": what, "before": now_of(old), "now": now_of(new)} for what, now_of in FIGURES.items()]
        packages = sorted({package(path) for path in (*old, *new)})
        rows += [
            {"what": f"lines of `{name}`", "before": lines(only(old, name)), "now": lines(only(new, name))}
            for name in packages
        ]
        text = f"{markdown(rows, COLUMNS)}\n\n{stamp()}"
        print(text)
        if self.write is not None:
            put_section(self.write, "counts", text)


def checkout() -> Sources:
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("lab/**/*.py")]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


def at_commit(commit: str) -> Sources:
    data = subprocess.run(["git", "-C", str(ROOT), "archive", commit, "src"], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = [member for member in archive if member.name.endswith(".py")]
        return {member.name: archive.extractfile(member).read().decode() for member in members}  # type: ignore[union-attr]


def package(path: str) -> str:
    parts = Path(path).parts
    name = parts[2] if len(parts) > 3 else "top"
    return f"lab: {name}" if parts[0] == "lab" else name


def only(sources: Sources, name: str) -> Sources:
    return {path: text for path, text in sources.items() if package(path) == name}


def lines(sources: Sources) -> int:
    return sum(len(text.splitlines()) for text in sources.values())


def house(sources: Sources) -> Sources:
    return {path: text for path, text in sources.items() if path.startswith("src/")}


def lab(sources: Sources) -> Sources:
    return {path: text for path, text in sources.items() if path.startswith("lab/")}


def classes(sources: Sources) -> list[ast.ClassDef]:
    trees = map(ast.parse, sources.values())
    return [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]


def tuned_numbers(sources: Sources) -> int:
    """Fields of configurations that hold numbers."""
    fields = [
        item.value
        for node in classes(sources)
        if node.name.endswith("Config")
        for item in node.body
        if isinstance(item, ast.AnnAssign) and item.value is not None
    ]
    return sum(any(_is_number(part) for part in ast.walk(value)) for value in fields)


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def shared_names(sources: Sources) -> int:
    """Class names that several modules have."""
    return sum(count > 1 for count in Counter(node.name for node in classes(sources)).values())


def configurations(sources: Sources) -> int:
    return sum(node.name.endswith("Config") for node in classes(sources))


FIGURES = {
    "lines, house and lab": lines,
    "lines of the house": lambda sources: lines(house(sources)),
    "lines of the lab": lambda sources: lines(lab(sources)),
    "files of the house": lambda sources: len(house(sources)),
    "files of the lab": lambda sources: len(lab(sources)),
    "packages of the house": lambda sources: len({package(path) for path in house(sources)} - {"top"}),
    "files under 45 lines, but for `__init__`": lambda sources: sum(
        len(text.splitlines()) < 45 for path, text in sources.items() if not path.endswith("__init__.py")
    ),
    "classes": lambda sources: len(classes(sources)),
    "class names in several modules": shared_names,
    "configuration classes": configurations,
    "tuned numbers in configurations": tuned_numbers,
}

if __name__ == "__main__":
    tyro.cli(Count).run()
