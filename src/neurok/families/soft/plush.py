"""Plush animals: blobs sewn together, with button eyes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from neurok.core import Asset, Surface
from neurok.families.soft import loads
from neurok.families.soft.lattice import Field, Solid, blend, ellipsoid, field_solid, limb
from neurok.families.soft.pieces import PLASTIC, Piece, assemble, color
from neurok.families.soft.scene import Scene, ground
from neurok.families.soft.stuffed import presser, punch, solid_flex, stuff
from neurok.geometry import lie
from neurok.modelling.shapes import sphere


def plush(rng: np.random.Generator) -> Asset:
    """A sitting bear, rabbit, cat or octopus, dropped, squeezed, poked or shaken by its head."""
    animal = str(rng.choice(["bear", "rabbit", "cat", "octopus"]))
    size = rng.uniform(0.28, 0.5)
    fields, eyes, head = _octopus(rng, size) if animal == "octopus" else _quadruped(rng, size, animal)
    field = blend(fields, 0.02 * size)
    bounds = size * np.array([[-0.62, -0.02, -0.5], [0.62, 1.45, 0.62]])
    solid = field_solid(field, bounds, 0.135 * size, 0.045 * size)
    # Pressing on long ears folds them through each other, which a coarse lattice cannot follow.
    excitation = str(rng.choice(["drop", "poke", "shake"] + (["squeeze"] if animal != "rabbit" else [])))
    lift = 0.006 - float(solid.nodes[:, 1].min())
    turn = np.eye(4)
    if excitation == "drop":
        turn = lie.rotation_about(loads.heading(rng), np.zeros(3), rng.uniform(-0.5, 0.5))
        lift = -float((solid.nodes @ turn[:3, :3].T)[:, 1].min()) + rng.uniform(0.08, 0.3)
    matrix = lie.translation(np.array([0.0, lift, 0.0])) @ turn
    base, solid = solid, solid.moved(matrix)
    colliders, more = [ground()], dict[str, Any](friction=0.8)
    top = lie.apply(matrix, (head + [0.0, 0.2 * size, 0.0])[None])[0]
    if excitation == "squeeze":
        colliders.append(presser(rng, top, rng.uniform(0.25, 0.35) * size, rng.uniform(0.12, 0.28) * size))
    if excitation == "shake":
        held = np.argsort(np.linalg.norm(solid.nodes - top, axis=1))[:12]
        offset = loads.shake(rng, size * np.array([0.35, 0.12, 0.3]) * rng.uniform(0.4, 1.0, 3), (0.9, 1.8))
        raise_by = rng.uniform(0.1, 0.3) * size
        more |= {
            "driven": held,
            "motion": lambda t: solid.nodes[held] + offset(t) + [0.0, raise_by * loads.smooth_step(t, 0.0, 0.4), 0.0],
        }
    density, firmness = rng.uniform(40.0, 90.0), (25.0, 60.0)
    flex = solid_flex(rng, solid, density, firmness, **more)
    if excitation == "poke":
        flex = replace(flex, force=punch(rng, solid, flex, 2.5))
    frame_count = int(rng.integers(26, 37))
    frames = Scene((flex,), colliders=tuple(colliders)).run(frame_count, substeps=8).nodes[0]
    fur = Surface("fur", color(rng, saturation=(0.25, 0.6)), roughness=1.0)
    light = Surface("light fur", color(rng, (0.05, 0.14), (0.1, 0.3), (0.8, 0.95)), roughness=1.0)
    body = Piece(
        "body",
        solid.vertices,
        solid.faces,
        fur,
        stuff(flex, solid, "plush"),
        solid.ride(frames, 0.0),
        light,
        _light_places(base, size, animal),
    )
    buttons = _buttons(eyes, solid, frames, matrix, size)
    return assemble("plush", [body, *buttons], frame_count, f"{excitation} ({animal})")


def _quadruped(rng: np.random.Generator, size: float, animal: str) -> tuple[list[Field], np.ndarray, np.ndarray]:
    """A sitting animal: its blobs, its eyes and nose, and the middle of its head."""
    s = size
    belly = np.array([0.27, 0.32, 0.24]) * s * rng.uniform(0.9, 1.1, 3)
    head_size = s * rng.uniform(0.22, 0.28)
    head = np.array([0.0, 0.3 * s + belly[1] + 0.6 * head_size, 0.04 * s])
    fields = [
        ellipsoid((0.0, 0.32 * s, 0.0), belly),
        ellipsoid(head, head_size * np.array([1.08, 0.95, 0.95])),
        ellipsoid(head + [0.0, -0.2 * head_size, 0.8 * head_size], head_size * np.array([0.45, 0.36, 0.4])),
    ]
    for side in (-1.0, 1.0):
        across = np.array([side, 1.0, 1.0])
        shoulder = np.array([0.2, 0.48, 0.05]) * s * across
        hand = np.array([0.42, rng.uniform(0.22, 0.45), rng.uniform(0.1, 0.25)]) * s * across
        hip, foot = np.array([0.16, 0.14, 0.1]) * s * across, np.array([0.3, 0.1, 0.45]) * s * across
        fields += [limb(shoulder, hand, 0.095 * s, 0.105 * s), limb(hip, foot, 0.12 * s, 0.1 * s)]
        fields += _ear(rng, animal, head, head_size, side)
    if animal == "cat":
        fields.append(limb(np.array([0.0, 0.15, -0.2]) * s, np.array([0.15, 0.4, -0.42]) * s, 0.07 * s, 0.06 * s))
    else:
        fields.append(ellipsoid(np.array([0.0, 0.15, -0.25]) * s, np.array([0.09, 0.09, 0.09]) * s))
    eye = np.array([0.38, 0.2, 0.86]) * head_size
    marks = head + np.array([eye * [-1, 1, 1], eye, [0.0, -0.08 * head_size, 1.2 * head_size]])
    return fields, marks, head


def _ear(rng: np.random.Generator, animal: str, head: np.ndarray, size: float, side: float) -> list[Field]:
    across = np.array([side, 1.0, 1.0])
    root = head + size * np.array([0.55, 0.7, 0.0]) * across
    if animal == "rabbit":
        tip = root + size * np.array([0.3, 1.1, -0.1]) * across
        return [limb(root - size * np.array([0.15, 0.1, 0.0]) * across, tip, 0.3 * size, 0.28 * size)]
    if animal == "cat":
        return [
            limb(
                root - size * np.array([0.0, 0.2, 0.0]),
                root + size * np.array([0.12, 0.42, 0.0]) * across,
                0.34 * size,
                0.14 * size,
            )
        ]
    return [ellipsoid(root + size * np.array([0.12, 0.1, 0.0]) * across, size * np.array([0.4, 0.4, 0.24]))]


def _octopus(rng: np.random.Generator, size: float) -> tuple[list[Field], np.ndarray, np.ndarray]:
    """A round head on arms that lie around it."""
    s = size
    head = np.array([0.0, 0.45 * s, 0.0])
    fields = [ellipsoid(head, s * np.array([0.34, 0.36, 0.32]) * rng.uniform(0.9, 1.1, 3))]
    count = int(rng.integers(5, 8))
    phase = rng.uniform(0, 2 * np.pi)
    for k in range(count):
        angle = phase + 2 * np.pi * k / count
        out = np.array([np.cos(angle), 0.0, np.sin(angle)]) * s
        fields.append(limb(0.2 * out + [0, 0.2 * s, 0], 0.4 * out + [0, 0.09 * s, 0], 0.1 * s))
        fields.append(limb(0.4 * out + [0, 0.09 * s, 0], 0.52 * out + [0, 0.1 * s, 0], 0.1 * s, 0.075 * s))
    eye = np.array([0.13, 0.1, 0.29]) * s
    return fields, head + np.array([eye * [-1, 1, 1], eye]), head


def _light_places(solid: Solid, size: float, animal: str) -> Bool[np.ndarray, " F"]:
    """The faces of belly, snout and soles, which are paler."""
    x, y, z = (solid.vertices[solid.faces].mean(axis=1) / size).T
    if animal == "octopus":
        return np.asarray(y < 0.08)
    belly = (np.hypot(x / 0.17, (y - 0.3) / 0.2) < 1) & (z > 0.1) & (z < 0.27)
    soles = (z > 0.5) & (y < 0.25)
    return np.asarray(belly | soles)


def _buttons(marks: np.ndarray, solid: Solid, frames: np.ndarray, matrix: np.ndarray, size: float) -> list[Piece]:
    """Eyes (and a nose) that sit on the face and move with it."""
    black = Surface("button", (0.01, 0.01, 0.012, 1.0), roughness=0.25)
    places = lie.apply(matrix, marks)
    path = solid.ride(frames)
    pieces = []
    for k, place in enumerate(places):
        near = np.argsort(np.linalg.norm(solid.vertices - place, axis=1))[:16]
        bead = sphere((0.033 if k < 2 else 0.042) * size, 10, 6).move(*solid.vertices[near[0]])
        moved = lie.apply(lie.fit_rigid(solid.vertices[near], path[:, near]), bead.vertices)
        moved[..., 1] = np.maximum(moved[..., 1], 0.0)
        pieces.append(Piece("eyes" if k < 2 else "nose", bead.vertices, bead.faces, black, PLASTIC, moved))
    return pieces
