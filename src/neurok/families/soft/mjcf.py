"""A scene written in MuJoCo's own language."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neurok.families.soft.scene import GRAVITY, Collider, Flex, Rods, Scene, node_masses
from neurok.geometry import lie


def scene_xml(scene: Scene, dt: float) -> str:
    """The model of a scene: bodies ``n<flex>_<node>``, ``c<collider>``, ``l<link>`` and the rods' ``base``."""
    bodies, flexes, ties = [], [], []
    for i, flex in enumerate(scene.flexes):
        bodies.append(_flex_bodies(i, flex))
        flexes.append(_flex_element(i, flex))
    for i, collider in enumerate(scene.colliders):
        bodies.append(_collider_body(i, collider))
    if scene.rods is not None:
        bodies.append(_rod_bodies(scene.rods))
        for k, (link, point) in enumerate(scene.rods.ties):
            bodies.append(f'<body name="t{k}" pos="{_numbers(point)}"/>')
            anchor = scene.rods.ends[link] - scene.rods.joints[link]
            ties.append(f'<connect body1="l{link}" body2="t{k}" anchor="{_numbers(anchor)}"/>')
    # The discrete integrator is implicit in the elastic forces, so that steps of 4 ms stay stable.
    return (
        f'<mujoco><option timestep="{dt:.9g}" integrator="discrete" solver="CG" iterations="40" '
        f'tolerance="1e-6" gravity="0 {-GRAVITY} 0"/><size memory="64M"/>'
        f"<worldbody>{''.join(bodies)}</worldbody><deformable>{''.join(flexes)}</deformable>"
        f"<equality>{''.join(ties)}</equality></mujoco>"
    )


def _numbers(values: np.ndarray | Sequence[float]) -> str:
    return " ".join(f"{v:.9g}" for v in np.asarray(values, dtype=np.float64).reshape(-1))


def _pose_attributes(pose: np.ndarray) -> str:
    return f'pos="{_numbers(pose[:3, 3])}" quat="{_numbers(lie.matrix_to_quaternion(pose[:3, :3]))}"'


def _flex_bodies(i: int, flex: Flex) -> str:
    masses, driven = node_masses(flex), set(flex.driven.tolist())
    slides = "".join(f'<joint type="slide" axis="{a}"/>' for a in ("1 0 0", "0 1 0", "0 0 1"))
    return "".join(
        f'<body name="n{i}_{k}" pos="{_numbers(p)}"{" gravcomp=" + chr(34) + "1" + chr(34) if k in driven else ""}>'
        f'<inertial pos="0 0 0" mass="{masses[k]:.9g}" diaginertia="1e-6 1e-6 1e-6"/>{slides}</body>'
        for k, p in enumerate(flex.nodes)
    )


def _flex_element(i: int, flex: Flex) -> str:
    dim = flex.elements.shape[1] - 1
    sheet = f'thickness="{flex.thickness:.9g}" elastic2d="both"' if dim == 2 else ""
    return (
        f'<flex name="f{i}" dim="{dim}" radius="{flex.radius:.9g}" '
        f'body="{" ".join(f"n{i}_{k}" for k in range(len(flex.nodes)))}" '
        f'element="{" ".join(map(str, flex.elements.reshape(-1)))}">'
        f'<elasticity young="{flex.young:.9g}" poisson="{flex.poisson:.9g}" damping="{flex.damping:.9g}" {sheet}/>'
        f'<contact selfcollide="{"auto" if flex.self_collide else "none"}" friction="{flex.friction:.9g}" '
        f'solref="0.01 1" solimp="0.95 0.99 0.001"/></flex>'
    )


def _collider_body(i: int, collider: Collider) -> str:
    pose = collider.pose if collider.motion is None else collider.motion(0.0)
    mocap = "" if collider.motion is None else ' mocap="true"'
    return (
        f'<body name="c{i}"{mocap} {_pose_attributes(pose)}><geom type="{collider.kind}" '
        f'size="{_numbers(collider.size)}" friction="{collider.friction:.9g}" contype="1" conaffinity="1"/></body>'
    )


def _rod_bodies(rods: Rods) -> str:
    """Nested bodies: MuJoCo wants children inside their parent."""
    children: dict[int, list[int]] = {}
    for k, parent in enumerate(rods.parents.tolist()):
        children.setdefault(parent, []).append(k)

    def write(k: int) -> str:
        parent = int(rods.parents[k])
        origin = rods.joints[k] - (rods.joints[parent] if parent >= 0 else 0.0)
        along = rods.ends[k] - rods.joints[k]
        length, radius = float(np.linalg.norm(along)), float(rods.radius[k])
        inertia = rods.mass[k] * (radius**2 / 2 + length**2 / 12) + 1e-9
        touch = "1" if rods.collides else "0"
        return (
            f'<body name="l{k}" pos="{_numbers(origin)}" gravcomp="{0 if rods.carries_weight else 1}">'
            f'<inertial pos="{_numbers(along / 2)}" mass="{rods.mass[k]:.9g}" '
            f'diaginertia="{_numbers(np.full(3, inertia))}"/>'
            f'<joint type="ball" stiffness="{rods.stiffness[k]:.9g}" damping="{rods.damping[k]:.9g}"/>'
            f'<geom type="capsule" fromto="{_numbers(np.concatenate([0 * along, along]))}" size="{radius:.9g}" '
            f'contype="{touch}" conaffinity="0" mass="0"/>'
            f"{''.join(write(c) for c in children.get(k, []))}</body>"
        )

    return f'<body name="base" mocap="true">{"".join(write(k) for k in children.get(-1, []))}</body>'
