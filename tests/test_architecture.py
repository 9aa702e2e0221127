"""Imports point one way: each layer sees only the layers before it, and never its siblings.

That holds between the rooms of the package and, inside the rooms where decisions are made, between their files. An
import inside a function counts; one for a type checker alone does not.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import neurok

LAYERS = [
    {"errors"},
    {"staging"},
    {"compiled"},
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
    {"annotation"},
    {"batch"},
    {"train"},
    {"evaluation"},
    {"readiness"},
    {"cli", "studio"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
ROOT = Path(neurok.__file__).parent

INSIDE = {
    "bodyplan": [
        "config hypothesis",
        "boxes",
        "contacts",
        "bodies copies lines sweep tree",
        "clearance limits plan tour trials",
        "drawing editing evidence plan_file",
        "ranking",
        "search",
    ],
    "articulation": [
        "config pivots",
        "features pieces_cut",
        "copies network",
        "ensemble pieces_network search_evidence views",
        "fusion loss pieces_loss scores upright",
        "predict",
        "hypotheses pieces_predict",
    ],
    "generation": [
        "category_words centre_line fields image_encoder lexicon part_points photo ray_overlap silhouettes tiling",
        "counting edit_words form_rings laying_out numbers part_autoencoder sentence_states vecset_points wishes",
        "context face_frame form_fit holding joinery part_loss part_set picture_reader resizing vecset",
        "front_boards front_trim reaching",
        "fronts",
        "attachment",
        "editing part_batches part_list prompt",
        "flow looks_seen part_fit",
        "part_frames writing",
        "part_cutting redrawing",
    ],
    "kinematics": [
        "brick handle_motion reduce strain_limits",
        "space",
        "articulated fit free_base handles lattice linear playing screws skinned",
        "elastic_modes mixed skeleton straining tracks",
        "elastic",
        "__init__",
    ],
    "inference": [
        "generate material_looks material_words prior",
        "materials plan_evidence vary",
        "plan",
        "annotate articulate contact_prior material_drawing points",
        "infer",
        "spaces",
    ],
    "posing": [
        "components proposals registration",
        "constraints judging nonrigid validation",
        "rigidity",
        "refine",
        "pose",
        "freeing",
        "verbs",
    ],
    "dynamics": [
        "colliders condition",
        "body energies",
        "engine masses",
        "elasticity soft",
        "reduced",
        "particles rigid",
        "choice",
        "simulate",
        "__init__",
    ],
    "dynamics/particles": [
        "config pieces rows starting state",
        "grid laws solids stuff threads",
        "compiled energy filling kernels_laws steps",
        "carrying grains kernels_transfer",
        "skin",
        "engine_config kernels_contact kernels_plain kernels_rigid kernels_sheets",
        "machine sizing",
        "binding",
        "cost loads rigid_parts sheets",
        "contact targets",
        "solver",
        "__init__ holds record",
        "run",
        "engine",
    ],
    "dynamics/reduced": [
        "config equations loads threads",
        "features own rigid system",
        "build collocation",
        "bearings bending record reference",
        "shapes",
        "contact",
        "depth impact meetings touches",
        "closed rest search",
        "incremental",
        "engine",
        "__init__",
    ],
    "dynamics/rigid": [
        "config",
        "shapes",
        "model",
        "springs",
        "stepper",
        "engine",
        "__init__",
    ],
    "scene": [
        "description merge picture",
        "actions files placing words",
        "run",
        "loose",
        "output",
    ],
    "annotation": [
        "config page proposers",
        "flags measure pictures records",
        "check edits sheet",
        "worker",
        "verbs",
    ],
    "batch": [
        "store",
        "sheet",
        "run",
    ],
    "train": [
        "articulation_versions config curve deformation_data example_cache generation_data log parts_data "
        "pieces_handles processes",
        "pieces_versions",
        "plan_calibration",
        "articulation_data checkpoint deformation generation household_fitted optimizer parts pieces_data screen "
        "vecset",
        "articulation_batches articulation_calibration articulation_ranking loop origin parts_run pictures "
        "pieces_calibration pieces_sources",
        "articulation generation_ship pieces_batches pieces_ship",
        "pieces",
        "ship",
    ],
    "studio": [
        "colors config corrections gate hand motion processes simulator study",
        "bending forces history playback",
        "live view",
        "page scene",
        "scene_file",
        "exports intake",
        "panels",
        "session",
        "server",
        "command",
    ],
}
"""The files of a room, those that are imported first; an ``__init__`` that only has a docstring is left out."""


def modules() -> set[str]:
    """Every module and package of neurok, by its dotted name."""
    names = (path.relative_to(ROOT.parent).with_suffix("").parts for path in ROOT.rglob("*.py"))
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts) for parts in names}


MODULES = modules()


@cache
def parsed(path: Path, text: str) -> ast.Module:
    """The syntax tree of a file with this text; several tests read the same files."""
    return ast.parse(text, str(path))


def imported_modules(path: Path) -> set[str]:
    """The modules of the package that a file imports, in any form of import, type-checking ones excluded."""
    return _imported_modules(path, path.read_text())


@cache
def _imported_modules(path: Path, text: str) -> set[str]:
    tree = parsed(path, text)
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the direction"
            longer = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= longer & MODULES
            if longer - MODULES:  # a name that the module holds, not a module within it
                found.add(node.module or "")
    return found & MODULES


def imported_rooms(path: Path) -> set[str]:
    """The rooms of the package that a file imports."""
    return {name.split(".")[1] for name in imported_modules(path) if "." in name} & set(RANK)


def violations(room: str, path: Path) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} imports {other}"
        for other in imported_rooms(path)
        if other != room and RANK[other] >= RANK[room]
    ]


def ranks_inside(room: str) -> dict[str, int]:
    return {name: rank for rank, layer in enumerate(INSIDE[room]) for name in layer.split()}


def neighbours(room: str, path: Path) -> set[str]:
    """The files of a room, and the rooms within it, that a file imports."""
    prefix = f"neurok.{room.replace('/', '.')}"
    own = {name for name in imported_modules(path) if name == prefix or name.startswith(prefix + ".")}
    return {name.removeprefix(prefix).split(".")[1] if name != prefix else "__init__" for name in own}


def violations_inside(room: str, name: str, path: Path) -> list[str]:
    ranks = ranks_inside(room)
    last = len(ranks)
    return [
        f"{room}/{name} imports {other}"
        for other in sorted(neighbours(room, path) - {name})
        if ranks.get(other, last) >= ranks.get(name, last)
    ]


def files_of(room: str) -> dict[str, list[Path]]:
    """The files of a room by name; those of a room within it stand under its name."""
    folder, ranks = ROOT / room, ranks_inside(room)
    files = {path.stem: [path] for path in folder.glob("*.py") if path.stem != "__init__" or "__init__" in ranks}
    inner = {path.parent.name: list(path.parent.rglob("*.py")) for path in folder.glob("*/__init__.py")}
    return files | inner


def asks_what_a_space_is(path: Path) -> list[str]:
    """Lines that ask for the class of a space or whether it has a member."""
    found = []
    for node in ast.walk(parsed(path, path.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2):
            continue
        if node.func.id not in ("isinstance", "issubclass", "getattr", "hasattr"):
            continue
        asked, about = ast.unparse(node.args[0]), ast.unparse(node.args[1])
        words = [
            word for word in re.findall(r"\w+", about) if word.endswith("Space") and word != "HalfSpace"
        ]  # that is a solid
        of_class = node.func.id in ("isinstance", "issubclass") and words
        of_member = node.func.id in ("getattr", "hasattr") and re.search(r"(^|[._])(space|poses)$", asked)
        if of_class or of_member:
            found.append(f"{path.name}:{node.lineno} {ast.unparse(node)}")
    return found


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


@pytest.mark.parametrize("room", INSIDE)
def test_every_file_of_a_room_has_one_place_in_it(room):
    places = [name for layer in INSIDE[room] for name in layer.split()]
    assert sorted(places) == sorted(files_of(room))


@pytest.mark.parametrize("room", INSIDE)
def test_imports_inside_a_room_point_one_way(room):
    found = [
        line for name, paths in files_of(room).items() for path in paths for line in violations_inside(room, name, path)
    ]
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "import neurok.bodyplan.search",
        "from neurok.bodyplan import search",
        "from neurok.bodyplan.search import search_joints",
        "def late():\n    from neurok.bodyplan.search import search_joints",
        "from neurok.bodyplan.sweep import Mover",  # a sibling
        "import neurok.bodyplan",  # the room itself, which may import any of its files
    ],
)
def test_a_planted_violation_inside_a_room_is_caught(line, tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text(line)
    assert violations_inside("bodyplan", "bodies", planted)


def test_a_planted_import_that_points_left_is_let_through(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text(
        "from typing import TYPE_CHECKING\nfrom neurok.bodyplan.contacts import ContactGraph\n"
        "if TYPE_CHECKING:\n    from neurok.bodyplan.search import Search\n"
    )
    assert not violations_inside("bodyplan", "bodies", planted)


def test_nobody_outside_kinematics_asks_what_kind_of_space_it_got():
    outside = [path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] != "kinematics"]
    assert not [line for path in outside for line in asks_what_a_space_is(path)]


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(found, ScrewSpace)",
        "isinstance(body.space, (kinematics.LinearSpace, int))",
        "isinstance(found, LinearSpace | MixedSpace)",
        "getattr(space, 'joints', None)",
        "hasattr(body.space, 'screws')",
    ],
)
def test_a_planted_question_about_a_space_is_caught(line, tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text(line)
    assert asks_what_a_space_is(planted)
