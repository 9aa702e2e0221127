"""PartNet-Mobility folders: ``mobility_v2.json`` (joints), ``result.json`` (parts) and ``textured_objs`` (meshes).

``mobility.urdf`` in the same folder is not read: for some objects it lacks joints that the JSON files have.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Articulation, Asset, Joint
from neurok.errors import FormatError, MeshError, NeurokError
from neurok.io.archive import LICENSE
from neurok.io.files import read_bytes, resolve_inside, unique_names
from neurok.io.pieces import PlacedMesh, assemble

MOBILITY, TREE, MESHES = "mobility_v2.json", "result.json", "textured_objs"
MAX_JSON_BYTES = 64 * 1024**2
RIGID = {"fixed", "static", "heavy", "free"}


def read(folder: Path) -> Asset:
    """The object in a PartNet-Mobility folder, joints at zero."""
    if not (folder / MOBILITY).is_file():
        raise NeurokError(
            f"'{folder}' is a folder without {MOBILITY}; give a file, or a folder of the PartNet-Mobility data set."
        )
    notes: list[str] = []
    try:
        links = [link for link in _json(folder / MOBILITY) if link["joint"] != "junk"]
        nodes = {node["id"]: node for root in _json(folder / TREE) for node in _walk(root)}
        index = {link["id"]: i for i, link in enumerate(links)}
        joints = tuple(_joint(link, index, notes) for link in links)
        pieces = _pieces(folder, links, nodes, notes)
        names = unique_names(str(link["name"]) for link in links)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        raise FormatError(
            f"'{folder}' is not a PartNet-Mobility object: {MOBILITY} or {TREE} is not as expected ({error!r})."
        ) from error
    mesh = assemble(pieces, names, f"'{folder}'", up="y", name=folder.name)
    articulation = Articulation(mesh, joints, name=folder.name)
    return Asset(mesh, articulation=articulation, provenance=_provenance(folder), notes=tuple(notes))


def _json(path: Path) -> Any:
    try:
        return json.loads(read_bytes(path, MAX_JSON_BYTES))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"'{path}' is not valid JSON: {error}.") from error


def _walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(reversed(here.get("children") or []))


def _joint(link: dict[str, Any], index: dict[int, int], notes: list[str]) -> Joint:
    """Hinges in degrees, limits in either order, a parent that was junk is no parent."""
    kind, name = link["joint"], str(link["name"])
    parent = index.get(link["parent"], -1)
    if kind in RIGID:
        return Joint("fixed", parent, name=name)
    axis = (link.get("jointData") or {}).get("axis") or {}
    direction, origin = axis.get("direction"), axis.get("origin")
    try:
        turned = np.array(direction, dtype=np.float64)
        usable = np.isfinite(turned).all() and np.linalg.norm(turned) > 0 and np.isfinite(np.array(origin, float)).all()
    except (TypeError, ValueError):
        usable = False
    if not usable:
        notes.append(f"The joint of '{name}' has no usable axis; the part is fixed.")
        return Joint("fixed", parent, name=name)
    limit = link["jointData"].get("limit") or {"noLimit": True}
    placed: dict[str, Any] = {"parent": parent, "axis": direction, "origin": origin, "name": name}
    if kind == "hinge":
        if limit.get("noLimit"):
            return Joint("continuous", **placed)
        low, high = sorted((math.radians(limit["a"]), math.radians(limit["b"])))
        return Joint("revolute", lower=low, upper=high, **placed)
    low, high = (-math.inf, math.inf) if limit.get("noLimit") else sorted((float(limit["a"]), float(limit["b"])))
    if kind == "slider":
        return Joint("prismatic", lower=low, upper=high, **placed)
    if kind == "slider+":
        reach = limit.get("rotationLimit")
        turn = math.inf if limit.get("noRotationLimit") or not reach else math.radians(abs(float(reach)))
        return Joint("cylindrical", lower=-turn, upper=turn, slide_lower=low, slide_upper=high, **placed)
    notes.append(f"The joint of '{name}' is of the unknown kind '{kind}'; the part is fixed.")
    return Joint("fixed", parent, name=name)


def _pieces(
    folder: Path, links: list[dict[str, Any]], nodes: dict[int, dict[str, Any]], notes: list[str]
) -> list[PlacedMesh]:
    """The meshes of every link: those its nodes of the tree name, each once."""
    from neurok.io import obj

    pieces, seen = [], set()
    for i, link in enumerate(links):
        for part in link["parts"]:
            names = [name for node in _walk(nodes.get(part["id"], {})) for name in node.get("objs") or []]
            for name in names:
                if name in seen:
                    continue
                seen.add(name)
                path = resolve_inside(folder, f"{MESHES}/{name}.obj")
                if not path.is_file():
                    notes.append(f"'{MESHES}/{name}.obj' is missing; part '{link['name']}' goes without it.")
                    continue
                try:
                    pieces.append(PlacedMesh(i, obj.read(path, root=folder).mesh, np.eye(4)))
                except MeshError as error:
                    notes.append(f"'{MESHES}/{name}.obj' was left out: {error}")
    return pieces


def _provenance(folder: Path) -> dict[str, str]:
    provenance = {"source": f"PartNet-Mobility {folder.name}", "license": LICENSE}
    if (folder / "meta.json").is_file():
        meta = _json(folder / "meta.json")
        if isinstance(meta, dict) and meta.get("model_cat"):
            provenance["category"] = str(meta["model_cat"])
    return provenance
