"""Many sampled parts and objects as arrays, in files that training reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from neurok.errors import NeurokError
from neurok.families.household.parts import Assembly, Part, placed
from neurok.generation.part_points import sample_part
from neurok.generation.vecset_points import sample_object
from neurok.geometry import lie
from neurok.modelling.booleans import from_manifold
from neurok.modelling.forms import CODE
from neurok.modelling.shapes import Shape

Rows = dict[str, np.ndarray]

IMPLICIT_SHARE = 0.3
"""Share of parts that are also shown as what a mesh without a form may be: turned, repeated, or joined with a
neighbour. Chosen so that one part in four is implicit."""

COPIES = 12
"""More copies than this are not joined into one."""


def rows_of(assembly: Assembly, rng: np.random.Generator, variants: bool = True) -> tuple[Rows, Rows]:
    """Samples of the parts of an object, and of the whole of it."""
    parts = list(assembly.parts)
    if variants:
        parts += [other for part in assembly.parts if (other := variant(assembly, part, rng)) is not None]
    return stack([sample_part(part, rng).arrays() for part in parts]), stack([sample_object(assembly, rng).arrays()])


def variant(assembly: Assembly, part: Part, rng: np.random.Generator) -> Part | None:
    """A part as a plain mesh in the axes of the object or in any others; nothing for most parts."""
    if rng.random() > IMPLICIT_SHARE:
        return None
    how = rng.random()
    if how < 0.4:
        turn = lie.axis_angle_matrix(_direction(rng), rng.uniform(0.0, np.pi))
        return as_implicit(part, placed(part.solid, lie.compose(turn, np.zeros(3))))
    solids = list(part.solids[:COPIES])
    if how > 0.7 and part.parent >= 0:
        solids += list(assembly.parts[part.parent].solids[:COPIES])
    whole = solids[0]
    for other in solids[1:]:
        whole = whole + other
    return as_implicit(part, from_manifold(whole))


def as_implicit(part: Part, shape: Shape) -> Part:
    """A part of the same stuff whose solid is given in the axes of the object."""
    low, high = shape.bounds
    return replace(
        part, kind="implicit", code=np.zeros(CODE), size=high - low, centre=(low + high) / 2, turn=np.eye(3),
        hollow=None, relief="smooth", mesh=Shape(shape.vertices - (low + high) / 2, shape.faces),
    )  # fmt: skip


def _direction(rng: np.random.Generator) -> np.ndarray:
    vector = rng.normal(size=3)
    return np.asarray(vector / np.linalg.norm(vector))


def stack(rows: Sequence[Mapping[str, npt.NDArray[np.float32]]]) -> Rows:
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def joined(some: Iterable[Rows]) -> Rows:
    rows = list(some)
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def write_set(path: Path, parts: Rows, objects: Rows) -> None:
    """One file; places and colours in half precision."""
    packed = {
        f"{prefix}.{name}": value.astype(np.float16) if value.ndim > 2 or name == "distances" else value
        for prefix, rows in (("part", parts), ("object", objects))
        for name, value in rows.items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, allow_pickle=False, **packed)  # type: ignore[arg-type]
    partial.replace(path)


def read_sets(folder: Path, pattern: str = "*.npz") -> tuple[Rows, Rows]:
    """All parts and all objects of the files in a folder."""
    files = [file for file in sorted(folder.glob(pattern)) if ".partial" not in file.name]
    if not files:
        raise NeurokError(f"There are no samples in '{folder}'; 'neurok train parts {folder}' makes them.")
    found: dict[str, list[Rows]] = {"part": [], "object": []}
    for file in files:
        with np.load(file, allow_pickle=False) as data:
            for prefix, some in found.items():
                names = [name for name in data.files if name.startswith(prefix)]
                some.append({name.split(".")[1]: data[name].astype(np.float32) for name in names})
    return joined(found["part"]), joined(found["object"])
