"""What is done to an exported object in MuJoCo: a ball dropped on it, a copy dropped on it, pushes, servos."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

SECONDS = 2.0
"""Of a drop and of a servo."""

PUSH_SECONDS = 3.0
BALL = 0.03
"""Radius of the ball over the diagonal of the object; half as much where it finds no room."""

COLUMNS = 25
"""Rays across each side of the object, that look for a place to drop the ball."""

REST = 0.05
"""A joint is at rest when it is slower than this share of the push."""

PUSH = 1.0
"""[rad/s]; slides are pushed by half the size of the object in a second."""

REACHED = 0.03
"""How far from its target a servo may stop, as a share of its range."""

SHOWN = np.array([0, 1, 0, 0, 0, 0], dtype=np.uint8)
"""Rays see what is visible, not what collides."""


@dataclass
class Trials:
    """What came of one object."""

    ball: str = "not tried"
    """``inside``, ``on``, or what went wrong."""

    collide: str = "not tried"
    joints: int = 0
    at_rest: int = 0
    servos: int = 0
    reached: int = 0
    calm: bool = True
    """Whether nothing ran away in any trial."""

    faults: list[str] = field(default_factory=list)
    blocked: int = 0
    """Servos that another part of the object stopped."""

    place: list[float] | None = None
    """Where the ball was dropped, ..."""

    radius: float = 0.0
    start: dict[str, float] = field(default_factory=dict)
    """... and with which joint values."""


def run_trials(path: Path, wants_inside: bool) -> Trials:
    """All trials of an MJCF file with servos and a fixed base."""
    out = Trials()
    model = mujoco.MjModel.from_xml_path(str(path))
    box = _box(model)
    _drop_ball(path, model, wants_inside, box, out)
    _drop_copy(path, box, out)
    _push(model, box, out)
    _serve(model, out)
    return out


def _box(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest corner of everything visible at rest."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    points = [_points(model, data, g) for g in range(model.ngeom) if model.geom_group[g] == 1]
    every = np.concatenate(points)
    return every.min(axis=0), every.max(axis=0)


def _points(model: Any, data: Any, geom: int) -> np.ndarray:
    mesh = model.geom_dataid[geom]
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    return model.mesh_vert[first : first + count] @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]


def opened(model: Any) -> np.ndarray:
    """The joints as for filling the object: the longest slide pulled out, lids open; hinges of handles stay."""
    q = np.zeros(model.nq)
    slides = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_SLIDE and model.jnt_limited[j]]
    if slides:
        longest = max(slides, key=lambda j: np.ptp(model.jnt_range[j]))
        q[model.jnt_qposadr[longest]] = 0.9 * max(model.jnt_range[longest], key=abs)
        return q
    for j in range(model.njnt):
        name = model.joint(j).name.lower()
        if model.jnt_limited[j] and ("lid" in name or "door" in name):
            q[model.jnt_qposadr[j]] = max((0.9 * end for end in model.jnt_range[j]), key=lambda v: _reach(model, j, v))
    return q


def _reach(model: Any, joint: int, value: float) -> float:
    """How far beside its carrier a part stands with its joint at a value."""
    data = mujoco.MjData(model)
    data.qpos[model.jnt_qposadr[joint]] = value
    mujoco.mj_forward(model, data)
    body = int(model.jnt_bodyid[joint])
    parent = int(model.body_parentid[body])
    middles = [
        np.concatenate([_points(model, data, g) for g in range(model.ngeom) if _is_seen(model, g, b)]).mean(axis=0)
        for b in (body, parent)
        if any(_is_seen(model, g, b) for g in range(model.ngeom))
    ]
    return float(np.linalg.norm((middles[0] - middles[-1])[:2]))


def _is_seen(model: Any, geom: int, body: int) -> bool:
    return bool(model.geom_group[geom] == 1 and model.geom_bodyid[geom] == body)


def _drop_ball(path: Path, model: Any, wants_inside: bool, box: tuple[np.ndarray, np.ndarray], out: Trials) -> None:
    states = [opened(model), np.zeros(model.nq)] if wants_inside else [np.zeros(model.nq)]
    size = float(np.linalg.norm(box[1] - box[0]))
    for radius in (BALL * size, 0.5 * BALL * size, 0.25 * BALL * size):
        for q in states:
            place = _place(model, q, radius, wants_inside)
            if place is not None:
                out.place, out.radius = place[0].tolist(), radius
                out.start = {model.joint(j).name: float(q[model.jnt_qposadr[j]]) for j in range(model.njnt)}
                out.ball = _dropped(path, q, place, radius, wants_inside, out)
                return
    out.ball = "no room" if wants_inside else "no flat place"


def _place(model: Any, q: np.ndarray, radius: float, inside: bool) -> tuple[np.ndarray, int] | None:
    """Where the surface is seen from above, with room around for the ball: in the deepest hollow, or the flattest."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    points = np.concatenate([_points(model, data, g) for g in range(model.ngeom) if model.geom_group[g] == 1])
    low, high = points.min(axis=0), points.max(axis=0)
    xs, ys = (np.linspace(low[i], high[i], COLUMNS + 2)[1:-1] for i in (0, 1))
    heights, bodies = np.full((COLUMNS, COLUMNS), -np.inf), np.full((COLUMNS, COLUMNS), -1)
    hit = np.zeros(1, dtype=np.int32)
    start = high[2] + radius
    for i, x in enumerate(xs):
        for j, y in enumerate(ys):
            way = mujoco.mj_ray(model, data, np.array([x, y, start]), np.array([0, 0, -1.0]), SHOWN, 1, -1, hit)
            if way >= 0:
                heights[i, j], bodies[i, j] = start - way, model.geom_bodyid[hit[0]]
    best, found = np.inf, None
    tops = {
        b: max(_points(model, data, g)[:, 2].max() for g in range(model.ngeom) if _is_seen(model, g, int(b)))
        for b in np.unique(bodies)
        if b >= 0
    }
    grid = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1)
    middle = 0.5 * (low + high)[:2]
    size = float(np.linalg.norm(high - low))
    for i in range(COLUMNS):
        for j in range(COLUMNS):
            near = np.linalg.norm(grid - grid[i, j], axis=-1) <= 1.3 * radius
            seen = heights[near]
            if not np.isfinite(seen).all():
                continue
            rim = tops[bodies[i, j]]
            if inside and (seen.max() > rim - 2.0 * radius or np.ptp(seen) > 2 * radius):
                continue
            if inside and not _walled(model, data, np.array([*grid[i, j], seen.max() + radius]), int(bodies[i, j])):
                continue
            away = float(np.linalg.norm(grid[i, j] - middle)) / size
            score = seen.max() / size + 0.05 * away if inside else np.ptp(seen) / size + 0.05 * away
            if score < best:
                top = rim if inside else seen.max()
                best, found = score, (np.array([*grid[i, j], top + 2.0 * radius]), int(bodies[i, j]))
    return found


