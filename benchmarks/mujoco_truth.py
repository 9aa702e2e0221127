"""The same object in MuJoCo: joints, masses and gravity alike; no contact, no limits."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation
from neurok.dynamics import Body
from neurok.dynamics.masses import inertial_of, part_moments


def mjcf(body: Body, articulation: Articulation, gravity: Float[np.ndarray, "3"], dt: float) -> str:
    """A model whose bodies all have the object's frame, so that joints and inertias can be written down as they are."""
    moments = part_moments(body, articulation)
    children: dict[int, list[int]] = {}
    for part, joint in enumerate(articulation.joints):
        children.setdefault(joint.parent, []).append(part)

    def numbers(values: Float[np.ndarray, " n"]) -> str:
        return " ".join(f"{v:.17g}" for v in values)

    def joints(part: int) -> str:
        joint = articulation.joints[part]
        kinds = {"fixed": [], "prismatic": ["slide"], "cylindrical": ["hinge", "slide"]}.get(joint.kind, ["hinge"])
        # MuJoCo applies joints from the first to the last; turn and slide share an axis, so either order will do.
        return "".join(
            f'<joint name={quoteattr(f"{part}/{k}")} type="{kind}" pos="{numbers(joint.origin)}" '
            f'axis="{numbers(joint.axis)}" damping="{joint.damping:.17g}" limited="false"/>'
            for k, kind in enumerate(kinds)
        )

    def element(part: int) -> str:
        inner = "".join(element(child) for child in children.get(part, []))
        mass = inertial_of(moments[part])
        inertial = ""
        if mass.mass > 0:
            i = mass.inertia
            full = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
            inertial = f'<inertial pos="{numbers(mass.center)}" mass="{mass.mass:.17g}" '
            inertial += f'fullinertia="{numbers(np.array(full))}"/>'
        free = "<freejoint/>" if body.free and articulation.joints[part].parent < 0 else ""
        return f'<body name="{part}">{inertial}{free}{joints(part)}{inner}</body>'

    bodies = "".join(element(part) for part in children.get(-1, []))
    return (
        f'<mujoco><compiler angle="radian" inertiafromgeom="false" boundmass="0" boundinertia="0"/>'
        f'<option timestep="{dt}" integrator="RK4" gravity="{numbers(gravity)}">'
        f'<flag contact="disable" limit="disable"/></option><worldbody>{bodies}</worldbody></mujoco>'
    )


class Truth:
    """MuJoCo's answer for one object with fixed base."""

    def __init__(
        self, body: Body, articulation: Articulation, gravity: Float[np.ndarray, "3"], dt: float = 1e-4
    ) -> None:
        import mujoco

        self.mujoco, self.dt, self.articulation = mujoco, dt, articulation
        self.model = mujoco.MjModel.from_xml_string(mjcf(body, articulation, gravity, dt))
        names = [f"{part}/{k}" for part, joint in enumerate(articulation.joints) for k in range(joint.dof)]
        ids = [mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in names]
        self.places = self.model.jnt_qposadr[ids]
        self.rates = self.model.jnt_dofadr[ids]

    def run(
        self, q: Float[np.ndarray, " D"], qdot: Float[np.ndarray, " D"], seconds: float, fps: float
    ) -> Float[np.ndarray, "T D"]:
        """Joint values at the frames."""
        data = self.mujoco.MjData(self.model)
        data.qpos[self.places], data.qvel[self.rates] = q, qdot
        out = [np.array(q, dtype=np.float64)]
        frames = round(seconds * fps)
        done = 0
        for frame in range(1, frames + 1):
            wanted = round(frame / (fps * self.dt))
            # A whole number of steps may miss the frame by a fraction of one; linear steps bridge it below 1e-9.
            for _ in range(wanted - done):
                self.mujoco.mj_step(self.model, data)
            done = wanted
            rest = frame / fps - done * self.dt
            out.append(data.qpos[self.places] + rest * data.qvel[self.rates] + 0.5 * rest**2 * data.qacc[self.rates])
        return np.stack(out)
