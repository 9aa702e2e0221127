"""The one interface of kinematic spaces: how reduced coordinates become vertex positions, and what else is known.

Engines, posing, scenes and commands read these members and never ask what class a space is of. A space needs ``rest``,
``dim`` and either ``decode`` or, in closed form, ``features``, ``shape`` and ``shape_rate``; all else has a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from neurok.core.articulation import Articulation
from neurok.core.clip import BoneTree, Clip, Skin
from neurok.core.mesh import Mesh
from neurok.geometry import lie
from neurok.geometry.twists import Exponential

if TYPE_CHECKING:
    from torch import Tensor

    from neurok.kinematics.strain_limits import StrainLimits

FRAMES = 18
"""Of a motion from one state to the next: three quarters of a second."""

REACH = 1.0
"""How far a coordinate without limits is drawn to either side, in its own unit."""


class KinematicSpace:
    """All poses one object can take, each named by its reduced coordinates ``q``."""

    if TYPE_CHECKING:  # an attribute or a property, as a space likes

        @property
        def rest(self) -> Mesh:
            """The undeformed object."""

        @property
        def dim(self) -> int:
            """Number of coordinates."""

        @property
        def facts(self) -> Mapping[str, float]:
            """Figures about how the space was found, for reports."""

        @property
        def articulation(self) -> Articulation | None:
            """The joints behind the coordinates, if all parts are rigid: engines then use exact chains."""

        @property
        def weights(self) -> Float[np.ndarray, "V H"] | None:
            """How much each vertex follows each rigid handle, if there are handles."""

        @property
        def bone_tree(self) -> BoneTree | None:
            """How those handles hang on each other, if the space knows."""

        @property
        def features(self) -> Float[np.ndarray, "V K"] | None:
            """The constant matrix C; ``None`` stands for the identity, with the vertices themselves as Y."""

        @property
        def inertia(self) -> tuple[Float[np.ndarray, "K K"], Float[np.ndarray, " K"]] | None:
            """Exact CᵀMC and CᵀM1, where they are known better than from masses at the vertices."""

        @property
        def stiffness(self) -> Float[np.ndarray, "D D"] | None:
            """K of the elastic energy ½ qᵀ K q [J], where the space knows what its object is made of."""

        @property
        def strain_limits(self) -> StrainLimits | None:
            """What all coordinates together must not exceed, where the space knows when its object is strained."""

        @property
        def swing(self) -> float | None:
            """How fast poses swing back to rest where no material says so [Hz], if the space knows."""

    else:
        facts = MappingProxyType({})
        articulation = weights = bone_tree = features = inertia = None
        stiffness = strain_limits = swing = None

    def decode(self, q: Tensor) -> Tensor:
        """Vertex positions ``(V, 3)`` at ``q`` ``(D,)`` in float64, differentiable; ``q = 0`` is the rest shape.

        Only for spaces that have no closed form: torch then takes the derivatives that ``shape`` gives otherwise.
        """
        raise NotImplementedError

    def positions(self, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
        """Vertex positions at ``q``."""
        values = self.values(q[None])[0]
        return values if self.features is None else self.features @ values

    # What the coordinates are.

    @property
    def kind(self) -> str:
        """In one word, for reports: ``joints``, ``clip``, ``learned``, ``custom`` ..."""
        return "custom"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the coordinates, for reports."""
        return tuple(f"q{k}" for k in range(self.dim))

    @property
    def is_length(self) -> Bool[np.ndarray, " D"]:
        """Coordinates in mesh units; the others are angles [rad] or plain numbers."""
        return np.zeros(self.dim, dtype=bool)

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        """Lower and upper limit of each coordinate; infinite where there is none."""
        return np.tile([-np.inf, np.inf], (self.dim, 1))

    @property
    def has_hard_limits(self) -> bool:
        """Whether poses beyond the limits cannot be; otherwise they are only unlikely."""
        return False

    @property
    def limit_softness(self) -> float | None:
        """How far a coordinate may pass its limit under the object's weight; by default a hundredth of a radian or of
        the size."""
        return None

    @property
    def prior_weight(self) -> float:
        """How strongly a fit is pulled to q = 0: weight of |q|^2 against squared distances in the unit box."""
        return 1e-6

    @property
    def damping(self) -> Float[np.ndarray, " D"]:
        """Viscous damping that the object's file or its material names [N s/m, or J s where it is no length]."""
        return np.zeros(self.dim)

    @property
    def ranges(self) -> Float[np.ndarray, "D 2"]:
        """From where to where coordinates are drawn: the limits, or one unit to either side where there are none."""
        return np.where(np.isfinite(self.limits), self.limits, [-REACH, REACH])

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Coordinates of plausible states: even over their ranges unless the space knows better."""
        low, high = self.ranges.T
        return low + np.random.default_rng(seed).random((count, self.dim)) * (high - low)

    @property
    def starts_along_axes(self) -> bool:
        """Whether a search for a pose should also start from single coordinates at several values."""
        return False

    @property
    def steps_per_slopes(self) -> int:
        """So many steps of a search share derivatives: more than one where they cost far more than the values."""
        return 1

    @property
    def is_loose(self) -> bool:
        """Whether the first six coordinates shift and turn the whole object about its middle."""
        return False

    # What carries the vertices.

    @property
    def own_bends(self) -> KinematicSpace | None:
        """Motions of its own in which it bends, as directions that an elastic space may take over."""
        return None

    @property
    def rigid_joints(self) -> Articulation | None:
        """The joints of its rigid parts, also where other parts bend."""
        return self.articulation

    @property
    def bends(self) -> Bool[np.ndarray, " V"]:
        """Vertices of what bends: there the elasticity of the material acts. By default what no joint explains."""
        return np.full(self.rest.vertex_count, self.articulation is None)

    # Positions as x = C Y(q): masses then enter through the small matrix CᵀMC alone.

    @property
    def unity(self) -> Float[np.ndarray, " K"]:
        """Coefficients with ``C @ unity = 1``: how a translation of the whole object looks in the features."""
        return np.ones(self.rest.vertex_count)

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Y and its derivatives by each coordinate, for a batch; by automatic differentiation unless overridden."""
        import torch

        rows = [torch.as_tensor(row) for row in np.array(q, dtype=np.float64)]
        slopes = [torch.func.jacfwd(self.decode)(row).detach().numpy() for row in rows]
        return KinematicSpace.values(self, q), np.stack([np.moveaxis(slope, -1, 0) for slope in slopes])

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """How the derivatives of Y change while ``q`` moves with ``qdot``: the second-order term."""
        import torch

        out = []
        for row, rate in zip(np.array(q, dtype=np.float64), np.array(qdot, dtype=np.float64), strict=True):
            primal, tangent = torch.as_tensor(row), torch.as_tensor(rate)
            change = torch.func.jvp(torch.func.jacfwd(self.decode), (primal,), (tangent,))[1]
            out.append(np.moveaxis(change.detach().numpy(), -1, 0))
        return np.stack(out)

    def values(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B K 3"]:
        """Y without its derivatives."""
        if type(self).shape is not KinematicSpace.shape:
            return self.shape(q)[0]
        import torch

        with torch.no_grad():
            return np.stack([self.decode(torch.as_tensor(row)).numpy() for row in np.array(q, dtype=np.float64)])

    def moving(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Any:
        """A batch of moments of Y, as ``ShapeMotion``; spaces with a shorter way from forces to coordinates take it."""
        return ShapeMotion(self, q, qdot)


class ShapeMotion:
    """A batch of moments of features, from all their derivatives."""

    def __init__(self, space: KinematicSpace, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> None:
        self.space, self.q, self.qdot = space, q, qdot
        self.values, self.slopes = space.shape(q)

    @cached_property
    def rate(self) -> Float[np.ndarray, "B K 3"]:
        """How the features move."""
        return np.einsum("bd,bdki->bki", self.qdot, self.slopes)

    @cached_property
    def slope_rates(self) -> Float[np.ndarray, "B D K 3"]:
        """How their derivatives change."""
        return self.space.shape_rate(self.q, self.qdot)

    def pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        """Generalised force of forces on the features."""
        return contract(self.slopes, forces)

    def rate_pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        """What the change of the derivatives makes of forces on the features."""
        return contract(self.slope_rates, forces)


def contract(slopes: Float[np.ndarray, "B D K 3"], forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
    """Forces on features as forces on coordinates."""
    batch, dim = slopes.shape[:2]
    return (slopes.reshape(batch, dim, -1) @ forces.reshape(batch, -1, 1))[..., 0]


def decode(space: KinematicSpace, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
    """Vertex positions of one pose as a plain array."""
    return space.positions(np.asarray(q, dtype=np.float64))


def lifted_features(vertices: Float[np.ndarray, "V 3"], weights: Float[np.ndarray, "V H"]) -> Float[np.ndarray, "V K"]:
    """Weights times homogeneous rest positions (x, y, z, 1), handle after handle: linear blend skinning as a matrix."""
    lifted = np.concatenate([vertices, np.ones((len(vertices), 1))], axis=1)
    return (weights[:, :, None] * lifted[:, None, :]).reshape(len(vertices), -1)


@dataclass(frozen=True, eq=False)
class FreeBase(KinematicSpace):
    """An object on a free base: three translations, a rotation vector about ``center``, then its own coordinates.

    The rotation vector serves to store and decode poses; dynamics turns the base step by step and meets no singularity.
    """

    space: KinematicSpace
    center: Float[np.ndarray, "3"]
    """Point of the rest shape about which the object turns."""

    @property
    def rest(self) -> Mesh:
        return self.space.rest

    @property
    def dim(self) -> int:
        return 6 + self.space.dim

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return np.concatenate([np.tile([-np.inf, np.inf], (6, 1)), self.space.limits])

    @property
    def features(self) -> Float[np.ndarray, "V K"] | None:
        return self.space.features

    @property
    def unity(self) -> Float[np.ndarray, " K"]:
        return self.space.unity

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """The features of the object, turned about the centre and shifted."""
        values, slopes = self.space.shape(q[:, 6:])
        twist = Exponential(np.concatenate([q[:, 3:6], np.zeros((len(q), 3))], axis=1).T)
        turn, spins = twist.turns.transpose(2, 0, 1), lie.skew(twist.carry.transpose(2, 1, 0))
        one = self.unity[:, None]
        turned = (values - one * self.center) @ turn.swapaxes(1, 2)
        shifted = np.broadcast_to(one * np.eye(3)[:, None], (len(q), 3, *values.shape[1:]))
        by_turn = turned[:, None] @ spins.swapaxes(2, 3)
        by_own = slopes @ turn[:, None].swapaxes(2, 3)
        moved = turned + one * (self.center + q[:, None, :3])
        return moved, np.concatenate([shifted, by_turn, by_own], axis=1)


def base_coordinates(pose: Float[np.ndarray, "4 4"], center: Float[np.ndarray, "3"]) -> Float[np.ndarray, "6"]:
    """Translation and rotation vector of a pose about a centre."""
    return np.concatenate([lie.apply(pose, center[None])[0] - center, lie.rotation_vector(pose[:3, :3])])


def through_states(states: Float[np.ndarray, "N D"], frames: int = FRAMES) -> Float[np.ndarray, "T D"]:
    """Coordinates from rest through the states and back to rest, slow at each of them.

    Row ``frames * (k + 1)`` is state ``k``, exactly.
    """
    rest = np.zeros((1, states.shape[1]))
    stops = np.concatenate([rest, states, rest])
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, frames, endpoint=False))
    between = stops[:-1, None] + share[:, None] * (stops[1:] - stops[:-1])[:, None]
    return np.concatenate([between.reshape(-1, states.shape[1]), rest])


def clip_of(space: KinematicSpace, q: Float[np.ndarray, "T D"], fps: float = 24.0, name: str = "motion") -> Clip:
    """The motion through coordinates, with the rigid handles behind it where the space has them."""
    if space.articulation is not None:
        return space.articulation.clip(q, fps, name)
    if space.weights is None or space.features is None:
        return Clip(space.rest, np.stack([decode(space, row) for row in q]), fps, name)
    values = space.values(q)
    rows = values.reshape(len(q), -1, 4, 3)
    transforms = np.tile(np.eye(4), (*rows.shape[:2], 1, 1))
    transforms[..., :3, :] = rows.swapaxes(-1, -2)
    skin = Skin(space.weights, transforms, tree=space.bone_tree)
    return Clip(space.rest, np.stack([space.features @ value for value in values]), fps, name, skin)


def on_vertices(rest: Mesh, other: Mesh, x: Float[np.ndarray, "W 3"]) -> Float[np.ndarray, "V 3"]:
    """Positions of the vertices of a mesh, from those of the same mesh with shared vertices split: face by face."""
    if len(x) == rest.vertex_count:
        return x
    out = rest.vertices.copy()
    out[rest.faces] = x[other.faces]
    return out