def _walled(model: Any, data: Any, place: np.ndarray, body: int) -> bool:
    """Whether a part is all around a place."""
    hit = np.zeros(1, dtype=np.int32)
    for angle in np.arange(8) * np.pi / 4:
        way = np.array([np.cos(angle), np.sin(angle), 0.0])
        if mujoco.mj_ray(model, data, place, way, SHOWN, 1, -1, hit) < 0 or model.geom_bodyid[hit[0]] != body:
            return False
    return True


def _dropped(path: Path, q: np.ndarray, place: tuple[np.ndarray, int], radius: float, inside: bool, out: Trials) -> str:
    """Let a ball fall, with the joints held by their servos; what became of it."""
    spec = mujoco.MjSpec.from_file(str(path))
    ball = spec.worldbody.add_body(name="the_ball", pos=place[0])
    ball.add_freejoint()
    ball.add_geom(
        type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], density=300.0, condim=6, priority=1,
        friction=[0.8, 0.02, 0.02 * radius], solref=[0.004, 1.0], solimp=[0.95, 0.99, 0.001, 0.5, 2.0],
    )  # fmt: skip
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[: len(q)] = q
    for servo in range(model.nu):
        data.ctrl[servo] = data.qpos[model.jnt_qposadr[model.actuator_trnid[servo, 0]]]
    body, carrier = model.body("the_ball").id, place[1]
    for _ in range(round(SECONDS / model.opt.timestep)):
        mujoco.mj_step(model, data)
    _watch(model, data, "ball", out)
    shown = [g for g in range(model.ngeom) if model.geom_group[g] == 1]
    every = np.concatenate([_points(model, data, g) for g in shown])
    mine = np.concatenate([_points(model, data, g) for g in shown if model.geom_bodyid[g] == carrier])
    middle = data.xpos[body]
    if inside:
        return (
            "inside" if ((mine.min(axis=0) < middle) & (middle < mine.max(axis=0) + [0, 0, radius])).all() else "lost"
        )
    over = ((every.min(axis=0)[:2] - radius < middle[:2]) & (middle[:2] < every.max(axis=0)[:2] + radius)).all()
    return "on" if over and middle[2] > every[:, 2].min() else "lost"


