"""Imports point one way: each layer sees only the layers before it, and never its siblings."""

import ast
from pathlib import Path

import neurok

LAYERS = [
    {"errors"},
    {"geometry"},
    {"core"},
    {"modelling"},
    {"samples"},
    {"io", "nn", "rendering", "doctor"},
    {"families"},
    {"data"},
    {"bodyplan"},
    {"deformation", "articulation", "generation"},
    {"hub"},
    {"kinematics"},
    {"inference"},
    {"posing"},
    {"dynamics"},
    {"scene"},
    {"train"},
    {"evaluation"},
    {"cli", "studio"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
ROOT = Path(neurok.__file__).parent


def imported_rooms(path: Path) -> set[str]:
    """The rooms of the package that a file imports, in any form of import, type-checking ones excluded."""
    tree = ast.parse(path.read_text())
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    rooms = set()
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the direction"
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("neurok.")}
    return {room for room in rooms if room in RANK}


def violations(room: str, path: Path) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} imports {other}"
        for other in imported_rooms(path)
        if other != room and RANK[other] >= RANK[room]
    ]


def test_every_room_has_a_place_in_the_order():
    rooms = {p.stem for p in ROOT.iterdir() if (p.is_dir() and list(p.glob("*.py"))) or p.suffix == ".py"}
    assert rooms - {"__init__", "__main__", "__pycache__"} <= set(RANK)


def test_imports_point_one_way():
    found = []
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if room in RANK:
            found += violations(room, path)
    assert not found


def test_a_planted_violation_is_caught(tmp_path):
    for line in ("import neurok.cli", "from neurok import dynamics", "from neurok.io.formats import load"):
        planted = tmp_path / "planted.py"
        planted.write_text(line)
        assert [r for r in imported_rooms(planted) if RANK[r] >= RANK["core"]]
