"""Real objects whose files name what moves: doors turn and drawers slide. Where their axes lie no name tells."""

from __future__ import annotations

import re
from pathlib import Path

from neurok.core import Joint, Mesh
from neurok.core.articulation import JointKind
from neurok.errors import NeurokError
from neurok_lab.data.still import ENDINGS

MOVING: dict[str, JointKind] = {"door": "revolute", "drawer": "prismatic"}
"""Words in names of parts, and how such parts move."""

SURFACE = re.compile(r"[_|][^_|]*$")
"""End of a name that tells one surface of a part from another."""


def named_files(folder: str | Path) -> tuple[list[Path], list[Path]]:
    """Files of a folder that name something that moves: those to learn from, and every fifth, kept aside."""
    from neurok.io import load

    found = []
    for path in sorted(path for path in Path(folder).rglob("*") if path.suffix in ENDINGS):
        try:
            mesh = load(path).mesh
        except NeurokError:
            continue
        if named_joints(mesh, path.stem) is not None:
            found.append(path)
    if not found:
        raise NeurokError(f"'{folder}' holds no object with parts named as {' or '.join(MOVING)}.")
    return [path for place, path in enumerate(found) if place % 5], found[::5]


def named_joints(mesh: Mesh, name: str) -> tuple[Joint, ...] | None:
    """Joints of an object by the names of its parts, without axes and room to move; nothing where no part is named so.

    Parts that differ in the end of their names only are one body. A part that is called as the object is its base.
    """
    if mesh.part_ids is None:
        return None
    bodies = [SURFACE.sub("", part) for part in mesh.part_names]
    kinds = {body: None if body.lower() == name.lower() else _kind(body) for body in bodies}
    if all(kinds.values()) or not any(kinds.values()):
        return None
    base = next(part for part, body in enumerate(bodies) if kinds[body] is None)
    joints = []
    for part, body in enumerate(bodies):
        kind, first = kinds[body], bodies.index(body)
        if part == base:
            joints.append(Joint("fixed", -1))
        elif kind is None or part != first:
            joints.append(Joint("fixed", base if kind is None else first))
        else:
            joints.append(Joint(kind, base, lower=0.0, upper=0.0))
    return tuple(joints)


def _kind(body: str) -> JointKind | None:
    return next((kind for word, kind in MOVING.items() if word in body.lower()), None)
