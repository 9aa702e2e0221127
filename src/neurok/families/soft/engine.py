"""Runs a scene with MuJoCo and records it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from neurok.errors import require
from neurok.families.soft.mjcf import scene_xml
from neurok.families.soft.scene import DivergedError, Flex, Force, Frames, Scene, node_masses
from neurok.geometry import lie
from neurok.geometry.twists import told_about

MAX_INVERTED = (0.08, 0.02)
"""Share of a solid's tetrahedra that may be inside out for a moment, and at the end."""


def inverted_share(elements: Int[np.ndarray, "M K"], frames: Float[np.ndarray, "T N 3"]) -> Float[np.ndarray, " T"]:
    """Share of tetrahedra that are inside out in each frame; zero for sheets."""
    if elements.shape[1] != 4:
        return np.zeros(len(frames))
    corners = frames[:, elements]
    return np.asarray((np.linalg.det(corners[:, :, 1:] - corners[:, :, :1]) < 0).mean(axis=1))


class Run:
    """One simulation: the compiled model, its state, and which numbers belong to whom."""

    def __init__(self, scene: Scene, fps: float, substeps: int) -> None:
        require("mujoco", "sim")
        import mujoco

        self.mujoco = mujoco
        self.scene, self.fps, self.substeps = scene, fps, substeps
        self.dt = 1.0 / (fps * substeps)
        with self._quiet():
            self.model = mujoco.MjModel.from_xml_string(scene_xml(scene, self.dt))
            self.data = mujoco.MjData(self.model)
            mujoco.mj_forward(self.model, self.data)
        self.masses = [node_masses(flex) for flex in scene.flexes]
        self._find_addresses()

    def _find_addresses(self) -> None:
        model, body = self.model, self.mujoco.mjtObj.mjOBJ_BODY
        find = lambda name: self.mujoco.mj_name2id(model, body, name)  # noqa: E731
        self.node_dofs = [
            np.array([model.body_dofadr[find(f"n{i}_{k}")] for k in range(len(flex.nodes))])[:, None] + np.arange(3)
            for i, flex in enumerate(self.scene.flexes)
        ]
        self.node_qpos = [
            np.array([model.jnt_qposadr[model.body_jntadr[find(f"n{i}_{k}")]] for k in range(len(flex.nodes))])[:, None]
            + np.arange(3)
            for i, flex in enumerate(self.scene.flexes)
        ]
        count = 0 if self.scene.rods is None else len(self.scene.rods.parents)
        self.link_bodies = np.array([find(f"l{k}") for k in range(count)], dtype=np.int64)
        self.base_mocap = model.body_mocapid[find("base")] if count else -1
        self.collider_mocap = [
            model.body_mocapid[find(f"c{i}")] if c.motion is not None else -1
            for i, c in enumerate(self.scene.colliders)
        ]

    def record(self, frame_count: int) -> Frames:
        """Positions at the start and after every ``substeps`` steps.

        Raises:
            DivergedError: If a frame is not finite, or the engine gave up and reset itself.
        """
        nodes: list[list[np.ndarray]] = [[] for _ in self.scene.flexes]
        links: list[np.ndarray] = []
        with self._quiet():
            for frame in range(frame_count):
                for _ in range(self.substeps if frame else 0):
                    self._step()
                for i, flex in enumerate(self.scene.flexes):
                    nodes[i].append(flex.nodes + self.data.qpos[self.node_qpos[i]])
                links.append(self._link_motion())
                # The engine resets a diverged state to the start, which would look like a jump.
                lost = self.data.time < (frame - 0.5) / self.fps
                if lost or not np.isfinite(self.data.qpos).all():
                    raise DivergedError(f"The simulation diverged in frame {frame}; try a smaller step or load.")
        recorded = tuple(np.array(n) for n in nodes)
        for flex, positions in zip(self.scene.flexes, recorded, strict=True):
            inverted = inverted_share(flex.elements, positions)
            if inverted.max() > MAX_INVERTED[0] or inverted[-1] > MAX_INVERTED[1]:
                raise DivergedError("A solid was turned inside out; make it firmer or the load weaker.")
        return Frames(recorded, np.array(links))

    def _step(self) -> None:
        data, after = self.data, self.data.time + self.dt
        for i, flex in enumerate(self.scene.flexes):
            self._drive(i, flex)
            self._push(i, flex)
        for collider, slot in zip(self.scene.colliders, self.collider_mocap, strict=True):
            if collider.motion is not None:
                self._place(slot, collider.motion(after))
        rods = self.scene.rods
        if rods is not None:
            if rods.base is not None:
                self._place(self.base_mocap, rods.base(after))
            if rods.force is not None:
                self._push_links(rods.force)
        self.mujoco.mj_step(self.model, data)

    def _drive(self, i: int, flex: Flex) -> None:
        if not len(flex.driven):
            return
        qpos, dofs = self.node_qpos[i][flex.driven], self.node_dofs[i][flex.driven]
        if flex.motion is None:
            self.data.qpos[qpos] = 0.0
            self.data.qvel[dofs] = 0.0
            return
        now, after = flex.motion(self.data.time), flex.motion(self.data.time + self.dt)
        self.data.qpos[qpos] = now - flex.nodes[flex.driven]
        self.data.qvel[dofs] = (after - now) / self.dt

    def _push(self, i: int, flex: Flex) -> None:
        velocities = self.data.qvel[self.node_dofs[i]]
        force = -flex.drag * self.masses[i][:, None] * velocities
        if flex.force is not None:
            force = force + flex.force(self.data.time, flex.nodes + self.data.qpos[self.node_qpos[i]], velocities)
        force[flex.driven] = 0.0
        self.data.qfrc_applied[self.node_dofs[i]] = force

    def _push_links(self, force: Force) -> None:
        centers = self.data.xipos[self.link_bodies]
        velocities = self.data.cvel[self.link_bodies]
        offsets = centers - self.data.subtree_com[self.model.body_rootid[self.link_bodies]]
        linear = told_about(velocities, offsets)[:, 3:]
        self.data.xfrc_applied[self.link_bodies, :3] = force(self.data.time, centers, linear)

    def _place(self, slot: int, pose: np.ndarray) -> None:
        self.data.mocap_pos[slot] = pose[:3, 3]
        self.data.mocap_quat[slot] = lie.matrix_to_quaternion(pose[:3, :3])

    def _link_motion(self) -> np.ndarray:
        if self.scene.rods is None:
            return np.zeros((0, 4, 4))
        rotation = self.data.xmat[self.link_bodies].reshape(-1, 3, 3)
        offset = self.data.xpos[self.link_bodies] - np.einsum("bij,bj->bi", rotation, self.scene.rods.joints)
        return lie.compose(rotation, offset)

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """Warnings of the engine go nowhere: the checks of the clip judge what came out."""
        self.mujoco.set_mju_user_warning(lambda message: None)
        try:
            yield
        finally:
            self.mujoco.set_mju_user_warning(None)
