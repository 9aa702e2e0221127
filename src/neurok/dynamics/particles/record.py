"""Keeps the frames of a run of particles, and its figures."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core.clip import Rollout, RolloutStatus
from neurok.dynamics.colliders import DistanceField
from neurok.dynamics.particles.binding import BoundScene, Occupant
from neurok.dynamics.particles.solver import Solver

UNSTABLE = "Try a coarser --resolution, a softer material, or see what 'neurok inspect' says about the mesh."
AWAY = "Start it slower, or give it a ground or walls."


class Recorder:
    """Frames, energies and figures of one run."""

    def __init__(self, scene: BoundScene, causes: list[str], keeps_all: bool = True) -> None:
        self.scene, self.causes, self.keeps_all = scene, causes, keeps_all
        self.positions: list[list[np.ndarray]] = [[] for _ in scene.occupants]
        self.energies: list[dict[str, float]] = []
        self.momentum: list[tuple[float, float]] = []
        self.depth, self.stepping, self.frame_count = 0.0, 0.0, 0
        self.status: RolloutStatus = "ok"
        self.message = ""
        self.used = [_shown(occupant) for occupant in scene.occupants]
        self.fields = [
            DistanceField(obstacle.distances, np.array(obstacle.origin), obstacle.spacing)
            for obstacle in scene.surroundings.obstacles
        ]

    def frame(self, solver: Solver) -> None:
        """Keep where everything is now."""
        x, (turns, shifts) = solver.positions, solver.rigid_motions
        for index, occupant in enumerate(self.scene.occupants):
            placed = occupant.carrier.positions(x[occupant.where], turns, shifts)
            drawn = occupant.grains.positions(placed, x[occupant.where])
            self._measure(np.concatenate([placed[self.used[index]], x[occupant.where][occupant.loose]]))
            self.positions[index].append(self._pressed(drawn, occupant) / self.scene.unit)
        found = solver.energies()
        self.energies.append({"kinetic": found.kinetic, "elastic": found.elastic, "gravity": found.gravity})
        linear, angular = solver.momentum()
        self.momentum.append((float(np.linalg.norm(linear)), float(np.linalg.norm(angular))))
        self.frame_count += 1
        if not self.keeps_all:
            del self.energies[:-1], self.momentum[:-1]
            for frames in self.positions:
                del frames[:-1]

    def _pressed(self, points: Float[np.ndarray, "n 3"], occupant: Occupant) -> Float[np.ndarray, "n 3"]:
        """Particles touch, and what is drawn between them could reach a little below: it is pressed flat."""
        bends = np.ones(len(points), dtype=bool)
        bends[: len(occupant.carrier.rigid)] = occupant.carrier.rigid < 0
        for plane in self.scene.surroundings.planes:
            normal = np.array(plane.normal)
            below = np.clip((np.array(plane.point) - points) @ normal, 0.0, self.scene.cell)
            points = points + (below * bends)[:, None] * normal
        return points

    def _measure(self, points: Float[np.ndarray, "n 3"]) -> None:
        """Take note of how deep vertices, or the middles of grains, are in the ground or in obstacles [m].

        Loose stuff flows: what a grain holds flattens as it spreads, so its round picture says nothing.
        """
        for plane in self.scene.surroundings.planes:
            below = (np.array(plane.point) - points) @ np.array(plane.normal)
            self.depth = max(self.depth, float(below.max(initial=0.0)))
        for field in self.fields:
            near = points[field.near(points, 0.0)]
            if len(near):
                self.depth = max(self.depth, float(-field.distance(near)[0].min(initial=0.0)))

    def fail(self, reason: str, advice: str = UNSTABLE) -> None:
        self.status = "diverged"
        self.message = f"The motion diverged after {self.frame_count} good frames: {reason.removesuffix('.')}. {advice}"

    def stop(self) -> None:
        self.status, self.message = "stopped", f"Stopped on request after {self.frame_count} frames."

    def rollouts(self, frame_dt: float, solver: Solver, named: dict[str, Any]) -> tuple[Rollout, ...]:
        """One rollout for each object; energies and report are of the whole scene."""
        names = ("kinetic", "elastic", "gravity")
        energies = {name: np.array([frame[name] for frame in self.energies]) for name in names}
        energies["total"] = np.sum(list(energies.values()), axis=0)
        report = {**named, **self._report(energies["total"], solver)}
        return tuple(
            Rollout(
                rest=occupant.grains.mesh,
                dt=frame_dt,
                positions=np.stack(self.positions[index]),
                status=self.status,
                message=self.message,
                energies=energies,
                report=report,
                grains=len(occupant.grains.chosen),
            )
            for index, occupant in enumerate(self.scene.occupants)
        )

    def _report(self, total: Float[np.ndarray, " T"], solver: Solver) -> dict[str, Any]:
        scene, found = self.scene, solver.energies()
        stepping = max(self.stepping, 1e-9)
        rigid = sum(occupant.rigid_count for occupant in scene.occupants)
        free = int((scene.particles.rigid < 0).sum())
        return {
            "dof": 3 * free + 6 * rigid,
            "particles": len(scene.particles),
            "rigid_parts": rigid,
            "sheet_triangles": 0 if scene.sheets is None else len(scene.sheets.triangles),
            "cells": int(_cells(scene)),
            "cell": scene.cell,
            "dt": solver.time / max(solver.steps, 1),
            "steps": solver.steps,
            "substeps": solver.steps,
            "steps_per_second": solver.steps / stepping,
            "particle_substeps_per_second": solver.steps * len(scene.particles) / stepping,
            "real_time_factor": solver.time / stepping,
            "energy_start": float(total[0]),
            "energy_end": float(total[-1]),
            "energy_drift": None,
            "energy_note": "; ".join(self.causes) or "Materials, contact and the grid take energy; nothing gives any.",
            "work": found.work,
            "dissipated": found.dissipated,
            "momentum_end": self.momentum[-1][0],
            "angular_momentum_end": self.momentum[-1][1],
            "max_penetration": self.depth,
            "lost": len(solver.lost),
            "joints_held": _joints(scene.occupants),
        }


def _shown(occupant: Occupant) -> Int[np.ndarray, " n"]:
    """Vertices of the mesh that faces use, without those of loose stuff, which is measured as it is."""
    used = np.unique(occupant.grains.mesh.faces)
    return used[used < occupant.body.mesh.vertex_count]


def _cells(scene: BoundScene) -> int:
    """Cells that hold particles at the start."""
    place = np.floor(scene.particles.positions / scene.cell).astype(np.int64)
    return len(np.unique(place, axis=0))


def _joints(occupants: tuple[Occupant, ...]) -> str:
    """Whether joints are held, in words."""
    joined = [occupant for occupant in occupants if (one := occupant.body.poses.articulation) is not None and one.dof]
    return "no: this engine moves the parts of objects with joints freely" if joined else "there are none"
