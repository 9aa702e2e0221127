"""Jointed figures: a mannequin, animals on legs, wings and fins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, loft, sphere
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.articulated.hardware import facing, sideways
from neurok_lab.worlds.articulated.kit import X, Y, Z, counterclockwise, pair, turned


def _limb(start: np.ndarray, end: np.ndarray, thick: float, thin: float) -> Shape:
    """A rounded bone that narrows from start to end."""
    length = float(np.linalg.norm(end - start))
    rows = [(0.0, -thick), *profiles.arc(thick, -50, 0, 2)]
    rows += [
        (0.5 * (thick + thin), 0.5 * length),
        *(profiles.arc(thin, 0, 50, 2) + np.array([0.0, length])),
        (0.0, length + thin),
    ]
    bone = lathe([(float(r), float(y)) for r, y in rows], 12)
    along = (end - start) / length
    axis = np.cross((0.0, 1.0, 0.0), along)
    if np.linalg.norm(axis) < 1e-9:
        return bone.move(*start) if along[1] > 0 else bone.turn("x", 180).move(*start)
    return bone.turn(axis, float(np.degrees(np.arccos(np.clip(along[1], -1, 1))))).move(*start)


def _add_chain(
    parent: Link,
    points: list[np.ndarray],
    thick: Sequence[float] | np.ndarray,
    bones: Sequence[tuple[str, float, float]],
    surface: Surface,
    axis: tuple[float, float, float] = (1, 0, 0),
) -> Link:
    """Bones from point to point, each turning about ``axis`` at its start."""
    for k, (name, low, high) in enumerate(bones):
        part = parent.hinge(name, axis, points[k], low, high)
        part.add(_limb(points[k], points[k + 1], thick[k], thick[k + 1]), surface)
        parent = part
    return parent


def mannequin(d: Sampler) -> Builder:
    """A wooden figure that bends at neck, waist, shoulders, elbows, hips and knees."""
    look = d.wood() if d.chance(0.6) else d.paint()
    s = d.between(0.14, 0.2)
    hip_y, build = d.between(0.95, 1.1) * s, d.between(0.85, 1.2)
    hips = Builder("mannequin").part("hips")
    hips.add(sphere(0.13 * s, 16, 10).scale(1.2 * build, 0.8, 0.9).move(0, hip_y, 0), look)
    waist = np.array([0.0, hip_y + 0.08 * s, 0.0])
    chest = hips.hinge("chest", d.pick([(1, 0, 0), (0, 1, 0)]), waist, -0.5, 0.5)
    shoulder_y = waist[1] + 0.48 * s
    body = turned(
        20, [0, 0.1, 0.12, 0.17, 0.1, 0], [-0.02 * s, 0.0, 0.15 * s, 0.38 * s, 0.5 * s, 0.52 * s], ellipse=0.65, scale=s
    )
    chest.add(body.scale(build, 1.0, build).move(*waist), look)
    neck = np.array([0.0, shoulder_y + 0.03 * s, 0.0])
    head = chest.hinge("head", d.pick([(0, 1, 0), (1, 0, 0)]), neck, -0.6, 0.6)
    skull = sphere(0.12 * s, 18, 12).scale(0.8, 1.1, 0.9).move(*(neck + (0, 0.18 * s, 0)))
    head.add([cylinder(0.04 * s, 0.1 * s, 12).move(*(neck + (0, 0.03 * s, 0))), skull], look)
    spread = d.between(0.0, 0.5)
    for x in (-1, 1):
        shoulder = np.array([x * 0.2 * s * build, shoulder_y - 0.05 * s, 0.0])
        down = np.array([x * np.sin(spread), -np.cos(spread), 0.0])
        arm = [shoulder, shoulder + 0.3 * s * down, shoulder + 0.58 * s * down, shoulder + 0.7 * s * down]
        chest.add(sphere(0.065 * s, 12, 8).move(*(shoulder - (x * 0.03 * s, 0, 0))), look)
        bones = [("upper_arm", -2.4, 0.9), ("forearm", -2.0, 0.0), ("hand", -0.6, 0.6)]
        _add_chain(chest, arm, s * np.array([0.055, 0.045, 0.035, 0.03]), bones, look)
        hip = np.array([x * 0.09 * s * build, hip_y - 0.02 * s, 0.0])
        knee, ankle = hip + (x * 0.01 * s, -0.46 * hip_y, 0), np.array([hip[0] + x * 0.015 * s, 0.05 * s, 0.0])
        bones = [("thigh", -1.4, 0.7), ("shin", 0.0, 2.0)]
        shin = _add_chain(hips, [hip, knee, ankle], s * np.array([0.075, 0.055, 0.04]), bones, look)
        foot = shin.hinge("foot", X, ankle, -0.4, 0.4)
        foot.add(box((0.08 * s, 0.05 * s, 0.2 * s), (ankle[0], 0.025 * s, 0.05 * s), 0.015 * s), look)
    return hips.builder


def quadruped(d: Sampler) -> Builder:
    """A four-legged animal with neck, head and tail."""
    look = surfaces.paint(d.pick(["#8a6444", "#c9a27a", "#55585e", "#d8d2c6", "#a0522d", "#3a3d42"]), 0.9, name="fur")
    length, height = d.between(0.5, 0.9), d.between(0.4, 0.7)
    girth = d.between(0.12, 0.2) * length / 0.7
    body = Builder("quadruped").part("body")
    spine = profiles.smooth_curve(
        [(0, height, -length / 2), (0, height + 0.02, 0), (0, height + d.between(0.0, 0.08), length / 2)], 12
    )
    scales = np.interp(np.linspace(0, 1, 12), [0, 0.12, 0.4, 0.8, 1.0], [0.45, 0.9, 0.85, 1.0, 0.5])
    body.add(tube(spine, girth, 18, scales=scales), look)
    leg_height, thick = height - 0.3 * girth, d.between(0.035, 0.06)
    for z in (-1, 1):
        for x in (-1, 1):
            hip = np.array([x * 0.6 * girth, leg_height, z * 0.38 * length])
            bend = d.between(0.02, 0.06) * -z
            knee = np.array([hip[0], 0.5 * leg_height, hip[2] + bend])
            ankle = np.array([hip[0], 0.02 + thick * 0.5, hip[2]])
            bones = [("upper_leg", -0.55, 0.55), ("lower_leg", -1.0, 0.2) if z > 0 else ("lower_leg", -0.2, 1.0)]
            shin = _add_chain(body, [hip, knee, ankle], thick * np.array([1.3, 0.8, 0.6]), bones, look)
            shin.add(
                sphere(0.75 * thick, 12, 8).scale(1.0, 0.7, 1.25).move(ankle[0], 0.55 * thick, ankle[2] + 0.3 * thick),
                look,
            )
    base = np.array([0.0, height + 0.4 * girth, 0.46 * length])
    rise = d.between(0.15, 0.45)
    crown = base + np.array([0.0, rise, d.between(0.05, 0.2)])
    neck = body.hinge("neck", X, base, -0.2, 0.7)
    neck.add(_limb(base, crown, 0.5 * girth, 0.38 * girth), look)
    head = neck.hinge("head", d.pick([(1, 0, 0), (0, 1, 0)]), crown, -0.6, 0.6)
    snout = crown + np.array([0.0, -0.05, d.between(0.12, 0.22)])
    head.add(_limb(crown, snout, 0.48 * girth, 0.26 * girth), look)
    ear = d.between(0.04, 0.12)
    for x in (-1, 1):
        root, tip = crown + girth * np.array([0.25 * x, 0.3, 0]), crown + (x * 0.4 * girth, 0.3 * girth + ear, -0.01)
        head.add(_limb(root, tip, 0.12 * girth, 0.05 * girth), look)
    dark = surfaces.paint("#1c1c1f", 0.3, name="eye")
    rows = [sphere(0.07 * girth, 8, 6).move(*crown + (x * 0.36 * girth, 0.2 * girth, 0.3 * girth)) for x in (-1, 1)]
    head.add(rows, dark)
    root = np.array([0.0, height + 0.1 * girth, -0.5 * length])
    drop, reach = d.between(-0.15, 0.2), d.between(0.1, 0.25)
    tail_bones = d.count(1, 3)
    points = [root + (0, -drop * k / tail_bones, -reach * k / tail_bones) for k in range(tail_bones + 1)]
    widths = list(np.linspace(0.22 * girth, 0.08 * girth, tail_bones + 1))
    swing = [("tail", -0.7, 0.7)] * tail_bones
    _add_chain(body, points, widths, swing, look, d.pick([(0, 1, 0), (1, 0, 0)]))
    return body.builder


def bird(d: Sampler) -> Builder:
    """A bird with wings in two parts each, a head and a tail."""
    look, second = d.paint(), d.paint()
    length = d.between(0.2, 0.5)
    girth = length * d.between(0.16, 0.24)
    y = d.between(0.25, 0.5) * length + girth
    body = Builder("bird").part("body")
    spine = profiles.smooth_curve(
        [(0, y, -0.5 * length), (0, y - 0.02 * length, 0.0), (0, y + 0.1 * length, 0.45 * length)], 12
    )
    wire = tube(spine, girth, 18, scales=np.interp(np.linspace(0, 1, 12), [0, 0.3, 0.65, 1], [0.25, 0.85, 1.0, 0.5]))
    body.add(wire, look)
    for x in (-1, 1):
        hip = np.array([x * 0.4 * girth, y - 0.6 * girth, 0.0])
        toe = np.array([x * 0.4 * girth, 0.03 * length, 0.05 * length])
        body.add(_limb(hip, toe, 0.08 * girth, 0.06 * girth), surfaces.paint("#d08a3a", 0.6))
        bar = box((0.35 * girth, 0.02 * length, 0.14 * length), (x * 0.4 * girth, 0.012 * length, 0.08 * length))
        body.add(bar, surfaces.paint("#d08a3a", 0.6))
    neck = np.array([0.0, y + 0.12 * length, 0.44 * length])
    head = body.hinge("head", d.pick([(0, 1, 0), (1, 0, 0)]), neck, -0.7, 0.7)
    crown = neck + (0.0, 0.3 * girth, 0.25 * girth)
    beak = _limb(crown + (0, -0.05 * girth, 0.4 * girth), crown + (0, -0.15 * girth, girth), 0.17 * girth, 0.05 * girth)
    head.add([_limb(neck, crown, 0.5 * girth, 0.5 * girth), beak], look)
    rows = [sphere(0.09 * girth, 8, 6).move(*crown + (x * 0.42 * girth, 0.15 * girth, 0.3 * girth)) for x in (-1, 1)]
    head.add(rows, surfaces.paint("#1c1c1f", 0.3, name="eye"))
    span, chord, thick = length * d.between(0.4, 0.7), length * d.between(0.28, 0.4), 0.03 * length
    for x in (-1, 1):
        root = np.array([x * 0.84 * girth, y + 0.25 * girth, 0.1 * length])
        inner = np.array([[0, -0.5], [0, 0.4], [0.5, 0.5], [1, 0.35], [1, -0.45]]) * (span, chord)
        outer = np.array([[0, -0.45], [0, 0.35], [0.5, 0.2], [1, -0.3], [0.5, -0.5]]) * (span, chord)
        limits = (-0.9, 0.7) if x > 0 else (-0.7, 0.9)
        wing = body.hinge("wing", Z, root, *limits)
        wing.add(_wing(inner, x, thick).move(*root), second)
        wing.add(_limb(root, root + (x * span, 0, 0.36 * chord), 0.8 * thick, 0.6 * thick), look)
        tip = root + (x * span, 0, 0)
        hand = wing.hinge("wing_tip", Z, tip, *((-0.6, 0.9) if x < 0 else (-0.9, 0.6)))
        hand.add(_wing(outer, x, 0.8 * thick).move(*tip), second)
        solid = _limb(tip + (0, 0, 0.33 * chord), tip + (x * 0.7 * span, 0, 0.05 * chord), 0.6 * thick, 0.4 * thick)
        hand.add(solid, look)
    rear = np.array([0.0, y, -0.48 * length])
    tail = body.hinge("tail", X, rear, -0.5, 0.4)
    fan = np.array([[-0.06, 0.03], [0.06, 0.03], [0.16, -0.3], [0.0, -0.34], [-0.16, -0.3]]) * length
    flat = facing(fan, 0.02 * length).turn("x", 90)
    tail.add(flat.move(*rear), second)
    return body.builder


def _wing(outline: np.ndarray, side: int, thick: float) -> Shape:
    """A plate in the (x, z) plane, reaching out to one side."""

    flat = outline * (side, 1)
    return extrude(counterclockwise(flat), thick, bevel=0.3 * thick).move(0, -thick / 2, 0)


def fish(d: Sampler) -> Builder:
    """A chain of segments that bends sideways, with fins."""
    builder = Builder("fish")
    length = d.between(0.2, 0.8)
    height, width = length * d.between(0.14, 0.32), length * d.between(0.08, 0.16)
    look, fin = d.paint(), d.paint()
    segments = d.count(3, 6)
    y = height
    cuts = np.linspace(0.5 * length, -0.4 * length, segments + 1)

    def profile(z: float) -> float:
        return float(np.interp(z / length, [-0.45, -0.38, 0.0, 0.25, 0.44, 0.5], [0.16, 0.2, 0.9, 1.0, 0.6, 0.15]))

    part: Link | None = None
    oval = profiles.ellipse(1.0, 1.0, 20)

    for k in range(segments):
        pivot = (0.0, y, cuts[k])
        part = builder.part("head") if part is None else part.hinge("segment", Y, pivot, -0.28, 0.28)
        # Segments run a little into the one before, so that bending opens no gap.
        zs = np.linspace(cuts[k] + (0.12 * length / segments if k else 0.0), cuts[k + 1], 6)
        shrink = [0.9 if k and i == 0 else 1.0 for i in range(6)]
        rows = [
            np.column_stack(
                [s * profile(z) * width / 2 * oval[:, 0], s * profile(z) * height / 2 * oval[:, 1] + y, np.full(20, z)]
            )
            for s, z in zip(shrink, zs, strict=True)
        ]
        part.add(loft(rows), look)
        if k == 0:
            both = pair(sphere(0.05 * height + 0.1 * width, 10, 8).move(0.34 * width, y + 0.12 * height, 0.4 * length))
            part.add(both, surfaces.paint("#1c1c1f", 0.3, name="eye"))
        if k == segments // 2:
            dorsal = np.array([[0.1, 0.3], [-0.12, 0.3], [-0.14, 0.75], [-0.02, 0.8]]) * (length * 0.6, height)
            middle = (cuts[k] + cuts[k + 1]) / 2
            dorsal = counterclockwise(dorsal)
            part.add(sideways(dorsal, 0.12 * width).move(0, y, middle), fin)
    assert part is not None
    joint = (0.0, y, cuts[-1])
    tail = part.hinge("tail_fin", Y, joint, -0.6, 0.6)
    lobe = np.array([[0.06, 0], [0, 0.08], [-0.16, 0.5], [-0.1, 0], [-0.16, -0.5], [0, -0.08]]) * (length, height)
    lobe = counterclockwise(lobe)
    tail.add(sideways(lobe, 0.12 * width).move(*joint), fin)
    for x in (-1, 1):
        root = np.array([x * 0.4 * width, y - 0.2 * height, 0.22 * length])
        holder = builder.parts[int(np.searchsorted(-cuts, -root[2])) - 1]
        paddle = holder.hinge("fin", Z, root, *((-0.6, 0.5) if x > 0 else (-0.5, 0.6)))
        plate = np.array([[-0.02, 0.02], [0.02, -0.05], [0.16, -0.16], [0.14, -0.04]]) * length
        paddle.add(_wing(plate, x, 0.1 * width).move(*root), fin)
    return builder
