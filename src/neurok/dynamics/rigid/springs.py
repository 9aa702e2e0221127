"""Pins, drags and grabs in MuJoCo: damped springs that are solved at the end of a step, however stiff they are.

Many springs of one stiffness on a rigid node act like four on the corners of a tetrahedron that has the same second
moments: the energy Σ ½ k |T p - y|² depends on nothing else while the places y are a rigid image of the points p.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.reduced.loads import Hold
from neurok.dynamics.rigid.model import Scene, node_name
from neurok.geometry import lie

TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.float64)
"""Four points with the mean 0 and the covariance 1."""

MOMENT = 1e-4
"""Half the time over which the speed of a moving place is measured [s]."""


@dataclass(eq=False)
class Springs:
    """One hold as MuJoCo's actuators."""

    hold: Hold
    names: list[str]
    """Of the actuators, three for each site."""

    places: Float[np.ndarray, "s 3"]
    """Where the sites were when they were seized [m]."""

    stiffness: Float[np.ndarray, " s"]
    """Of the springs on each site [N/m]."""

    first: Float[np.ndarray, "3"]
    """Where the first held point was then [mesh units]: how it shall move is how all shall."""

    unit: float
    ids: Int[np.ndarray, " n"]

    def find(self, model: Any) -> None:
        """Look up the actuators in a model that was just compiled, and make them act."""
        self.ids = np.array([model.actuator(name).id for name in self.names])
        strength = np.repeat(self.stiffness, 3)
        model.actuator_gainprm[self.ids, 0], model.actuator_biasprm[self.ids, 1] = strength, -strength

    def pull(self, model: Any, data: Any, time: float, step: float) -> None:
        """Aim at where the places will be at the end of a step."""
        hold = self.hold
        strength = np.repeat(self.stiffness, 3) * (time <= hold.end)
        ratio = hold.damping / hold.stiffness
        model.actuator_gainprm[self.ids, 0], model.actuator_biasprm[self.ids, 1] = strength, -strength
        model.actuator_biasprm[self.ids, 2] = -strength * (ratio + step)
        goal = [hold.targets(time + step + shift)[0] for shift in (-MOMENT, 0.0, MOMENT)]
        ahead = goal[1] - self.first + ratio * (goal[2] - goal[0]) / (2.0 * MOMENT)
        data.ctrl[self.ids] = (self.places + self.unit * ahead).reshape(-1)


def seize(scene: Scene, hold: Hold, index: int, frames: Float[np.ndarray, "N 4 4"], unit: float, name: str) -> Springs:
    """Add sites and actuators of a hold to a model; ``frames`` are where the nodes of the object are [mesh units]."""
    names, places, stiffness = [], [], []
    for node in np.unique(hold.points.nodes):
        points = hold.points.rest[hold.points.nodes == node]
        stand_ins = _stand_ins(points)
        for k, point in enumerate(stand_ins):
            site = f"{name} {index}/{node}/{k}"
            scene.spec.body(node_name(index, int(node))).add_site(name=site, pos=point * unit)
            for axis in range(3):
                _actuator(scene, f"{site}/{axis}", site, axis)
                names.append(f"{site}/{axis}")
            places.append(lie.apply(frames[node], point[None])[0] * unit)
            stiffness.append(hold.stiffness * len(points) / len(stand_ins))
    first = lie.apply(frames[hold.points.nodes[0]], hold.points.rest[:1])[0]
    return Springs(hold, names, np.array(places), np.array(stiffness), first, unit, np.zeros(0, dtype=np.int64))


def let_go(scene: Scene, springs: Springs) -> None:
    """Take the sites and actuators of a hold out of the model."""
    for name in springs.names:
        scene.spec.delete(scene.spec.actuator(name))
    for name in springs.names[::3]:
        scene.spec.delete(scene.spec.site(name.rsplit("/", 1)[0]))


def _stand_ins(points: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "m 3"]:
    """One point, or four of the same mean and covariance."""
    if len(points) == 1:
        return points
    middle = points.mean(axis=0)
    values, axes = np.linalg.eigh((points - middle).T @ (points - middle) / len(points))
    return middle + (TETRAHEDRON * np.sqrt(np.maximum(values, 0.0))) @ axes.T


def _actuator(scene: Scene, name: str, site: str, axis: int) -> None:
    mujoco = scene.mujoco
    actuator = scene.spec.add_actuator(name=name, target=site, refsite="world")
    actuator.trntype = mujoco.mjtTrn.mjTRN_SITE
    actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    actuator.gear = np.eye(6)[axis]
