"""The plan: bodies in colours, axes with probabilities, and corrections by hand."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, get_args

import numpy as np

from neurok.bodyplan import editing
from neurok.core.articulation import JointKind
from neurok.errors import NeurokError, counted
from neurok.geometry import lie
from neurok.studio.panels import Panel


class PlanPanel(Panel):
    """The tab of the plan."""

    def build(self) -> None:
        gui = self.gui
        self.gizmo: Any = None
        self.marked: Any = None
        self.shows = self.input(gui.add_checkbox("Show bodies and axes", False), self._show)
        self.body = self.input(gui.add_dropdown("Body", ("none",)), self._choose)
        self.facts = gui.add_markdown("Click a body of the object to choose it.")
        with gui.add_folder("Joint"):
            self.kind = self.input(gui.add_dropdown("Kind", get_args(JointKind)), self._kind)
            self.lines = self.input(gui.add_dropdown("Alternatives", ("none",)), self._line)
            self.low = self.input(gui.add_number("Lower", 0.0, step=0.01), lambda _: self._limits())
            self.high = self.input(gui.add_number("Upper", 0.0, step=0.01), lambda _: self._limits())
            self.moves = self.input(gui.add_checkbox("Move the axis", False), lambda _: self._mark())
        with gui.add_folder("Bodies"):
            edits = {"Fix": editing.fixed, "Free": editing.freed, "Split": editing.split}
            self.row("Body", {name: partial(self._edit, name.lower(), edit) for name, edit in edits.items()})
            self.other = gui.add_dropdown("Merge into", ("none",))
            self.button("Merge", self._merge)
        undo, redo = lambda: self._say("Undone", self.scene.undo()), lambda: self._say("Done again", self.scene.redo())
        self.row("Changes", {"Undo": undo, "Redo": redo})

    # The user does something.

    def _show(self, on: bool) -> None:
        self.session.coloring = "bodies" if on else "object"

    def _choose(self, name: str) -> None:
        names = self._names()
        self.session.select(names.index(name) if name in names else None)

    def _chosen(self) -> int:
        body = self.session.selected
        if self.scene.plan is None or body is None or body >= len(self.scene.plan.bodies):
            raise NeurokError("No body is chosen; click one, or take one from the list.")
        return body

    def _edit(self, what: str, change: Any, *values: Any) -> None:
        body = self._chosen()
        name = self.scene.plan.bodies[body].name
        self.scene.edit(f"{what} {name}", lambda plan: change(plan, body, *values))
        if self.session.selected is not None and self.session.selected >= len(self.scene.plan.bodies):
            self.session.selected = None
        self.marked = None
        self._notify_others()

    def _kind(self, kind: str) -> None:
        if self.scene.plan is not None and self.scene.plan.bodies[self._chosen()].joint is None and kind != "fixed":
            self._edit("free", editing.freed)
        self._edit(f"{kind}:", editing.with_kind, kind)

    def _line(self, text: str) -> None:
        if text.split(":")[0].isdecimal():
            self._edit("another joint of", editing.with_hypothesis, int(text.split(":")[0]) - 1)

    def _limits(self) -> None:
        scale = 1.0 if self._is_slide() else math.pi / 180.0
        self._edit("limits of", editing.with_limits, float(self.low.value) * scale, float(self.high.value) * scale)

    def _merge(self) -> None:
        names = self._names()
        if self.other.value not in names:
            raise NeurokError("Choose the body to merge into.")
        self._edit("merge", editing.merged, names.index(self.other.value))

    def _say(self, how: str, what: str) -> None:
        self.marked = None
        self.session.head.tell(f"{how}: {what}")
        self._notify_others()

    def _notify_others(self) -> None:
        for panel in self.session.panels:
            panel.opened()

    # The window follows.

    def _names(self) -> list[str]:
        return [] if self.scene.plan is None else [body.name for body in self.scene.plan.bodies]

    def _is_slide(self) -> bool:
        joint = self.scene.plan.bodies[self._chosen()].joint
        return joint is not None and joint.kind == "prismatic"

    def opened(self) -> None:
        names = self._names()
        for made in (self.body, self.other):
            made.options = tuple(names) or ("none",)
        if self.session.selected is None and self.scene.plan is not None:
            moving = (k for k, body in enumerate(self.scene.plan.bodies) if body.joint is not None)
            self.session.selected = next(moving, None)
        self.marked = None

    def refresh(self) -> None:
        scene, chosen = self.scene, self.session.selected
        plan = scene.plan
        if plan is None or chosen is None or chosen >= len(plan.bodies):
            self.facts.content = _summary(plan)
        else:
            body = plan.bodies[chosen]
            self.body.value = body.name
            self.facts.content = _described(plan, chosen)
            joint = body.joint
            self.kind.value = "fixed" if joint is None else joint.kind
            lines = [
                f"{k}: {line.kind} {line.probability:.2f} ({line.source})" for k, line in enumerate(body.hypotheses, 1)
            ]
            self.lines.options = ("as it is", *lines)
            scale = 1.0 if joint is not None and joint.kind == "prismatic" else 180.0 / math.pi
            self.low.value = 0.0 if joint is None else round(joint.lower * scale, 4)
            self.high.value = 0.0 if joint is None else round(joint.upper * scale, 4)
        self._mark()

    def _mark(self) -> None:
        """Draw axes and the gizmo, if they are not there as they should be."""
        scene, plan = self.scene, self.scene.plan
        chosen = self.session.selected
        key = (plan, chosen, self.shows.value, self.moves.value, self.session.drawn[0])
        if self.marked is not None and all(a is b for a, b in zip(key, self.marked, strict=True)):
            return
        self.marked = key
        view = self.session.view
        view.clear_extras()
        if self.gizmo is not None:
            self.gizmo.remove()
            self.gizmo = None
        if plan is None or view.mesh is None:
            return
        if self.shows.value:
            view.show_joints(plan, scene.q if scene.is_edited or scene.asset.articulation is not None else None, chosen)
        joint = plan.bodies[chosen].joint if chosen is not None and chosen < len(plan.bodies) else None
        if joint is None or not self.moves.value:
            return
        axis = view.turn @ joint.axis
        first, second = lie.across(axis)
        turn = np.stack([axis, first, second], axis=1)
        turn[:, 2] *= np.sign(np.linalg.det(turn))
        self.gizmo = self.session.client.scene.add_transform_controls(
            "/gizmo",
            0.25,
            wxyz=lie.matrix_to_quaternion(turn),
            position=view.shown(joint.origin),
            depth_test=False,
        )
        self.gizmo.on_drag_end(self._led)

    def _led(self, event: Any) -> None:
        view = self.session.view
        axis = view.turn.T @ lie.quaternion_to_matrix(np.asarray(event.target.wxyz, dtype=np.float64))[:, 0]
        origin = view.meant(np.asarray(event.target.position, dtype=np.float64))
        self.session.do(lambda: self._edit("axis of", editing.with_axis, origin, axis))


def _summary(plan: Any) -> str:
    if plan is None:
        return "No plan yet."
    moving = [body for body in plan.bodies if body.joint is not None]
    return f"{counted(len(plan.bodies), 'body')}, {counted(len(moving), 'joint')}. Click a body to choose it."


def _described(plan: Any, index: int) -> str:
    body = plan.bodies[index]
    carrier = "base" if body.parent < 0 else f"on {plan.bodies[body.parent].name}"
    if body.joint is None:
        return (
            f"**{body.name}**: {carrier}, {'bends' if body.bends else 'fixed'}, {counted(len(body.pieces), 'piece')}."
        )
    joint = body.joint
    unit = "mesh units" if joint.kind == "prismatic" else "degrees"
    return (
        f"**{body.name}**: {carrier}, {joint.kind}, probability {joint.probability:.2f}, from {joint.source}, "
        f"{counted(len(body.pieces), 'piece')}. Limits in {unit}."
    )
