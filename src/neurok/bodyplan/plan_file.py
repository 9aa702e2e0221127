"""Body plans as files: as JSON, written for a person to read and edit, read back with the mesh they belong to, and as a
picture.

A plan names its bodies by the connected pieces they are made of. To merge two bodies, put the pieces of one into the
other's list and delete it; to fix a body, set its joint to null; to change a joint, edit its numbers or take one of the
alternatives. Coordinates are those of the mesh.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.plan import BodyPlan, PlannedBody, connected_pieces, with_bodies
from neurok.core import Mesh
from neurok.core.articulation import JointKind
from neurok.core.mesh import LARGEST
from neurok.errors import FormatError, counted
from neurok.io.files import read_bytes, write_files

VERSION = 1
KEY = "neurok_plan"
MOST_BYTES = 50_000_000

LEGEND = 420
"""Width of the legend [pixels]."""

ROW = 20
"""Height of one of its lines [pixels]."""


def plan_to_dict(plan: BodyPlan) -> dict[str, Any]:
    """The plan in plain numbers and words."""
    mesh, names = plan.mesh, [body.name for body in plan.bodies]
    counts, middles = np.bincount(plan.face_pieces), piece_centers(mesh, plan.face_pieces)
    digits = max(6, 6 - math.floor(math.log10(max(mesh.size, 1e-300))))
    return {
        KEY: VERSION,
        "mesh": mesh.name,
        "up": mesh.up,
        "unit": mesh.unit,
        "bodies_from": plan.origin,
        **({"note": plan.note} if plan.note else {}),
        "bodies": [
            {
                "name": body.name,
                "parent": names[body.parent] if body.parent >= 0 else None,
                "pieces": list(body.pieces),
                "bends": body.bends,
                "probability": round(float(body.probability), 4),
                "joint": None if body.joint is None else _joint_to_dict(body.joint, digits),
                "alternatives": [_joint_to_dict(line, digits) for line in body.hypotheses],
            }
            for body in plan.bodies
        ],
        "contacts": [
            {
                "bodies": [names[pair.first], names[pair.second]],
                "center": _rounded(pair.center, digits),
                "shares": [round(share, 4) for share in pair.shares],
            }
            for pair in plan.contacts.pairs
        ],
        "pieces": [
            {"faces": int(count), "center": _rounded(middle, digits)}
            for count, middle in zip(counts, middles, strict=True)
        ],
        **({"piece_runs": _runs(plan.face_pieces)} if _needs_runs(plan) else {}),
    }


def _needs_runs(plan: BodyPlan) -> bool:
    """Whether the mesh alone does not tell its pieces: labels did, perhaps before a person edited the plan, or a single
    surface was cut."""
    if plan.origin in ("edited", "pieces"):
        return not np.array_equal(plan.face_pieces, connected_pieces(plan.mesh))
    return plan.origin == "labels"


def _runs(pieces: Int[np.ndarray, " F"]) -> list[list[int]]:
    """Pieces of the faces in their order, as pairs of a piece and how many faces in a row belong to it."""
    starts = np.flatnonzero(np.diff(pieces, prepend=-1))
    return np.stack([pieces[starts], np.diff(starts, append=len(pieces))], axis=1).tolist()


def _from_runs(runs: Any, mesh: Mesh) -> Int[np.ndarray, " F"]:
    pairs = runs if isinstance(runs, list) else []
    right = [
        isinstance(pair, list) and len(pair) == 2 and all(_is_index(n, mesh.face_count + 1) for n in pair)
        for pair in pairs
    ]
    if not all(right) or sum(pair[1] for pair in pairs) != mesh.face_count:
        raise FormatError(
            f"'piece_runs' must be pairs of a piece and a number of faces, {mesh.face_count} faces in all, "
            "as this mesh has."
        )
    return np.repeat(*np.array(pairs, dtype=np.int64).T)


def write_plan(plan: BodyPlan, path: Path) -> None:
    """Write a plan to a JSON file."""
    write_files(path, {path.name: (json.dumps(plan_to_dict(plan), indent=1) + "\n").encode()})


def read_plan(path: str | Path, mesh: Mesh) -> BodyPlan:
    """The plan of a file for the mesh it was made of.

    Raises:
        FormatError: Saying what is wrong with it.
    """
    path = Path(path)
    data = read_bytes(path)
    if len(data) > MOST_BYTES:
        raise FormatError(
            f"'{path}' is too large for a plan: {len(data) / 1e6:.0f} MB, at most {MOST_BYTES / 1e6:.0f}."
        )
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"'{path}' is no JSON file: {str(error)[:80]}.") from None
    try:
        return plan_from_dict(said, mesh)
    except FormatError as error:
        raise FormatError(f"The plan '{path}' cannot be used: {error}") from None


def plan_from_dict(said: Any, mesh: Mesh) -> BodyPlan:
    """A plan from plain numbers and words; a person may have changed them."""
    if not isinstance(said, dict) or said.get(KEY) != VERSION:
        raise FormatError(f"it must hold '{KEY}': {VERSION}, as what 'neurok plan MESH --out plan.json' writes.")
    pieces = _pieces_like(said, mesh)
    bodies = said.get("bodies")
    if not isinstance(bodies, list) or not bodies or not all(isinstance(body, dict) for body in bodies):
        raise FormatError("'bodies' must be a list of at least one body.")
    names = [body.get("name") for body in bodies]
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise FormatError("every body needs a name of its own.")
    owners = np.full(int(pieces.max()) + 1, -1)
    for index, body in enumerate(bodies):
        mine = body.get("pieces")
        if not isinstance(mine, list) or not mine or not all(_is_index(p, len(owners)) for p in mine):
            raise FormatError(f"the pieces of '{names[index]}' must be numbers from 0 to {len(owners) - 1}.")
        if (owners[mine] >= 0).any():
            other = names[int(owners[mine].max())]
            raise FormatError(f"'{names[index]}' and '{other}' share a piece; a piece belongs to one body.")
        owners[mine] = index
    if (owners < 0).any():
        raise FormatError(f"piece {int(np.flatnonzero(owners < 0)[0])} belongs to no body; give it to one.")
    parents = [_parent(body, names) for body in bodies]
    _check_tree(parents, names)
    cut = with_bodies(mesh, owners[pieces], tuple(names))
    found = tuple(_body(body, k, parents[k]) for k, body in enumerate(bodies))
    for body in found:
        if body.joint is not None and body.parent < 0:
            raise FormatError(f"'{body.name}' has a joint but no parent; name the body that carries it.")
    return BodyPlan(cut, pieces, found, "edited")


def _body(said: dict[str, Any], index: int, parent: int) -> PlannedBody:
    name, lines, joint = said["name"], said.get("alternatives") or [], None
    if not isinstance(lines, list):
        raise FormatError(f"the alternatives of '{name}' must be a list of joints.")
    bends = said.get("bends", False)
    if not isinstance(bends, bool):
        raise FormatError(f"whether '{name}' bends must be true or false, got {str(bends)[:40]!r}.")
    if said.get("joint") is not None:
        joint = _joint_from_dict(said["joint"], index, parent, name)
    return PlannedBody(
        name,
        tuple(sorted(set(said["pieces"]))),
        parent,
        tuple(_joint_from_dict(line, index, parent, name) for line in lines),
        None if joint is not None and joint.kind == "fixed" else joint,
        bends,
        _probability(said, name),
    )


def _pieces_like(said: dict[str, Any], mesh: Mesh) -> Int[np.ndarray, " F"]:
    """The pieces that the plan counts: parts of the file where it named them, connected pieces otherwise."""
    listed = said.get("pieces")
    if not isinstance(listed, list) or not all(isinstance(piece, dict) for piece in listed):
        raise FormatError("'pieces' must list the pieces that the bodies are made of.")
    counts = [piece.get("faces") for piece in listed]
    known = [connected_pieces(mesh), mesh.face_parts]
    if "piece_runs" in said:
        known = [_from_runs(said["piece_runs"], mesh)]
    fitting = [p for p in known if np.bincount(p).tolist() == counts]
    if fitting:  # parts may be as large as pieces, but in another order: centres tell which were meant
        centers = [piece.get("center") for piece in listed]
        return min(fitting, key=lambda pieces: _misfit(piece_centers(mesh, pieces), centers))
    faces = sum(count for count in counts if isinstance(count, int))
    raise FormatError(
        f"it was made for another mesh: it counts {faces} faces in {len(counts)} pieces, "
        f"this mesh has {mesh.face_count} faces."
    )


def piece_centers(mesh: Mesh, pieces: Int[np.ndarray, " F"]) -> Float[np.ndarray, "P 3"]:
    """Mean of the middles of the faces of each piece."""
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    counts = np.bincount(pieces)
    return np.stack([np.bincount(pieces, middles[:, d]) / np.maximum(counts, 1) for d in range(3)], axis=1)


def _misfit(centers: Float[np.ndarray, "P 3"], said: list[Any]) -> float:
    """How far the centres of pieces lie from those that a plan names; those it does not name fit anywhere."""
    named = [isinstance(one, list) and len(one) == 3 and all(_is_number(v) for v in one) for one in said]
    pairs = [(c, np.array(one, dtype=np.float64)) for c, one, there in zip(centers, said, named, strict=True) if there]
    return max((float(np.abs(mine - theirs).max()) for mine, theirs in pairs), default=0.0)


def _parent(body: dict[str, Any], names: list[Any]) -> int:
    parent = body.get("parent")
    if parent is None:
        return -1
    if parent not in names:
        known = ", ".join(names)[:200]
        raise FormatError(f"'{body['name']}' has the parent '{str(parent)[:80]}', which is no body; known are {known}.")
    return int(names.index(parent))


def _check_tree(parents: list[int], names: list[Any]) -> None:
    for start in range(len(parents)):
        seen, body = set(), start
        while body >= 0:
            if body in seen:
                raise FormatError(f"The parents of '{names[start]}' form a cycle.")
            seen.add(body)
            body = parents[body]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _is_index(value: Any, count: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _joint_to_dict(line: Hypothesis, digits: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "kind": line.kind,
        "axis": _rounded(line.axis),
        "origin": _rounded(line.origin, digits),
        "lower": round(float(line.lower), digits),
        "upper": round(float(line.upper), digits),
        "probability": round(float(line.probability), 4),
        "source": line.source,
    }
    return said | ({"slide": _rounded(line.slide, digits)} if line.kind == "cylindrical" else {})


def _joint_from_dict(said: Any, part: int, parent: int, name: str) -> Hypothesis:
    if not isinstance(said, dict) or said.get("kind") not in get_args(JointKind):
        raise FormatError(f"the kind of the joint of '{name}' must be one of {', '.join(get_args(JointKind))}.")
    axis, origin = (np.array(_numbers(said.get(what), 3, what, name)) for what in ("axis", "origin"))
    if not np.linalg.norm(axis) > 0:
        raise FormatError(f"the axis of the joint of '{name}' must be a direction, not zeros.")
    lower, upper = _range([said.get("lower", 0.0), said.get("upper", 0.0)], "limits", name)
    ends = _range(said.get("slide") or [0.0, 0.0], "slide", name)
    probability = _probability(said, name)
    source = str(said.get("source", "a person"))[:80]
    unit = axis / np.linalg.norm(axis)
    return Hypothesis(part, parent, said["kind"], unit, origin, lower, upper, probability, slide=ends, source=source)


def _range(value: Any, what: str, name: str) -> tuple[float, float]:
    low, high = _numbers(value, 2, what, name)
    if low > high:
        raise FormatError(f"the {what} of the joint of '{name}' must be lower <= upper, got {low:g} and {high:g}.")
    return low, high


def _numbers(value: Any, count: int, what: str, name: str) -> list[float]:
    if not isinstance(value, list | tuple) or len(value) != count:
        raise FormatError(f"the {what} of the joint of '{name}' must be {('two', 'three')[count - 2]} numbers.")
    return [_number(one, what, name) for one in value]


def _probability(said: dict[str, Any], name: str) -> float:
    value = _number(said.get("probability", 1.0), "probability", name)
    if not 0.0 <= value <= 1.0:
        raise FormatError(f"the probability of the joint of '{name}' must lie from 0 to 1, got {value:g}.")
    return value


def _number(value: Any, what: str, name: str) -> float:
    if not _is_number(value):
        raise FormatError(f"the {what} of the joint of '{name}' must be a finite number, got {str(value)[:40]!r}.")
    return float(value)


def _rounded(values: Any, digits: int = 6) -> list[float]:
    return [round(float(value), digits) for value in values]


def draw_plan(plan: BodyPlan, width: int = 960, height: int = 720) -> np.ndarray:
    """The picture as an array of pixels."""
    from PIL import Image, ImageDraw

    from neurok import rendering
    from neurok.rendering.markers import Axis, Ball, joint_markers

    markers: list[Any] = []
    joints = plan.articulation
    likely = {body.name: body.joint.probability for body in plan.bodies if body.joint is not None}
    moving = [name for name, joint in zip(joints.part_names, joints.joints, strict=True) if joint.kind != "fixed"]
    for marker, name in zip(joint_markers(joints), moving, strict=False):
        thickness = 0.006 + 0.012 * min(1.0, likely.get(name, 1.0))
        markers.append(replace(marker, thickness=thickness) if isinstance(marker, Axis) else marker)
    markers += [Ball(pair.center, (0.95, 0.65, 0.15), 0.012) for pair in plan.contacts.pairs]
    picture = rendering.render_mesh(plan.mesh, width, height, colors="parts", markers=markers)
    sheet = Image.new("RGB", (width + LEGEND, height), (255, 255, 255))
    sheet.paste(Image.fromarray(np.asarray(picture)[..., :3]), (0, 0))
    pen = ImageDraw.Draw(sheet)
    lines = _legend(plan)
    room = height // ROW - 1
    if len(lines) > room:
        lines = [*lines[: room - 1], (None, f"and {len(lines) - room + 1} more")]
    for k, (color, text) in enumerate(lines):
        top = ROW // 2 + k * ROW
        if color is not None:
            pen.rectangle([width + 8, top + 3, width + 20, top + 15], fill=color)
        pen.text((width + 28, top), text, fill=(20, 20, 20))
    return np.asarray(sheet)


def _legend(plan: BodyPlan) -> list[tuple[tuple[int, int, int] | None, str]]:
    from neurok.rendering.palette import part_color

    counts = {"body": len(plan.bodies), "joint": len(plan.moving), "contact": len(plan.contacts.pairs)}
    lines: list[tuple[tuple[int, int, int] | None, str]] = [
        (None, ", ".join(counted(number, noun) for noun, number in counts.items()))
    ]
    for k, body in enumerate(plan.bodies):
        said = "base" if body.parent < 0 else f"on {plan.bodies[body.parent].name}: "
        if body.joint is not None:
            said += f"{body.joint.kind}, {body.joint.probability:.2f}"
        elif body.parent >= 0:
            said += "bends" if body.bends else "fixed"
        red, green, blue = (int(255 * value) for value in part_color(k))
        lines.append(((red, green, blue), f"{body.name[:24]} {said}"[:60]))
    return lines


def save_plan_picture(plan: BodyPlan, path: Path) -> None:
    """Write the picture."""
    from neurok import rendering

    rendering.save_image(draw_plan(plan), path)
