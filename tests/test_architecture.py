"""Imports point one way: each layer sees only those before it, never its siblings; the house never sees the lab.

An import inside a function counts; one for a type checker alone does not.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import neurok
import neurok_lab

LAYERS = [
    {"errors", "sandbox"},
    {"geometry", "staging"},
    {"core"},
    {"doctor", "modelling", "rendering"},
    {"catalogue"},
    {"io"},
    {"bodyplan"},
    {"learned"},
    {"kinematics"},
    {"hub"},
    {"inference"},
    {"model"},
    {"verbs"},
    {"posing", "dynamics", "generation"},
    {"scene"},
    {"folders", "readiness"},
    {"studio"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
ROOT, LAB = Path(neurok.__file__).parent, Path(neurok_lab.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

MOST_FILES, MOST_LINES, MOST_LAB_LINES = 322, 74_500, 22_380
LONGEST_FILE = 700


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def lines_in(root: Path) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in root.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Modules that a file imports when it runs."""
    for_checkers = {
        id(inner)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    out = set()
    for node in ast.walk(tree(path)):
        if id(node) in for_checkers:
            continue
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            out |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return out


def room(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "neurok" and len(parts) > 1 and parts[1] in RANK else None


def test_every_module_lies_in_a_layer():
    rooms = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in FILES} - {"__init__"}
    assert rooms == set(RANK)


@pytest.mark.parametrize("name", sorted(RANK))
def test_imports_point_to_earlier_layers(name):
    own = ROOT / name
    files = sorted(own.rglob("*.py")) if own.is_dir() else [own.with_suffix(".py")]
    wrong = [
        (path.name, module)
        for path in files
        for module in imported(path)
        if (other := room(module)) is not None and other != name and RANK[other] >= RANK[name]
    ]
    assert not wrong


def test_the_house_never_imports_the_lab():
    wrong = [(path.name, name) for path in FILES for name in imported(path) if name.split(".")[0] == "neurok_lab"]
    assert not wrong


def test_modules_inside_a_room_do_not_import_each_other_in_circles():
    graph = {}
    for path in FILES:
        parts = ("neurok", *path.relative_to(ROOT).with_suffix("").parts)
        graph[".".join(parts).removesuffix(".__init__")] = imported(path)
    graph = {name: {other for other in seen if other in graph and other != name} for name, seen in graph.items()}
    graph = {name: {other for other in seen if not name.startswith(f"{other}.")} for name, seen in graph.items()}
    while free := [name for name, seen in graph.items() if not seen & graph.keys()]:
        for name in free:
            del graph[name]
    assert set(graph) <= {"neurok"}, f"these modules form a circle: {sorted(graph)}"


def test_the_house_and_the_lab_keep_to_their_size():
    assert len(FILES) <= MOST_FILES
    assert lines_in(ROOT) <= MOST_LINES
    assert lines_in(LAB) <= MOST_LAB_LINES
    long = [path.name for path in FILES if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST_FILE]
    assert not long


def test_identifiers_carry_no_names_of_papers():
    names = re.compile(r"\b(class|def)\s+\w*(geopard|sophy)\w*", re.IGNORECASE)
    assert not [path.name for path in FILES if names.search(path.read_text(encoding="utf-8"))]
