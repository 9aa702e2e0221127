"""What is decided of real files, against what a person says of them: matter, mass, what stands still, what moves.

A folder holds a ``truth.csv`` with the columns source, name, matter, mass_min_kg, mass_max_kg, moves and truth (what
moves, in words), and the files as ``source/name.*`` or ``source/name/*``. Nothing here decides: the rows are what
``neurok.understand`` and the scene of ``neurok.simulate`` give for a file that somebody hands over without a word.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Joint
from neurok.errors import NeurokError
from neurok.io.formats import MESHES
from neurok.model import Model, understand
from neurok.scene.description import Scene, SceneObject
from neurok.scene.placing import make_body, mass_of
from neurok_lab.evaluation.tables import Columns, Row, grouped, means, measured, spread

REQUIRED = ("source", "name", "matter", "mass_min_kg", "mass_max_kg", "moves", "truth")
MATTER = {"hard": ("hard",), "soft": ("soft", "thin"), "thin": ("thin",), "mixed": ("mixed",)}
"""What a person says, and the answers that agree with it: what yields may do so as a sheet."""

ALONG = 0.9
"""Cosine from which an axis is along, and whose complement is across, the direction that the words name."""

TURNS = ("revolute", "turn", "continuous", "knob", "wheel", "door", "hinge", "swing")
SLIDES = ("slide", "prismatic", "drawer", "lift", "off")


@dataclass(frozen=True)
class Motion:
    """One way in which an object may move, as words have it."""

    turns: bool
    slides: bool
    upright: bool | None
    """Whether its axis is vertical or lies level; ``None`` where the words do not tell."""

    @staticmethod
    def of(words: str) -> Motion:
        upright = None
        if any(word in words for word in ("vertical", " up")):
            upright = True
        elif any(word in words for word in ("horizontal", "wheel", "front")):
            upright = False
        turns, slides = (any(word in words for word in known) for known in (TURNS, SLIDES))
        return Motion(turns or not slides, slides, upright)

    def is_done_by(self, joint: Joint, up: Float[np.ndarray, "3"]) -> bool:
        """Whether a joint is of this kind and along this direction."""
        slope = abs(float(joint.axis @ up))
        if self.upright is not None and (slope < ALONG if self.upright else slope > np.sqrt(1.0 - ALONG**2)):
            return False
        return self.slides if joint.kind == "prismatic" else self.turns


@dataclass(frozen=True)
class Truth:
    """What a person says of one file."""

    source: str
    name: str
    path: Path
    matter: str
    mass: tuple[float, float]
    moves: bool
    words: str
    half: str

    @property
    def motions(self) -> list[Motion]:
        clauses = self.words.replace("(", ";").replace(")", "").replace(" or ", ";").split(";")
        return [Motion.of(clause) for clause in clauses if clause.strip() not in ("", "none")]

    @property
    def may_be_still(self) -> bool:
        return not self.moves or "none" in self.words


def read_truth(folder: Path) -> list[Truth]:
    """The rows of ``truth.csv``; every second one is kept aside.

    Raises:
        NeurokError: If there is no such file, a column is missing, or a row names no file.
    """
    table = folder / "truth.csv"
    if not table.is_file():
        raise NeurokError(f"'{folder}' holds no truth.csv; it needs the columns {', '.join(REQUIRED)}.")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    missing = [name for name in REQUIRED if not rows or name not in rows[0]]
    if missing:
        raise NeurokError(f"'{table}' lacks {', '.join(missing)}; it needs the columns {', '.join(REQUIRED)}.")
    return [_truth(folder, row, ("tuned on", "kept aside")[number % 2]) for number, row in enumerate(rows)]


def _truth(folder: Path, row: dict[str, str], half: str) -> Truth:
    place = folder / row["source"]
    files = [*place.glob(f"{row['name']}.*"), *(place / row["name"]).glob("*")]
    known = sorted(path for path in files if path.suffix.lower() in (*MESHES, ".fbx", ".dae"))
    if not known:
        raise NeurokError(f"truth.csv names '{row['source']}/{row['name']}', but there is no mesh of that name.")
    mass = (float(row["mass_min_kg"]), float(row["mass_max_kg"]))
    return Truth(
        row["source"], row["name"], known[0], row["matter"], mass, row["moves"] == "1", row["truth"] or "", half
    )


def measure_decisions(truths: Iterable[Truth], store: Path | None = None, tell: Any = None) -> list[Row]:
    """A row for every file."""
    return measured(((f"{one.source}/{one.name}", partial(decide, one)) for one in truths), store, tell)


def decide(truth: Truth) -> Row:
    """What is decided of one file beside what a person says."""
    row: Row = {"source": truth.source, "half": truth.half, "name": truth.name, "message": ""}
    begin = time.process_time()
    try:
        model = understand(truth.path)
        found = _found(truth, model)
    except NeurokError as error:
        found = {"message": str(error), "matter_right": 0.0, "mass_right": 0.0, "still_right": 0.0}
        if truth.moves:
            found["joint_right"] = 0.0
    return row | found | {"seconds": time.process_time() - begin}


def _found(truth: Truth, model: Model) -> Row:
    mass, joints = mass_in_scene(model), written_joints(model)
    up = np.eye(3)["xyz".index(model.mesh.up)]
    right = [joint for joint in joints if any(motion.is_done_by(joint, up) for motion in truth.motions)]
    low, high = truth.mass
    out: Row = {
        "matter": model.matter,
        "matter_true": truth.matter,
        "matter_right": float(model.matter in MATTER[truth.matter]),
        "mass": mass,
        "mass_right": float(low <= mass <= high),
        "joints": [described(joint) for joint in joints],
    }
    if not truth.moves:
        return out | {"still_right": float(not joints)}
    found = bool(right) or (not joints and truth.may_be_still)
    return out | {"joint_right": float(found), "joint_any": float(bool(joints)), "wrong": len(joints) - len(right)}


def mass_in_scene(model: Model) -> float:
    """What it weighs when it is simulated [kg]."""
    return mass_of(make_body(Scene((SceneObject(model),)), 0, model.mesh.name, model))


def written_joints(model: Model) -> list[Joint]:
    """Joints that a file written for it would have."""
    found: Articulation | None = model.exported().articulation
    return [] if found is None else [joint for joint in found.joints if joint.dof]


def described(joint: Joint) -> str:
    axis = ", ".join(f"{part:.2f}" for part in joint.axis)
    return f"{joint.name}: {joint.kind} ({axis}) {joint.lower:.2f} to {joint.upper:.2f}"


COLUMNS: Columns = {
    "group": ("files", "{}"),
    "objects": ("number", "{}"),
    "matter_right": ("matter right", "{:.2f}"),
    "mass_right": ("mass in range", "{:.2f}"),
    "still_right": ("still things still", "{:.2f}"),
    "joint_right": ("moving ones with a right joint", "{:.2f}"),
    "joint_any": ("with any joint", "{:.2f}"),
    "wrong": ("wrong joints each", "{:.2f}"),
    "seconds": ("CPU s each", "{:.1f}"),
}


def summarise_decisions(rows: list[Row]) -> list[Row]:
    """One row for all, for each half and for each source."""
    groups = [("all", rows), *((about["half"], mine) for about, mine in grouped(rows, "half"))]
    groups += [(about["source"], mine) for about, mine in grouped(rows, "source")]
    names = [name for name in COLUMNS if name not in ("group", "objects")]
    return [{"group": name, "objects": len(mine), **means(mine, names)} for name, mine in groups]


def find_truths(folder: Path, limit: int | None = None) -> list[Truth]:
    return spread(read_truth(folder), limit)