def _drop_copy(path: Path, box: tuple[np.ndarray, np.ndarray], out: Trials) -> None:
    """A free copy of the object falls on the object, which stands fixed: do they meet, and how deep?"""
    size = float(np.linalg.norm(box[1] - box[0]))
    spec = mujoco.MjSpec.from_file(str(path))
    sides = box[1] - box[0]
    above = spec.worldbody.add_frame(pos=[0.1 * sides[0], 0.07 * sides[1], sides[2] + 0.05 * size])
    free = mujoco.MjSpec.from_file(str(path.with_name(path.stem + "_free.xml")))
    spec.attach(free, prefix="copy_", frame=above)
    model = spec.compile()
    data = mujoco.MjData(model)
    copies = np.array([model.body(b).name.startswith("copy_") for b in range(model.nbody)])
    met, deepest = False, 0.0
    for _ in range(round(0.5 * SECONDS / model.opt.timestep)):
        mujoco.mj_step(model, data)
        if data.ncon:
            sides = copies[model.geom_bodyid[data.contact.geom]]
            between = sides[:, 0] != sides[:, 1]
            if between.any():
                met, deepest = True, min(deepest, float(data.contact.dist[between].min()))
    _watch(model, data, "two objects", out)
    out.collide = "meet" if met and deepest > -0.02 * size else f"depth {-deepest / size:.3f}" if met else "miss"


def _push(model: Any, box: tuple[np.ndarray, np.ndarray], out: Trials) -> None:
    """Each joint gets a speed, without servos: is it slow after three seconds?"""
    size = float(np.linalg.norm(box[1] - box[0]))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    for joint in range(model.njnt):
        data = mujoco.MjData(model)
        turns = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        speed = PUSH if turns else 0.5 * size
        low, high = model.jnt_range[joint]
        if model.jnt_limited[joint] and abs(low) > abs(high):
            speed = -speed
        address = int(model.jnt_dofadr[joint])
        data.qvel[address] = speed
        for _ in range(round(PUSH_SECONDS / model.opt.timestep)):
            mujoco.mj_step(model, data)
        _watch(model, data, f"push of {model.joint(joint).name}", out)
        out.joints += 1
        slow = bool(abs(data.qvel[address]) < REST * abs(speed))
        out.at_rest += slow
        if not slow:
            out.faults.append(f"{model.joint(joint).name} still moves at {data.qvel[address]:.3g}")
    model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)


def _serve(model: Any, out: Trials) -> None:
    """Each servo goes to four fifths of its range, the others hold."""
    for servo in range(model.nu):
        data = mujoco.MjData(model)
        joint = int(model.actuator_trnid[servo, 0])
        low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.pi / 2, np.pi / 2)
        target = 0.8 * (high if abs(high) >= abs(low) else low)
        data.ctrl[servo] = target
        for _ in range(round(SECONDS / model.opt.timestep)):
            mujoco.mj_step(model, data)
        name = model.joint(joint).name
        _watch(model, data, f"servo of {name}", out)
        missed = abs(float(data.qpos[model.jnt_qposadr[joint]]) - target)
        out.servos += 1
        if missed <= max(REACHED * (high - low), 1e-4):
            out.reached += 1
            continue
        names = {model.body(int(model.geom_bodyid[g])).name for g in data.contact.geom.reshape(-1)}
        out.blocked += bool(names)
        out.faults.append(f"servo of {name} misses {target:.3g} by {missed:.3g}; touching: {sorted(names)[:3]}")


def _watch(model: Any, data: Any, what: str, out: Trials) -> None:
    if not np.isfinite(data.qpos).all() or any(warning.number for warning in data.warning):
        out.calm = False
        out.faults.append(f"{what}: MuJoCo warns of instability")
