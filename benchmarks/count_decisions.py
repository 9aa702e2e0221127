"""Counts of the source before and after the middle packages were refactored.

    python benchmarks/count_decisions.py [--before COMMIT] [--write docs/architecture.md]

Constants, questions about classes and lines are counted in the source. Files that decide what a body is or what touches
were found by reading, and are named below; a name counts where the file is there.
"""

from __future__ import annotations

import ast
import io
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tyro

from neurok_lab.evaluation.tables import markdown, put_section, stamp

MIDDLE = ("articulation", "bodyplan", "dynamics", "inference", "kinematics", "posing", "scene", "train")
"""Packages that were refactored, by their names before and after."""

BODIES = (
    "articulation/parts.py",
    "kinematics/infer.py",
    "kinematics/touch.py",
    "kinematics/gather.py",
    "kinematics/refine.py",
    "kinematics/polish.py",
    "bodyplan/bodies.py",
    "inference/prior.py",
)
"""What is one rigid body, and (the last) whether a piece bends."""

CONTACTS = (
    "articulation/contacts.py",
    "kinematics/touch.py",
    "articulation/features.py",
    "kinematics/ties.py",
    "kinematics/refine.py",
    "bodyplan/contacts.py",
)
"""What touches; features are what the joint network reads of gaps."""

COLUMNS = {"what": ("what", "{}"), "before": ("before", "{:,}"), "now": ("now", "{:,}")}
Sources = dict[str, str]
"""Python files by their paths inside the package."""


@dataclass
class Counts:
    """Count the source of this checkout beside that of an earlier commit."""

    before: str = "d409813"
    """The commit before files began to move."""

    write: Path | None = None
    """Markdown file whose section ``counts`` is replaced."""

    def run(self) -> None:
        old, new = count(at_commit(self.before)), count(at_hand())
        rows = [{"what": what, "before": old[what], "now": new[what]} for what in old]
        table = markdown(rows, COLUMNS)
        print(table)
        if self.write is not None:
            put_section(self.write, "counts", f"{table}\n\n{stamp()}")


def at_hand() -> Sources:
    root = Path(__file__).parents[1] / "src" / "neurok"
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.py"))}


def at_commit(commit: str) -> Sources:
    """The package as git holds it."""
    packed = subprocess.run(
        ["git", "archive", commit, "src/neurok"], cwd=Path(__file__).parent.parent, check=True, capture_output=True
    ).stdout
    out = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".py") else None
            if file is not None:
                out[member.name.removeprefix("src/neurok/")] = file.read().decode()
    return out


def count(sources: Sources) -> dict[str, int]:
    trees = {path: ast.parse(text) for path, text in sources.items()}
    middle = [tree for path, tree in trees.items() if path.startswith(tuple(f"{room}/" for room in MIDDLE))]
    return {
        "bare constants in the middle packages": sum(1 for tree in middle for _ in bare_constants(tree)),
        "bare constants in all packages": sum(1 for tree in trees.values() for _ in bare_constants(tree)),
        "files that decide bodies": sum(path in sources for path in BODIES),
        "files that decide what touches": sum(path in sources for path in CONTACTS),
        "questions about the class or members of a space": sum(
            1 for tree in trees.values() for _ in space_questions(tree)
        ),
        "files": len(sources),
        "lines of the middle packages": sum(
            text.count("\n") for path, text in sources.items() if path.split("/")[0] in MIDDLE
        ),
        "lines": sum(text.count("\n") for text in sources.values()),
    }


def bare_constants(tree: ast.Module) -> Iterator[ast.stmt]:
    """Numbers with a name in capitals, at the top of a file."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        value = getattr(node, "value", None)
        value = value.operand if isinstance(value, ast.UnaryOp) else value
        number = value.value if isinstance(value, ast.Constant) else None
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if names and names[0].lstrip("_").isupper() and is_number:
            yield node


def space_questions(tree: ast.Module) -> Iterator[ast.Call]:
    """``isinstance(x, SomeSpace)``, and ``getattr`` or ``hasattr`` of something called a space."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or len(node.args) < 2:
            continue
        about, asked = ast.unparse(node.args[0]), ast.unparse(node.args[1])
        is_class = node.func.id == "isinstance" and "Space" in asked.replace("HalfSpace", "")  # that is a floor
        is_member = node.func.id in ("getattr", "hasattr") and about.split(".")[-1].endswith("space")
        if is_class or is_member:
            yield node


if __name__ == "__main__":
    tyro.cli(Counts).run()
