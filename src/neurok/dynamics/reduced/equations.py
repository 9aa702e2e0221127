"""The mechanics of one object: what Lagrange's equations need of a space of poses.

With x = F(q), J = ∂F/∂q and point masses M the kinetic energy is ½ q̇ᵀ JᵀMJ q̇. The integrators work with the
momentum p = JᵀMJ q̇ and its rate ∂T/∂q + forces, where ∂T/∂q = (dJ/dt)ᵀ M J q̇ holds the whole second-order term.
For a free object the first six coordinates move its base away from a ``pose`` that is brought up to date after each
step, so that they stay small and rotations never meet a singularity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

Pose = Float[np.ndarray, "4 4"]


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """An object whose vertices follow F rigid frames by closed forms, as ``compiled.bodies`` takes it.

    Its features are the four rows of each frame: nodes of a tree of joints, or handles that move by the exponentials of
    twists on a base.
    """

    is_tree: bool
    parents: Int[np.ndarray, " F"]
    order: Int[np.ndarray, " F"]
    """Of a tree: frames, parents first."""

    curves: Float[np.ndarray, "F 4 4 4"]
    generators: Float[np.ndarray, "F 4 4"]
    moves: Float[np.ndarray, "F D"]
    """1 where a coordinate moves a frame of a tree."""

    handles: Float[np.ndarray, "F 3"]
    """Where the twists of handles are taken."""

    twists: Float[np.ndarray, "6 F d"]
    masses: Float[np.ndarray, "K K"] | Float[np.ndarray, "F 4 4"]
    weights: Float[np.ndarray, " K"]
    """CᵀM1."""


@runtime_checkable
class Motion(Protocol):
    """A batch of moments: coordinates, rates, and everything that follows from them."""

    q: Float[np.ndarray, "B D"]
    qdot: Float[np.ndarray, "B D"]

    @property
    def momentum(self) -> Float[np.ndarray, "B D"]:
        """p = JᵀMJ q̇."""

    @property
    def kinetic(self) -> Float[np.ndarray, " B"]:
        """½ q̇ᵀ JᵀMJ q̇."""

    @property
    def kinetic_force(self) -> Float[np.ndarray, "B D"]:
        """∂T/∂q at fixed q̇."""

    def mass_matrices(self) -> Float[np.ndarray, "B D D"]:
        """JᵀMJ."""

    def bias(self) -> Float[np.ndarray, "B D"]:
        """The Christoffel term JᵀM D²F[q̇, q̇]."""

    def field_force(self, acceleration: Float[np.ndarray, "3"]) -> Float[np.ndarray, "B D"]:
        """Generalised force of a uniform field such as gravity."""

    def field_energy(self, acceleration: Float[np.ndarray, "3"]) -> Float[np.ndarray, " B"]:
        """Potential of a uniform field."""

    def coast(self, dt: float) -> np.ndarray:
        """Where the features would be after ``dt`` if nothing acted, for one moment; to be passed to ``drawn``."""

    def drawn(
        self, target: np.ndarray, dt: float, acceleration: Float[np.ndarray, "3"]
    ) -> tuple[float, Float[np.ndarray, " D"]]:
        """½ ‖F(q) − target‖² / dt² weighted by mass plus the potential of a uniform field, and the gradient of both;
        for one moment."""


@runtime_checkable
class NodeMotion(Motion, Protocol):
    """A motion of rigid nodes, of mechanics with ``part_nodes``; all of the first moment of the batch."""

    def node_frame(self, node: int) -> Float[np.ndarray, "4 4"]:
        """Where a node is, from rest."""

    def node_twist(self, node: int) -> Float[np.ndarray, "4 4"]:
        """How it moves: velocities of its points (x, 1) in the world."""

    def node_jacobian(self, node: int, x: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3 D"]:
        """How points of the world that are fixed to it follow the coordinates."""


@runtime_checkable
class Points(Protocol):
    """Some vertices of an object, followed through its motion."""

    def positions(self, motion: Motion) -> Float[np.ndarray, "B n 3"]: ...

    def velocities(self, motion: Motion) -> Float[np.ndarray, "B n 3"]: ...

    def pull(self, motion: Motion, forces: Float[np.ndarray, "B n 3"]) -> Float[np.ndarray, "B D"]:
        """Generalised force Jᵀ f."""

    def take(self, chosen: Int[np.ndarray, " m"]) -> Points:
        """Some of the points."""

    def join(self, others: Sequence[Any]) -> Points:
        """These points, then others of the same object."""

    def jacobian(self, motion: Motion) -> Float[np.ndarray, "n 3 D"]:
        """Derivatives of the positions, of the first moment of the batch."""

    @property
    def rows(self) -> Float[np.ndarray, "n K"]:
        """Features of the points, of mechanics in closed form."""


@runtime_checkable
class Mechanics(Protocol):
    """One object, its masses included."""

    @property
    def dim(self) -> int: ...

    @property
    def free(self) -> bool: ...

    @property
    def mass(self) -> float:
        """[kg]."""

    @property
    def carried(self) -> Float[np.ndarray, " D"]:
        """Mass that each coordinate moves [kg]."""

    @property
    def turning(self) -> Float[np.ndarray, "N D"]:
        """1 where a coordinate turns a piece of the object: how fast things spin limits the step."""

    @property
    def center(self) -> Float[np.ndarray, "3"]:
        """Centre of mass at rest, about which a free object turns."""

    def motion(self, pose: Pose, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Any: ...

    @property
    def closed(self) -> ClosedForm | None:
        """Its closed form, if it has one: whole steps are then compiled."""

    def found(
        self,
        pose: Pose,
        q: Float[np.ndarray, " D"],
        qdot: Float[np.ndarray, " D"],
        y: Float[np.ndarray, "K 3"],
        rate: Float[np.ndarray, "K 3"],
        screws: Float[np.ndarray, "D 4 4"],
    ) -> Any:
        """A motion of one moment of which features, their rates and the screws of a tree are known."""

    def points(self, vertices: Int[np.ndarray, " n"]) -> Any: ...

    @property
    def part_nodes(self) -> Int[np.ndarray, " P"]:
        """The rigid node that carries each part; none where parts may bend, so that they are no solids to others."""

    def node_points(self, places: Float[np.ndarray, "n 3"], nodes: Int[np.ndarray, " n"]) -> Any:
        """Points fixed to nodes, at places of the rest shape; the ``motion`` is then a ``NodeMotion``."""

    def rebase(
        self, pose: Pose, q: Float[np.ndarray, " D"], p: Float[np.ndarray, " D"]
    ) -> tuple[Pose, np.ndarray, np.ndarray]:
        """The same moment with the base's coordinates back at zero: new pose, coordinates and momenta."""

    def positions(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
        """All vertices."""

    def handles(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "H 4 4"] | None:
        """Transforms of the handles that carry the vertices, when there are such."""

    def handle_weights(self) -> Float[np.ndarray, "V H"] | None: ...
